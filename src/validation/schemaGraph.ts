/**
 * A schema document as a graph: every subschema a node, every reference an edge. All later questions (does it
 * terminate, what does it cost, what is handed to the validator) are asked of this graph, so that there is one
 * reading of `$id`, anchors and pointers, and it is ours.
 */
import type { JsonObject, JsonValue } from '../domain/json.js';
import { isJsonObject, member } from '../domain/json.js';
import { type Dialect, isKnownVocabulary, readDialect } from './dialects.js';
import { quote, type Report } from './findings.js';
import { APPLICATORS, FORBIDDEN, type Place } from './keywords.js';
import { checkMetaSchema } from './metaSchema.js';

/** A schema resource: what an `$id` names, and the anchors in it. */
export interface Resource {
  readonly uri: string;
  readonly root: SchemaNode;
  readonly anchors: Map<string, SchemaNode>;
}

export interface Edge {
  readonly keyword: string;
  readonly place: Place;
  /** Property name, pattern or index, where the keyword has several subschemas. */
  readonly key: string | null;
  readonly to: SchemaNode | boolean;
}

export interface SchemaNode {
  readonly schema: JsonObject;
  /** RFC 6901, into the tool object. */
  readonly pointer: string;
  resource: Resource;
  readonly edges: Edge[];
  /** Where `$ref` and `$dynamicRef` lead. */
  readonly references: Map<'$ref' | '$dynamicRef', SchemaNode | boolean>;
}

/** Base of documents without an absolute `$id`. Nothing has this address and nothing asks for it. */
export const DOCUMENT_BASE = 'genlock-document://schema/';

const escapeToken = (token: string): string =>
  /[~/]/.test(token) ? token.replaceAll('~', '~0').replaceAll('/', '~1') : token;

export const withoutFragment = (uri: string): string => uri.split('#', 1)[0] ?? '';

export const resolveUri = (reference: string, base: string): string | null => {
  try {
    return new URL(reference, base).href;
  } catch {
    return null;
  }
};

export class SchemaGraph {
  readonly dialect: Dialect;
  readonly report: Report;
  readonly nodes: SchemaNode[] = [];
  readonly resources = new Map<string, Resource>();
  /** How many places in the document carry each `$dynamicAnchor`. */
  readonly dynamicAnchors = new Map<string, number>();
  readonly #bySchema = new Map<JsonObject, SchemaNode>();

  constructor(dialect: Dialect, report: Report) {
    this.dialect = dialect;
    this.report = report;
  }

  nodeOf(schema: JsonObject): SchemaNode | undefined {
    return this.#bySchema.get(schema);
  }

  /**
   * Adds a schema and all below it; references are resolved afterwards.
   * @param resource null for the document's root
   */
  add(value: JsonValue, pointer: string, resource: Resource | null): SchemaNode | boolean | null {
    if (typeof value === 'boolean') return value;
    if (!isJsonObject(value)) return null;
    const known = this.#bySchema.get(value);
    if (known !== undefined) return known;
    const node = this.#open(value, pointer, resource);
    for (const [keyword, { shape, place }] of APPLICATORS[this.dialect]) {
      const found = member(value, keyword);
      if (found === undefined) continue;
      const at = `${pointer}/${keyword}`;
      const link = (sub: JsonValue, key: string | null): void => {
        const to = this.add(sub, key === null ? at : `${at}/${escapeToken(key)}`, node.resource);
        if (to !== null) node.edges.push({ keyword, place, key, to });
      };
      if (shape === 'map' && isJsonObject(found)) {
        for (const [key, sub] of Object.entries(found)) link(sub, key);
      } else if (shape === 'dependencies' && isJsonObject(found)) {
        for (const [key, sub] of Object.entries(found)) if (!Array.isArray(sub)) link(sub, key);
      } else if (Array.isArray(found)) {
        (found as readonly JsonValue[]).forEach((sub, index) => {
          link(sub, String(index));
        });
      } else link(found, null);
    }
    return node;
  }

  /** A reference may lead to a place that no keyword makes a schema; what is there then has to be one. */
  addTarget(value: JsonValue, pointer: string, resource: Resource): SchemaNode | boolean | null {
    const fault = checkMetaSchema(value, this.dialect);
    if (fault !== null) {
      this.report.add('SCHEMA_INVALID', `${pointer}${fault.pointer}`, fault.message);
      return null;
    }
    return this.add(value, pointer, resource);
  }

  #open(schema: JsonObject, pointer: string, outer: Resource | null): SchemaNode {
    const node: SchemaNode = {
      schema,
      pointer,
      resource: outer as Resource,
      edges: [],
      references: new Map(),
    };
    this.#bySchema.set(schema, node);
    this.nodes.push(node);
    node.resource = this.#resourceOf(node, outer);
    this.#readAnchors(node);
    this.#checkDeclarations(node);
    return node;
  }

  #resourceOf(node: SchemaNode, outer: Resource | null): Resource {
    const id = member(node.schema, '$id');
    // Draft-07 ignores what stands beside a $ref, `$id` included.
    const ignored = this.dialect === 'draft-07' && Object.hasOwn(node.schema, '$ref');
    const isBase = typeof id === 'string' && !id.startsWith('#') && id !== '' && !ignored;
    if (outer !== null && !isBase) return outer;
    const uri = isBase ? resolveUri(withoutFragment(id), outer?.uri ?? DOCUMENT_BASE) : DOCUMENT_BASE;
    if (uri === null) this.report.add('SCHEMA_INVALID', `${node.pointer}/$id`, 'the $id is no URI reference');
    const resource: Resource = { uri: uri ?? DOCUMENT_BASE, root: node, anchors: new Map() };
    if (this.resources.has(resource.uri)) {
      this.report.add('SCHEMA_INVALID', `${node.pointer}/$id`, 'two schemas of the document have this $id');
    } else this.resources.set(resource.uri, resource);
    return resource;
  }

  #readAnchors(node: SchemaNode): void {
    const names: string[] = [];
    if (this.dialect === '2020-12') {
      const dynamic = member(node.schema, '$dynamicAnchor');
      const anchor = member(node.schema, '$anchor');
      if (typeof dynamic === 'string') {
        this.dynamicAnchors.set(dynamic, (this.dynamicAnchors.get(dynamic) ?? 0) + 1);
        names.push(dynamic);
      }
      if (typeof anchor === 'string' && anchor !== dynamic) names.push(anchor);
    } else {
      const id = member(node.schema, '$id');
      if (typeof id === 'string' && /^#[^/]/.test(id)) names.push(id.slice(1));
    }
    for (const name of names) {
      if (!node.resource.anchors.has(name)) node.resource.anchors.set(name, node);
      else this.report.add('SCHEMA_INVALID', node.pointer, `two schemas have the anchor ${quote(name)}`);
    }
  }

  /** V2: a nested `$schema` of another dialect would be skipped over by a validator; it must be found here. */
  #checkDeclarations(node: SchemaNode): void {
    const { schema, pointer } = node;
    const declared = member(schema, '$schema');
    const read = readDialect(declared);
    if (declared !== undefined && (read === null || read.dialect !== this.dialect)) {
      const shown = typeof declared === 'string' ? quote(declared) : 'not a string';
      this.report.add(
        'UNKNOWN_DIALECT',
        `${pointer}/$schema`,
        `${shown} is not the dialect of this document`,
      );
    }
    const vocabulary = member(schema, '$vocabulary');
    if (this.dialect === '2020-12' && isJsonObject(vocabulary)) {
      for (const uri of Object.keys(vocabulary)) {
        if (isKnownVocabulary(this.dialect, uri)) continue;
        this.report.add('UNKNOWN_VOCABULARY', `${pointer}/$vocabulary`, `${quote(uri)} is not known`);
      }
    }
    for (const [keyword, why] of FORBIDDEN) {
      if (Object.hasOwn(schema, keyword)) {
        this.report.add('FORBIDDEN_KEYWORD', `${pointer}/${keyword}`, `${keyword} is not allowed: ${why}`);
      }
    }
  }
}
