/**
 * V4: which checks of arguments are proven short, from the schema's cost and the size of the arguments. Those may
 * run where nothing can stop them; all others run in a thread, under a deadline.
 */
import { isJsonObject, member } from '../domain/json.js';
import type { CheckedSchema } from './checkSchema.js';
import { type CompileForm, emitSchema } from './compileForm.js';
import type { SchemaNode } from './schemaGraph.js';

export interface EvaluationBound {
  /** Subschemas that one value is checked against at most. */
  readonly paths: number;
  readonly recursive: boolean;
  /** Steps that one subschema takes for one value, at most: mostly names that it asks an object for. */
  readonly width: number;
  /** Instructions of the largest pattern: a match takes at most so many steps a character. */
  readonly patternSize: number;
}

/** A step takes up to a tenth of a microsecond, so that a check in place takes up to 5 ms. Most take 10 µs. */
const QUICK_STEPS = 50_000;
/** Copying and comparing texts is so many times as fast as a step for each character. */
const TEXT = 16;
/** What compiles within a few milliseconds. */
const SMALL = { subschemas: 60, levels: 60, patternWork: 1_000, characters: 16_384 };

/** Keywords that do more with one value than to look at it: long division, and a key that is compared. */
const DEAR: readonly (readonly [string, number])[] = [
  ['multipleOf', 50],
  ['uniqueItems', 8],
  ['enum', 4],
  ['const', 4],
];

const widthOf = (node: SchemaNode): number => {
  let width = 1 + node.edges.length;
  for (const [keyword, steps] of DEAR) if (Object.hasOwn(node.schema, keyword)) width += steps;
  const required = member(node.schema, 'required');
  if (Array.isArray(required)) width += required.length;
  for (const keyword of ['dependentRequired', 'dependencies']) {
    const dependent = member(node.schema, keyword);
    if (!isJsonObject(dependent)) continue;
    for (const names of Object.values(dependent)) width += 1 + (Array.isArray(names) ? names.length : 0);
  }
  return width;
};

export const boundOf = ({ graph, cost, patterns }: CheckedSchema): EvaluationBound => ({
  ...cost,
  width: graph.nodes.reduce((most, node) => Math.max(most, widthOf(node)), 1),
  patternSize: patterns.largest,
});

/** V4: the compile form of a schema that compiles so fast that it need not be done elsewhere; null for any other. */
export const smallForm = ({ graph, root, size, patterns }: CheckedSchema): CompileForm | null => {
  if (size.subschemas > SMALL.subschemas || size.levels > SMALL.levels) return null;
  if (patterns.work > SMALL.patternWork) return null;
  const form = emitSchema(graph, root);
  return JSON.stringify(form.schema).length > SMALL.characters ? null : form;
};

/** V4: whether a check ends within a bounded number of steps, however the arguments of that size were chosen. */
export const isQuick = (bound: EvaluationBound, size: { bytes: number; nodes: number }): boolean =>
  !bound.recursive &&
  bound.paths * (size.nodes * bound.width + size.bytes * (bound.patternSize + 1 / TEXT)) <= QUICK_STEPS;
