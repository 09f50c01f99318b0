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

/** Where more than this differs inside of one member of the tool, that member is told as a whole. */
const MOST_INNER = 100;
/** Characters of their pointers together: deep members have long ones. */
const MOST_POINTERS = 4_096;

/**
 * V6: the deepest members that differ, in order of their names; lists of different length differ as a whole, as does a member
 * of the tool in which too much differs to be told one by one.
 * @param before the tool object as the strict reader read it, or `{}` for a tool that was not there
 */
export const diffMembers = (before: JsonObject, after: JsonObject): readonly MemberChange[] =>
  keysOf(before, after).flatMap((key) => {
    const [pointer, name] = [step('', key), classOfMember(key)];
    const [a, b] = [member(before, key), member(after, key)];
    return innerChanges(pointer, name, a, b) ?? [{ pointer, class: name, before: a, after: b }];
  });

/** @returns null where there are too many */
const innerChanges = (
  top: string,
  name: DiffClass,
  before: JsonValue | undefined,
  after: JsonValue | undefined,
): readonly MemberChange[] | null => {
  const changes: MemberChange[] = [];
  let pointers = 0;
  const isFull = (): boolean => changes.length > MOST_INNER || pointers > MOST_POINTERS;
  const compare = (pointer: string, a: JsonValue | undefined, b: JsonValue | undefined): void => {
    if (isFull()) return;
    if (isJsonObject(a) && isJsonObject(b)) {
      for (const key of keysOf(a, b)) compare(step(pointer, key), member(a, key), member(b, key));
    } else if (isJsonArray(a) && isJsonArray(b) && a.length === b.length) {
      for (const [index, item] of a.entries()) compare(step(pointer, String(index)), item, b[index]);
    } else if (a !== b) {
      changes.push({ pointer, class: name, before: a, after: b });
      pointers += pointer.length;
    }
  };
  compare(top, before, after);
  return isFull() ? null : changes;
};

const keysOf = (a: JsonObject, b: JsonObject): readonly string[] =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();

const step = (pointer: string, key: string): string =>
  `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
