/**
 * The exact form of `toolCatalogSnapshot.v1`. A member that v1 does not know is refused, so that nobody reads
 * into a sealed snapshot what its verifier did not look at.
 */
import { EFFECT_CLASSES } from '../domain/descriptor.js';
import {
  parseAudienceClass,
  parseDigest,
  parseNamespace,
  parseServerName,
  parseTenantId,
} from '../domain/ids.js';
import {
  isJsonArray,
  isJsonObject,
  isSafeInteger,
  isString,
  type JsonValue,
  member,
} from '../domain/json.js';
import {
  PROTOCOLS,
  REVISION_BINDINGS,
  SNAPSHOT_SCHEMA,
  type ToolCatalogSnapshot,
} from '../domain/snapshot.js';
import { formatPointer } from './jsonPointer.js';
import { ProofError } from './proofError.js';

type Path = readonly (string | number)[];
type Check = (value: JsonValue | undefined, path: Path) => void;

const wrong = (path: Path): ProofError => new ProofError('WRONG_SHAPE', formatPointer(path));

const where =
  (holds: (value: JsonValue | undefined) => boolean): Check =>
  (value, path) => {
    if (!holds(value)) throw wrong(path);
  };

const oneOf = (...allowed: readonly string[]): Check =>
  where((value) => isString(value) && allowed.includes(value));

/** Text that a parser of domain/ids.ts accepts. */
const parsedBy = (parse: (text: string) => unknown): Check =>
  where((value) => {
    if (!isString(value)) return false;
    try {
      parse(value);
      return true;
    } catch {
      return false;
    }
  });

const members =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value, path) => {
    if (!isJsonObject(value)) throw wrong(path);
    for (const name of Object.keys(value)) if (!Object.hasOwn(checks, name)) throw wrong([...path, name]);
    for (const [name, check] of Object.entries(checks)) check(member(value, name), [...path, name]);
  };

const listOf =
  (check: Check): Check =>
  (value, path) => {
    if (!isJsonArray(value)) throw wrong(path);
    for (const [index, element] of value.entries()) check(element, [...path, index]);
  };

/** Accepts one literal in place of what `check` accepts. */
const or =
  (literal: string | null, check: Check): Check =>
  (value, path) => {
    if (value !== literal) check(value, path);
  };

const text = where(isString);
const flag = where((value) => typeof value === 'boolean');
const count = where((value) => isSafeInteger(value) && value >= 0);
const ordinal = where((value) => isSafeInteger(value) && value >= 1);
const integer = where(isSafeInteger);
const digest = parsedBy(parseDigest);
const time = where((value) => {
  if (!isString(value)) return false;
  const at = new Date(value);
  return !Number.isNaN(at.getTime()) && at.toISOString() === value;
});
const server = parsedBy((name) => {
  const [first = '', second = '', ...rest] = name.split('@');
  parseServerName(first);
  parseDigest(second);
  if (rest.length > 0) throw new TypeError();
});

const counter = members({ incarnation: text, counter: integer });
const token = members({ token: text });
const revision: Check = (value, path) => {
  const binding = isJsonObject(value) ? member(value, 'binding') : undefined;
  members({
    binding: oneOf(...REVISION_BINDINGS),
    value: binding === 'SNAPSHOT_TOKEN' ? token : counter,
  })(value, path);
};

const page = members({
  index: count,
  requestCursor: or('START', digest),
  nextCursor: or('END', digest),
  result: digest,
  raw: digest,
  tools: count,
  bytes: count,
});

const schemaReference = or(null, members({ digest, dialect: text, vocabularies: listOf(text) }));
const finding = members({ code: text, severity: oneOf('fault', 'lint'), pointer: text, message: text });
const tool = members({
  id: text,
  namespace: parsedBy(parseNamespace),
  name: text,
  contractVersion: ordinal,
  descriptor: digest,
  raw: digest,
  inputSchema: schemaReference,
  outputSchema: schemaReference,
  effectClass: oneOf(...EFFECT_CLASSES),
  mayHaveSideEffects: flag,
  verdict: members({ status: oneOf('OK', 'QUARANTINED'), findings: listOf(finding) }),
  source: text,
});

const snapshot = members({
  schema: oneOf(SNAPSHOT_SCHEMA),
  server,
  endpoint: digest,
  protocol: oneOf(...PROTOCOLS),
  tenant: parsedBy(parseTenantId),
  audienceClass: parsedBy(parseAudienceClass),
  policyEpoch: count,
  catalogGeneration: ordinal,
  discoveryStartedAt: time,
  revision,
  pages: listOf(page),
  pageRoot: digest,
  contentRoot: digest,
  tools: listOf(tool),
  credential: or('none', members({ reference: digest, fingerprint: or(null, digest) })),
  expires: time,
  state: oneOf('COMPLETE'),
});

/**
 * S1, S2: checks the form of every member, and that there is no other.
 * @throws ProofError WRONG_SHAPE with the pointer of the first member that does not hold
 */
export const asSnapshot = (value: JsonValue): ToolCatalogSnapshot => {
  snapshot(value, []);
  return value as unknown as ToolCatalogSnapshot;
};
