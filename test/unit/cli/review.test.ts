/** What a reviewer reads on a terminal (V6, V7). */
import { describe, expect, test } from 'vitest';
import { reviewTable, reviewText } from '../../../src/cli/reviewText.js';
import type { ReviewDetail } from '../../../src/client/types.js';

const review = (more: Partial<ReviewDetail> = {}): ReviewDetail => ({
  id: 'r1',
  server: 'inventory',
  audience: 'managers',
  tool: 'inventory.reserve@1',
  name: 'reserve',
  effectClass: 'RESERVATION',
  generation: 2,
  before: 'sha256:a',
  after: 'sha256:b',
  changed: ['text'],
  state: 'pending',
  open: true,
  reason: null,
  by: null,
  decidedAt: null,
  receipt: null,
  members: [
    { pointer: '/description', class: 'text', before: '"Reserves"', after: '"Reserves\\u{200B}"', offset: 9 },
  ],
  ...more,
});

describe('genlock review list', () => {
  test('V6 one line a review, in columns', () => {
    const lines = reviewTable([
      review(),
      review({ id: 'r20', changed: ['text', 'hints'], state: 'refused' }),
    ]).split('\n');
    expect(lines).toEqual([
      'ID   SERVER     AUDIENCE  TOOL                 EFFECT       CHANGED      STATE',
      'r1   inventory  managers  inventory.reserve@1  RESERVATION  text         pending',
      'r20  inventory  managers  inventory.reserve@1  RESERVATION  text, hints  refused',
      '',
    ]);
    expect(reviewTable([])).toBe('No reviews.\n');
  });

  test('V7 nothing of a source steers the terminal', () => {
    const text = reviewTable([review({ tool: 'inventory.x\u001b[2J\n@1' })]);
    expect(text).toContain('inventory.x\\u{1B}[2J\\u{A}@1');
    expect(text.split('\n')).toHaveLength(3);
  });
});

describe('genlock review show', () => {
  test('V6 V7 old and new value of each member, hidden characters as the API escaped them', () => {
    const lines = reviewText(review()).split('\n');
    expect(lines).toEqual([
      'inventory.reserve@1 of inventory for managers',
      'RESERVATION, generation 2, text changed: waits for a review, and is not admitted until then',
      'was sha256:a',
      'is  sha256:b',
      '',
      '/description (text, from character 10 on)',
      '- "Reserves"',
      '+ "Reserves\\u{200B}"',
      '',
    ]);
  });

  test('V6 a member that is new or gone has one side, and a decision tells who, when and why', () => {
    const decided = { by: 'olga', decidedAt: '2026-07-01T00:00:00.000Z', reason: 'no\u0007' };
    const text = reviewText(
      review({
        ...decided,
        state: 'refused',
        members: [{ pointer: '/title', class: 'text', before: null, after: '"x"', offset: 0 }],
      }),
    );
    expect(text).toContain('refused by olga at 2026-07-01T00:00:00.000Z (no\\u{7}), and is not admitted');
    expect(text).toContain('/title (text)\n+ "x"\n');
    expect(text).not.toContain('\n- ');
    expect(reviewText(review({ ...decided, state: 'accepted', open: false }))).not.toContain('not admitted');
  });
});
