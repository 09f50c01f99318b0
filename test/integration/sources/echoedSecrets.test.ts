/**
 * S6: a server that repeats its credential wherever a server can say something. The discovery ends or goes on, and neither
 * its evidence, nor any row, nor its history holds the credential in a spelling that gives it away.
 */
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { describe, expect, test } from 'vitest';
import { discoveryWorkflowId } from '../../../src/workflows/contract.js';
import type { Bend, BendableOptions } from '../../fixtures/bendableMcp.js';
import { at, serveList, tool, tools } from '../discovery/bentLists.js';
import { ownKey, useDiscovery } from '../discovery/discoveryStack.js';

const stack = useDiscovery();

/** With a slash, a tilde and a plus, so that pointers, URLs and Base64 spell it in another way. */
const TOKEN = 'echoed/5c1f0a7e~9b+canary-token-value-1234567890';
const base64 = (text: string): string => Buffer.from(text).toString('base64').replace(/=+$/, '');
/** Parts of it and of its encodings that no honest text holds. */
const TRACES = [
  TOKEN,
  '5c1f0a7e',
  'canary-token',
  '1234567890',
  encodeURIComponent(TOKEN),
  ...['', 'u', 'uu'].map((before) => base64(before + TOKEN).slice(4, 28)),
];

const serverInfo = { name: 'bendable', version: '0', description: `Bearer ${TOKEN}`, [TOKEN]: [TOKEN] };
const initialize: Bend = (bent) =>
  bent.result({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo });
const answer =
  (status: number, headers: Record<string, string>, body = 'x'): Required<BendableOptions>['any'] =>
  (_, response) => {
    response.writeHead(status, headers).end(body);
    return true;
  };
const raw =
  (result: string): Bend =>
  (bent) =>
    bent.bytes(`{"jsonrpc":"2.0","id":${bent.id},"result":${result}}`);

const CASES: readonly (readonly [where: string, reason: string, options: BendableOptions])[] = [
  ['Content-Type', 'NOT_MCP', { any: answer(200, { 'content-type': `text/x; t=${TOKEN}` }) }],
  ['Content-Type of an error', 'AUTH_REFUSED', { any: answer(401, { 'content-type': `text/${TOKEN}` }) }],
  [
    'Content-Encoding',
    'PAGE_MALFORMED',
    { any: answer(200, { 'content-type': 'application/json', 'content-encoding': TOKEN }) },
  ],
  ['Location, as path', 'REDIRECT_REFUSED', { any: answer(307, { location: `/a/${TOKEN}` }) }],
  [
    'Location, encoded',
    'REDIRECT_REFUSED',
    { any: answer(307, { location: `/a/${encodeURIComponent(encodeURIComponent(TOKEN))}` }) },
  ],
  [
    'Location, in Base64',
    'REDIRECT_REFUSED',
    { any: answer(307, { location: `/a/${base64(`Bearer ${TOKEN}`)}` }) },
  ],
  [
    'a body that is cut within it',
    'AUTH_REFUSED',
    { any: answer(401, { 'content-type': 'text/plain' }, `${'x'.repeat(185)}${TOKEN}`) },
  ],
  ['the message of an error', 'UPSTREAM_ERROR', { list: (bent) => bent.error(-32_603, `no ${TOKEN}`) }],
  ['a member name', 'DUPLICATE_KEY', { list: raw(`{"tools":[{"${TOKEN}":{"a":1,"a":2}}]}`) }],
  [
    'a very long member name',
    'PAGE_MALFORMED',
    { list: raw(`{"tools":[{"${'k'.repeat(70)}${TOKEN}":{"a":x}}]}`) },
  ],
  [
    'a tool name that comes twice',
    'PAGE_MALFORMED',
    {
      list: serveList(() => ({
        pages: [[tool(TOKEN), tool(TOKEN, { description: 'other' })]],
        revision: at(1),
      })),
    },
  ],
  [
    'a tool name in another spelling',
    'DUPLICATE_NAME',
    {
      list: serveList(() => {
        const name = [...TOKEN].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('');
        return { pages: [[tool(name), tool(name, { description: 'other' })]], revision: at(1) };
      }),
    },
  ],
  ['a snapshot token', 'PAGE_MALFORMED', { list: serveList(() => ({ pages: [tools(2)], token: TOKEN })) }],
  [
    'an incarnation',
    'PAGE_MALFORMED',
    { list: serveList(() => ({ pages: [tools(2)], revision: at(1, TOKEN) })) },
  ],
  ['a cursor', 'PAGE_MALFORMED', { list: (bent) => bent.result({ tools: tools(2), nextCursor: TOKEN }) }],
  [
    'a description',
    'PAGE_MALFORMED',
    { list: serveList(() => ({ pages: [[tool('a', { description: TOKEN })]], revision: at(1) })) },
  ],
  ['serverInfo', 'PROMOTED', { list: serveList(() => ({ pages: [tools(2)], revision: at(1) })) }],
];

/** Every row of every table, as text. */
const rowsOf = async (): Promise<string> => {
  const { rows } = await stack.admin.query("select tablename from pg_tables where schemaname = 'genlock'");
  const texts: string[] = [];
  for (const { tablename } of rows) {
    const all = await stack.admin.query(`select t::text as text from genlock.${tablename} t`);
    texts.push(...all.rows.map(({ text }) => String(text)));
  }
  return texts.join('\n');
};

/** What a history holds, with its payloads decoded. */
const textOf = (history: string): string =>
  history.replaceAll(/"data":\s*"([^"]*)"/g, (_, data: string) =>
    Buffer.from(data, 'base64').toString('utf8'),
  );

describe('S6 a server that echoes its credential', () => {
  test.each(CASES)('in %s ends %s, and the credential stands nowhere', async (_where, reason, options) => {
    const server = await stack.bent({ initialize, ...options });
    const key = ownKey();
    stack.secrets.set('GENLOCK_CREDENTIAL_ACME_ECHOED', TOKEN);
    await stack.register(key, server.url, {
      audiences: { [key.audience]: { kind: 'reference', reference: 'env:GENLOCK_CREDENTIAL_ACME_ECHOED' } },
    });
    const outcome = await stack.discover(key);
    expect(outcome.reason).toBe(reason);
    const history = historyToJSON(
      await stack.client.workflow.getHandle(discoveryWorkflowId(key), outcome.runId).fetchHistory(),
    );
    const rows = await rowsOf();
    expect(textOf(history)).toContain(key.server);
    expect(rows).toContain(key.server);
    // The server did say it: a place that shows nothing of it would prove nothing.
    if (reason === 'PROMOTED') expect(rows).toContain('Bearer [redacted]');
    else expect(JSON.stringify(outcome.evidence)).toMatch(/\[redacted\]|SECRET_ECHOED/);
    for (const trace of TRACES) {
      expect(JSON.stringify(outcome)).not.toContain(trace);
      expect(textOf(history)).not.toContain(trace);
      expect(rows).not.toContain(trace);
      expect(rows).not.toContain(Buffer.from(trace).toString('hex'));
    }
  });
});
