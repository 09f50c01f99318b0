/**
 * The tools of the warehouse: seven operations on each of seventeen records, and `reserve`. Beyond 120 the list
 * goes on with shelf sensors, so that the same server can serve a catalog of any size.
 */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { ENTITIES, type Entity, objectSchema, ref, type Schema } from './schemas.js';

type Operation = 'get' | 'list' | 'create' | 'update' | 'archive' | 'history' | 'count';
const OPERATIONS: readonly Operation[] = ['get', 'list', 'create', 'update', 'archive', 'history', 'count'];

const READS: ReadonlySet<Operation> = new Set(['get', 'list', 'history', 'count']);

const inputOf = (entity: Entity, operation: Operation): ReturnType<typeof objectSchema> => {
  const state: Schema = { enum: entity.states };
  switch (operation) {
    case 'get':
      return objectSchema({ id: ref('recordId') }, ['id'], { dialect: true });
    case 'list':
      return objectSchema({ state, page: ref('page'), changedSince: ref('instant') }, []);
    case 'create':
      return objectSchema({ ...entity.fields, state }, entity.required, { dialect: true });
    case 'update':
      return objectSchema(
        { id: ref('recordId'), ...entity.fields, state, expectedVersion: { type: 'integer', minimum: 1 } },
        ['id', 'expectedVersion'],
      );
    case 'archive':
      return objectSchema({ id: ref('recordId'), reason: ref('note') }, ['id', 'reason']);
    case 'history':
      return objectSchema({ id: ref('recordId'), since: ref('instant'), until: ref('instant') }, ['id']);
    case 'count':
      return objectSchema(
        { state, groupBy: { type: 'array', items: { enum: Object.keys(entity.fields) }, uniqueItems: true } },
        [],
      );
  }
};

const TEXT: Readonly<Record<Operation, (label: string) => string>> = {
  get: (label) => `Reads one ${label} by its id.`,
  list: (label) => `Lists every ${label}, page by page, with an optional filter on state.`,
  create: (label) => `Creates a ${label}.`,
  update: (label) => `Changes a ${label}. Refused where expectedVersion is not the current one.`,
  archive: (label) => `Takes a ${label} out of use. Cannot be undone here.`,
  history: (label) => `Reads who changed a ${label}, and when.`,
  count: (label) => `Counts records of the kind ${label}, optionally by group.`,
};

const toolOf = (entity: Entity, operation: Operation): Tool => {
  const read = READS.has(operation);
  return {
    name: `${entity.name}_${operation}`,
    title: `${entity.label}: ${operation}`,
    description: TEXT[operation](entity.label),
    inputSchema: inputOf(entity, operation) as Tool['inputSchema'],
    ...(operation === 'count'
      ? {
          outputSchema: objectSchema({ count: { type: 'integer', minimum: 0 } }, [
            'count',
          ]) as Tool['outputSchema'],
        }
      : {}),
    annotations: {
      readOnlyHint: read,
      ...(read ? {} : { destructiveHint: operation === 'archive', idempotentHint: operation === 'update' }),
      openWorldHint: false,
    },
  };
};

/** @param version how often its schema has changed; each change is visible in the schema */
export const reserveTool = (version: number): Tool => ({
  name: 'reserve',
  title: 'Reserve stock',
  description: 'Takes a quantity of one SKU in one warehouse out of free stock and holds it for an order.',
  inputSchema: objectSchema(
    {
      warehouse: ref('warehouseCode'),
      sku: ref('skuCode'),
      quantity: { $ref: '#/$defs/quantity', maximum: 1_000 * (version + 1) },
      orderReference: { type: 'string', pattern: '^[A-Z0-9-]{4,32}$' },
      holdMinutes: { type: 'integer', minimum: 5, maximum: 10_080, default: 60 },
      idempotencyKey: ref('recordId'),
      ...(version > 0 ? { costCentre: { type: 'string', pattern: '^CC-[0-9]{4}$' } } : {}),
    },
    ['warehouse', 'sku', 'quantity'],
    { dialect: true },
  ) as Tool['inputSchema'],
  outputSchema: objectSchema(
    {
      reservation: ref('recordId'),
      warehouse: ref('warehouseCode'),
      sku: ref('skuCode'),
      quantity: ref('quantity'),
      freeAfter: { type: 'integer', minimum: 0 },
      expiresAt: ref('instant'),
    },
    ['reservation', 'warehouse', 'sku', 'quantity', 'freeAfter', 'expiresAt'],
    { dialect: true },
  ) as Tool['outputSchema'],
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
});

/** A tool of the open end of the list, and what `add-tool` adds. */
export const sensorTool = (name: string, index: number): Tool => ({
  name,
  description: `Reads shelf sensor ${index}: load and temperature of the last hours.`,
  inputSchema: objectSchema(
    {
      warehouse: ref('warehouseCode'),
      hours: { type: 'integer', minimum: 1, maximum: 24 + (index % 48) },
      channel: { enum: ['load', 'temperature', 'humidity'].slice(0, 1 + (index % 3)) },
    },
    ['warehouse'],
  ) as Tool['inputSchema'],
  annotations: { readOnlyHint: true, openWorldHint: false },
});

const RESERVE_AT = 31;

/** The list as it stands without any change, `reserve` on the second page of 25. */
export const baseTools = (count: number, reserveVersion: number): readonly Tool[] => {
  const tools: Tool[] = ENTITIES.flatMap((entity) =>
    OPERATIONS.map((operation) => toolOf(entity, operation)),
  );
  tools.splice(RESERVE_AT, 0, reserveTool(reserveVersion));
  for (let index = tools.length + 1; index <= count; index++) {
    tools.push(sensorTool(`shelf_sensor_${String(index).padStart(5, '0')}_read`, index));
  }
  return tools.slice(0, count);
};
