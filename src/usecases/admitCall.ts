/**
 * Admission of one call or of a whole plan (A1–A6): judge over a view, commit under its fence, and where the fence
 * moved meanwhile judge again. A refusal leaves a receipt as well (R1).
 */
import { type Refused, refused } from '../domain/decision.js';
import { CatalogError } from '../domain/errors.js';
import type { EpochMs, ServerName, TenantId } from '../domain/ids.js';
import type { JsonValue } from '../domain/json.js';
import type { VerifiedCaller } from '../keys/callerToken.js';
import type { VerifiedProof } from '../keys/dpop.js';
import { digestJson } from '../proof/digest.js';
import type { AdmissionStore, DecisionRow } from '../store/admissionStore.js';
import { type IssuedLease, type RecordDeps, recordAdmission } from './admissionRecord.js';
import type { ArgumentCheck, CallArguments } from './checkArguments.js';
import { createGroupCommit, type GroupCommitOptions } from './groupCommit.js';
import { type Call, createJudge, type Judged } from './judgeCall.js';
import type { Policies } from './policies.js';

export interface AdmitDeps extends RecordDeps {
  readonly store: Pick<AdmissionStore, 'view' | 'tool' | 'toolId' | 'commitDecisions' | 'forgetProofs'>;
  readonly policies: Policies;
  readonly checkArguments: ArgumentCheck;
  readonly requireBoundTokens: boolean;
  readonly metrics: AdmissionMetrics;
  readonly group?: Pick<GroupCommitOptions, 'maxRows' | 'maxInFlight' | 'maxWaiting'>;
}

export interface AdmissionMetrics {
  /** `code` and `reason` are empty where allowed. */
  decided(decision: 'allowed' | 'refused', code: string, reason: string): void;
  committed(rows: number): void;
  fenceMoved(): void;
}

export interface NodeRequest {
  readonly server: ServerName;
  readonly node: Call['node'];
  readonly policyEpoch: number | null;
  readonly mode: Call['mode'];
  readonly args: CallArguments;
}

export interface AdmissionRequest {
  readonly caller: VerifiedCaller;
  /** Of the whole request; or why there is none. */
  readonly proof: VerifiedProof | CatalogError<'PROOF_INVALID'>;
  /** At least one. */
  readonly nodes: readonly NodeRequest[];
  readonly requestId: string;
}

export interface SignedReceipt {
  readonly id: string;
  readonly jws: string;
}

export type Admission =
  | {
      readonly decision: 'allowed';
      readonly lease: IssuedLease;
      readonly receipt: SignedReceipt;
      readonly generation: number;
      readonly effectClass: string;
      readonly resource: string;
      readonly args: string;
    }
  | (Refused & {
      /** null only where nothing could be decided or committed. */
      readonly receipt: SignedReceipt | null;
    });

/** Answers in the order of the nodes. @throws CatalogError BUSY, OVERLOADED or UNAVAILABLE where nothing was committed */
export type AdmitCalls = (request: AdmissionRequest) => Promise<readonly Admission[]>;

const TRIES = 3;
/** A proof is kept longer than any clock that this installation tolerates could accept it. */
const PROOF_KEPT_SECONDS = 300;
const FORGET_EVERY_MS = 60_000;

export const createAdmitCalls = (deps: AdmitDeps): AdmitCalls => {
  const judge = createJudge(deps);
  const group = createGroupCommit({
    ...deps.group,
    commit: deps.store.commitDecisions,
    onBatch: (rows) => deps.metrics.committed(rows),
  });
  const forgetProofs = proofSweeper(deps);

  const judgeSurely = async (call: Call, fresh: boolean): Promise<Judged> => {
    const judged = await judge(call, fresh);
    // What is refused over a view that was kept may be allowed now, or for another reason.
    return judged.decision.decision === 'refused' && judged.cached ? judge(call, true) : judged;
  };

  const settle = async (call: Call, ticket: Ticket, requestId: string): Promise<Admission> => {
    let { refusal, proof } = ticket;
    let fresh = false;
    let bornDead = false;
    for (let moves = 0; moves < TRIES; ) {
      const judged = refusal === null ? await judgeSurely(call, fresh) : await judge(call, fresh);
      const record = recordAdmission(deps, call, judged, refusal ?? judged.decision, ticket.jkt, requestId);
      const outcome = await group.submit(call.caller.tenant, call.server, { ...record.row, proof });
      fresh = true;
      switch (outcome) {
        case 'COMMITTED':
          if (proof !== null) forgetProofs(call.caller.tenant);
          return answer(deps.metrics, call, record);
        case 'FENCE_MOVED':
          moves += 1;
          deps.metrics.fenceMoved();
          break;
        case 'REPLAYED':
          refusal = refused('PROOF_INVALID', 'REPLAYED');
          proof = null;
          break;
        case 'EXPIRED':
          // By the database's clock the lease would be dead at birth: once for a view that was old, then for good.
          if (bornDead) refusal = refused('STALE_CATALOG', 'GENERATION_EXPIRED');
          bornDead = true;
      }
    }
    throw new CatalogError('BUSY', 'FENCE_MOVED');
  };

  return async ({ caller, proof, nodes, requestId }) => {
    const calls = nodes.map((node): Call => ({ ...node, caller, argsDigest: digestOf(node.args) }));
    const [first, ...rest] = calls;
    if (first === undefined)
      throw new CatalogError('BAD_REQUEST', 'INVALID_BODY', { rule: 'at least one node' });

    // One proof covers the request and is recorded once, with the first node. The others wait for that commit: were
    // the proof used before, not one of them may be admitted.
    const lead = await settle(first, ticketOf(proof), requestId);
    const replayed =
      lead.decision === 'refused' && lead.code === 'PROOF_INVALID' && lead.reason === 'REPLAYED';
    const ticket: Ticket = replayed
      ? { jkt: null, proof: null, refusal: refused('PROOF_INVALID', 'REPLAYED') }
      : { ...ticketOf(proof), proof: null };
    return [lead, ...(await Promise.all(rest.map((call) => undecided(settle(call, ticket, requestId)))))];
  };
};

interface Ticket {
  readonly jkt: string | null;
  /** To be recorded as used with the next commit. */
  readonly proof: DecisionRow['proof'];
  readonly refusal: Refused | null;
}

const ticketOf = (proof: AdmissionRequest['proof']): Ticket =>
  proof instanceof CatalogError
    ? { jkt: null, proof: null, refusal: refused(proof.code, proof.reason, proof.details) }
    : {
        jkt: proof.jkt,
        proof: { jkt: proof.jkt, jti: proof.jti, expires_ms: (proof.iat + PROOF_KEPT_SECONDS) * 1_000 },
        refusal: null,
      };

/** The other nodes of the plan stand committed: one that could not be decided tells so in its place. */
const undecided = (settling: Promise<Admission>): Promise<Admission> =>
  settling.catch((error: unknown) => {
    if (!(error instanceof CatalogError)) throw error;
    return { ...refused(error.code, error.reason, error.details), receipt: null };
  });

const digestOf = ({ value, inexact }: CallArguments): Call['argsDigest'] =>
  inexact.length > 0 ? null : digestJson(value satisfies JsonValue);

const answer = (
  metrics: AdmissionMetrics,
  call: Call,
  { decision, lease, receipt, jws }: ReturnType<typeof recordAdmission>,
): Admission => {
  const signed = { id: receipt.id, jws };
  if (decision.decision === 'refused') {
    metrics.decided('refused', decision.code, decision.reason);
    return { ...decision, receipt: signed };
  }
  if (lease === null) throw new Error('an allowed call has a lease');
  metrics.decided('allowed', '', '');
  return {
    decision: 'allowed',
    lease,
    receipt: signed,
    generation: decision.generation,
    effectClass: decision.effectClass,
    resource: decision.resource,
    args: call.argsDigest ?? '',
  };
};

/** Deletes used proofs that are past acceptance, once a minute for each tenant that uses any. */
const proofSweeper = ({ store, now }: AdmitDeps): ((tenant: TenantId) => void) => {
  const last = new Map<TenantId, EpochMs>();
  return (tenant) => {
    const at = now();
    if (at - (last.get(tenant) ?? 0) < FORGET_EVERY_MS) return;
    last.set(tenant, at);
    // Only space is at stake: a sweep that failed is made up for by the next.
    void store.forgetProofs(tenant).catch(() => {});
  };
};
