/**
 * V2: the JSON Schema dialects that exist for Genlock, with every spelling that counts as one of them. What
 * is not in this table is unknown, and nothing is relabelled: digests keep the source's own spelling.
 */
import type { JsonValue } from '../domain/json.js';

export type Dialect = '2020-12' | 'draft-07';

/** S2: what a schema was read as, also where it did not say so itself. */
export interface ResolvedDialect {
  readonly dialect: string;
  readonly vocabularies: readonly string[];
}

const URI: Readonly<Record<Dialect, string>> = {
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
  'draft-07': 'http://json-schema.org/draft-07/schema#',
};

/** The versionless http://json-schema.org/schema# is left out on purpose: it names no dialect. */
const SPELLINGS: ReadonlyMap<string, Dialect> = new Map([
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['https://json-schema.org/draft/2020-12/schema#', '2020-12'],
  ['http://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['http://json-schema.org/draft/2020-12/schema#', '2020-12'],
  ['http://json-schema.org/draft-07/schema#', 'draft-07'],
  ['http://json-schema.org/draft-07/schema', 'draft-07'],
  ['https://json-schema.org/draft-07/schema#', 'draft-07'],
  ['https://json-schema.org/draft-07/schema', 'draft-07'],
]);

const VOCABULARY = 'https://json-schema.org/draft/2020-12/vocab/';
/** Those of the 2020-12 meta-schema. Draft-07 knows no vocabularies. */
const VOCABULARIES: Readonly<Record<Dialect, readonly string[]>> = {
  '2020-12': [
    'core',
    'applicator',
    'unevaluated',
    'validation',
    'meta-data',
    'format-annotation',
    'content',
  ].map((name) => `${VOCABULARY}${name}`),
  'draft-07': [],
};

/** MCP: the dialect of a schema without `$schema`. */
export const DEFAULT_DIALECT: Dialect = '2020-12';

export const describeDialect = (dialect: Dialect): ResolvedDialect => ({
  dialect: URI[dialect],
  vocabularies: VOCABULARIES[dialect],
});

/**
 * V2: reads a `$schema` value.
 * @param declared its value, undefined where the member is absent
 * @returns `alias` where the spelling is not the dialect's own id; null where it names no known dialect
 */
export const readDialect = (declared: JsonValue | undefined): { dialect: Dialect; alias: boolean } | null => {
  if (declared === undefined) return { dialect: DEFAULT_DIALECT, alias: false };
  if (typeof declared !== 'string') return null;
  const dialect = SPELLINGS.get(declared);
  return dialect === undefined ? null : { dialect, alias: declared !== URI[dialect] };
};

/** V2: whether a `$vocabulary` member names a vocabulary of this dialect. */
export const isKnownVocabulary = (dialect: Dialect, uri: string): boolean =>
  VOCABULARIES[dialect].includes(uri);
