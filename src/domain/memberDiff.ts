/** What changed within one tool, member by member, for the person who reviews it (V6). */
import { classOfMember, type DiffClass } from './diff.js';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from './json.js';

export interface MemberChange {
  /** RFC 6901, into the tool object. */
  readonly pointer: string;
  readonly class: DiffClass;
  /** undefined where the member is new. */
  readonly before: JsonValue | undefined;
  /** undefined where it is gone. */
  readonly after: JsonValue | undefined;
}

/**
 * V6: the deepest members that differ, in order of their names; lists of different length differ as a whole.
 * @param before the tool object as the strict reader read it, or `{}` for a tool that was not there
 */
export const diffMembers = (before: JsonObject, after: JsonObject): readonly MemberChange[] => {
  const changes: MemberChange[] = [];
  const compare = (
    pointer: string,
    name: DiffClass,
    a: JsonValue | undefined,
    b: JsonValue | undefined,
  ): void => {
    if (isJsonObject(a) && isJsonObject(b)) {
      for (const key of keysOf(a, b)) compare(step(pointer, key), name, member(a, key), member(b, key));
    } else if (isJsonArray(a) && isJsonArray(b) && a.length === b.length) {
      for (const [index, item] of a.entries()) compare(step(pointer, String(index)), name, item, b[index]);
    } else if (a !== b) changes.push({ pointer, class: name, before: a, after: b });
  };
  for (const key of keysOf(before, after))
    compare(step('', key), classOfMember(key), member(before, key), member(after, key));
  return changes;
};

const keysOf = (a: JsonObject, b: JsonObject): readonly string[] =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();

const step = (pointer: string, key: string): string =>
  `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
