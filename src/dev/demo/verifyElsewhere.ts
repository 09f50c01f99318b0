/** Has a second process, which holds nothing but the key set, verify a lease and its receipt. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { packageRoot } from '../../packageRoot.js';

export interface Evidence {
  readonly lease: string;
  readonly receipt: string;
  readonly jwks: unknown;
  readonly issuer: string;
  readonly audience: string;
}

export const verifyElsewhere = async (
  evidence: Evidence,
): Promise<{ readonly verified: boolean; readonly pid: number }> => {
  const child = spawn(process.execPath, [join(packageRoot(), 'dist', 'src', 'bin', 'verify.js')], {
    // No environment: it can reach neither database nor API.
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.end(JSON.stringify(evidence));
  const answer = JSON.parse(await text(child.stdout)) as { verified?: unknown };
  return { verified: answer.verified === true, pid: child.pid ?? 0 };
};
