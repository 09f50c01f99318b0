/**
 * The list of tools with its revision. Every change moves the counter and is on disk before anybody can see it;
 * a cursor belongs to one revision and is refused under another, so no reader gets pages of two lists.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { readJsonFile, writeJsonFile } from './jsonFile.js';
import { baseTools, sensorTool } from './tools.js';

export interface Revision {
  readonly incarnation: string;
  readonly counter: number;
}

interface Stored extends Revision {
  readonly size: number;
  readonly reserveVersion: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export type CatalogChange =
  | { readonly op: 'change-reserve-schema' }
  | { readonly op: 'add-tool'; readonly name: string }
  | { readonly op: 'remove-tool'; readonly name: string }
  /** For trying what a reader does with a rollback, a jump, or a server that was set up anew. */
  | { readonly op: 'set-revision'; readonly incarnation?: string; readonly counter?: number };

export interface CatalogPage {
  readonly tools: readonly Tool[];
  readonly nextCursor: string | undefined;
  readonly revision: Revision;
}

/** The cursor is none of this catalog's current revision. */
export class CursorRefused extends Error {}

const encodeCursor = ({ incarnation, counter }: Revision, offset: number): string =>
  Buffer.from(JSON.stringify([incarnation, counter, offset])).toString('base64url');

const decodeCursor = (cursor: string): readonly unknown[] => {
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(read) ? read : [];
  } catch {
    return [];
  }
};

export class Catalog {
  readonly #file: string;
  readonly #pageSize: number;
  #stored: Stored;
  #tools: readonly Tool[];

  /**
   * @param folder where the revision is kept
   * @param size number of tools before any change
   */
  constructor(folder: string, size: number, pageSize: number) {
    this.#file = join(folder, 'catalog.json');
    this.#pageSize = pageSize;
    const fresh = (): Stored => ({
      incarnation: randomUUID(),
      counter: 1,
      size,
      reserveVersion: 0,
      added: [],
      removed: [],
    });
    const before = readJsonFile<Stored | null>(this.#file, () => null);
    this.#stored = before ?? fresh();
    if (before === null) writeJsonFile(this.#file, this.#stored);
    this.#tools = this.#list(this.#stored);
    if (this.#stored.size !== size) this.#move({ size });
  }

  get revision(): Revision {
    const { incarnation, counter } = this.#stored;
    return { incarnation, counter };
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Number of the page, from 0, that a cursor asks for; a cursor that says nothing asks for page −1. */
  pageIndex(cursor: string | undefined): number {
    if (cursor === undefined) return 0;
    const offset = decodeCursor(cursor)[2];
    return typeof offset === 'number' ? Math.floor(offset / this.#pageSize) : -1;
  }

  /** @throws CursorRefused */
  page(cursor: string | undefined): CatalogPage {
    const offset = cursor === undefined ? 0 : this.#offset(cursor);
    const end = offset + this.#pageSize;
    return {
      tools: this.#tools.slice(offset, end),
      nextCursor: end < this.#tools.length ? encodeCursor(this.revision, end) : undefined,
      revision: this.revision,
    };
  }

  change(change: CatalogChange): Revision {
    const { reserveVersion, added, removed } = this.#stored;
    switch (change.op) {
      case 'change-reserve-schema':
        return this.#move({ reserveVersion: reserveVersion + 1 });
      case 'add-tool':
        return this.#move({
          added: [...added.filter((name) => name !== change.name), change.name],
          removed: removed.filter((name) => name !== change.name),
        });
      case 'remove-tool':
        return this.#move({
          added: added.filter((name) => name !== change.name),
          removed: [...removed, change.name],
        });
      case 'set-revision': {
        const { incarnation = this.#stored.incarnation, counter = this.#stored.counter } = change;
        return this.#store({ ...this.#stored, incarnation, counter });
      }
    }
  }

  #offset(cursor: string): number {
    const [incarnation, counter, offset] = decodeCursor(cursor);
    const known = incarnation === this.#stored.incarnation && counter === this.#stored.counter;
    if (!known || typeof offset !== 'number' || !Number.isInteger(offset) || offset < 0) {
      throw new CursorRefused('this cursor does not belong to the current revision of the list');
    }
    return offset;
  }

  #move(part: Partial<Stored>): Revision {
    return this.#store({ ...this.#stored, ...part, counter: this.#stored.counter + 1 });
  }

  #store(next: Stored): Revision {
    writeJsonFile(this.#file, next);
    this.#stored = next;
    this.#tools = this.#list(next);
    return this.revision;
  }

  #list({ size, reserveVersion, added, removed }: Stored): readonly Tool[] {
    const gone = new Set(removed);
    const base = baseTools(size, reserveVersion);
    const names = new Set(base.map((tool) => tool.name));
    const more = added.filter((name) => !names.has(name)).map((name, index) => sensorTool(name, index));
    return [...base, ...more].filter((tool) => !gone.has(tool.name));
  }
}
