/**
 * One walk over a whole tool object, before any other check: size, depth, and what its strings hide. The
 * later checks may recurse, since this one has bounded how deep.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.js';
import { quote, type Report } from './findings.js';
import { findHidden } from './hiddenText.js';
import type { ContractLimits } from './limits.js';
import { mixedWord } from './lookAlikes.js';
import { ENCODED_ENOUGH, findEncoded, findOrders } from './suspectText.js';

interface Walk {
  readonly report: Report;
  readonly limits: ContractLimits;
  nodes: number;
  /** Of strings and member names. */
  characters: number;
  stopped: boolean;
}

/** Of all its checks, as many are a microsecond. */
const CHARACTERS_PER_WORK = 20;

const escapeToken = (token: string): string =>
  /[~/]/.test(token) ? token.replaceAll('~', '~0').replaceAll('/', '~1') : token;

/** Shorter texts say nothing. */
const SHORTEST = 4;

/** Before a text is looked at: one alone can be as long as a page. */
const isLong = (text: string, walk: Walk): boolean => {
  walk.characters += text.length;
  if (walk.characters <= walk.limits.descriptorBytes) return false;
  walk.stopped = true;
  walk.report.add('SCHEMA_TOO_LARGE', '', `more than ${walk.limits.descriptorBytes} bytes`);
  return true;
};

const inspect = (text: string, pointer: string, what: string, { report }: Walk): void => {
  if (text.includes('\0')) report.add('STRING_NUL', pointer, `${what} has U+0000, which storage cannot hold`);
  const hidden = findHidden(text);
  if (hidden.length > 0) {
    report.add('HIDDEN_TEXT', pointer, `${what} has characters that cannot be seen: ${hidden.join(' ')}`);
  }
  const mixed = mixedWord(text);
  if (mixed !== null) {
    report.add('MIXED_SCRIPT', pointer, `${what} has ${quote(mixed)}, which mixes letters that look alike`);
  }
};

const suspect = (text: string, pointer: string, { report }: Walk): void => {
  const [order] = findOrders(text);
  if (order !== undefined) {
    report.add(
      'TEXT_SUSPECT',
      pointer,
      `${quote(order.text)} reads like orders to a model, or names a secret`,
    );
  }
  const said = findEncoded(text).find((one) => one.length >= ENCODED_ENOUGH);
  if (said !== undefined) report.add('TEXT_SUSPECT', pointer, `encoded text reads ${quote(said)}`);
};

const visit = (value: JsonValue, pointer: string, level: number, walk: Walk): void => {
  if (walk.stopped) return;
  walk.nodes += 1;
  if (walk.nodes > walk.limits.nodes) {
    walk.stopped = true;
    walk.report.add('SCHEMA_TOO_LARGE', '', `more than ${walk.limits.nodes} JSON values`);
  } else if (typeof value === 'string') {
    if (isLong(value, walk)) return;
    inspect(value, pointer, 'the text', walk);
    if (value.length >= SHORTEST) suspect(value, pointer, walk);
  } else if (typeof value === 'object' && value !== null) {
    if (level >= walk.limits.depth) {
      walk.stopped = true;
      walk.report.add('SCHEMA_TOO_DEEP', '', `more than ${walk.limits.depth} levels of nesting`);
    } else if (Array.isArray(value)) {
      (value as readonly JsonValue[]).forEach((item, index) => {
        visit(item, `${pointer}/${index}`, level + 1, walk);
      });
    } else {
      // In one order, so that a walk that stops at a limit has found the same, however the members stood.
      for (const key of Object.keys(value).sort()) {
        if (walk.stopped || isLong(key, walk)) return;
        const at = `${pointer}/${escapeToken(key)}`;
        inspect(key, at, 'the member name', walk);
        visit((value as JsonObject)[key] as JsonValue, at, level + 1, walk);
      }
    }
  }
};

/** @returns false where a limit was exceeded and nothing else may walk the tool */
export const checkText = (tool: JsonValue, limits: ContractLimits, report: Report): boolean => {
  const walk: Walk = { report, limits, nodes: 0, characters: 0, stopped: false };
  visit(tool, '', 0, walk);
  report.work += walk.nodes + Math.ceil(walk.characters / CHARACTERS_PER_WORK);
  if (walk.stopped) return false;
  const bytes = Buffer.byteLength(JSON.stringify(tool), 'utf8');
  if (bytes <= limits.descriptorBytes) return true;
  report.add('SCHEMA_TOO_LARGE', '', `${bytes} bytes; the limit is ${limits.descriptorBytes}`);
  return false;
};

/** MCP: title and description are strings. A null is read as absent, as many servers mean it. */
export const checkTextTypes = (tool: JsonValue, report: Report): void => {
  if (!isJsonObject(tool)) return;
  for (const name of ['title', 'description']) {
    const value = Object.hasOwn(tool, name) ? tool[name] : undefined;
    if (value === null) report.add('TEXT_NULL', `/${name}`, `${name} is null, and is read as absent`);
    else if (value !== undefined && typeof value !== 'string') {
      report.add('DESCRIPTOR_INVALID', `/${name}`, `${name} is a string`);
    }
  }
};
