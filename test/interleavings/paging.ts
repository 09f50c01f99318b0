/** How a scripted source cuts its list into pages, well or badly. */
import type { Misbehaviour } from './acts.js';
import type { Page, Tool } from './history.js';

export type Slice = Pick<Page, 'tools' | 'next'>;

/** Ends the cursor that leads on from an empty page. */
const AFTER_GAP = '.0g';

export const slice = (
  tools: readonly Tool[],
  {
    cursor,
    offset,
    turn,
  }: { readonly cursor: string | undefined; readonly offset: number; readonly turn: number },
  how: { readonly misbehaves: ReadonlySet<Misbehaviour>; readonly state: number; readonly pageSize: number },
): Slice => {
  const cursorOf = (at: number): string => `${at}.${how.state}`;
  const end = offset + how.pageSize;
  const honest = { tools: tools.slice(offset, end), next: end < tools.length ? cursorOf(end) : undefined };
  if (cursor === undefined) return honest;
  if (how.misbehaves.has('gaps') && !cursor.endsWith(AFTER_GAP))
    return { tools: [], next: cursorOf(offset) + AFTER_GAP };
  if (how.misbehaves.has('repeats')) return { ...honest, next: cursor };
  if (how.misbehaves.has('stands'))
    return { tools: tools.slice(0, how.pageSize), next: cursorOf(1_000 + turn) };
  if (how.misbehaves.has('cycles') && honest.next === undefined)
    return { ...honest, next: cursorOf(how.pageSize) };
  return honest;
};
