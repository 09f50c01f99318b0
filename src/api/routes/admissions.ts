/** The hot route: may this call be made, now, by this subject (A1–A6). */
import { CODES, codeRow, nextStep } from '../../domain/errors.js';
import type { Admission, NodeRequest } from '../../usecases/admitCall.js';
import { inexactBelow } from '../../usecases/readJson.js';
import { type Answer, type Context, json, type Route, route } from '../route.js';
import {
  digest,
  effectClass,
  isoTime,
  jsonValue,
  serverName,
  signedReceipt,
  text,
  toolId,
  z,
} from '../schemas.js';
import type { ApiLog } from '../services.js';

const MAX_NODES = 100;
const counter = z.int().min(1).max(2_147_483_647);

const planNode = z
  .strictObject({
    server: serverName,
    tool: toolId,
    generation: counter,
    descriptor: digest,
    arguments: jsonValue.optional().openapi({ description: 'An object; left out counts as {}.' }),
    policyEpoch: counter
      .optional()
      .openapi({ description: 'That of the binding; tells revoked from denied.' }),
    mode: z.enum(['autonomous', 'confirmed']).default('autonomous'),
  })
  .openapi('PlanNode');

const plan = z.strictObject({ nodes: z.array(planNode).min(1).max(MAX_NODES) }).openapi('Plan');

const admitted = z
  .object({
    decision: z.literal('ALLOWED'),
    lease: z.object({ jti: text, token: text, expiresAt: isoTime }),
    receipt: signedReceipt,
    generation: z.int(),
    effectClass,
    resource: text,
    argumentsDigest: text,
  })
  .openapi('Admitted');

const refusedNode = z
  .object({
    decision: z.literal('REFUSED'),
    status: z.int(),
    code: z.enum(Object.keys(CODES) as [string, ...string[]]),
    reason: text,
    detail: text,
    next: text,
    details: z.record(z.string(), z.unknown()),
    receipt: signedReceipt.nullable(),
  })
  .openapi('RefusedNode');

type Node = z.output<typeof planNode>;
type Body = Node | z.output<typeof plan>;

const admit = route({
  method: 'post',
  path: '/v1/admissions',
  id: 'admit',
  tag: 'Admissions',
  summary: 'Admit one call, or every call of a plan',
  description:
    'One DPoP proof covers the request and is good once. A single node that is refused answers with the problem of its refusal, whose `receipt` member holds the signed receipt. A plan answers 200 with a decision for each node, in their order; where the proof itself is refused, with the problem.',
  access: 'caller',
  readsProof: true,
  argumentsAllowed: true,
  body: z.union([planNode, plan]),
  responses: {
    200: {
      description: 'A plan was decided',
      schema: z.object({ nodes: z.array(z.union([admitted, refusedNode])) }),
    },
    201: { description: 'A single call was admitted', schema: admitted },
  },
  handle: async (context, { admit: admitCalls, log }) => {
    const { body, caller, proof, requestId } = context;
    const nodes = 'nodes' in body ? body.nodes : [body];
    const requests = nodes.map((node, index) =>
      nodeRequest(context, node, 'nodes' in body ? `/nodes/${index}/arguments` : '/arguments'),
    );
    const answers = await admitCalls({ caller, proof, nodes: requests, requestId });
    answers.forEach((answer, index) => {
      note(log, context, requests[index], answer);
    });
    return 'nodes' in body ? planAnswer(answers) : singleAnswer(answers);
  },
});

const nodeRequest = (
  { inexact }: Pick<Context<unknown, unknown, Body>, 'inexact'>,
  node: Node,
  pointer: string,
): NodeRequest => ({
  server: node.server,
  node: { tool: node.tool, generation: node.generation, descriptor: node.descriptor },
  policyEpoch: node.policyEpoch ?? null,
  mode: node.mode,
  args: {
    // Left out counts as {}; null is a value, and no object. What is here came from the strict reader.
    value: Object.hasOwn(node, 'arguments') ? (node.arguments as NodeRequest['args']['value']) : {},
    inexact: inexactBelow(inexact, pointer),
  },
});

const singleAnswer = ([answer]: readonly Admission[]): Answer => {
  if (answer === undefined) throw new Error('one node has one answer');
  return answer.decision === 'allowed'
    ? json(201, shown(answer))
    : { fault: answer, extension: { receipt: answer.receipt } };
};

const planAnswer = (answers: readonly Admission[]): Answer => {
  const [first] = answers;
  // The proof is the request's, not a node's: one that does not hold refuses the request as a whole.
  const unproven = (one: Admission) =>
    one.decision === 'refused' && one.code === 'PROOF_INVALID' && one.reason !== 'UNBOUND_TOKEN';
  if (first?.decision === 'refused' && answers.every(unproven))
    return { fault: first, extension: { receipts: answers.map(({ receipt }) => receipt) } };
  return json(200, { nodes: answers.map(shown) });
};

const shown = (answer: Admission): unknown => {
  if (answer.decision === 'refused') {
    const { code, reason, details, receipt } = answer;
    const row = codeRow(code);
    return {
      decision: 'REFUSED',
      status: row.status,
      code,
      reason,
      detail: row.reasons[reason],
      next: nextStep(code, reason),
      details,
      receipt,
    };
  }
  const { lease, receipt, generation, resource, args } = answer;
  return {
    decision: 'ALLOWED',
    lease,
    receipt,
    generation,
    effectClass: answer.effectClass,
    resource,
    argumentsDigest: args,
  };
};

/** A3: refusals are told apart in the log as well. */
const note = (
  log: ApiLog,
  { caller, requestId }: Context<unknown, unknown, unknown>,
  request: NodeRequest | undefined,
  answer: Admission,
): void => {
  if (answer.decision === 'allowed') return;
  const { code, reason, receipt } = answer;
  log.info(
    {
      requestId,
      tenant: caller.tenant,
      subject: caller.subject,
      server: request?.server,
      tool: request?.node.tool,
      code,
      reason,
      receipt: receipt?.id,
    },
    'call refused',
  );
};

export const admissionRoutes: readonly Route[] = [admit];
