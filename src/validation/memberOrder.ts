/**
 * One order for the members of an object, so that a check finds the same things in the same order, and leaves out
 * the same ones, however a source ordered what it sent: order has no meaning in a descriptor's digest either (S5).
 */
import { isJsonObject, type JsonValue } from '../domain/json.js';

/** @param value of bounded depth */
export const orderMembers = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(orderMembers);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => Number(a > b) - Number(a < b))
      .map(([name, inner]) => [name, orderMembers(inner)]),
  );
};
