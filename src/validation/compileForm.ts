/**
 * What is handed to the validator in place of the source's schema: the same constraints with nothing in it
 * that the validator could read in a way of its own. Only known keywords, no `$id`, no anchors, no unknown
 * keywords, every reference a plain `#/$defs/r…`. The source's own text is what is stored and digested.
 */
import type { JsonValue } from '../domain/json.js';
import { member } from '../domain/json.js';
import { isKnownFormat } from './formats.js';
import { ASSERTIONS } from './keywords.js';
import type { Edge, SchemaGraph, SchemaNode } from './schemaGraph.js';

/** Built here from a checked graph, and given to ajv, which is why its members are not JSON values. */
export interface CompileForm {
  readonly schema: Readonly<Form>;
  readonly subschemas: number;
  /** Whether there is an `unevaluated…` keyword, which asks what the other keywords have looked at. */
  readonly tracks: boolean;
}

interface Form {
  [keyword: string]: unknown;
}

/** The validator skips properties of this name; what a schema says of them is said in another way. */
const PROTO = '__proto__';
const WITHOUT_PROTO = { not: { required: [PROTO] } };

interface Emitter {
  readonly graph: SchemaGraph;
  readonly names: Map<SchemaNode, string>;
  emitted: number;
}

const referenceTo = (to: SchemaNode | boolean, emitter: Emitter): unknown => {
  if (typeof to === 'boolean') return to ? {} : { not: {} };
  return { $ref: `#/$defs/${emitter.names.get(to)}` };
};

const emitTarget = (to: SchemaNode | boolean, emitter: Emitter): unknown => {
  if (typeof to === 'boolean') return to;
  return emitter.names.has(to) ? referenceTo(to, emitter) : emitNode(to, emitter);
};

const into = (form: Form, keyword: string): Record<string, unknown> => {
  const known = form[keyword] as Record<string, unknown> | undefined;
  if (known !== undefined) return known;
  const fresh: Record<string, unknown> = {};
  form[keyword] = fresh;
  return fresh;
};

const also = (form: Form, condition: unknown): void => {
  form['allOf'] = [...((form['allOf'] as unknown[] | undefined) ?? []), condition];
};

/** A pattern that was put there in place of a name does not take the place of the source's own. */
const put = (form: Form, keyword: string, key: string, sub: unknown): void => {
  const map = into(form, keyword);
  if (Object.hasOwn(map, key)) also(form, { [keyword]: { [key]: sub } });
  else map[key] = sub;
};

const isMapKeyword = (keyword: string): boolean =>
  ['properties', 'patternProperties', 'dependentSchemas', 'dependencies'].includes(keyword);

const emitEdge = (form: Form, edge: Edge, emitter: Emitter): void => {
  const sub = emitTarget(edge.to, emitter);
  const { keyword, key } = edge;
  if (key === null) form[keyword] = sub;
  else if (!isMapKeyword(keyword)) {
    const list = form[keyword] as unknown[] | undefined;
    if (list === undefined) form[keyword] = [sub];
    else list.push(sub);
  } else if (key !== PROTO) put(form, keyword, key, sub);
  else if (keyword === 'properties') put(form, 'patternProperties', '^__proto__$', sub);
  else if (keyword === 'patternProperties') put(form, 'patternProperties', '(?:__proto__)', sub);
  else also(form, { anyOf: [WITHOUT_PROTO, sub] });
};

const emitRequirements = (form: Form, keyword: string, value: JsonValue): void => {
  for (const [key, names] of Object.entries(value as Record<string, JsonValue>)) {
    if (!Array.isArray(names)) continue;
    if (key === PROTO) also(form, { anyOf: [WITHOUT_PROTO, { required: names }] });
    else into(form, keyword)[key] = names;
  }
};

/** Draft-07: a `$ref` with siblings; both are applied, which can only refuse more. */
const emitReferences = (form: Form, node: SchemaNode, emitter: Emitter): void => {
  const [first, ...rest] = node.references.values();
  if (first === undefined) return;
  if (typeof first === 'boolean') also(form, referenceTo(first, emitter));
  else Object.assign(form, referenceTo(first, emitter));
  for (const target of rest) also(form, referenceTo(target, emitter));
};

const emitNode = (node: SchemaNode, emitter: Emitter): Form => {
  const form: Form = {};
  emitter.emitted += 1;
  for (const keyword of ASSERTIONS[emitter.graph.dialect]) {
    const value = member(node.schema, keyword);
    if (value === undefined || (keyword === 'format' && !isKnownFormat(String(value)))) continue;
    if (keyword === 'dependentRequired') emitRequirements(form, keyword, value);
    else form[keyword] = value;
  }
  const dependencies = member(node.schema, 'dependencies');
  if (dependencies !== undefined) emitRequirements(form, 'dependencies', dependencies);
  for (const edge of node.edges) {
    const needsIf = edge.keyword === 'then' || edge.keyword === 'else';
    if (edge.place === 'apart' || (needsIf && !Object.hasOwn(node.schema, 'if'))) continue;
    emitEdge(form, edge, emitter);
  }
  emitReferences(form, node, emitter);
  return form;
};

/** Schemas that references of reachable schemas lead to, in the order of the document. */
const collectTargets = (graph: SchemaGraph, root: SchemaNode): SchemaNode[] => {
  const reached = new Set<SchemaNode>([root]);
  const targets = new Set<SchemaNode>();
  for (const node of reached) {
    for (const edge of node.edges)
      if (edge.place !== 'apart' && typeof edge.to !== 'boolean') reached.add(edge.to);
    for (const to of node.references.values()) {
      if (typeof to === 'boolean') continue;
      reached.add(to);
      targets.add(to);
    }
  }
  return graph.nodes.filter((node) => targets.has(node));
};

/** What compiling takes, known before anything is compiled: its time and its stack are bounded by these. */
export interface FormSize {
  /** Subschemas that code is written for. */
  readonly subschemas: number;
  /** Blocks of the written code inside one another: each property and each branch stands in those before it. */
  readonly blocks: number;
  /** Levels of subschemas; what references lead to is compiled one inside the other. */
  readonly levels: number;
}

/** A branch is a block, and what is done where it is passed and where not. */
const BRANCH_BLOCKS = 3;

const sizeOf = (node: SchemaNode, targets: ReadonlySet<SchemaNode>): FormSize => {
  const within = node.edges.filter(({ place }) => place !== 'apart');
  let [subschemas, blocks, levels, own] = [1, 0, 0, 1];
  for (const { place, to } of within) {
    own += place === 'here' ? BRANCH_BLOCKS : 1;
    if (typeof to === 'boolean' || targets.has(to)) continue;
    const below = sizeOf(to, targets);
    subschemas += below.subschemas;
    blocks = Math.max(blocks, below.blocks);
    levels = Math.max(levels, below.levels);
  }
  return { subschemas, blocks: blocks + own, levels: levels + 1 };
};

/** V4: measures the compile form without making it. */
export const measureForm = (graph: SchemaGraph, root: SchemaNode): FormSize => {
  const targets = new Set(collectTargets(graph, root));
  const parts = [...new Set([root, ...targets])].map((part) => sizeOf(part, targets));
  return {
    subschemas: parts.reduce((sum, part) => sum + part.subschemas, 0),
    blocks: Math.max(...parts.map((part) => part.blocks)),
    levels: parts.reduce((sum, part) => sum + part.levels, 0),
  };
};

/** @param graph without faults: every reference resolved, no cycle that consumes nothing */
export const emitSchema = (graph: SchemaGraph, root: SchemaNode): CompileForm => {
  const targets = collectTargets(graph, root);
  const names = new Map(targets.map((node, index) => [node, `r${index}`]));
  const emitter: Emitter = { graph, names, emitted: 0 };
  // The root among them: without an id of its own, the validator finds no `#`.
  const form = emitTarget(root, emitter) as Form;
  if (targets.length > 0) {
    form['$defs'] = Object.fromEntries(targets.map((node, index) => [`r${index}`, emitNode(node, emitter)]));
  }
  const tracks = graph.nodes.some((node) =>
    node.edges.some(({ keyword }) => keyword.startsWith('unevaluated')),
  );
  return { schema: form, subschemas: emitter.emitted, tracks };
};
