/** Registers a real round's server, and changes what is registered of it. */
import type { DiscoveryKey } from '../../src/domain/generation.js';
import { parseNamespace } from '../../src/domain/ids.js';
import {
  DEFAULT_CONTRACT,
  DEFAULT_FRESHNESS,
  DEFAULT_TRUST,
  type ServerRegistration,
} from '../../src/domain/server.js';
import type { OperatorStore } from '../../src/store/operatorStore.js';
import { unsignedReceipt } from '../support/receiptRows.js';
import { identityOf, type RealSource } from './realSource.js';
import { LIMITS } from './simulatedReading.js';

/** Registers the server, and again with what changes: each change is another trust version. */
export const registrar = (operator: OperatorStore, key: DiscoveryKey, source: RealSource) => {
  let changes = 0;
  const announced: string[] = [];
  return async ({
    more,
    announce,
  }: {
    readonly more?: boolean;
    readonly announce?: string;
  }): Promise<void> => {
    if (more === true) changes++;
    if (announce !== undefined) announced.push(announce);
    const { certificates } = source;
    const ca = certificates === undefined ? {} : { tlsCaPem: certificates.a.cert + certificates.b.cert };
    const registration: ServerRegistration = {
      name: key.server,
      namespace: parseNamespace('scripted'),
      source: { kind: 'mcp-http', url: source.url },
      trust: {
        ...DEFAULT_TRUST,
        ...ca,
        allowPrivateAddresses: true,
        acceptedIdentities: announced.map((name) => identityOf(source, name === 'a' ? 'a' : 'b')),
      },
      limits: LIMITS,
      contract: { ...DEFAULT_CONTRACT, descriptorBytes: DEFAULT_CONTRACT.descriptorBytes + changes },
      freshness: DEFAULT_FRESHNESS,
      refreshSeconds: 0,
      audiences: { [key.audience]: { kind: 'none' } },
    };
    const { outcome } = await operator.registerServer(key.tenant, registration, unsignedReceipt());
    if (outcome !== 'registered' && outcome !== 'changed') throw new Error(outcome);
  };
};
