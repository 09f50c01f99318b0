/**
 * V2–V4 for one schema document: dialect, meta-schema, reference closure, limits, patterns, cost. Pure: the
 * same schema gives the same findings at every attempt, whatever was checked before it.
 *
 * It compiles nothing in the ordinary case. Compiling costs a hundred times what checking does and proves
 * little (a schema that loops compiles well); a compile form holds only what was checked here. The exception
 * are schemas whose references nest so deep that the compiler's stack might not do.
 */

import { durationMs } from '../domain/ids.js';
import type { JsonValue } from '../domain/json.js';
import { isJsonObject, member } from '../domain/json.js';
import { emitSchema, nestingOf } from './compileForm.js';
import { runWithin } from './deadline.js';
import { type Dialect, readDialect } from './dialects.js';
import { type EvaluationCost, findCycle, measureCost } from './evaluationCost.js';
import { quote, Report } from './findings.js';
import { type ContractLimits, DEFAULT_CONTRACT_LIMITS } from './limits.js';
import { checkMetaSchema } from './metaSchema.js';
import { compilePattern } from './patternEngine.js';
import { PatternRefused } from './patternSyntax.js';
import { resolveReferences } from './references.js';
import { SchemaGraph, type SchemaNode } from './schemaGraph.js';
import { lintNode } from './schemaLints.js';
import { compileWithAjv, discardInstance } from './validatorEngine.js';

export interface CheckedSchema {
  readonly dialect: Dialect;
  readonly graph: SchemaGraph;
  readonly root: SchemaNode;
  readonly cost: EvaluationCost;
  /** Instructions of the largest pattern. */
  readonly patternSize: number;
}

/** The compiler recurses: this many levels of subschemas are well within its stack. */
const SAFE_NESTING = 100;
const COMPILE_DEADLINE = durationMs(5_000);

/**
 * V2: which of the pinned dialects a schema is of.
 * @returns null where it is of none, which is then in the report
 */
export const resolveDialect = (
  schema: JsonValue,
  dialects: readonly Dialect[],
  pointer: string,
  report: Report,
): Dialect | null => {
  const declared = isJsonObject(schema) ? member(schema, '$schema') : undefined;
  const read = readDialect(declared);
  const at = `${pointer}/$schema`;
  if (read === null || (read.dialect !== '2020-12' && !dialects.includes(read.dialect))) {
    const shown = typeof declared === 'string' ? quote(declared) : 'a $schema that is not a string';
    report.add('UNKNOWN_DIALECT', at, `${shown} is none of the dialects that are accepted of this server`);
    return null;
  }
  if (read.alias)
    report.add('DIALECT_ALIAS', at, `read as ${read.dialect}; that is not the spelling of its id`);
  return read.dialect;
};

/** @returns the size of the largest pattern */
const checkPatterns = (node: SchemaNode, limits: ContractLimits, report: Report): number => {
  const patterns: [string, string][] = [];
  const pattern = member(node.schema, 'pattern');
  if (typeof pattern === 'string') patterns.push([pattern, `${node.pointer}/pattern`]);
  const byPattern = member(node.schema, 'patternProperties');
  if (isJsonObject(byPattern)) {
    for (const key of Object.keys(byPattern)) patterns.push([key, `${node.pointer}/patternProperties`]);
  }
  let largest = 0;
  for (const [source, pointer] of patterns) {
    try {
      largest = Math.max(largest, compilePattern(source, limits.patternSize).size);
    } catch (error) {
      if (!(error instanceof PatternRefused)) throw error;
      report.add(error.code, pointer, `${quote(source)}: ${error.message}`);
    }
  }
  return largest;
};

const checkSizes = (node: SchemaNode, limits: ContractLimits, report: Report): void => {
  const values = member(node.schema, 'enum');
  if (Array.isArray(values) && values.length > limits.enumSize) {
    const message = `${values.length} members; the limit is ${limits.enumSize}`;
    report.add('SCHEMA_TOO_LARGE', `${node.pointer}/enum`, message);
  }
};

const compiles = (graph: SchemaGraph, root: SchemaNode): boolean => {
  try {
    if (
      runWithin(() => compileWithAjv(emitSchema(graph, root), graph.dialect), COMPILE_DEADLINE) !== 'late'
    ) {
      return true;
    }
  } catch {
    // Out of stack: reported by the caller like any other schema that is too much.
  }
  discardInstance(graph.dialect);
  return false;
};

/**
 * @param schema of bounded depth
 * @param pointer where it stands in the tool object
 * @returns null where the schema has a fault, which is then in the report
 */
export const checkSchema = (
  schema: JsonValue,
  dialect: Dialect,
  pointer = '',
  report: Report = new Report(),
  limits: ContractLimits = DEFAULT_CONTRACT_LIMITS,
): CheckedSchema | null => {
  const before = report.faults;
  const fault = checkMetaSchema(schema, dialect);
  if (fault !== null) report.add('SCHEMA_INVALID', `${pointer}${fault.pointer}`, fault.message);
  if (fault !== null || !isJsonObject(schema)) return null;
  const graph = new SchemaGraph(dialect, report);
  const root = graph.add(schema, pointer, null);
  if (root === null || typeof root === 'boolean') return null;
  resolveReferences(graph);
  const formats = new Set<string>();
  let patternSize = 0;
  for (const node of graph.nodes) {
    checkSizes(node, limits, report);
    patternSize = Math.max(patternSize, checkPatterns(node, limits, report));
    lintNode(node, graph, formats);
  }
  if (findCycle(graph, report)) return null;
  const cost = measureCost(root, limits, report);
  if (cost === null || report.faults > before) return null;
  if (nestingOf(graph, root) > SAFE_NESTING && !compiles(graph, root)) {
    report.add('SCHEMA_TOO_COMPLEX', pointer, 'its references nest too deep to be compiled');
    return null;
  }
  return { dialect, graph, root, cost, patternSize };
};
