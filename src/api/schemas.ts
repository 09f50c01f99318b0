/** Forms that many operations share. Names and digests are judged by the domain's own parsers. */
import { extendZodWithOpenApi } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { EFFECT_CLASSES } from '../domain/descriptor.js';
import { CatalogError, CODES } from '../domain/errors.js';
import { parseAudienceClass, parseDigest, parseServerName, parseToolId } from '../domain/ids.js';

extendZodWithOpenApi(z);

/** Neither Postgres nor a receipt can hold all of the others. */
const STORABLE = /^[^\p{Cs}\p{Cc}]*$/u;

/** A string that a parser of the domain takes; what it says of the rule is what the caller reads. */
const named = <T>(parser: (text: string) => T, example: string) =>
  z
    .string()
    .regex(STORABLE, 'text without control characters')
    .transform((text, context): T => {
      try {
        return parser(text);
      } catch (error) {
        const rule = error instanceof CatalogError ? error.details['rule'] : undefined;
        context.addIssue({ code: 'custom', message: typeof rule === 'string' ? rule : 'not a valid name' });
        return z.NEVER;
      }
    })
    .openapi({ type: 'string', example });

export const serverName = named(parseServerName, 'inventory');
export const audienceClass = named(parseAudienceClass, 'warehouse.policy-1');
export const toolId = named(parseToolId, 'inventory.reserve@1');
export const digest = named(parseDigest, `sha256:${'0'.repeat(64)}`);

export const limit = (highest: number, otherwise: number) =>
  z.coerce
    .number()
    .int()
    .min(1)
    .max(highest)
    .default(otherwise)
    .openapi({ type: 'integer', minimum: 1, maximum: highest, default: otherwise });

/** Text that a person writes and reads: it is stored, so it holds nothing that Postgres or a receipt cannot. */
export const plainText = (longest: number) =>
  z.string().min(1).max(longest).regex(STORABLE, 'text without control characters');

export const effectClass = z.enum(EFFECT_CLASSES);
export const generationNumber = z.coerce
  .number()
  .int()
  .min(1)
  .max(2_147_483_647)
  .openapi({ type: 'integer', minimum: 1, maximum: 2_147_483_647 });
/** A time that Postgres can hold: years from 1 on, offsets below 16 hours; its text is short, since it is parsed again. */
export const instant = z.iso
  .datetime({ offset: true, message: 'an ISO 8601 time with its offset' })
  .max(40)
  .regex(/^(?!0000)/, 'a year from 0001 on')
  .regex(/(?:Z|[+-](?:0\d|1[0-5]):\d\d)$/, 'an offset below 16 hours')
  .openapi({ format: 'date-time' });

/** A record with few members; what is counted is stated in the document as well. */
export const smallRecord = <V extends z.ZodType>(names: z.ZodString, value: V, most: number, least = 0) =>
  z
    .record(names, value)
    .refine((record) => Object.keys(record).length <= most, `at most ${most} members`)
    .refine((record) => Object.keys(record).length >= least, `at least ${least}`)
    .openapi({ maxProperties: most, ...(least > 0 && { minProperties: least }) });

export const isoTime = z.string().openapi({ format: 'date-time' });
export const text = z.string();
export const jsonValue = z.unknown();

export const problem = z
  .object({
    type: z.string().openapi({ example: 'urn:genlock:error:STALE_CATALOG' }),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    code: z.enum(Object.keys(CODES) as [string, ...string[]]),
    reason: z.string(),
    next: z.string(),
    retry: z.boolean(),
    details: z.record(z.string(), z.unknown()),
  })
  .loose()
  .openapi('Problem');

export const openReview = z
  .object({ id: text, state: z.enum(['pending', 'refused']), changed: z.array(z.enum(['text', 'hints'])) })
  .openapi('OpenReview');

export const signedReceipt = z.object({ id: text, jws: text }).openapi('SignedReceipt');

export const discoveryStart = z
  .object({
    server: text,
    audience: text,
    workflowId: text.nullable(),
    ui: text.nullable(),
    failed: z.object({ code: text, reason: text }).nullable(),
  })
  .openapi('DiscoveryStart');

export const serverParams = z.object({ server: serverName });

export const dpopHeader = z.object({
  DPoP: z.string().openapi({ description: 'A proof for this very request (RFC 9449), good once.' }),
});

export { z };
