/**
 * `x-mcp-header` of MCP 2026-07-28: an argument that its client repeats in an HTTP header. A client of that revision has
 * to leave out a tool whose declaration breaks a rule; before it the keyword means nothing, and is only told of.
 */
import { member } from '../domain/json.js';
import type { CheckedSchema } from './checkSchema.js';
import { quote, type Report } from './findings.js';
import type { SchemaNode } from './schemaGraph.js';

const KEYWORD = 'x-mcp-header';
/** A field name of RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** A `number` has several spellings, so that header and body could disagree. */
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];

/** The schemas of arguments that can be found by name alone, level by level. */
const namedArguments = (root: SchemaNode): ReadonlySet<SchemaNode> => {
  const found = new Set<SchemaNode>();
  const visit = (node: SchemaNode): void => {
    for (const { keyword, to } of node.edges) {
      if (keyword !== 'properties' || typeof to === 'boolean' || found.has(to)) continue;
      found.add(to);
      visit(to);
    }
  };
  visit(root);
  return found;
};

/**
 * The rules of MCP 2026-07-28, "Custom headers from tool parameters".
 * @param headers `sent` where the protocol revision sends them: then a broken rule is a fault of the tool
 */
export const checkParamHeaders = (
  { graph, root }: CheckedSchema,
  headers: 'sent' | 'ignored',
  report: Report,
): void => {
  const named = namedArguments(root);
  const taken = new Set<string>();
  for (const node of graph.nodes) {
    const name = member(node.schema, KEYWORD);
    if (name === undefined) continue;
    const broken = (rule: string): void =>
      report.add(
        headers === 'sent' ? 'HEADER_INVALID' : 'HEADER_IGNORED',
        `${node.pointer}/${KEYWORD}`,
        rule,
      );
    if (typeof name !== 'string' || !TOKEN.test(name)) {
      broken(`${typeof name === 'string' ? quote(name) : 'what is no string'} names no HTTP field`);
    } else if (taken.has(name.toLowerCase())) broken(`${quote(name)} is the header of two arguments`);
    else if (!TYPES.includes(member(node.schema, 'type'))) {
      broken('only an argument of type string, integer or boolean can be a header');
    } else if (!named.has(node)) broken('only what properties lead to, and nothing else, can be a header');
    if (typeof name === 'string') taken.add(name.toLowerCase());
  }
};
