/**
 * The counts of discovery that must be 0, asked of the database alone: every generation that was ever sealed, and every
 * renewal of one, rests on a page set that is whole, of one revision and identity, and gives its page root; from the stored
 * bytes, not from notes.
 */
import { digestJson, sha256Bytes } from '../../src/proof/digest.js';
import {
  findChainFault,
  nextCursorDigest,
  pageRoot,
  requestCursorDigest,
} from '../../src/proof/pageChain.js';
import type { DiscoveryStack } from '../integration/discovery/discoveryStack.js';

interface ScanRow {
  readonly tenant: string;
  readonly server: string;
  readonly generation: number;
  readonly scan: string;
  /** The scan that has the tools: where a generation was renewed, the one that it is of. */
  readonly sealed: string;
  readonly revision: unknown;
  readonly identity: string;
  readonly page_root: string | null;
  readonly tail_at: Date | null;
}

interface PageRow {
  readonly n: number;
  readonly request_cursor: string | null;
  readonly raw: Buffer;
  readonly raw_digest: string;
  readonly revision: unknown;
  readonly identity: string;
}

interface ListResult {
  readonly tools: readonly { readonly name: string; readonly inputSchema?: { readonly $schema?: string } }[];
  readonly nextCursor?: string;
  readonly _meta?: unknown;
}

/** The one dialect of the registrations here, in its two spellings. */
const DIALECT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

/** The JSON-RPC result of a stored message. */
const resultOf = (raw: Buffer): ListResult =>
  (JSON.parse(raw.toString('utf8')) as { result: ListResult }).result;

const pagesOf = async ({ admin }: DiscoveryStack, row: ScanRow): Promise<readonly PageRow[]> =>
  (
    await admin.query(
      `select p.n, p.request_cursor, t.raw, p.raw_digest, p.revision, p.identity from genlock.page p
        join genlock.page_text t on t.tenant = p.tenant and t.raw_digest = p.raw_digest and t.reading = p.reading
        where p.tenant = $1 and p.scan = $2 order by p.n`,
      [row.tenant, row.scan],
    )
  ).rows;

/** What is wrong with the generations of a server and their renewals, or of all where none is named; nothing where all hold. */
export const soundnessFaults = async (stack: DiscoveryStack, server?: string): Promise<readonly string[]> => {
  const { rows } = await stack.admin.query<ScanRow>(
    `select g.tenant, g.server, g.generation, s.id as scan, g.scan as sealed, s.revision, s.identity, s.page_root, s.tail_at
      from genlock.generation g join genlock.scan s on s.tenant = g.tenant and s.server = g.server and s.audience = g.audience
        and (s.id = g.scan or exists (select from genlock.freshness f
          where f.tenant = s.tenant and f.scan = s.id and f.generation = g.generation))
      where $1::text is null or g.server = $1`,
    [server ?? null],
  );
  const faults: string[] = [];
  for (const row of rows) {
    for (const fault of await faultsOf(stack, row)) faults.push(`${row.server} ${row.generation}: ${fault}`);
  }
  return faults;
};

const faultsOf = async (stack: DiscoveryStack, row: ScanRow): Promise<readonly string[]> => {
  const faults: string[] = [];
  const hold = (what: string, holds: boolean): void => {
    if (!holds) faults.push(what);
  };
  const pages = await pagesOf(stack, row);
  const links = pages.map(({ n, request_cursor, raw }) => {
    const result = resultOf(raw);
    return {
      index: n,
      requestCursor: requestCursorDigest(request_cursor ?? undefined),
      nextCursor: nextCursorDigest(result.nextCursor),
      result: digestJson(result as never),
    };
  });
  hold('unversioned', row.revision !== null);
  hold('no tail', row.tail_at !== null);
  hold('a chain of pages with a gap', findChainFault(links) === null);
  hold('a page root that its pages do not give', row.page_root === pageRoot(links));
  hold(
    'bytes that are not those of their digest',
    pages.every(({ raw, raw_digest }) => sha256Bytes(raw) === raw_digest),
  );
  const revision = digestJson(row.revision as never);
  hold(
    'pages of two revisions',
    pages.every((page) => digestJson(page.revision as never) === revision),
  );
  hold(
    'pages of two stamps',
    new Set(pages.map(({ raw }) => digestJson((resultOf(raw)._meta ?? null) as never))).size === 1,
  );
  hold(
    'pages of two identities',
    pages.every(({ identity }) => identity === row.identity),
  );
  const listed = new Map(pages.flatMap(({ raw }) => resultOf(raw).tools.map((tool) => [tool.name, tool])));
  const { rows: kept } = await stack.admin.query<{ name: string; descriptor: string; status: string }>(
    `select name, descriptor, verdict ->> 'status' as status from genlock.candidate_tool
      where tenant = $1 and scan = $2`,
    [row.tenant, row.sealed],
  );
  hold('other tools than its pages', kept.length === listed.size);
  for (const { name, descriptor, status } of kept) {
    const tool = listed.get(name);
    hold(`another ${name} than on its page`, tool !== undefined && digestJson(tool as never) === descriptor);
    const dialect = tool?.inputSchema?.$schema;
    const known = dialect === undefined || DIALECT.test(dialect);
    hold(`${name} in an unknown dialect, and callable`, status === 'QUARANTINED' || known);
  }
  return faults;
};
