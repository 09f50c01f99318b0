/**
 * Registers the search attributes of this namespace. They must stand before a worker starts: a start with an unknown
 * one fails, and an upsert of an unknown one would hang its workflow.
 */
import type { Client } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../workflows/contract.js';

/** temporal.api.enums.v1.IndexedValueType. */
const INDEXED_VALUE_TYPE = { KEYWORD: 2, INT: 3 } as const;

/** For the dev server's own flag, and for operators who register them by hand. */
export const searchAttributeTypes = (): readonly {
  readonly name: string;
  readonly type: 'Keyword' | 'Int';
}[] =>
  Object.values(SEARCH_ATTRIBUTES).map(({ name, type }) => ({
    name,
    type: type === 'INT' ? 'Int' : 'Keyword',
  }));

/** Repeating it is fine. */
export const registerSearchAttributes = async (client: Client, namespace: string): Promise<void> => {
  const searchAttributes = Object.fromEntries(
    Object.values(SEARCH_ATTRIBUTES).map(({ name, type }) => [name, INDEXED_VALUE_TYPE[type]]),
  );
  await client.connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
};
