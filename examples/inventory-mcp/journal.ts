/** What was asked of this server, in order: in memory for its control endpoint, and as lines of a file. */
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

export interface JournalEntry {
  /** RFC 3339, UTC. */
  readonly at: string;
  readonly method: string;
  /** The cursor of a `tools/list`; null where there was none. */
  readonly cursor: string | null;
  /** Number of the TCP connection since the start; null over stdio. */
  readonly connection: number | null;
  /** This server issues no session ids. */
  readonly session: null;
  /** `params.name` of a call; null otherwise. */
  readonly name: string | null;
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export class Journal {
  readonly #file: string;
  readonly #entries: JournalEntry[] = [];

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#file = join(folder, 'journal.jsonl');
  }

  get entries(): readonly JournalEntry[] {
    return [...this.#entries];
  }

  record(message: JSONRPCMessage, connection: number | null): void {
    if (!('method' in message)) return;
    const params = message.params as Record<string, unknown> | undefined;
    const entry: JournalEntry = {
      at: new Date().toISOString(),
      method: message.method,
      cursor: text(params?.['cursor']),
      connection,
      session: null,
      name: text(params?.['name']),
    };
    this.#entries.push(entry);
    appendFileSync(this.#file, `${JSON.stringify(entry)}\n`);
  }
}
