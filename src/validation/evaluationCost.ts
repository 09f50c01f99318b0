/**
 * V3 and V4: whether checking a value against a schema ends, and how often at most one value is looked at on
 * the way: paths through combinators and references multiplied, before anything is compiled.
 */
import type { Report } from './findings.js';
import type { ContractLimits } from './limits.js';
import type { Edge, SchemaGraph, SchemaNode } from './schemaGraph.js';

/** What one check can cost at worst, for every value of the arguments. */
export interface EvaluationCost {
  readonly paths: number;
  /** Whether a schema contains itself, so that the cost grows with the depth of the arguments. */
  readonly recursive: boolean;
}

/** Steps that this analysis itself may take, and how many are a microsecond. */
const WORK = 100_000;
const STEPS_PER_WORK = 4;

class TooComplex extends Error {}

const weight = (node: SchemaNode): number => {
  const values = Object.hasOwn(node.schema, 'enum') ? node.schema['enum'] : undefined;
  return 1 + (Array.isArray(values) ? Math.floor(values.length / 100) : 0);
};

/** Combinators and references that lead to one another without going down into the value. */
const MAX_IN_PLACE = 150;

/** Subschemas that see the very same value. */
const inPlace = (node: SchemaNode): SchemaNode[] => {
  const out: SchemaNode[] = [];
  for (const edge of node.edges) if (edge.place === 'here' && typeof edge.to !== 'boolean') out.push(edge.to);
  for (const target of node.references.values()) if (typeof target !== 'boolean') out.push(target);
  return out;
};

/**
 * V3: finds a cycle that consumes nothing of the value ($ref, allOf, anyOf, oneOf, not, if, dependentSchemas
 * lead back without a property or item between). Compiling such a schema succeeds; running it never ends.
 * @returns true where there is one, or where references nest deeper than the limit
 */
export const findCycle = (graph: SchemaGraph, report: Report): boolean => {
  const state = new Map<SchemaNode, 'open' | 'done'>();
  const visit = (node: SchemaNode, depth: number): boolean => {
    if (depth > MAX_IN_PLACE) {
      report.add(
        'SCHEMA_TOO_DEEP',
        node.pointer,
        `more than ${MAX_IN_PLACE} references and combinators in a row`,
      );
      return true;
    }
    state.set(node, 'open');
    for (const next of inPlace(node)) {
      const seen = state.get(next);
      if (seen === 'open') {
        report.add(
          'REF_CYCLE',
          next.pointer,
          'the schema leads back to itself without consuming any of the value',
        );
        return true;
      }
      if (seen === undefined && visit(next, depth + 1)) return true;
    }
    state.set(node, 'done');
    return false;
  };
  return graph.nodes.some((node) => !state.has(node) && visit(node, 0));
};

interface Entry {
  readonly local: number;
  /** For each part of a value, the subschemas that look at it, and how often. */
  readonly parts: ReadonlyArray<ReadonlyMap<SchemaNode, number>>;
}

/** Tarjan's strongly connected components, and the longest way through them. */
class Groups {
  readonly #index = new Map<SchemaNode, number>();
  readonly #low = new Map<SchemaNode, number>();
  readonly #links = new Map<SchemaNode, SchemaNode[]>();
  readonly #stack: SchemaNode[] = [];
  readonly #heights = new Map<SchemaNode, number>();
  recursive = false;

  isKnown(node: SchemaNode): boolean {
    return this.#index.has(node);
  }

  open(node: SchemaNode): void {
    this.#index.set(node, this.#index.size);
    this.#low.set(node, this.#index.get(node) ?? 0);
    this.#links.set(node, []);
    this.#stack.push(node);
  }

  link(from: SchemaNode, to: SchemaNode): void {
    this.#links.get(from)?.push(to);
    if (from === to) this.recursive = true;
    // A node that has its height is in a finished group.
    if (this.#heights.has(to)) return;
    this.#low.set(from, Math.min(this.#low.get(from) ?? 0, this.#low.get(to) ?? 0));
  }

  close(node: SchemaNode): void {
    if (this.#low.get(node) !== this.#index.get(node)) return;
    const group = this.#stack.splice(this.#stack.lastIndexOf(node));
    if (group.length > 1) this.recursive = true;
    let below = 0;
    for (const each of group) {
      for (const to of this.#links.get(each) ?? []) below = Math.max(below, this.#heights.get(to) ?? 0);
    }
    for (const each of group) this.#heights.set(each, below + 1);
  }

  height(node: SchemaNode): number {
    return this.#heights.get(node) ?? 1;
  }
}

class CostModel {
  readonly #limits: ContractLimits;
  readonly #locals = new Map<SchemaNode, number>();
  readonly #named = new Map<SchemaNode, ReadonlySet<string>>();
  readonly entries = new Map<SchemaNode, Entry>();
  #work = 0;
  recursive = false;

  get work(): number {
    return Math.ceil(this.#work / STEPS_PER_WORK);
  }

  constructor(limits: ContractLimits) {
    this.#limits = limits;
  }

  spend(steps: number): void {
    this.#work += steps;
    if (this.#work > WORK) throw new TooComplex('the schema is too tangled to be measured');
  }

  local(node: SchemaNode): number {
    const known = this.#locals.get(node);
    if (known !== undefined) return known;
    let sum = weight(node);
    for (const next of inPlace(node)) sum += this.local(next);
    this.spend(1);
    if (sum > this.#limits.combinatorProduct) {
      throw new TooComplex(
        `one value is checked against more than ${this.#limits.combinatorProduct} subschemas`,
      );
    }
    this.#locals.set(node, sum);
    return sum;
  }

  /**
   * Registers an entry and all that are reachable from it.
   * @returns how many steps down lead through different groups, where entries that contain one another are one
   */
  enter(root: SchemaNode): number {
    const groups = new Groups();
    const visit = (node: SchemaNode): void => {
      const parts = this.#parts(node);
      this.entries.set(node, { local: this.local(node), parts });
      groups.open(node);
      for (const part of parts) {
        for (const to of part.keys()) {
          if (!groups.isKnown(to)) visit(to);
          groups.link(node, to);
        }
      }
      groups.close(node);
    };
    visit(root);
    this.recursive = groups.recursive;
    return groups.height(root);
  }

  #closure(node: SchemaNode, times: number, into: Map<SchemaNode, number>): void {
    this.spend(1);
    into.set(node, (into.get(node) ?? 0) + times);
    for (const next of inPlace(node)) this.#closure(next, times, into);
  }

  #namedBy(node: SchemaNode): ReadonlySet<string> {
    let named = this.#named.get(node);
    if (named === undefined) {
      named = new Set(node.edges.map(exactPart).filter((part) => part !== null));
      this.spend(node.edges.length);
      this.#named.set(node, named);
    }
    return named;
  }

  #parts(entry: SchemaNode): ReadonlyMap<SchemaNode, number>[] {
    const closure = new Map<SchemaNode, number>();
    this.local(entry);
    this.#closure(entry, 1, closure);
    const exact = new Map<string, Map<SchemaNode, number>>();
    const loose: { edge: Edge; to: SchemaNode; from: SchemaNode; times: number }[] = [];
    for (const [from, times] of closure) {
      for (const edge of from.edges) {
        if (edge.place !== 'below' || typeof edge.to === 'boolean') continue;
        this.spend(1);
        const part = exactPart(edge);
        if (part === null) loose.push({ edge, to: edge.to, from, times });
        else addTo(exact, part, edge.to, times);
      }
    }
    const parts: [string, Map<SchemaNode, number>][] = [...exact, ['p *', new Map()], ['i *', new Map()]];
    for (const { edge, to, from, times } of loose) {
      this.spend(parts.length);
      const named = this.#namedBy(from);
      for (const [part, targets] of parts) {
        if (appliesTo(edge, named, part)) targets.set(to, (targets.get(to) ?? 0) + times);
      }
    }
    return parts.map(([, targets]) => targets).filter((targets) => targets.size > 0);
  }
}

const exactPart = (edge: Edge): string | null => {
  if (edge.keyword === 'properties') return `p ${edge.key}`;
  if (edge.keyword === 'propertyNames') return 'n';
  if (edge.keyword === 'prefixItems' || (edge.keyword === 'items' && edge.key !== null))
    return `i ${edge.key}`;
  return null;
};

const addTo = (
  parts: Map<string, Map<SchemaNode, number>>,
  part: string,
  to: SchemaNode,
  times: number,
): void => {
  const targets = parts.get(part) ?? new Map<SchemaNode, number>();
  targets.set(to, (targets.get(to) ?? 0) + times);
  parts.set(part, targets);
};

const ITEM_KEYWORDS = new Set(['items', 'additionalItems', 'unevaluatedItems', 'contains']);

/** Whether a keyword for many parts looks at this one; those that take the rest leave out what is named. */
const appliesTo = (edge: Edge, named: ReadonlySet<string>, part: string): boolean => {
  const isItem = ITEM_KEYWORDS.has(edge.keyword);
  if (part.startsWith('i ') !== isItem || part === 'n') return false;
  if (part.endsWith(' *') || edge.keyword === 'contains' || edge.keyword === 'patternProperties') return true;
  return !named.has(part);
};

/** The most often that one value at the given depth is looked at, over all the ways down. */
const pathsOf = (model: CostModel, root: SchemaNode, rounds: number, limit: number): number => {
  let before = new Map<SchemaNode, number>();
  for (const [node, entry] of model.entries) before.set(node, entry.local);
  for (let round = 0; round < rounds; round++) {
    const after = new Map<SchemaNode, number>();
    let changed = false;
    for (const [node, entry] of model.entries) {
      let most = entry.local;
      for (const part of entry.parts) {
        let sum = 0;
        for (const [to, times] of part) sum += times * (before.get(to) ?? 1);
        model.spend(part.size);
        most = Math.max(most, sum);
      }
      if (most > limit) throw new TooComplex(`one value can be checked in more than ${limit} ways`);
      changed ||= most !== before.get(node);
      after.set(node, most);
    }
    before = after;
    if (!changed) break;
  }
  return before.get(root) ?? 1;
};

/**
 * V4: the cost of a schema without unproductive cycles. Schemas that contain one another are unrolled once;
 * what it costs with deep arguments is held by the deadline of the call.
 * @returns null where it is over a limit, which is then in the report
 */
export const measureCost = (
  root: SchemaNode,
  limits: ContractLimits,
  report: Report,
): EvaluationCost | null => {
  const model = new CostModel(limits);
  try {
    const height = model.enter(root);
    const rounds = model.recursive ? height + 1 : height;
    return { paths: pathsOf(model, root, rounds, limits.evaluationPaths), recursive: model.recursive };
  } catch (error) {
    if (!(error instanceof TooComplex)) throw error;
    report.add('SCHEMA_TOO_COMPLEX', root.pointer, error.message);
    return null;
  } finally {
    report.work += model.work;
  }
};
