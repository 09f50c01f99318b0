import { describe, expect, test } from 'vitest';
import { createHintGate } from '../../../src/temporal/hintGate.js';

/** A gate whose pauses end when the test says so. */
const gateOf = (send = async (key: string, sent: number): Promise<string> => `${key} ${sent}`) => {
  const sent: string[] = [];
  const pauses: (() => void)[] = [];
  const hint = createHintGate(
    (key: string) => {
      sent.push(key);
      return send(key, sent.length);
    },
    {
      idOf: (key) => key,
      pause: () => new Promise<void>((resolve) => pauses.push(resolve)),
    },
  );
  const endPauses = async (): Promise<void> => {
    // Promises that have settled are followed first.
    await new Promise(setImmediate);
    for (const end of pauses.splice(0)) end();
    await new Promise(setImmediate);
  };
  return { hint, sent, endPauses };
};

describe('D2 a gate for hints', () => {
  test('D2 the first of a key goes out at once, whatever other keys do', async () => {
    const { hint, sent } = gateOf();
    expect(await hint('a')).toBe('a 1');
    expect(await hint('b')).toBe('b 2');
    expect(sent).toEqual(['a', 'b']);
  });

  test('D2 a thousand that follow share one, which goes out after the last of them came', async () => {
    const { hint, sent, endPauses } = gateOf();
    await hint('a');
    const shared = Array.from({ length: 1_000 }, () => hint('a'));
    await new Promise(setImmediate);
    expect(sent).toHaveLength(1);
    await endPauses();
    expect(new Set(await Promise.all(shared))).toEqual(new Set(['a 2']));
    expect(sent).toHaveLength(2);
  });

  test('D2 one that comes while another is on its way is not taken for answered by it', async () => {
    let arrive = (): void => undefined;
    const { hint, sent, endPauses } = gateOf(async (key, n) => {
      if (n === 1) await new Promise<void>((resolve) => (arrive = resolve));
      return `${key} ${n}`;
    });
    const first = hint('a');
    const second = hint('a');
    arrive();
    expect(await first).toBe('a 1');
    await endPauses();
    expect(await second).toBe('a 2');
    expect(sent).toHaveLength(2);
  });

  test('D2 after a pause without hints the next goes out at once again', async () => {
    const { hint, sent, endPauses } = gateOf();
    await hint('a');
    await endPauses();
    await hint('a');
    expect(sent).toHaveLength(2);
  });

  test('D2 a failure is that of those who shared the hint, and ends no later one', async () => {
    const { hint, endPauses } = gateOf(async (key, n) => {
      if (n === 2) throw new Error('not there');
      return `${key} ${n}`;
    });
    await hint('a');
    const lost = [hint('a'), hint('a')].map((one) => expect(one).rejects.toThrow('not there'));
    await endPauses();
    await Promise.all(lost);
    const again = hint('a');
    await endPauses();
    expect(await again).toBe('a 3');
  });
});
