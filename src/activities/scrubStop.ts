/**
 * The one place where a stop leaves an activity that talks to a source (S6): what goes on into history, store and API
 * holds none of the secrets that the source was shown.
 */
import { scrubEvidence } from '../domain/evidence.js';
import { Secret } from '../domain/secret.js';
import type { SourceTarget } from '../sources/source.js';
import type { Stop } from './activityTypes.js';

/** Everything of a target that its server sees and no other place may: the credential, and secrets of its environment. */
export const secretsOf = (target: SourceTarget): readonly string[] => {
  const { credential } = target;
  const values = target.kind === 'mcp-stdio' ? Object.values(target.env ?? {}) : [];
  return [
    ...(credential.kind === 'bearer' ? [credential.token.reveal()] : []),
    ...values.flatMap((value) => (value instanceof Secret ? [value.reveal()] : [])),
  ];
};

/** @param secrets what has been shown to the source until now */
export const scrubStop = <T extends { readonly kind: string }>(
  result: T | Stop,
  secrets: Iterable<string>,
): T | Stop =>
  isStop(result) ? { ...result, evidence: scrubEvidence(result.evidence, [...secrets]) } : result;

const isStop = (result: { readonly kind: string }): result is Stop => result.kind === 'stop';
