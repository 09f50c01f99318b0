/** A table for a terminal. Cells may come from a tool server, so nothing in them reaches the terminal unseen (V7). */
import { visibleText } from '../domain/visibleText.js';

/** @returns lines with their ends, columns two spaces apart */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const lines = [head, ...rows].map((line) => line.map(visibleText));
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) => `${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('');
};
