/**
 * The contract check of one tool of a proven snapshot (V0–V5, V7). A fault quarantines this tool and leaves
 * the others alone; a lint is only shown. Pure: no clock, no I/O, no state that another tool could see.
 */
import { type Finding, type ToolVerdict, verdictOf } from '../domain/descriptor.js';
import type { JsonObject, JsonValue } from '../domain/json.js';
import { isJsonObject, member } from '../domain/json.js';
import type { InexactNumber } from '../proof/strictJson.js';
import { checkAnnotations } from './annotations.js';
import { checkSchema, resolveDialect } from './checkSchema.js';
import { checkText, checkTextTypes } from './descriptorText.js';
import { type Dialect, describeDialect, type ResolvedDialect } from './dialects.js';
import { quote, Report } from './findings.js';
import { type ContractLimits, DEFAULT_CONTRACT_LIMITS } from './limits.js';
import { orderMembers } from './memberOrder.js';
import { checkName } from './names.js';
import { checkParamHeaders } from './paramHeaders.js';

export interface ContractPolicy {
  /** Dialects that this server's registration adds to 2020-12, which is always accepted (V2). */
  readonly dialects: readonly Dialect[];
  readonly limits: ContractLimits;
  /** MCP 2025-11-25 wants an output schema to be of type object; 2026-07-28 takes any. */
  readonly outputRoot: 'object' | 'any';
  /** What `x-mcp-header` does: 2026-07-28 sends such headers, and 2025-11-25 knows none. */
  readonly paramHeaders: 'sent' | 'ignored';
}

export const DEFAULT_CONTRACT_POLICY: ContractPolicy = {
  dialects: ['2020-12'],
  limits: DEFAULT_CONTRACT_LIMITS,
  outputRoot: 'object',
  paramHeaders: 'ignored',
};

export interface DescriptorCheck extends ToolVerdict {
  readonly name: string | null;
  /** S2: what the input schema was read as; null where its dialect is unknown. */
  readonly input: ResolvedDialect | null;
  /** The same of the output schema; null also where there is none. */
  readonly output: ResolvedDialect | null;
  /** What the check took, about a microsecond each; the same for the same tool. */
  readonly work: number;
}

type Members = Omit<DescriptorCheck, keyof ToolVerdict | 'work'>;

const checkOne = (
  schema: JsonValue,
  pointer: '/inputSchema' | '/outputSchema',
  policy: ContractPolicy,
  report: Report,
): ResolvedDialect | null => {
  const wantsObject = pointer === '/inputSchema' || policy.outputRoot === 'object';
  // Asked of the text itself: a validator accepts anything for a schema without a type.
  if (wantsObject && !(isJsonObject(schema) && member(schema, 'type') === 'object')) {
    const code = pointer === '/inputSchema' ? 'ROOT_NOT_OBJECT' : 'OUTPUT_ROOT_NOT_OBJECT';
    report.add(code, pointer, 'the schema says "type": "object" at its root');
  }
  const dialect = resolveDialect(schema, policy.dialects, pointer, report);
  if (dialect === null) return null;
  const checked = checkSchema(schema, dialect, pointer, report, policy.limits);
  if (checked !== null && pointer === '/inputSchema') checkParamHeaders(checked, policy.paramHeaders, report);
  return describeDialect(dialect);
};

const checkMembers = (tool: JsonObject, policy: ContractPolicy, report: Report): Members => {
  const name = checkName(member(tool, 'name'), report);
  checkTextTypes(tool, report);
  checkAnnotations(member(tool, 'annotations'), name, report);
  const input = member(tool, 'inputSchema');
  const output = member(tool, 'outputSchema');
  if (input === undefined) report.add('ROOT_NOT_OBJECT', '/inputSchema', 'a tool has an input schema');
  return {
    name,
    input: input === undefined ? null : checkOne(input, '/inputSchema', policy, report),
    output: output === undefined ? null : checkOne(output, '/outputSchema', policy, report),
  };
};

/** V7: the values that the checks saw are rounded ones here; call arguments like that are refused. */
const checkNumbers = (inexact: readonly InexactNumber[], report: Report): void => {
  for (const { pointer, text } of [...inexact].sort((a, b) => (a.pointer < b.pointer ? -1 : 1))) {
    report.add('UNSAFE_NUMBER', pointer, `no double holds ${quote(text)} exactly`);
  }
};

/**
 * @param tool one member of `tools`, as the strict reader read it
 * @param inexact what the reader says of its numbers, with pointers into the tool
 * @returns the verdict, with every fault and lint that was found, at most 25 of each; the same for the same tool,
 *   whatever the order of its members
 */
export const checkDescriptor = (
  tool: JsonValue,
  policy: ContractPolicy = DEFAULT_CONTRACT_POLICY,
  inexact: readonly InexactNumber[] = [],
): DescriptorCheck => {
  const report = new Report();
  const finish = (rest: Members): DescriptorCheck => {
    const findings: readonly Finding[] = report.list();
    return { ...rest, ...verdictOf(findings), work: report.work };
  };
  if (!isJsonObject(tool)) {
    report.add('DESCRIPTOR_INVALID', '', 'a tool is an object');
    return finish({ name: null, input: null, output: null });
  }
  checkNumbers(inexact, report);
  if (!checkText(tool, policy.limits, report)) {
    return finish({ name: checkName(member(tool, 'name'), report), input: null, output: null });
  }
  return finish(checkMembers(orderMembers(tool) as JsonObject, policy, report));
};
