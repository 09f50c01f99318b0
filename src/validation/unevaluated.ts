/**
 * The `unevaluated…` keywords ask what other keywords have looked at. Where that depends on the value, the validator
 * is known to count too much as looked at, and would accept what the schema refuses: those schemas are refused.
 */
import type { SchemaGraph } from './schemaGraph.js';

/** With these in the same document, the answer may be wrong. */
const WRONG_BESIDE: ReadonlyMap<string, readonly string[]> = new Map([
  ['unevaluatedProperties', ['if']],
  ['unevaluatedItems', ['if', 'contains', 'anyOf', 'oneOf', 'dependentSchemas']],
]);

/** V2: reports what the validator would read wrongly, once for each keyword. */
export const checkUnevaluated = ({ nodes, report }: SchemaGraph): void => {
  const places = new Map<string, string>();
  for (const { edges, pointer } of nodes) {
    for (const { keyword } of edges) if (!places.has(keyword)) places.set(keyword, `${pointer}/${keyword}`);
  }
  for (const [keyword, others] of WRONG_BESIDE) {
    const at = places.get(keyword);
    const other = others.find((one) => places.has(one));
    if (at === undefined || other === undefined) continue;
    report.add(
      'FORBIDDEN_KEYWORD',
      at,
      `${keyword} is not allowed beside ${other}: it would accept too much`,
    );
  }
};
