/**
 * What changed between two generations, tool by tool and by class (V6). It compares digests; memberDiff.ts tells the
 * members of one tool.
 */
import type { Digest } from './ids.js';
import type { JsonObject, JsonValue } from './json.js';

/** In order of weight: a changed contract has another id, changed hints and text are reviewed. */
export const DIFF_CLASSES = ['contract', 'hints', 'text'] as const;
export type DiffClass = (typeof DIFF_CLASSES)[number];

const HINTS: readonly string[] = ['annotations'];
const TEXT: readonly string[] = ['title', 'description', 'icons'];

/** S2: which class a member of a tool object belongs to. Whatever is not known to be a hint or a text is contract. */
export const classOfMember = (name: string): DiffClass => {
  if (HINTS.includes(name)) return 'hints';
  return TEXT.includes(name) ? 'text' : 'contract';
};

/** A tool of one generation. */
export interface ToolDigests {
  readonly name: string;
  readonly id: string;
  readonly descriptor: Digest;
  readonly contract: Digest;
  readonly hints: Digest;
  readonly text: Digest;
}

export type ToolDiff<T extends ToolDigests = ToolDigests> =
  | { readonly kind: 'added'; readonly name: string; readonly before: null; readonly after: T }
  | { readonly kind: 'removed'; readonly name: string; readonly before: T; readonly after: null }
  | {
      readonly kind: 'changed';
      readonly name: string;
      readonly before: T;
      readonly after: T;
      /** At least one. */
      readonly classes: readonly DiffClass[];
    };

/**
 * V6: the tools of which two generations are not agreed, by name. Order of the lists has no meaning, nor has the order of
 * members, which no digest sees (S5).
 */
export const diffTools = <T extends ToolDigests>(
  before: readonly T[],
  after: readonly T[],
): readonly ToolDiff<T>[] => {
  const earlier = new Map(before.map((tool) => [tool.name, tool]));
  const later = new Set(after.map(({ name }) => name));
  const diffs: ToolDiff<T>[] = [];
  for (const tool of after) {
    const was = earlier.get(tool.name);
    if (was === undefined) diffs.push({ kind: 'added', name: tool.name, before: null, after: tool });
    else {
      const classes = changedClasses(was, tool);
      if (classes.length > 0)
        diffs.push({ kind: 'changed', name: tool.name, before: was, after: tool, classes });
    }
  }
  for (const tool of before)
    if (!later.has(tool.name)) diffs.push({ kind: 'removed', name: tool.name, before: tool, after: null });
  return diffs.sort((a, b) => Number(a.name > b.name) - Number(a.name < b.name));
};

/** Another id is another contract, even where a tool went and came back as it was (S2). */
const changedClasses = (a: ToolDigests, b: ToolDigests): readonly DiffClass[] =>
  DIFF_CLASSES.filter((name) => a[name] !== b[name] || (name === 'contract' && a.id !== b.id));

interface NamedSource {
  readonly id: string;
  readonly tool: JsonObject;
}

/**
 * V6: added tools whose contract is that of a removed one but for the name. It is a hint to a reader and nothing else: a
 * rename inherits no approval. Where several fit, text and hints decide; where they do not, nothing is said.
 * @returns the id of the removed tool by the id of the added one
 */
export const likelyRenames = (
  removed: readonly NamedSource[],
  added: readonly NamedSource[],
): ReadonlyMap<string, string> => {
  const renames = new Map<string, string>();
  for (const ignored of [isName, isNameOrWording]) {
    const gone = new Set(renames.values());
    const from = groupByForm(
      removed.filter(({ id }) => !gone.has(id)),
      ignored,
    );
    const to = groupByForm(
      added.filter(({ id }) => !renames.has(id)),
      ignored,
    );
    for (const [form, ids] of to) {
      const [was, ...others] = from.get(form) ?? [];
      const [is, ...rest] = ids;
      if (was !== undefined && is !== undefined && others.length + rest.length === 0) renames.set(is, was);
    }
  }
  return renames;
};

const isName = (member: string): boolean => member === 'name';
const isNameOrWording = (member: string): boolean => isName(member) || classOfMember(member) !== 'contract';

const groupByForm = (
  tools: readonly NamedSource[],
  ignored: (member: string) => boolean,
): ReadonlyMap<string, readonly string[]> => {
  const groups = new Map<string, string[]>();
  for (const { id, tool } of tools) {
    const form = formOf(Object.fromEntries(Object.entries(tool).filter(([name]) => !ignored(name))));
    groups.set(form, [...(groups.get(form) ?? []), id]);
  }
  return groups;
};

/** One text for all spellings of a value; only compared, never digested. */
const formOf = (value: JsonValue): string =>
  JSON.stringify(value, (_, inner: JsonValue) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => Number(a > b) - Number(a < b)))
      : inner,
  );
