/** Two generations of one server and audience side by side, for operators: tools, classes and members (V6). */
import { setImmediate } from 'node:timers/promises';
import { type DiffClass, diffTools, likelyRenames, type ToolDiff } from '../domain/diff.js';
import { CatalogError } from '../domain/errors.js';
import type { AudienceClass, Digest, ServerName, TenantId } from '../domain/ids.js';
import type { JsonObject } from '../domain/json.js';
import type { GenerationTool, ReviewStore } from '../store/reviewStore.js';
import { type VisibleChange, visibleChanges } from './reviews.js';

interface DiffSide {
  readonly id: string;
  readonly descriptor: Digest;
}

export interface DiffRow {
  readonly kind: ToolDiff['kind'];
  readonly name: string;
  readonly before: DiffSide | null;
  readonly after: DiffSide | null;
  /** Of a changed tool; else empty. */
  readonly classes: readonly DiffClass[];
  readonly members: readonly VisibleChange[];
  /** The removed tool that an added one may be under a new name. It inherits nothing of it. */
  readonly likelyRenameOf: string | null;
}

export interface GenerationsDiff {
  readonly from: number;
  readonly to: number;
  readonly counts: Readonly<Record<ToolDiff['kind'], number>>;
  /** By name. */
  readonly tools: readonly DiffRow[];
  /** The `after` of the next slice; null at the end. */
  readonly next: string | null;
}

export interface DiffRequest {
  readonly server: ServerName;
  readonly audience: AudienceClass;
  readonly from: number;
  readonly to: number;
  /** Tool name. */
  readonly after: string;
  readonly limit: number;
}

/** Bytes of source text that one slice shows. Its first tool may be larger. */
const SLICE = 2_000_000;
/** With more source text of added and removed tools than this nobody looks for renames: it would read all of it. */
const MOST_RENAMED = 1_000_000;

type Sources = ReadonlyMap<Digest, string>;
type Diff = ToolDiff<GenerationTool>;

/** @throws CatalogError NOT_FOUND/NO_SUCH_GENERATION with its number */
export const diffGenerations = async (
  store: Pick<ReviewStore, 'generationTools' | 'sources'>,
  tenant: TenantId,
  { server, audience, from, to, after, limit }: DiffRequest,
): Promise<GenerationsDiff> => {
  const read = async (generation: number): Promise<readonly GenerationTool[]> => {
    const tools = await store.generationTools(tenant, server, audience, generation);
    if (tools === null) throw new CatalogError('NOT_FOUND', 'NO_SUCH_GENERATION', { generation });
    return tools;
  };
  const [older, newer] = [await read(from), await read(to)];
  const diffs = diffTools(older, newer);
  const page = diffs.filter(({ name }) => name > after);
  const shown = sliceOf(page, limit);
  const moved = diffs.filter(({ kind }) => kind !== 'changed');
  const compared = bytesOf(moved) <= MOST_RENAMED ? moved : [];
  const sources = await store.sources(tenant, [...new Set([...shown, ...compared].flatMap(rawsOf))]);
  const renames = renamesOf(compared, sources);
  const rows: DiffRow[] = [];
  for (const diff of shown) {
    // Other requests go on between two tools, each of which takes milliseconds at most.
    await setImmediate();
    rows.push(row(diff, sources, renames));
  }
  const count = (kind: ToolDiff['kind']): number => diffs.filter((diff) => diff.kind === kind).length;
  return {
    from,
    to,
    counts: { added: count('added'), removed: count('removed'), changed: count('changed') },
    tools: rows,
    next: page.length > shown.length ? (shown.at(-1)?.name ?? null) : null,
  };
};

/** As many as one answer shows, and one at least, so that whoever goes on arrives. */
const sliceOf = (page: readonly Diff[], limit: number): readonly Diff[] => {
  let [taken, bytes] = [0, 0];
  for (const diff of page.slice(0, limit)) {
    bytes += bytesOf([diff]);
    if (taken > 0 && bytes > SLICE) break;
    taken += 1;
  }
  return page.slice(0, taken);
};

const bytesOf = (diffs: readonly Diff[]): number =>
  diffs.reduce((sum, { before, after }) => sum + (before?.bytes ?? 0) + (after?.bytes ?? 0), 0);

const rawsOf = ({ before, after }: Diff): readonly Digest[] =>
  [before, after].flatMap((tool) => (tool === null ? [] : [tool.raw]));

/** A tool that is not there has no members. */
const sourceOf = (tool: GenerationTool | null, sources: Sources): string => {
  if (tool === null) return '{}';
  const source = sources.get(tool.raw);
  if (source === undefined) throw new Error(`no source text of ${tool.descriptor}`);
  return source;
};

const renamesOf = (moved: readonly Diff[], sources: Sources): ReadonlyMap<string, string> => {
  const named = (side: 'before' | 'after') =>
    moved.flatMap((diff) => {
      const tool = diff[side];
      return tool === null ? [] : [{ id: tool.id, tool: JSON.parse(sourceOf(tool, sources)) as JsonObject }];
    });
  return likelyRenames(named('before'), named('after'));
};

const side = (tool: GenerationTool | null): DiffSide | null =>
  tool === null ? null : { id: tool.id, descriptor: tool.descriptor };

const row = (diff: Diff, sources: Sources, renames: ReadonlyMap<string, string>): DiffRow => ({
  kind: diff.kind,
  name: diff.name,
  before: side(diff.before),
  after: side(diff.after),
  classes: diff.kind === 'changed' ? diff.classes : [],
  members: visibleChanges(sourceOf(diff.before, sources), sourceOf(diff.after, sources)),
  likelyRenameOf: diff.after === null ? null : (renames.get(diff.after.id) ?? null),
});
