/** V5: hints are checked and recorded; they never decide. */
import { expect, it } from 'vitest';
import type { JsonValue } from '../../../src/domain/json.js';
import { annotationFindings } from '../../../src/validation/annotations.js';
import { checkDescriptor } from '../../../src/validation/checkDescriptor.js';

const check = (annotations: JsonValue, name = 'list_orders') =>
  checkDescriptor({ name, inputSchema: { type: 'object' }, annotations });

it('V5 wrong types and contradictions are lints, and keep no tool from being called', () => {
  expect(check({ readOnlyHint: 'true' })).toMatchObject({
    status: 'OK',
    findings: [{ code: 'ANNOTATION_TYPE', pointer: '/annotations/readOnlyHint' }],
  });
  expect(check('readOnly')).toMatchObject({
    status: 'OK',
    findings: [{ code: 'ANNOTATION_TYPE', pointer: '/annotations' }],
  });
  expect(check({ readOnlyHint: true, destructiveHint: true })).toMatchObject({
    status: 'OK',
    findings: [{ code: 'CONTRADICTORY_ANNOTATIONS' }],
  });
  expect(check({ readOnlyHint: true, idempotentHint: true })).toMatchObject({ findings: [] });
});

it('V5 a name that sounds destructive beside harmless hints is reported', () => {
  expect(check({ readOnlyHint: true }, 'delete_tenant').findings.map(({ code }) => code)).toEqual([
    'ANNOTATION_SUSPECT',
  ]);
  expect(check({ readOnlyHint: true }, 'list_deleted').findings).toEqual([]);
});

it('V5 disagreement with the class of the operator is reported, whichever way', () => {
  const codes = (annotations: JsonValue, effect: Parameters<typeof annotationFindings>[1]) =>
    annotationFindings(annotations, effect).map(({ pointer, severity }) => `${severity} ${pointer}`);
  expect(codes({ readOnlyHint: true }, 'WRITE')).toEqual(['lint /annotations/readOnlyHint']);
  expect(codes({ readOnlyHint: false }, 'READ')).toEqual(['lint /annotations/readOnlyHint']);
  expect(codes({ destructiveHint: true }, 'RESERVATION')).toEqual(['lint /annotations/destructiveHint']);
  expect(codes({ destructiveHint: false }, 'DESTRUCTIVE')).toEqual(['lint /annotations/destructiveHint']);
  expect(codes({ readOnlyHint: true }, 'READ')).toEqual([]);
  expect(codes({ readOnlyHint: true, destructiveHint: true }, 'UNKNOWN')).toEqual([]);
  expect(codes(null, 'READ')).toEqual([]);
});
