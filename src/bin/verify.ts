#!/usr/bin/env node
/**
 * Verifies a lease and a receipt with nothing but the public key set, as a party outside Genlock would. Reads one JSON
 * object {lease, receipt, jwks, issuer, audience} on stdin, prints one on stdout, and exits 0 where all of it agrees.
 */
import { text } from 'node:stream/consumers';
import type { JSONWebKeySet } from 'jose';
import { CatalogError } from '../domain/errors.js';
import { epochMs } from '../domain/ids.js';
import { verifyLease } from '../keys/lease.js';
import { verifyReceipt } from '../keys/receipt.js';

interface Input {
  readonly lease: string;
  readonly receipt: string;
  readonly jwks: JSONWebKeySet;
  readonly issuer: string;
  readonly audience: string;
}

const verify = async ({
  lease,
  receipt,
  jwks,
  issuer,
  audience,
}: Input): Promise<Record<string, unknown>> => {
  const claims = await verifyLease(lease, jwks, {
    issuer,
    audience,
    now: epochMs(Date.now()),
    toleranceSeconds: 2,
  });
  const { body } = await verifyReceipt(receipt, jwks);
  if (body.kind !== 'admission') return { verified: false, disagrees: ['kind'] };
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['jti', claims.jti, body.lease],
    ['args', claims.args, body.args],
    ['generation', claims.generation, body.catalogGeneration],
    ['tool', claims.tool, body.tool],
    ['descriptor', claims.descriptor, body.descriptor],
    ['subject', claims.sub, body.subject],
    ['tenant', claims.tenant, body.tenant],
    ['resource', claims.resource, body.resource],
    ['policyEpoch', claims.policyEpoch, body.policyEpoch],
    ['decision', 'ALLOWED', body.decision],
  ];
  const disagrees = pairs.filter(([, a, b]) => a !== b).map(([name]) => name);
  return {
    verified: disagrees.length === 0,
    disagrees,
    lease: claims.jti,
    receipt: body.id,
    pid: process.pid,
  };
};

try {
  const answer = await verify(JSON.parse(await text(process.stdin)) as Input);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
  process.exitCode = answer['verified'] === true ? 0 : 1;
} catch (error) {
  const why =
    error instanceof CatalogError ? `${error.code}/${error.reason}` : 'the input is not of the expected form';
  process.stdout.write(`${JSON.stringify({ verified: false, why })}\n`);
  process.exitCode = 1;
}
