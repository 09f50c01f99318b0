/**
 * JSON Schema equality as text: two values are equal exactly where their keys are. With it `uniqueItems`,
 * `enum` and `const` take time linear in the value, where comparing all pairs takes the square.
 */
import type { JsonValue } from '../domain/json.js';

/** Numbers by value (1 and 1.0 are one), members in any order, own members only. */
export const equalityKey = (value: JsonValue): string => {
  if (typeof value === 'number') return value === 0 ? '0' : String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${(value as readonly JsonValue[]).map(equalityKey).join(',')}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${equalityKey(item)}`).join(',')}}`;
};
