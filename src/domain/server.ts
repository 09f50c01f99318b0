/** What an operator registers of a server. Stored as it is; secrets stand in it as references only (S6). */
import type { AudienceClass, Digest, DurationMs, Namespace, ServerName } from './ids.js';
import { durationMs } from './ids.js';
import type { ScanLimits } from './scanLimits.js';

/** `none` where the server takes none; else where the worker finds the secret: `env:NAME` or `file:PATH`. */
export type CredentialRef =
  | { readonly kind: 'none' }
  | { readonly kind: 'reference'; readonly reference: string };

export type SourceSpec =
  | { readonly kind: 'mcp-http'; readonly url: string }
  | {
      readonly kind: 'mcp-stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly cwd?: string;
      /** Values are literal text, or a reference `env:NAME` or `file:PATH` where the value is a secret. */
      readonly env?: Readonly<Record<string, string>>;
    };

export interface ServerTrust {
  readonly allowPrivateAddresses: boolean;
  readonly tlsCaPem?: string;
  /** Accepted digests of the TLS public key; empty accepts any key that the certificate check accepts. */
  readonly spkiPins: readonly Digest[];
  /** Identity digests that may take over from the active one (D8), announced before the change. */
  readonly acceptedIdentities: readonly Digest[];
  readonly revisionPointer: string;
  readonly tokenPointer: string;
}

export interface ContractSettings {
  /** Dialects beside 2020-12 that this server may declare (V2). */
  readonly dialects: readonly 'draft-07'[];
  readonly onToolFault: 'quarantine-tool' | 'quarantine-catalog';
  /** A candidate that loses more than this share of the active tools is held for an operator. 0 to 1. */
  readonly shrinkShare: number;
  readonly descriptorBytes: number;
}

export interface FreshnessSettings {
  /** How long a verified refresh lets the generation serve. */
  readonly maxAge: DurationMs;
  /** The hard limit of a snapshot; an unchanged refresh near it seals a new generation (S7). */
  readonly snapshotMaxAge: DurationMs;
}

export interface ServerRegistration {
  readonly name: ServerName;
  readonly namespace: Namespace;
  readonly source: SourceSpec;
  readonly trust: ServerTrust;
  readonly limits: ScanLimits;
  readonly contract: ContractSettings;
  readonly freshness: FreshnessSettings;
  /** Seconds between scheduled refreshes; 0 for none. */
  readonly refreshSeconds: number;
  readonly audiences: Readonly<Record<AudienceClass, CredentialRef>>;
}

export interface RegisteredServer extends ServerRegistration {
  readonly trustVersion: number;
  readonly closedReason: string | null;
}

export const DEFAULT_TRUST: ServerTrust = {
  allowPrivateAddresses: false,
  spkiPins: [],
  acceptedIdentities: [],
  revisionPointer: '/_meta/dev.genlock~1catalogRevision',
  tokenPointer: '/_meta/dev.genlock~1snapshotToken',
};

export const DEFAULT_CONTRACT: ContractSettings = {
  dialects: [],
  onToolFault: 'quarantine-tool',
  shrinkShare: 0.3,
  descriptorBytes: 256 * 1024,
};

export const DEFAULT_FRESHNESS: FreshnessSettings = {
  maxAge: durationMs(60 * 60_000),
  snapshotMaxAge: durationMs(24 * 60 * 60_000),
};

export const DEFAULT_REFRESH_SECONDS = 300;
