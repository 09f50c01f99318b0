/** What is worth telling an operator of a schema that is sound: nothing here keeps a tool from being called. */
import type { JsonValue } from '../domain/json.js';
import { isJsonObject, member } from '../domain/json.js';
import { quote, type Report } from './findings.js';
import { isKnownFormat } from './formats.js';
import { ASSERTIONS, NONSTANDARD, OTHER_DIALECT } from './keywords.js';
import type { SchemaGraph, SchemaNode } from './schemaGraph.js';

/** What the APIs of model providers take as a property's name. */
const PROVIDER_KEY = /^[a-zA-Z0-9_.-]{1,64}$/;

/** Formats that one lint names. */
const MAX_FORMATS = 10;

const hasType = (type: JsonValue | undefined, wanted: string): boolean =>
  type === wanted || (Array.isArray(type) && (type as readonly JsonValue[]).includes(wanted));

const lintProperties = (node: SchemaNode, report: Report): void => {
  const properties = member(node.schema, 'properties');
  if (!isJsonObject(properties)) return;
  for (const key of Object.keys(properties)) {
    if (!PROVIDER_KEY.test(key)) {
      report.add(
        'PROVIDER_COMPAT',
        `${node.pointer}/properties`,
        `model APIs do not take the property ${quote(key)}`,
      );
    }
  }
};

/** One lint a schema, however many formats and places it has: servers of some languages give one to each number. */
export const lintFormats = (formats: ReadonlySet<string>, pointer: string, report: Report): void => {
  if (formats.size === 0) return;
  const names = [...formats].sort().slice(0, MAX_FORMATS).map(quote).join(', ');
  report.add('UNKNOWN_FORMAT', pointer, `not enforced: ${names}`);
};

/** Unknown formats are left in `formats`. */
export const lintNode = (node: SchemaNode, graph: SchemaGraph, formats: Set<string>): void => {
  const { schema, pointer } = node;
  const { report, dialect } = graph;
  for (const keyword of Object.keys(schema)) {
    if (NONSTANDARD.has(keyword)) {
      report.add(
        'NONSTANDARD_KEYWORD',
        `${pointer}/${keyword}`,
        `${keyword} is no JSON Schema keyword and is ignored`,
      );
    } else if (OTHER_DIALECT[dialect].has(keyword)) {
      report.add('OTHER_DIALECT_KEYWORD', `${pointer}/${keyword}`, `${keyword} does nothing in ${dialect}`);
    }
  }
  const format = member(schema, 'format');
  if (typeof format === 'string' && !isKnownFormat(format)) formats.add(format);
  if (dialect === 'draft-07' && Object.hasOwn(schema, '$ref')) {
    const sibling = Object.keys(schema).find((keyword) => ASSERTIONS[dialect].has(keyword));
    if (sibling !== undefined || node.edges.some((edge) => edge.place !== 'apart')) {
      const message = 'draft-07 ignores what stands beside $ref; here it is applied as well';
      report.add('REF_SIBLINGS_DRAFT07', `${pointer}/$ref`, message);
    }
  }
  const bare = !['items', 'prefixItems', '$ref'].some((keyword) => Object.hasOwn(schema, keyword));
  if (hasType(member(schema, 'type'), 'array') && bare) {
    report.add('PROVIDER_COMPAT', pointer, 'some model APIs refuse an array without items');
  }
  lintProperties(node, report);
};
