/** The stock itself: a small file of quantities and reservations, and the tools that work on it. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { readJsonFile, writeJsonFile } from './jsonFile.js';

interface Reservation {
  readonly id: string;
  readonly warehouse: string;
  readonly sku: string;
  readonly quantity: number;
  readonly expiresAt: string;
  readonly key: string | null;
  readonly freeAfter: number;
}

interface StockFile {
  readonly onHand: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly reservations: readonly Reservation[];
}

const OPENING: StockFile = {
  onHand: {
    'HAM-01': { 'BOLT-M8': 4_000, 'NUT-M8': 3_500, 'PUMP-A2': 12 },
    'MUC-02': { 'BOLT-M8': 900, 'GASKET-70': 240 },
    'ROT-01': { 'PUMP-A2': 40, 'VALVE-DN50': 75 },
  },
  reservations: [],
};

const RESERVE = z.object({
  warehouse: z.string(),
  sku: z.string(),
  quantity: z.number().int().positive(),
  holdMinutes: z.number().int().min(5).default(60),
  idempotencyKey: z.string().optional(),
});

const answer = (structured: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(structured) }],
  structuredContent: structured,
});
const failure = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true });

export class Stock {
  readonly #file: string;
  #stored: StockFile;

  constructor(folder: string) {
    this.#file = join(folder, 'stock.json');
    this.#stored = readJsonFile(this.#file, () => OPENING);
  }

  /** Reserves, or reads. Anything else has no back end in this example, and says so. */
  call(name: string, args: Readonly<Record<string, unknown>>): CallToolResult {
    const { onHand } = this.#stored;
    switch (name) {
      case 'reserve':
        return this.#reserve(args);
      case 'warehouse_list':
        return answer({ warehouses: Object.keys(onHand) });
      case 'warehouse_get': {
        const stock = onHand[String(args['id'])];
        return stock === undefined
          ? failure('no such warehouse')
          : answer({ warehouse: args['id'], onHand: stock });
      }
      case 'sku_list':
        return answer({
          skus: [...new Set(Object.values(onHand).flatMap((stock) => Object.keys(stock)))].sort(),
        });
      case 'sku_get': {
        const sku = String(args['id']);
        const places = Object.keys(onHand).filter((warehouse) => onHand[warehouse]?.[sku] !== undefined);
        return places.length === 0
          ? failure('no such SKU')
          : answer({ sku, free: Object.fromEntries(places.map((place) => [place, this.#free(place, sku)])) });
      }
      default:
        return failure(`${name} has no back end in this example`);
    }
  }

  #free(warehouse: string, sku: string): number {
    const now = new Date().toISOString();
    const held = this.#stored.reservations
      .filter((one) => one.warehouse === warehouse && one.sku === sku && one.expiresAt > now)
      .reduce((sum, one) => sum + one.quantity, 0);
    return (this.#stored.onHand[warehouse]?.[sku] ?? 0) - held;
  }

  #reserve(args: Readonly<Record<string, unknown>>): CallToolResult {
    const read = RESERVE.safeParse(args);
    if (!read.success) return failure(`the arguments do not fit: ${z.prettifyError(read.error)}`);
    const { warehouse, sku, quantity, holdMinutes, idempotencyKey } = read.data;
    const key = idempotencyKey ?? null;
    const before = key === null ? undefined : this.#stored.reservations.find((one) => one.key === key);
    if (before !== undefined) return this.#receipt(before);
    const free = this.#free(warehouse, sku);
    if (free < quantity) return failure(`only ${free} of ${sku} are free in ${warehouse}`);
    const reservation: Reservation = {
      id: `R-${randomUUID()}`,
      warehouse,
      sku,
      quantity,
      key,
      expiresAt: new Date(Date.now() + holdMinutes * 60_000).toISOString(),
      freeAfter: free - quantity,
    };
    const next = { ...this.#stored, reservations: [...this.#stored.reservations, reservation] };
    writeJsonFile(this.#file, next);
    this.#stored = next;
    return this.#receipt(reservation);
  }

  #receipt({ id, warehouse, sku, quantity, freeAfter, expiresAt }: Reservation): CallToolResult {
    return answer({ reservation: id, warehouse, sku, quantity, freeAfter, expiresAt });
  }
}
