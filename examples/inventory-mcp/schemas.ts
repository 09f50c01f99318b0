/**
 * The vocabulary of the warehouse: definitions that many tools share, and the records that they are about.
 */
export type Schema = { readonly [keyword: string]: unknown };

export const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** Shared definitions; a tool's schema takes along the ones it points at. */
export const DEFS: Readonly<Record<string, Schema>> = {
  warehouseCode: {
    type: 'string',
    pattern: '^[A-Z]{3}-[0-9]{2}$',
    description: 'Site and number, for example HAM-01.',
  },
  skuCode: {
    type: 'string',
    pattern: '^[A-Z0-9]{3,12}(-[A-Z0-9]{1,8}){0,3}$',
    description: 'Stock keeping unit.',
  },
  quantity: { type: 'integer', minimum: 1, maximum: 100000 },
  recordId: { type: 'string', minLength: 3, maxLength: 40, pattern: '^[A-Za-z0-9_-]+$' },
  instant: { type: 'string', format: 'date-time', description: 'RFC 3339, UTC.' },
  unit: { enum: ['piece', 'case', 'pallet', 'kilogram', 'litre'] },
  note: { type: 'string', maxLength: 500 },
  page: {
    type: 'object',
    properties: { limit: { type: 'integer', minimum: 1, maximum: 200 }, after: { $ref: '#/$defs/recordId' } },
    additionalProperties: false,
  },
  address: {
    type: 'object',
    properties: {
      street: { type: 'string', maxLength: 120 },
      city: { type: 'string', maxLength: 80 },
      postalCode: { type: 'string', maxLength: 12 },
      country: { type: 'string', pattern: '^[A-Z]{2}$' },
    },
    required: ['city', 'country'],
    additionalProperties: false,
  },
  money: {
    type: 'object',
    properties: {
      amount: { type: 'string', pattern: '^[0-9]{1,12}([.][0-9]{2})?$' },
      currency: { enum: ['EUR', 'GBP', 'USD', 'CHF'] },
    },
    required: ['amount', 'currency'],
    additionalProperties: false,
  },
};

export const ref = (name: string): Schema => ({ $ref: `#/$defs/${name}` });

export interface Entity {
  readonly name: string;
  readonly label: string;
  readonly fields: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  readonly states: readonly string[];
}

const line = (extra: Readonly<Record<string, Schema>> = {}): Schema => ({
  type: 'array',
  minItems: 1,
  maxItems: 500,
  items: {
    type: 'object',
    properties: { sku: ref('skuCode'), quantity: ref('quantity'), unit: ref('unit'), ...extra },
    required: ['sku', 'quantity'],
    additionalProperties: false,
  },
});

export const ENTITIES: readonly Entity[] = [
  {
    name: 'sku',
    label: 'stock keeping unit',
    states: ['active', 'phasing-out', 'blocked'],
    required: ['sku', 'unit'],
    fields: {
      sku: ref('skuCode'),
      title: { type: 'string', maxLength: 120 },
      unit: ref('unit'),
      weightGrams: { type: 'number', exclusiveMinimum: 0 },
      hazardous: { type: 'boolean' },
    },
  },
  {
    name: 'warehouse',
    label: 'warehouse',
    states: ['open', 'closed', 'stocktaking'],
    required: ['warehouse', 'address'],
    fields: {
      warehouse: ref('warehouseCode'),
      address: ref('address'),
      temperature: { enum: ['ambient', 'chilled', 'frozen'] },
      docks: { type: 'integer', minimum: 0, maximum: 200 },
    },
  },
  {
    name: 'bin',
    label: 'storage bin',
    states: ['free', 'occupied', 'locked'],
    required: ['warehouse', 'aisle'],
    fields: {
      warehouse: ref('warehouseCode'),
      aisle: { type: 'string', pattern: '^[A-Z][0-9]{2}$' },
      level: { type: 'integer', minimum: 0, maximum: 12 },
      maxWeightKg: { type: 'number', minimum: 0 },
    },
  },
  {
    name: 'lot',
    label: 'production lot',
    states: ['released', 'quarantined', 'recalled'],
    required: ['sku', 'lotNumber'],
    fields: {
      sku: ref('skuCode'),
      lotNumber: ref('recordId'),
      producedAt: ref('instant'),
      bestBefore: { type: 'string', format: 'date' },
    },
  },
  {
    name: 'serial',
    label: 'serial number',
    states: ['in-stock', 'shipped', 'scrapped'],
    required: ['sku', 'serialNumber'],
    fields: {
      sku: ref('skuCode'),
      serialNumber: ref('recordId'),
      warrantyMonths: { type: 'integer', enum: [0, 12, 24, 36] },
    },
  },
  {
    name: 'supplier',
    label: 'supplier',
    states: ['approved', 'on-probation', 'barred'],
    required: ['name', 'address'],
    fields: {
      name: { type: 'string', maxLength: 120 },
      address: ref('address'),
      email: { type: 'string', format: 'email' },
      leadTimeDays: { type: 'integer', minimum: 0, maximum: 365 },
    },
  },
  {
    name: 'purchase_order',
    label: 'purchase order',
    states: ['draft', 'sent', 'confirmed', 'received'],
    required: ['supplier', 'lines'],
    fields: {
      supplier: ref('recordId'),
      lines: line({ price: ref('money') }),
      deliverTo: ref('warehouseCode'),
      dueAt: ref('instant'),
    },
  },
  {
    name: 'inbound_receipt',
    label: 'goods receipt',
    states: ['announced', 'unloading', 'booked'],
    required: ['warehouse', 'lines'],
    fields: {
      warehouse: ref('warehouseCode'),
      purchaseOrder: ref('recordId'),
      lines: line({ lotNumber: ref('recordId') }),
      dock: { type: 'integer', minimum: 1 },
    },
  },
  {
    name: 'transfer',
    label: 'transfer between warehouses',
    states: ['planned', 'in-transit', 'arrived'],
    required: ['from', 'to', 'lines'],
    fields: { from: ref('warehouseCode'), to: ref('warehouseCode'), lines: line(), departAt: ref('instant') },
  },
  {
    name: 'shipment',
    label: 'shipment',
    states: ['packing', 'handed-over', 'delivered', 'lost'],
    required: ['warehouse', 'recipient', 'lines'],
    fields: {
      warehouse: ref('warehouseCode'),
      recipient: ref('address'),
      lines: line(),
      carrier: ref('recordId'),
      insured: ref('money'),
    },
  },
  {
    name: 'carrier',
    label: 'carrier',
    states: ['active', 'suspended'],
    required: ['name', 'modes'],
    fields: {
      name: { type: 'string', maxLength: 80 },
      modes: {
        type: 'array',
        items: { enum: ['road', 'rail', 'sea', 'air'] },
        uniqueItems: true,
        minItems: 1,
      },
      trackingUrl: { type: 'string', format: 'uri' },
    },
  },
  {
    name: 'return_order',
    label: 'customer return',
    states: ['announced', 'received', 'inspected', 'refunded'],
    required: ['shipment', 'lines'],
    fields: {
      shipment: ref('recordId'),
      lines: line({ condition: { enum: ['new', 'opened', 'damaged'] } }),
      reason: ref('note'),
    },
  },
  {
    name: 'cycle_count',
    label: 'cycle count',
    states: ['planned', 'counting', 'reconciled'],
    required: ['warehouse', 'scope'],
    fields: {
      warehouse: ref('warehouseCode'),
      scope: {
        oneOf: [
          { type: 'object', properties: { aisle: { type: 'string' } }, required: ['aisle'] },
          { type: 'object', properties: { sku: ref('skuCode') }, required: ['sku'] },
        ],
      },
      blind: { type: 'boolean', default: true },
    },
  },
  {
    name: 'replenishment_rule',
    label: 'replenishment rule',
    states: ['on', 'off'],
    required: ['sku', 'warehouse', 'minimum'],
    fields: {
      sku: ref('skuCode'),
      warehouse: ref('warehouseCode'),
      minimum: ref('quantity'),
      target: ref('quantity'),
      method: { enum: ['min-max', 'demand-driven', 'kanban'] },
    },
  },
  {
    name: 'pick_list',
    label: 'pick list',
    states: ['open', 'picking', 'done', 'short'],
    required: ['warehouse', 'lines'],
    fields: {
      warehouse: ref('warehouseCode'),
      lines: line({ bin: ref('recordId') }),
      picker: ref('recordId'),
      priority: { type: 'integer', minimum: 1, maximum: 9 },
    },
  },
  {
    name: 'wave',
    label: 'picking wave',
    states: ['planned', 'released', 'closed'],
    required: ['warehouse', 'pickLists'],
    fields: {
      warehouse: ref('warehouseCode'),
      pickLists: { type: 'array', items: ref('recordId'), maxItems: 200 },
      releaseAt: ref('instant'),
    },
  },
  {
    name: 'adjustment',
    label: 'stock adjustment',
    states: ['proposed', 'approved', 'booked'],
    required: ['warehouse', 'sku', 'delta'],
    fields: {
      warehouse: ref('warehouseCode'),
      sku: ref('skuCode'),
      delta: { type: 'integer', not: { const: 0 } },
      cause: { enum: ['damage', 'theft', 'found', 'count', 'expiry'] },
      note: ref('note'),
    },
  },
];

const collectRefs = (value: unknown, into: Set<string>): void => {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$ref' && typeof inner === 'string') {
      const name = inner.replace('#/$defs/', '');
      if (!into.has(name)) {
        into.add(name);
        collectRefs(DEFS[name], into);
      }
    } else collectRefs(inner, into);
  }
};

/** An object schema that is closed under `$ref`: it carries the definitions that it points at. */
export const objectSchema = (
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
  options: { readonly dialect?: boolean } = {},
): { type: 'object'; [keyword: string]: unknown } => {
  const used = new Set<string>();
  collectRefs(properties, used);
  const defs = Object.fromEntries([...used].sort().map((name) => [name, DEFS[name]]));
  return {
    ...(options.dialect === true ? { $schema: DIALECT } : {}),
    type: 'object',
    properties,
    ...(required.length > 0 ? { required: [...required] } : {}),
    additionalProperties: false,
    ...(used.size > 0 ? { $defs: defs } : {}),
  };
};
