import { describe, expect, test } from 'vitest';
import type { EndReason } from '../../../src/domain/endReasons.js';
import { endRow } from '../../../src/domain/endReasons.js';
import type { EndedCandidate } from '../../../src/domain/generation.js';
import { afterScan, asksScan, asksTailAgain, NO_RESTARTS } from '../../../src/domain/rounds.js';

const ended = (reason: EndReason): EndedCandidate =>
  ({ state: endRow(reason).state, reason, evidence: {} }) as EndedCandidate;
const unanswered = { arrived: 3, answered: 2 };
const answered = { arrived: 3, answered: 3 };
const none = { arrived: 0, answered: 0 };

describe('D2 what a hint asks for', () => {
  test('D2 one that is not answered asks for another scan, also of a scan that failed', () => {
    for (const reason of ['PROMOTED', 'UNCHANGED', 'PAGE_MALFORMED', 'ROLLBACK', 'NO_REVISION'] as const) {
      expect(asksScan(unanswered, ended(reason), reason === 'PROMOTED' ? 0 : 1)).toBe(true);
    }
  });

  test('D2 one that told of nothing asks for one second look, and no hint for none', () => {
    expect(asksScan(answered, ended('UNCHANGED'), 1)).toBe(true);
    expect(asksScan(answered, ended('UNCHANGED'), 2)).toBe(false);
    expect(asksScan(none, ended('UNCHANGED'), 1)).toBe(false);
    for (const reason of ['PROMOTED', 'PAGE_MALFORMED', 'ROLLBACK'] as const)
      expect(asksScan(answered, ended(reason), 1)).toBe(false);
  });

  test('D2 scan after scan of which nothing comes are three at most', () => {
    expect([1, 2, 3, 4].map((idle) => asksScan(unanswered, ended('UNCHANGED'), idle))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test('D2 a cancellation and an unstable revision end the run, whatever waits', () => {
    for (const reason of ['CANCELLED', 'REVISION_UNSTABLE'] as const)
      expect(asksScan(unanswered, ended(reason), 1)).toBe(false);
  });

  test('D2 a tail is asked again twice at most', () => {
    expect([1, 2, 3].map((tails) => asksTailAgain(unanswered, tails))).toEqual([true, true, false]);
    expect(asksTailAgain(answered, 1)).toBe(false);
  });
});

describe('D3 what follows an end', () => {
  const ends = (reason: EndReason, times: number, evidence = {}) => {
    let restarts = NO_RESTARTS;
    return Array.from({ length: times }, () => {
      const after = afterScan(restarts, { ...ended(reason), evidence } as EndedCandidate);
      restarts = after.restarts;
      return [after.again, after.ended.state === 'ELIGIBLE' ? null : after.ended.reason];
    });
  };

  test('D3 a revision that moved begins five rounds, and then is told as unstable', () => {
    expect(ends('REVISION_CHANGED', 5)).toEqual([
      ...Array.from({ length: 4 }, () => [true, 'REVISION_CHANGED']),
      [false, 'REVISION_UNSTABLE'],
    ]);
  });

  test('D6 a cursor that is refused a second time is the way of the server', () => {
    expect(ends('CURSOR_EXPIRED', 2)).toEqual([
      [true, 'CURSOR_EXPIRED'],
      [false, 'CURSOR_EXPIRED'],
    ]);
  });

  test('P1 what moved under a promotion is scanned again, but not for a closed server', () => {
    expect(ends('FENCED', 1, { moved: 'trust' })).toEqual([[true, 'FENCED']]);
    expect(ends('FENCED', 1, { moved: 'closed' })).toEqual([[false, 'FENCED']]);
  });

  test('D5 other ends begin no round', () => {
    for (const reason of ['PROMOTED', 'UNCHANGED', 'LOST', 'ROLLBACK', 'DUPLICATE_NAME'] as const)
      expect(ends(reason, 1)[0]?.[0]).toBe(false);
  });
});
