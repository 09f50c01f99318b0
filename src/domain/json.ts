/**
 * JSON as types. Everything that came over the wire is a `JsonValue` until a check has narrowed it, so that
 * `any` never enters from a parser.
 */

export type JsonPrimitive = null | boolean | number | string;
export type JsonValue = JsonPrimitive | JsonArray | JsonObject;
export type JsonArray = readonly JsonValue[];
export interface JsonObject {
  readonly [member: string]: JsonValue;
}

/** True for `{…}`: neither null nor an array. */
export const isJsonObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isJsonArray = (value: JsonValue | undefined): value is JsonArray => Array.isArray(value);

export const isString = (value: JsonValue | undefined): value is string => typeof value === 'string';

/** True for integers that a double holds exactly, so that a counter read from the wire is the counter sent. */
export const isSafeInteger = (value: JsonValue | undefined): value is number => Number.isSafeInteger(value);

/**
 * Reads an own member. A plain index would also find `constructor` and the other names of the prototype, which
 * a hostile document could count on (V7).
 * @returns the member's value, or undefined where the object has no such member of its own
 */
export const member = (object: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;
