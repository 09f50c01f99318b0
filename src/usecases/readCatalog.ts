/**
 * The active catalog as one subject sees it: only through the pointer (P3), only of the audience class that policy
 * proves from its token (S4), only while it is fresh (S7). What is listed is not yet authorized (A2).
 */

import type { EffectClass, ToolVerdict } from '../domain/descriptor.js';
import { CatalogError } from '../domain/errors.js';
import type { AudienceClass, Digest, EpochMs, ServerName, ToolId } from '../domain/ids.js';
import { isString, type JsonObject, type JsonValue, member } from '../domain/json.js';
import { heldBy, type OpenReview } from '../domain/review.js';
import type { SourceRevision } from '../domain/snapshot.js';
import type { VerifiedCaller } from '../keys/callerToken.js';
import type { CompiledPolicy } from '../policy/port.js';
import { digestJson } from '../proof/digest.js';
import type { ActiveServer, ActiveTool, AdmissionStore, CatalogSlice } from '../store/admissionStore.js';
import type { Policies } from './policies.js';
import { type CallerScope, createScopeReader, TENANT_SCOPE } from './resolveScope.js';

export interface CatalogTool {
  readonly id: ToolId;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** Derived by the operator beside the source's own text; it replaces nothing of it (S3). */
  readonly shortDescription?: string;
  readonly inputSchema: JsonValue;
  readonly outputSchema?: JsonValue;
  readonly effectClass: EffectClass;
  readonly verdict: ToolVerdict;
  /** V6: why it cannot be called, though it is listed. Left out where nothing holds it. */
  readonly review?: OpenReview;
  /** What a plan node stores (A1). */
  readonly binding: {
    readonly generation: number;
    readonly descriptor: Digest;
    readonly policyEpoch: number;
  };
}

export interface Catalog {
  readonly server: ServerName;
  readonly audienceClass: AudienceClass;
  readonly generation: number;
  readonly snapshot: Digest;
  readonly identity: Digest;
  readonly protocol: string;
  readonly revision: SourceRevision;
  readonly policyEpoch: number;
  readonly contentRoot: Digest;
  readonly pageRoot: Digest;
  readonly freshUntil: string;
  readonly toolCount: number;
  readonly tools: readonly CatalogTool[];
  /** The `after` of the next slice; null at the end. */
  readonly next: string | null;
}

export interface CatalogPage {
  readonly after: string;
  readonly limit: number;
  /** The If-None-Match header. */
  readonly ifNoneMatch?: string | undefined;
}

export type CatalogAnswer =
  | { readonly kind: 'notModified'; readonly etag: string }
  | { readonly kind: 'catalog'; readonly etag: string; readonly catalog: Catalog };

export interface ReadCatalogDeps {
  readonly store: Pick<AdmissionStore, 'view' | 'tool' | 'catalog' | 'servers'>;
  readonly policies: Policies;
  readonly now: () => EpochMs;
}

export interface CatalogReader {
  /** Servers with an active generation for the caller's audience. */
  servers(caller: VerifiedCaller): Promise<readonly ActiveServer[]>;
  /**
   * @throws CatalogError NOT_FOUND/NO_SUCH_SERVER, NO_ACTIVE_CATALOG; STALE_CATALOG/GENERATION_EXPIRED
   * @throws CatalogError POLICY_DENIED/NO_POLICY, NO_AUDIENCE
   */
  catalog(caller: VerifiedCaller, server: ServerName, page: CatalogPage): Promise<CatalogAnswer>;
  /** @throws CatalogError as `catalog`, and NOT_FOUND/NO_SUCH_TOOL */
  tool(caller: VerifiedCaller, server: ServerName, tool: ToolId): Promise<CatalogTool>;
}

export const createCatalogReader = ({ store, policies, now }: ReadCatalogDeps): CatalogReader => {
  const scopes = createScopeReader(store, policies);

  const audienceScope = async (caller: VerifiedCaller, server: ServerName): Promise<ProvenScope> => {
    const scope = await scopes.resolve(caller, server, true);
    const { view, policy, audience } = scope;
    if (server !== TENANT_SCOPE && view.server === null)
      throw new CatalogError('NOT_FOUND', 'NO_SUCH_SERVER');
    if (policy === null) throw new CatalogError('POLICY_DENIED', 'NO_POLICY');
    if (audience === null) throw new CatalogError('POLICY_DENIED', 'NO_AUDIENCE');
    return { view, policy, audience };
  };

  return {
    servers: async (caller) => {
      const { audience } = await audienceScope(caller, TENANT_SCOPE);
      const at = now();
      return (await store.servers(caller.tenant, audience)).filter(({ freshUntil }) => freshUntil > at);
    },

    catalog: async (caller, server, { after, limit, ifNoneMatch }) => {
      const scope = await audienceScope(caller, server);
      const read = (wanted: number) =>
        store.catalog(caller.tenant, server, scope.audience, { after, limit: wanted });
      const etagOf = (slice: CatalogSlice) => etag(slice, { after, limit, audience: scope.audience });
      if (ifNoneMatch !== undefined) {
        const head = serving(await read(0), scope, now());
        if (matches(ifNoneMatch, etagOf(head))) return { kind: 'notModified', etag: etagOf(head) };
      }
      const slice = serving(await read(limit + 1), scope, now());
      const rows = slice.page.slice(0, limit);
      const next = slice.page.length > limit ? (rows.at(-1)?.name ?? null) : null;
      return {
        kind: 'catalog',
        etag: etagOf(slice),
        catalog: {
          server,
          audienceClass: scope.audience,
          generation: slice.generation,
          snapshot: slice.snapshot,
          identity: slice.identity,
          protocol: slice.protocol,
          revision: slice.revision,
          policyEpoch: slice.policyEpoch,
          contentRoot: slice.contentRoot,
          pageRoot: slice.pageRoot,
          freshUntil: new Date(slice.freshUntil).toISOString(),
          toolCount: slice.tools,
          tools: rows.map((row) => catalogTool(row, slice.generation, scope)),
          next,
        },
      };
    },

    tool: async (caller, server, tool) => {
      const scope = await audienceScope(caller, server);
      serving(scope.view.active, scope, now());
      const found = await store.tool(caller.tenant, server, scope.audience, tool);
      if (found === null) throw new CatalogError('NOT_FOUND', 'NO_SUCH_TOOL');
      return catalogTool(found, found.generation, scope);
    },
  };
};

interface ProvenScope extends Pick<CallerScope, 'view'> {
  readonly policy: CompiledPolicy;
  readonly audience: AudienceClass;
}

/** S7: what is past its freshness serves nobody, readers included. */
const serving = <T extends { readonly freshUntil: EpochMs; readonly generation: number }>(
  active: T | null,
  { view }: ProvenScope,
  now: EpochMs,
): T => {
  if (active === null)
    throw new CatalogError('NOT_FOUND', 'NO_ACTIVE_CATALOG', { latestScan: view.latestScan });
  if (!(active.freshUntil > now))
    throw new CatalogError('STALE_CATALOG', 'GENERATION_EXPIRED', { activeGeneration: active.generation });
  return active;
};

/** Generation + fence + the subject's view; freshness too, which is renewed without a move of the fence. */
const etag = (
  { generation, fence, freshUntil }: CatalogSlice,
  view: { readonly after: string; readonly limit: number; readonly audience: AudienceClass },
): string => `"${generation}-${digestJson({ fence, freshUntil, ...view }).slice('sha256:'.length, -32)}"`;

/** RFC 9110 §13.1.2: weak comparison over a list of tags. */
const matches = (header: string, tag: string): boolean =>
  header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag);

const catalogTool = (
  { id, name, descriptor, effectClass, verdict, review, source }: ActiveTool,
  generation: number,
  { policy, view }: ProvenScope,
): CatalogTool => {
  // The source's own text, which the strict reader read before it was sealed.
  const tool = JSON.parse(source) as JsonObject;
  const title = member(tool, 'title');
  const description = member(tool, 'description');
  const outputSchema = member(tool, 'outputSchema');
  const held = heldBy({ effectClass, review });
  const shortDescription = policy.classify(id)?.shortDescription ?? null;
  return {
    id,
    name,
    ...(isString(title) && { title }),
    ...(isString(description) && { description }),
    ...(shortDescription !== null && { shortDescription }),
    inputSchema: member(tool, 'inputSchema') ?? null,
    ...(outputSchema !== undefined && { outputSchema }),
    effectClass,
    verdict,
    ...(held !== null && { review: held }),
    binding: { generation, descriptor, policyEpoch: view.policyEpoch },
  };
};
