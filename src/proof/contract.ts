/**
 * Which part of a tool a change touches (S2, V6). The contract decides the contract version, so whatever is
 * not known to be a hint or a text belongs to it.
 */
import { classOfMember } from '../domain/diff.js';
import type { Digest } from '../domain/ids.js';
import type { JsonObject, JsonValue } from '../domain/json.js';
import type { SchemaReference } from '../domain/snapshot.js';
import { digestJson } from './digest.js';

/** A dialect as it was resolved, also where `$schema` was absent. */
export type ResolvedDialect = Pick<SchemaReference, 'dialect' | 'vocabularies'>;

export interface ResolvedDialects {
  /** null where the tool has no such schema. */
  readonly input: ResolvedDialect | null;
  readonly output: ResolvedDialect | null;
}

const pick = (tool: JsonObject, wanted: (name: string) => boolean): JsonObject =>
  // `fromEntries` defines members, so that one called `__proto__` stays one (V7).
  Object.fromEntries(Object.entries(tool).filter(([name]) => wanted(name)));

const dialectJson = (resolved: ResolvedDialect | null): JsonValue =>
  resolved === null ? null : { dialect: resolved.dialect, vocabularies: [...resolved.vocabularies].sort() };

/**
 * S2: digest of the contract: name, input and output schema with their descriptions, the resolved dialects,
 * and every member that is neither hint nor text. `_meta` and `execution` are such members: nobody has said
 * that they do not change what a call does.
 * @param tool the tool object as the strict reader read it
 */
export const contractDigest = (tool: JsonObject, dialects: ResolvedDialects): Digest =>
  digestJson({
    members: pick(tool, (name) => classOfMember(name) === 'contract'),
    dialects: { input: dialectJson(dialects.input), output: dialectJson(dialects.output) },
  });

/** V6: digest of the hints: `annotations`, whole, its `title` too. */
export const hintsDigest = (tool: JsonObject): Digest =>
  digestJson(pick(tool, (name) => classOfMember(name) === 'hints'));

/** V6: digest of the text: title, description, icons. Absent and empty differ. */
export const textDigest = (tool: JsonObject): Digest =>
  digestJson(pick(tool, (name) => classOfMember(name) === 'text'));
