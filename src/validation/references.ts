/**
 * V3: `$ref` closure. Every reference is resolved inside the document, over JSON Pointers (`~0`, `~1`, percent
 * encoding), anchors and embedded `$id`s; what leads out of it is named, and nothing is ever fetched.
 */
import type { JsonValue } from '../domain/json.js';
import { isJsonObject, member } from '../domain/json.js';
import { quote } from './findings.js';
import {
  DOCUMENT_BASE,
  type Resource,
  resolveUri,
  type SchemaGraph,
  type SchemaNode,
  withoutFragment,
} from './schemaGraph.js';

const decode = (fragment: string): string | null => {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return null;
  }
};

/** Follows a pointer from a resource's root, minding the resources that it passes through. */
const follow = (
  graph: SchemaGraph,
  start: Resource,
  tokens: readonly string[],
): SchemaNode | boolean | null => {
  let at: JsonValue | undefined = start.root.schema;
  let pointer = start.root.pointer;
  let resource = start;
  for (const raw of tokens) {
    if (/~(?![01])/.test(raw)) return null;
    const token = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    if (isJsonObject(at)) {
      resource = graph.nodeOf(at)?.resource ?? resource;
      at = member(at, token);
    } else if (Array.isArray(at) && /^(?:0|[1-9]\d*)$/.test(token)) {
      at = (at as readonly JsonValue[])[Number(token)];
    } else return null;
    pointer += `/${raw}`;
  }
  if (typeof at === 'boolean') return at;
  if (!isJsonObject(at)) return null;
  return graph.nodeOf(at) ?? graph.addTarget(at, pointer, resource);
};

const resourceOf = (
  graph: SchemaGraph,
  node: SchemaNode,
  keyword: string,
  reference: string,
): Resource | null => {
  if (reference.startsWith('#') || reference === '') return node.resource;
  const uri = resolveUri(withoutFragment(reference), node.resource.uri);
  const found = uri === null ? undefined : graph.resources.get(uri);
  if (found !== undefined) return found;
  const remote = uri !== null && !uri.startsWith(DOCUMENT_BASE);
  graph.report.add(
    remote ? 'REF_REMOTE' : 'REF_UNRESOLVED',
    `${node.pointer}/${keyword}`,
    remote
      ? `${quote(reference)} leads out of the document; nothing is fetched`
      : `${quote(reference)} is not in the document`,
  );
  return null;
};

const resolve = (
  graph: SchemaGraph,
  node: SchemaNode,
  keyword: '$ref' | '$dynamicRef',
  reference: string,
): void => {
  const resource = resourceOf(graph, node, keyword, reference);
  if (resource === null) return;
  const hash = reference.indexOf('#');
  const fragment = hash < 0 ? '' : decode(reference.slice(hash + 1));
  let target: SchemaNode | boolean | null | undefined;
  if (fragment === '') target = resource.root;
  else if (fragment?.startsWith('/')) target = follow(graph, resource, fragment.slice(1).split('/'));
  else if (fragment !== null) target = resource.anchors.get(fragment ?? '');
  if (target === undefined || target === null) {
    const message = `${quote(reference)} leads to no schema in the document`;
    graph.report.add('REF_UNRESOLVED', `${node.pointer}/${keyword}`, message);
    return;
  }
  // With one dynamic anchor of that name, the dynamic scope can only end at it: a plain reference. With
  // several, the answer depends on the path taken, and the validator is known to get it wrong.
  if (keyword === '$dynamicRef' && (graph.dynamicAnchors.get(fragment ?? '') ?? 0) > 1) {
    const message = `several schemas have the dynamic anchor ${quote(fragment ?? '')}`;
    graph.report.add('REF_DYNAMIC', `${node.pointer}/$dynamicRef`, message);
    return;
  }
  node.references.set(keyword, target);
};

/** V3: resolves the references of all nodes, those included that are only found by resolving. */
export const resolveReferences = (graph: SchemaGraph): void => {
  for (let at = 0; at < graph.nodes.length; at++) {
    const node = graph.nodes[at];
    if (node === undefined) return;
    for (const keyword of ['$ref', '$dynamicRef'] as const) {
      const reference = member(node.schema, keyword);
      if (typeof reference !== 'string') continue;
      if (keyword === '$dynamicRef' && graph.dialect === 'draft-07') continue;
      resolve(graph, node, keyword, reference);
    }
  }
};
