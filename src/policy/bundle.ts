/**
 * Validates a policy bundle as a whole: its form, then what its parts say of one another. One error refuses all of
 * it, and every error is told at once, so that a reviewer mends it in one go.
 */
import { z } from 'zod';
import { CatalogError } from '../domain/errors.js';
import {
  type AudienceClass,
  type Digest,
  parseAudienceClass,
  parseToolId,
  type ToolId,
} from '../domain/ids.js';
import type { JsonValue } from '../domain/json.js';
import { digestJson } from '../proof/digest.js';
import { formatPointer, parsePointer } from '../proof/jsonPointer.js';
import { BUNDLE_SCHEMA, CALL_MODES, type PolicyBundle } from './port.js';
import { ANY_RESOURCE, compileResourceRule } from './resourceRule.js';

export interface BundleError {
  /** The file of the reviewed folder that holds it. */
  readonly file: string;
  /** RFC 6901, into that file. */
  readonly pointer: string;
  readonly reason: string;
}

/** Whether a parser takes the text, as a zod check whose message names the rule. */
const accepted = (parse: (text: string) => unknown, rule: string) =>
  z.string().refine(
    (text) => {
      try {
        parse(text);
        return true;
      } catch {
        return false;
      }
    },
    { error: rule },
  );

const role = z.string().regex(/^[\x21-\x7e]{1,128}$/, 'a role is 1–128 printable ASCII characters');
const roles = z.array(role).min(1).max(100);
const audienceClass = accepted(
  parseAudienceClass,
  '1–128 of a–z, 0–9, ., _ and -; values that look like a token are refused',
).transform((text) => text as AudienceClass);
const stableId = accepted(parseToolId, 'a tool id is namespace.name@contractVersion').transform(
  (text) => text as ToolId,
);
const plainText = z
  .string()
  .regex(/^[^\p{C}\p{Zl}\p{Zp}]+$/u, 'text without control or invisible characters');

const bundleForm = z.strictObject({
  schema: z.literal(BUNDLE_SCHEMA).default(BUNDLE_SCHEMA),
  audiences: z
    .array(
      z.strictObject({
        audienceClass,
        when: z
          .strictObject({
            anyRole: roles.optional(),
            claims: z
              .record(
                accepted(parsePointer, 'a claim is named by a JSON Pointer'),
                z.union([z.string(), z.number(), z.boolean()]),
              )
              .refine((claims) => Object.keys(claims).length > 0, { error: 'at least one claim' })
              .optional(),
          })
          .refine((when) => when.anyRole !== undefined || when.claims !== undefined, {
            error: 'a rule without a condition would put every caller into this class',
          }),
      }),
    )
    .max(1_000),
  tools: z.record(
    accepted(parseToolId, 'a tool id is namespace.name@contractVersion'),
    z.strictObject({
      effectClass: z.enum(['READ', 'RESERVATION', 'WRITE', 'DESTRUCTIVE']),
      resource: z.string(),
      shortDescription: plainText.max(280).optional(),
    }),
  ),
  permits: z
    .array(
      z.strictObject({
        id: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,127}$/, 'an id is 1–128 of a–z, 0–9, ., _ and -'),
        roles,
        tools: z.array(stableId).min(1).max(20_000),
        audienceClasses: z.array(audienceClass).min(1).optional(),
        modes: z.array(z.enum(CALL_MODES)).min(1).optional(),
      }),
    )
    .max(10_000),
});

/**
 * @param value parsed strictly: from a reviewed folder, a request body or the database
 * @throws CatalogError BAD_REQUEST/INVALID_BUNDLE with details.errors: {file, pointer, reason}[]
 */
export const parseBundle = (value: unknown): PolicyBundle => {
  const form = bundleForm.safeParse(value);
  if (!form.success) throw invalidBundle(form.error.issues.flatMap(formErrors));
  const errors = [...resourceErrors(form.data), ...permitErrors(form.data)];
  if (errors.length > 0) throw invalidBundle(errors);
  return form.data;
};

/** S5: over the canonical form of the whole bundle, so that the order of members and white space mean nothing. */
export const bundleDigest = (bundle: PolicyBundle): Digest => digestJson(withoutUndefined(bundle));

/** The JSON value that a bundle is: optional members that are undefined are left out. */
export const withoutUndefined = (value: unknown): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue;

export const invalidBundle = (errors: readonly BundleError[]): CatalogError =>
  new CatalogError('BAD_REQUEST', 'INVALID_BUNDLE', { errors });

/** Each member of a bundle stands in the file of its name, under that same member. */
const at = (path: readonly (string | number)[], reason: string): BundleError => ({
  file: path[0] === undefined ? '' : `${path[0]}.json`,
  pointer: formatPointer(path),
  reason,
});

const formErrors = (issue: z.core.$ZodIssue): BundleError[] => {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => at([...path, key], 'there is no such member'));
  const [keyIssue] = issue.code === 'invalid_key' ? issue.issues : [];
  return [at(path, keyIssue?.message ?? issue.message)];
};

const resourceErrors = ({ tools }: PolicyBundle): BundleError[] =>
  Object.entries(tools).flatMap(([id, tool]) => {
    const path = ['tools', id, 'resource'];
    if (tool.resource === ANY_RESOURCE && tool.effectClass !== 'READ')
      return [at(path, 'a bare * is for READ tools only: an effectful tool names what it touches')];
    try {
      compileResourceRule(tool.resource);
      return [];
    } catch (error) {
      if (error instanceof TypeError) return [at(path, error.message)];
      throw error;
    }
  });

const permitErrors = ({ audiences, tools, permits }: PolicyBundle): BundleError[] => {
  const classes = new Set(audiences.map((rule) => rule.audienceClass));
  const ids = new Set<string>();
  return permits.flatMap((permit, index) => {
    const twice = ids.has(permit.id) ? [at(['permits', index, 'id'], 'another permit has this id')] : [];
    ids.add(permit.id);
    return [
      ...twice,
      ...permit.tools.flatMap((id, place) =>
        Object.hasOwn(tools, id)
          ? []
          : [at(['permits', index, 'tools', place], 'tools.json does not classify this tool')],
      ),
      ...(permit.audienceClasses ?? []).flatMap((name, place) =>
        classes.has(name)
          ? []
          : [at(['permits', index, 'audienceClasses', place], 'no rule of audiences.json gives this class')],
      ),
    ];
  });
};
