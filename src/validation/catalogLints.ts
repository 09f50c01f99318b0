/**
 * What only shows over a whole catalog: names that are taken for one another, text that is harmless in each tool and not
 * beside the next, more tools than a model API takes. Lints: nothing here holds a tool or a catalog back, and that
 * nothing was found says nothing about what a model would make of the texts.
 */
import type { Finding } from '../domain/descriptor.js';
import { isJsonObject, type JsonValue } from '../domain/json.js';
import { quote, Report } from './findings.js';
import { shapeOf } from './lookAlikes.js';
import { ENCODED_ENOUGH, findEncoded, findOrders, LONGEST_ORDER } from './suspectText.js';

export interface CatalogTool {
  readonly name: string;
  /** The source's own text, which the strict reader has read. */
  readonly source: string;
}

/** What one request to a model API takes. */
const CONSUMER_TOOLS = 128;
const MAX_NAMED = 10;
/** Encoded pieces that are put together, and of each so much. */
const MAX_PIECES = 1_000;
const MAX_PIECE = 200;

const list = (names: readonly string[]): string =>
  names.slice(0, MAX_NAMED).map(quote).join(', ') + (names.length > MAX_NAMED ? ', …' : '');

const byText = (a: string, b: string): number => Number(a > b) - Number(a < b);

const lintNames = (names: readonly string[], report: Report): void => {
  const byShape = new Map<string, string[]>();
  for (const name of names) {
    const shape = shapeOf(name);
    const known = byShape.get(shape);
    if (known === undefined) byShape.set(shape, [name]);
    else known.push(name);
  }
  const groups = [...byShape.values()].filter((group) => group.length > 1);
  if (groups.length === 0) return;
  const shown = groups.slice(0, MAX_NAMED).map(list).join('; ');
  const more = groups.length > MAX_NAMED ? `; and ${groups.length - MAX_NAMED} more groups` : '';
  report.add('LOOK_ALIKE_NAMES', '', `easily taken for one another: ${shown}${more}`);
};

/** The titles and descriptions of a tool and of everything in it. */
const textsOf = (value: JsonValue): readonly string[] => {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).flatMap(textsOf);
  if (!isJsonObject(value)) return [];
  return Object.keys(value)
    .sort()
    .flatMap((key) => {
      const inner = value[key] as JsonValue;
      return (key === 'title' || key === 'description') && typeof inner === 'string'
        ? [inner]
        : textsOf(inner);
    });
};

/** Orders that begin in one tool and end in another, and encoded pieces that only together say enough. */
class TextLints {
  #before = '';
  readonly #split: string[] = [];
  readonly #pieces: { readonly tool: string; readonly said: string }[] = [];

  read({ name, source }: CatalogTool): void {
    const text = textsOf(JSON.parse(source) as JsonValue).join(' ');
    if (text === '') return;
    const before = this.#before;
    const crosses = findOrders(`${before} ${text.slice(0, LONGEST_ORDER)}`).find(
      ({ start, end }) => start < before.length && end > before.length + 1,
    );
    if (crosses !== undefined) this.#split.push(`${quote(crosses.text)} ends in ${quote(name)}`);
    this.#before = `${before} ${text}`.slice(-LONGEST_ORDER);
    for (const said of findEncoded(text)) {
      if (this.#pieces.length < MAX_PIECES) this.#pieces.push({ tool: name, said: said.slice(0, MAX_PIECE) });
    }
  }

  report(report: Report): void {
    const split = this.#split.slice(0, MAX_NAMED);
    const together = this.#pieces.map(({ said }) => said).join('');
    const carriers = [...new Set(this.#pieces.map(({ tool }) => tool))];
    if (carriers.length > 1 && together.length >= ENCODED_ENOUGH) {
      split.push(`encoded pieces of ${list(carriers)} read ${quote(together)}`);
    }
    if (split.length > 0) report.add('SPLIT_TEXT', '', split.join('; '));
  }
}

/**
 * V7, over the tools of a candidate in the order of their names, in which a catalog shows them. A generator, so that who
 * runs it can let others run in between: it yields the characters that it has read since.
 * @param repeated names that the list has more than once, each time with the same descriptor
 * @returns at most one finding a code, with an empty pointer
 */
export function* lintCatalog(
  tools: readonly CatalogTool[],
  repeated: readonly string[],
): Generator<number, readonly Finding[], void> {
  const report = new Report();
  const sorted = [...tools].sort((a, b) => byText(a.name, b.name));
  if (tools.length > CONSUMER_TOOLS) {
    report.add(
      'CONSUMER_LIMIT',
      '',
      `${tools.length} tools; some model APIs take ${CONSUMER_TOOLS} in one request, and none is left out here`,
    );
  }
  if (repeated.length > 0) {
    report.add('TOOL_REPEATED', '', `listed more than once, and kept once: ${list([...repeated].sort())}`);
  }
  lintNames(
    sorted.map(({ name }) => name),
    report,
  );
  // One at a time: ten thousand descriptors as values would be most of a worker's memory.
  const texts = new TextLints();
  for (const tool of sorted) {
    texts.read(tool);
    yield tool.source.length;
  }
  texts.report(report);
  return report.list();
}
