/** Bounds on one scan. Every one is a configuration value of the server's registration. */
import type { DurationMs } from './ids.js';
import { durationMs } from './ids.js';

export interface ScanLimits {
  /** Highest number of pages of one scan. */
  readonly pages: number;
  /** Highest number of tools of one scan. */
  readonly tools: number;
  /** Bytes of one page as they arrive. */
  readonly pageBytes: number;
  /** Bytes of all pages of one scan together. */
  readonly scanBytes: number;
  readonly pageTime: DurationMs;
  readonly scanTime: DurationMs;
}

export const DEFAULT_SCAN_LIMITS: ScanLimits = {
  pages: 1_000,
  tools: 20_000,
  pageBytes: 16 * 1024 * 1024,
  scanBytes: 256 * 1024 * 1024,
  pageTime: durationMs(30_000),
  scanTime: durationMs(10 * 60_000),
};

/** D3: a revision that moves during a scan begins another round, this many at most. */
export const MAX_ROUNDS = 5;

/** A segment of a scan ends after this many pages, so that its progress shows in the workflow's history. */
export const SEGMENT_PAGES = 250;
