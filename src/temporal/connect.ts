/** The connection to Temporal, with an error that a person can act on where there is none. */
import { Client, Connection } from '@temporalio/client';
import { CatalogError } from '../domain/errors.js';

export interface TemporalAddress {
  /** host:port of the gRPC service. */
  readonly address: string;
  readonly namespace: string;
}

const CONNECT_TIMEOUT = '5s';

/** @throws CatalogError CONFIG_INVALID/TEMPORAL_UNREACHABLE */
export const connectTemporal = async ({ address, namespace }: TemporalAddress): Promise<Client> => {
  try {
    const connection = await Connection.connect({ address, connectTimeout: CONNECT_TIMEOUT });
    return new Client({ connection, namespace });
  } catch (cause) {
    throw new CatalogError('CONFIG_INVALID', 'TEMPORAL_UNREACHABLE', { address }, { cause });
  }
};
