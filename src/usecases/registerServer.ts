/**
 * Registers a server, or changes its settings. An unreachable one registers like any other: its discovery, which is
 * started here, says why it is not there.
 */
import { CatalogError } from '../domain/errors.js';
import type { DiscoveryKey } from '../domain/generation.js';
import {
  type AudienceClass,
  parseAudienceClass,
  parseDigest,
  parseNamespace,
  parseServerName,
  type ServerName,
  type TenantId,
} from '../domain/ids.js';
import type { JsonValue } from '../domain/json.js';
import type { OperatorAct } from '../domain/receipt.js';
import { DEFAULT_SCAN_LIMITS, type ScanLimits } from '../domain/scanLimits.js';
import {
  type CredentialRef,
  DEFAULT_CONTRACT,
  DEFAULT_FRESHNESS,
  DEFAULT_REFRESH_SECONDS,
  DEFAULT_TRUST,
  type FreshnessSettings,
  type RegisteredServer,
  type ServerRegistration,
  type SourceSpec,
} from '../domain/server.js';
import { canonicalJson } from '../proof/canonical.js';
import { parsePointer } from '../proof/jsonPointer.js';
import type { OperatorStore } from '../store/operatorStore.js';
import { parseCredential, refuseSecrets } from './credentialReference.js';
import type { DiscoveryControl, StartedDiscovery } from './discoveryControl.js';
import { type Operator, type OperatorReceiptDeps, operatorReceipt } from './operatorReceipt.js';
import { audienceKeys } from './publishPolicy.js';
import { type DiscoveryStart, startDiscoveries } from './startDiscoveries.js';

type Partially<T> = { readonly [K in keyof T]?: T[K] | undefined };

export type SourceRequest =
  | { readonly kind: 'mcp-http'; readonly url: string }
  | {
      readonly kind: 'mcp-stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly cwd?: string | undefined;
      readonly env?: Readonly<Record<string, string>> | undefined;
    };

/** What an operator sends; whatever is left out has the defaults of domain/server.ts and domain/scanLimits.ts. */
export interface RegistrationRequest {
  readonly name: string;
  readonly namespace: string;
  readonly source: SourceRequest;
  /** Audience class → `none`, `env:NAME` or `file:PATH`. From 1 to 20. */
  readonly audiences: Readonly<Record<string, string>>;
  readonly trust?:
    | Partially<{
        allowPrivateAddresses: boolean;
        tlsCaPem: string;
        spkiPins: readonly string[];
        acceptedIdentities: readonly string[];
        revisionPointer: string;
        tokenPointer: string;
      }>
    | undefined;
  /** Times in milliseconds. */
  readonly limits?:
    | Partially<Record<'pages' | 'tools' | 'pageBytes' | 'scanBytes' | 'pageTime' | 'scanTime', number>>
    | undefined;
  readonly contract?: Partially<ServerRegistration['contract']> | undefined;
  /** Milliseconds. */
  readonly freshness?: Partially<Record<'maxAge' | 'snapshotMaxAge', number>> | undefined;
  readonly refreshSeconds?: number | undefined;
}

export interface RegisterServerDeps extends OperatorReceiptDeps {
  readonly store: Pick<OperatorStore, 'registerServer' | 'readServer'>;
  readonly control: DiscoveryControl;
}

export interface Registered {
  readonly outcome: 'registered' | 'changed' | 'unchanged';
  readonly server: RegisteredServer;
  readonly receipt: string | null;
  readonly discoveries: readonly DiscoveryStart[];
}

/**
 * Registering the same settings again changes nothing and leaves no receipt.
 * @throws CatalogError BAD_REQUEST/INVALID_NAME, CREDENTIAL_VALUE, CREDENTIAL_SPACE, INVALID_BODY
 * @throws CatalogError CONFLICT/NAMESPACE_TAKEN, CONFLICT/SERVER_EXISTS, CONFLICT/CHANGED_MEANWHILE
 */
export const registerServer = async (
  deps: RegisterServerDeps,
  operator: Operator,
  request: RegistrationRequest,
): Promise<Registered> => {
  const { tenant } = operator;
  const registration = parseRegistration(tenant, request);
  const known = await deps.store.readServer(tenant, registration.name);
  if (known !== null) refuseLostAudience(known, registration);
  const unchanged = known !== null && sameSettings(known, registration);
  const receipt = operatorReceipt(deps, operator, {
    act: actOf(known, registration),
    target: registration.name,
    server: registration.name,
    record: registration,
  });
  const stored = unchanged
    ? { outcome: 'unchanged' as const, trustVersion: known.trustVersion }
    : await deps.store.registerServer(tenant, registration, receipt, known?.trustVersion ?? 0);
  if (!('trustVersion' in stored)) throw conflict(stored.outcome, registration);
  // A run that is under way may have read the settings of before: it has to hear of the new ones.
  const scheduleAndHint = async (key: DiscoveryKey): Promise<StartedDiscovery> => {
    await deps.control.ensureSchedule(key, registration.refreshSeconds);
    return deps.control.hint(key);
  };
  return {
    outcome: stored.outcome,
    server: {
      ...registration,
      trustVersion: stored.trustVersion,
      closedReason: known?.closedReason ?? null,
    },
    receipt: unchanged ? null : receipt.id,
    discoveries: await startDiscoveries(deps.control, audienceKeys(tenant, registration), scheduleAndHint),
  };
};

const conflict = (
  outcome: 'namespaceTaken' | 'exists' | 'moved',
  { namespace, name }: ServerRegistration,
): CatalogError => {
  switch (outcome) {
    case 'namespaceTaken':
      return new CatalogError('CONFLICT', 'NAMESPACE_TAKEN', { namespace });
    case 'exists':
      return new CatalogError('CONFLICT', 'SERVER_EXISTS', { rule: 'a namespace is never changed' });
    case 'moved':
      return new CatalogError('CONFLICT', 'CHANGED_MEANWHILE', { server: name });
  }
};

const parseRegistration = (tenant: TenantId, request: RegistrationRequest): ServerRegistration => {
  refuseSecrets(tenant, request.source);
  const trust = given(request.trust);
  refusePointer('trust.revisionPointer', trust.revisionPointer);
  refusePointer('trust.tokenPointer', trust.tokenPointer);
  return {
    name: parseServerName(request.name),
    namespace: parseNamespace(request.namespace),
    source: given(request.source) as SourceSpec,
    audiences: parseAudiences(tenant, request.audiences),
    trust: {
      ...DEFAULT_TRUST,
      ...trust,
      spkiPins: (trust.spkiPins ?? []).map(parseDigest),
      acceptedIdentities: (trust.acceptedIdentities ?? []).map(parseDigest),
    },
    // Times are milliseconds on the wire as they are in memory.
    limits: { ...DEFAULT_SCAN_LIMITS, ...(given(request.limits) as Partial<ScanLimits>) },
    contract: { ...DEFAULT_CONTRACT, ...given(request.contract) },
    freshness: { ...DEFAULT_FRESHNESS, ...(given(request.freshness) as Partial<FreshnessSettings>) },
    refreshSeconds: request.refreshSeconds ?? DEFAULT_REFRESH_SECONDS,
  };
};

/** D3: it names a member of each list result; an empty one would name the result itself, which is no revision. */
const refusePointer = (member: string, pointer: string | undefined): void => {
  if (pointer === undefined) return;
  try {
    if (parsePointer(pointer).length > 0) return;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  throw new CatalogError('BAD_REQUEST', 'INVALID_BODY', {
    errors: [{ member, rule: 'a JSON pointer (RFC 6901) to a member of a list result' }],
  });
};

const parseAudiences = (
  tenant: TenantId,
  audiences: Readonly<Record<string, string>>,
): Record<AudienceClass, CredentialRef> => {
  return Object.fromEntries(
    Object.entries(audiences).map(([name, credential]) => [
      parseAudienceClass(name),
      parseCredential(tenant, credential, `audiences.${name}`),
    ]),
  );
};

type Given<T> = { readonly [K in keyof T]: Exclude<T[K], undefined> };
/** A member that is undefined must not hide a default. */
const given = <T extends object>(value: T | undefined): Given<T> =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([, member]) => member !== undefined)) as Given<T>;

const canonical = (value: unknown): string => canonicalJson(JSON.parse(JSON.stringify(value)) as JsonValue);

/** R1: what the receipt says was done. The rule of `register_server`, which moves the trust version by it. */
const actOf = (known: RegisteredServer | null, next: ServerRegistration): OperatorAct => {
  if (known === null) return 'REGISTER_SERVER';
  const trusted = ({ source, trust, contract, audiences }: ServerRegistration): string =>
    canonical({ source, trust, contract, audiences });
  return trusted(known) === trusted(next) ? 'CHANGE_SETTINGS' : 'CHANGE_TRUST';
};

const settingsOf = ({ trustVersion: _, closedReason: __, ...settings }: RegisteredServer): string =>
  canonical(settings);

const sameSettings = (known: RegisteredServer, registration: ServerRegistration): boolean =>
  settingsOf(known) === settingsOf({ ...registration, trustVersion: 0, closedReason: null });

/** Scans and receipts name an audience for ever; what must not be called any more is closed or revoked. */
const refuseLostAudience = (known: RegisteredServer, next: ServerRegistration): void => {
  const lost = Object.keys(known.audiences).filter((audience) => !Object.hasOwn(next.audiences, audience));
  if (lost.length > 0)
    throw new CatalogError('CONFLICT', 'SERVER_EXISTS', {
      rule: 'an audience is not taken away: revoke the server, or close it',
      audiences: lost,
    });
};

export interface CloseServerDeps extends OperatorReceiptDeps {
  readonly store: Pick<OperatorStore, 'setServerClosed'>;
}

/**
 * Closes a server, after which nothing is admitted on it, or opens it again.
 * @param reason null opens it
 * @throws CatalogError NOT_FOUND/NO_SUCH_SERVER
 */
export const setServerClosed = async (
  deps: CloseServerDeps,
  operator: Operator,
  server: ServerName,
  reason: string | null,
): Promise<{
  readonly server: ServerName;
  readonly closedReason: string | null;
  readonly receipt: string;
}> => {
  const act = reason === null ? 'OPEN_SERVER' : 'CLOSE_SERVER';
  const receipt = operatorReceipt(deps, operator, {
    act,
    target: server,
    server,
    record: { server, reason },
  });
  const done = await deps.store.setServerClosed(operator.tenant, server, reason, receipt);
  if (!done) throw new CatalogError('NOT_FOUND', 'NO_SUCH_SERVER');
  return { server, closedReason: reason, receipt: receipt.id };
};
