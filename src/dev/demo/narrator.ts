/** What the demo says while it works: a spinner on a terminal, plain lines elsewhere, nothing but the result with --json. */
import type { Writable } from 'node:stream';

export interface Narrator {
  /** A step that takes a while; `done` says how it came out. */
  step(text: string): { update(text: string): void; done(result: string): void };
  line(text: string): void;
  /** Ends a spinner that still turns. */
  close(): void;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 90;

/** Whether colour is welcome: no-color.org, where an empty NO_COLOR is as good as none. */
export const wantsColor = (env: Readonly<Record<string, string | undefined>>): boolean =>
  (env['NO_COLOR'] ?? '') === '';

export const createNarrator = (out: Writable & { readonly isTTY?: boolean }, color: boolean): Narrator => {
  const isTerminal = out.isTTY === true;
  const paint = (code: number, text: string): string =>
    color && isTerminal ? `\u001b[${code}m${text}\u001b[0m` : text;
  let timer: NodeJS.Timeout | undefined;
  let shown = '';
  let frame = 0;

  const draw = (): void => {
    frame = (frame + 1) % FRAMES.length;
    out.write(`\r\u001b[2K${paint(36, FRAMES[frame] ?? '')} ${shown}`);
  };
  const settle = (): void => {
    clearInterval(timer);
    timer = undefined;
    if (isTerminal && shown !== '') out.write('\r\u001b[2K');
    shown = '';
  };

  return {
    step: (text) => {
      settle();
      shown = text;
      if (isTerminal) {
        timer = setInterval(draw, FRAME_MS);
        draw();
      } else {
        out.write(`- ${text}\n`);
      }
      return {
        update: (next) => {
          if (next === shown) return;
          shown = next;
          if (!isTerminal) out.write(`  ${next}\n`);
        },
        done: (result) => {
          settle();
          out.write(`${paint(32, isTerminal ? '✔' : ' ')} ${text}: ${result}\n`);
        },
      };
    },
    line: (text) => {
      const turning = shown;
      if (isTerminal && turning !== '') out.write('\r\u001b[2K');
      out.write(`${text}\n`);
    },
    close: settle,
  };
};

/** Two columns, padded. */
export const renderTable = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}   ${right}`).join('\n');
};
