/** What a person sees while the demo works: a spinner on a terminal, plain lines in a pipe, colour only where welcome. */
import { Writable } from 'node:stream';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createNarrator, renderTable, wantsColor } from '../../../../src/dev/demo/narrator.js';

/** Keeps what is written; `isTTY` is what a stream of a terminal says of itself. */
class Screen extends Writable {
  text = '';
  readonly isTTY: boolean;
  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

const ESCAPE = '\u001b[';
const COLOR = '\u001b[3';
afterEach(() => {
  vi.useRealTimers();
});

describe('in a pipe or a log', () => {
  test('each step and each change of it is a plain line, without any control character', () => {
    const screen = new Screen(false);
    const narrator = createNarrator(screen, true);
    const step = narrator.step('Discovering');
    step.update('page 1');
    step.update('page 1');
    step.update('page 2');
    narrator.line('a note');
    step.done('120 tools');
    narrator.close();
    expect(screen.text).toBe('- Discovering\n  page 1\n  page 2\na note\n  Discovering: 120 tools\n');
  });
});

describe('on a terminal', () => {
  test('a spinner turns in one line until the step is done, and then the line says how it came out', () => {
    vi.useFakeTimers();
    const screen = new Screen(true);
    const step = createNarrator(screen, false).step('Discovering');
    const first = screen.text;
    vi.advanceTimersByTime(1_000);
    step.update('page 2');
    vi.advanceTimersByTime(1_000);
    const frames = new Set(screen.text.match(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g));
    expect(first).toContain('Discovering');
    expect(frames.size).toBeGreaterThan(3);
    expect(screen.text).toContain('page 2');
    expect(screen.text).not.toContain('\n');
    step.done('120 tools');
    const settled = screen.text;
    expect(settled.endsWith('✔ Discovering: 120 tools\n')).toBe(true);
    vi.advanceTimersByTime(1_000);
    expect(screen.text).toBe(settled);
  });

  test('closing in the middle of a step clears the line and ends the spinner', () => {
    vi.useFakeTimers();
    const screen = new Screen(true);
    const narrator = createNarrator(screen, false);
    narrator.step('Discovering');
    narrator.close();
    const settled = screen.text;
    expect(settled.endsWith(`\r${ESCAPE}2K`)).toBe(true);
    vi.advanceTimersByTime(1_000);
    expect(screen.text).toBe(settled);
  });

  test('is coloured where that is welcome, and not where NO_COLOR is set', () => {
    const shown = (color: boolean): string => {
      const screen = new Screen(true);
      createNarrator(screen, color).step('Discovering').done('well');
      return screen.text;
    };
    expect(shown(wantsColor({}))).toContain(COLOR);
    expect(shown(wantsColor({ NO_COLOR: '' }))).toContain(COLOR);
    expect(shown(wantsColor({ NO_COLOR: '1' }))).not.toContain(COLOR);
  });
});

test('the table lines up its second column', () => {
  expect(
    renderTable([
      ['what', 'came out'],
      ['a longer one', 'ELIGIBLE'],
    ]),
  ).toBe('  what           came out\n  a longer one   ELIGIBLE');
});
