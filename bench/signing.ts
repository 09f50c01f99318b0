/**
 * signing: what the choice of ES256 and of node:crypto for signing rests on. Every value is a ratio of two medians from
 * one run, taken in turns, so that a busy machine slows both sides.
 */
import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { CompactSign, compactVerify, importJWK } from 'jose';
import { createKeySet, generateSigningJwk } from '../src/keys/keySet.js';
import type { BenchRow } from './rows.js';

const ROUNDS = 15;
const CALLS = 100;
/** About as long as a receipt. */
const PAYLOAD = JSON.stringify({ text: 'x'.repeat(700) });
const BYTES = new TextEncoder().encode(PAYLOAD);

type Task = () => unknown;

/** Median milliseconds of CALLS calls, the tasks in turns; the first round only warms up. */
const mediansOf = async <N extends string>(tasks: Readonly<Record<N, Task>>): Promise<Record<N, number>> => {
  const entries = Object.entries<Task>(tasks);
  const times = new Map<string, number[]>(entries.map(([name]) => [name, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, task] of entries) {
      const begun = performance.now();
      for (let call = 0; call < CALLS; call++) await task();
      if (round > 0) times.get(name)?.push(performance.now() - begun);
    }
  }
  const median = (values: readonly number[]): number =>
    [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
  return Object.fromEntries([...times].map(([name, values]) => [name, median(values)])) as Record<N, number>;
};

export const signing = async (log: (line: string) => void): Promise<readonly BenchRow[]> => {
  const jwk = generateSigningJwk();
  const keys = createKeySet([jwk]);
  const [publicJwk = {}] = keys.publicJwks().keys;
  const { kty, crv, x, y, d } = jwk;
  const josePrivate = await importJWK({ kty, crv, x, y, d }, 'ES256');
  const josePublic = await importJWK(publicJwk, 'ES256');
  const { privateKey: ecPrivate, publicKey: ecPublic } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { privateKey: edPrivate, publicKey: edPublic } = generateKeyPairSync('ed25519');
  const ecOptions = { key: ecPublic, dsaEncoding: 'ieee-p1363' } as const;
  const token = keys.signCompact('bench', PAYLOAD);
  const ecSignature = sign('sha256', BYTES, { key: ecPrivate, dsaEncoding: 'ieee-p1363' });
  const edSignature = sign(null, BYTES, edPrivate);

  log(`Signing and verifying ${BYTES.length} bytes, ${ROUNDS} rounds of ${CALLS} calls each.`);
  const took = await mediansOf({
    signCompact: () => keys.signCompact('bench', PAYLOAD),
    signJose: () =>
      new CompactSign(BYTES).setProtectedHeader({ alg: 'ES256', kid: jwk.kid }).sign(josePrivate),
    signEs256: () => sign('sha256', BYTES, { key: ecPrivate, dsaEncoding: 'ieee-p1363' }),
    signEdDsa: () => sign(null, BYTES, edPrivate),
    verifyJose: () => compactVerify(token, josePublic),
    verifyEs256: () => verify('sha256', BYTES, ecOptions, ecSignature),
    verifyEdDsa: () => verify(null, BYTES, edPublic, edSignature),
  });

  const row = (measure: string, value: number, baseline: number | null): BenchRow => ({
    bench: 'signing',
    measure,
    unit: 'ratio',
    value,
    baseline,
    ...(baseline === null ? {} : { limit: 1 }),
  });
  return [
    // The one that the code rests on: were it not below 1, signing would be left to jose.
    row('signNodeByJose', took.signCompact / took.signJose, 1),
    row('verifyNodeByJose', took.verifyEs256 / took.verifyJose, null),
    row('signEs256ByEdDsa', took.signEs256 / took.signEdDsa, null),
    row('verifyEs256ByEdDsa', took.verifyEs256 / took.verifyEdDsa, null),
  ];
};
