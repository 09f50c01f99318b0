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

it.each<[string, Record<string, boolean>, readonly string[]]>([
  ['delete_tenant', { readOnlyHint: true, destructiveHint: false }, ['ANNOTATION_SUSPECT']],
  ['delete_tenant', { destructiveHint: false }, ['ANNOTATION_SUSPECT']],
  ['tenantPurge', { readOnlyHint: true }, ['ANNOTATION_SUSPECT']],
  ['create_user', { readOnlyHint: true }, ['ANNOTATION_SUSPECT']],
  ['create_user', { destructiveHint: false }, []],
  ['delete_tenant', { readOnlyHint: false, destructiveHint: true }, []],
  ['list_deleted', { readOnlyHint: true }, []],
  ['get_update_status', { readOnlyHint: true }, []],
])('V5 %s beside %j: what a name says makes harmless hints doubtful, and no more', (name, hints, codes) => {
  const { status, findings } = check(hints, name);
  expect([status, findings.map(({ code }) => code)]).toEqual(['OK', codes]);
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
