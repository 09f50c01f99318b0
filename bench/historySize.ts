/** What a run costs in Temporal: the number of its history's events, and its largest payload. */
import type { Client } from '@temporalio/client';

export interface HistorySize {
  readonly events: number;
  /** Bytes of the largest payload: its data and its metadata. */
  readonly maxPayload: number;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const bytesOf = (value: unknown): number => {
  if (value instanceof Uint8Array) return value.byteLength;
  if (!isRecord(value)) return 0;
  return Object.entries(value).reduce((sum, [key, part]) => sum + key.length + bytesOf(part), 0);
};

/** A payload is what holds `metadata` and `data`, wherever in an event it stands. */
const largestPayload = (value: unknown): number => {
  if (value instanceof Uint8Array || !isRecord(value)) return 0;
  if (value['data'] instanceof Uint8Array && isRecord(value['metadata'])) {
    return value['data'].byteLength + bytesOf(value['metadata']);
  }
  return Math.max(0, ...Object.values(value).map(largestPayload));
};

export const readHistorySize = async (
  client: Client,
  run: { readonly workflowId: string; readonly runId: string },
): Promise<HistorySize> => {
  const { events } = await client.workflow.getHandle(run.workflowId, run.runId).fetchHistory();
  if (events == null || events.length === 0) throw new Error(`run ${run.runId} has no history`);
  return { events: events.length, maxPayload: largestPayload(events) };
};
