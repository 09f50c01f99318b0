/** D6 a connection that goes on in the session of another: what it sends, what it never sends again, and how it ends. */
import { afterEach, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.js';
import { mcpSource } from '../../../src/sources/mcp/mcpSource.js';
import type { SourceConnection, SourceSession } from '../../../src/sources/source.js';
import { closers, connect, signal, start } from '../../fixtures/bentConnections.js';
import { type SessionServer, startSessionServer } from '../../fixtures/sessionServer.js';
import { faultOf, httpTarget } from '../../fixtures/sourceTarget.js';

const servers: SessionServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const goOn = async (url: string, session: SourceSession): Promise<SourceConnection> => {
  const connection = await mcpSource.connect(httpTarget(url), { signal, session });
  closers.push(() => connection.close());
  return connection;
};
/** A server of five pages, the session that the first of them came in, and where that goes on. */
const begun = async () => {
  const server = await startSessionServer();
  servers.push(server);
  const first = await connect(httpTarget(server.url));
  const { nextCursor } = await first.listPage(undefined, { signal });
  const { session } = first;
  if (session === null) throw new Error('the server issued no session');
  return { server, first, session, nextCursor };
};

describe('D6 a session that another connection goes on with', () => {
  it('D6 is left by the first without a word, and ended by the last; no request id comes twice', async () => {
    const { server, first, session, nextCursor } = await begun();
    await first.close({ keepSession: true });
    await first.close();
    expect(server.sessions()).toMatchObject([{ id: session.id.reveal(), ended: false }]);
    const second = await goOn(server.url, session);
    // Its server would refuse a request without the version, with another session's cursor, or with an id of before.
    const page = await second.listPage(nextCursor, { signal });
    expect(page.tools.map(({ value }) => value)).toMatchObject([{ name: 'tool_1' }]);
    expect(page.evidence).toMatchObject({ sessionScoped: true, protocolVersion: '2025-11-25' });
    expect(second.session?.id.reveal()).toBe(session.id.reveal());
    await second.close();
    expect(server.sessions()).toMatchObject([{ id: session.id.reveal(), asked: [0, 1], ended: true }]);
  });

  it('D6 sends no initialize, the id and the version from its first request on', async () => {
    const server = await start({});
    const session = { id: new Secret('a-session-of-before'), protocolVersion: '2025-11-25' };
    await (await goOn(server.url, session)).listPage(undefined, { signal });
    expect(server.seen).toEqual(['tools/list']);
    expect(server.headers[0]).toMatchObject({
      'mcp-session-id': 'a-session-of-before',
      'mcp-protocol-version': '2025-11-25',
    });
  });

  it('D6 that the server has forgotten is SESSION_LOST, and is not begun anew by itself', async () => {
    const { server, first, session, nextCursor } = await begun();
    await first.close({ keepSession: true });
    server.forget();
    const second = await goOn(server.url, session);
    expect(await faultOf(second.listPage(nextCursor, { signal }))).toMatchObject({ reason: 'SESSION_LOST' });
    expect(server.sessions()).toHaveLength(1);
  });

  it('S6 its id is blotted out of what the server says, from the first answer on', async () => {
    const id = 'a-session-of-before';
    const server = await start({ list: (b) => b.error(-32_000, `who is ${id}?`) });
    const connection = await goOn(server.url, { id: new Secret(id), protocolVersion: '2025-11-25' });
    expect(connection.secrets()).toContain(id);
    const fault = await faultOf(connection.listPage(undefined, { signal }));
    expect(fault.evidence).toMatchObject({ message: 'who is [redacted]?' });
    expect(JSON.stringify([fault.message, fault.evidence, connection.session])).not.toContain(id);
  });

  it('D6 there is none to go on with where the server issues none', async () => {
    const connection = await connect(httpTarget((await start({})).url));
    await connection.listPage(undefined, { signal });
    expect(connection.session).toBeNull();
  });
});
