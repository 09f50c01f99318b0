/**
 * V2–V4 for one schema document: dialect, meta-schema, reference closure, limits, patterns, cost. Pure: the
 * same schema gives the same findings at every attempt, whatever was checked before it.
 *
 * It compiles nothing. Compiling costs many times what checking does and proves little (a schema that loops
 * compiles well), and a compile form holds only what was checked here. That it compiles follows from its size,
 * which is bounded here: no clock is asked, so that the verdict is the same on a slow day.
 */
import type { JsonValue } from '../domain/json.js';
import { isJsonObject, member } from '../domain/json.js';
import { type FormSize, measureForm } from './compileForm.js';
import { type Dialect, readDialect } from './dialects.js';
import { type EvaluationCost, findCycle, measureCost } from './evaluationCost.js';
import { quote, Report } from './findings.js';
import { type ContractLimits, DEFAULT_CONTRACT_LIMITS } from './limits.js';
import { checkMetaSchema } from './metaSchema.js';
import { measurePattern } from './patternEngine.js';
import { PatternRefused } from './patternSyntax.js';
import { resolveReferences } from './references.js';
import { SchemaGraph, type SchemaNode } from './schemaGraph.js';
import { lintFormats, lintNode } from './schemaLints.js';
import { checkUnevaluated } from './unevaluated.js';

export interface CheckedSchema {
  readonly dialect: Dialect;
  readonly graph: SchemaGraph;
  readonly root: SchemaNode;
  readonly cost: EvaluationCost;
  readonly size: FormSize;
  readonly patterns: PatternSizes;
}

export interface PatternSizes {
  /** Instructions of the largest. */
  readonly largest: number;
  /** What compiling all of them takes; about a microsecond each. */
  readonly work: number;
}

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

const patternsOf = (node: SchemaNode): readonly (readonly [source: string, pointer: string])[] => {
  const patterns: [string, string][] = [];
  const pattern = member(node.schema, 'pattern');
  if (typeof pattern === 'string') patterns.push([pattern, `${node.pointer}/pattern`]);
  const byPattern = member(node.schema, 'patternProperties');
  if (isJsonObject(byPattern)) {
    for (const key of Object.keys(byPattern)) patterns.push([key, `${node.pointer}/patternProperties`]);
  }
  return patterns;
};

const checkPatterns = (graph: SchemaGraph, limits: ContractLimits, report: Report): PatternSizes => {
  let [largest, work] = [0, 0];
  const seen = new Set<string>();
  for (const [source, pointer] of graph.nodes.flatMap(patternsOf)) {
    try {
      const pattern = measurePattern(source, limits.patternSize);
      largest = Math.max(largest, pattern.size);
      if (!seen.has(source)) work += pattern.work;
      // Not before it is known that all so far are small enough together.
      if (work <= limits.patternWork) pattern.compile();
    } catch (error) {
      if (!(error instanceof PatternRefused)) throw error;
      work += source.length;
      report.add(error.code, pointer, `${quote(source)}: ${error.message}`);
    }
    seen.add(source);
    if (work <= limits.patternWork) continue;
    report.add('PATTERN_UNSAFE', pointer, 'the patterns of the schema make too large automata together');
    break;
  }
  report.work += work;
  return { largest, work };
};

/** Reading, resolving and measuring one subschema, in microseconds. */
const NODE_WORK = 8;

/** V4: what would take long to compile, or more than the stack of the compiler. */
const checkForm = (size: FormSize, pointer: string, limits: ContractLimits, report: Report): void => {
  if (size.subschemas > limits.subschemas) {
    const message = `${size.subschemas} subschemas; the limit is ${limits.subschemas}`;
    report.add('SCHEMA_TOO_COMPLEX', pointer, message);
  }
  if (size.blocks > limits.blocks) {
    const message = `${size.blocks} properties (a branch counts for three) in one another's way; the limit is ${limits.blocks}`;
    report.add('SCHEMA_TOO_COMPLEX', pointer, message);
  }
};

const checkSizes = (node: SchemaNode, limits: ContractLimits, report: Report): void => {
  const values = member(node.schema, 'enum');
  if (Array.isArray(values) && values.length > limits.enumSize) {
    const message = `${values.length} members; the limit is ${limits.enumSize}`;
    report.add('SCHEMA_TOO_LARGE', `${node.pointer}/enum`, message);
  }
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
  report.work += graph.nodes.length * NODE_WORK;
  if (graph.nodes.length > limits.definitions) {
    const message = `${graph.nodes.length} subschemas, used or not; the limit is ${limits.definitions}`;
    report.add('SCHEMA_TOO_COMPLEX', pointer, message);
    return null;
  }
  const formats = new Set<string>();
  for (const node of graph.nodes) {
    checkSizes(node, limits, report);
    lintNode(node, graph, formats);
  }
  lintFormats(formats, pointer, report);
  checkUnevaluated(graph);
  const patterns = checkPatterns(graph, limits, report);
  const size = measureForm(graph, root);
  checkForm(size, pointer, limits, report);
  if (findCycle(graph, report)) return null;
  // Measuring takes a multiple of the size, so it is left out where that is over its limit.
  const cost = size.subschemas > limits.subschemas ? null : measureCost(root, limits, report);
  if (cost === null || report.faults > before) return null;
  return { dialect, graph, root, size, cost, patterns };
};
