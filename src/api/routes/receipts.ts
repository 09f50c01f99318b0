/** Receipts, for whom they concern and for operators (R1). */
import type { StoredReceipt } from '../../store/admissionStore.js';
import { readReceipt, readReceipts } from '../../usecases/readReceipts.js';
import { json, type Route, route } from '../route.js';
import { instant, isoTime, limit, plainText, text, z } from '../schemas.js';

const receipt = z
  .object({
    id: text,
    at: isoTime,
    kind: z.enum(['catalog', 'admission', 'operator']),
    subject: text,
    server: text.nullable(),
    tool: text.nullable(),
    generation: z.int().nullable(),
    decision: text,
    code: text.nullable(),
    reason: text.nullable(),
    lease: text.nullable(),
    jws: text.openapi({ description: 'What was signed; its payload is the receipt in RFC 8785 form.' }),
  })
  .openapi('Receipt');

const shown = (row: StoredReceipt): z.output<typeof receipt> => ({
  id: row.id,
  at: row.at,
  kind: row.kind,
  subject: row.subject,
  server: row.server,
  tool: row.tool_id,
  generation: row.generation,
  decision: row.decision,
  code: row.code,
  reason: row.reason,
  lease: row.lease,
  jws: row.jws,
});

const listReceipts = route({
  method: 'get',
  path: '/v1/receipts',
  id: 'listReceipts',
  tag: 'Receipts',
  summary: 'Receipts, newest first',
  description: 'Those of your own admissions; with the operator role every one of the tenant.',
  access: 'caller',
  query: z.strictObject({
    subject: plainText(255).optional().openapi({ description: 'For operators.' }),
    before: instant.optional().openapi({ description: 'The `at` of the last one read.' }),
    limit: limit(200, 50),
  }),
  responses: { 200: { description: 'A page', schema: z.object({ receipts: z.array(receipt) }) } },
  handle: async ({ caller, isOperator, query }, { admissionStore }) => {
    const rows = await readReceipts(admissionStore, caller, isOperator, query);
    return json(200, { receipts: rows.map(shown) });
  },
});

const getReceipt = route({
  method: 'get',
  path: '/v1/receipts/{id}',
  id: 'readReceipt',
  tag: 'Receipts',
  summary: 'One receipt',
  access: 'caller',
  params: z.object({ id: plainText(128) }),
  responses: { 200: { description: 'The receipt', schema: receipt } },
  handle: async ({ caller, isOperator, params }, { admissionStore }) =>
    json(200, shown(await readReceipt(admissionStore, caller, isOperator, params.id))),
});

export const receiptRoutes: readonly Route[] = [listReceipts, getReceipt];
