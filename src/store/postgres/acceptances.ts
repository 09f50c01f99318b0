/** What operators accepted of held scans: written by one function, read by the next scan and by operators (D5). */
import type pg from 'pg';
import type { Acceptance } from '../../domain/acceptance.js';
import type { OperatorStore, StoredAcceptance } from '../operatorStore.js';
import type { ScanStore } from '../scanStore.js';
import { query, withTenant } from './pool.js';
import { iso } from './rows.js';

/** The worker's side. */
export const acceptancePart = (pool: pg.Pool): Pick<ScanStore, 'openAcceptances' | 'restOn'> => ({
  openAcceptances: ({ tenant, server, audience }, pointerVersion) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query(
        client,
        `select id, kind, identity, revision, content_root as "contentRoot" from acceptance
           where tenant = $1 and server = $2 and audience = $3 and used_by is null and pointer_version = $4
           order by accepted_at, id`,
        [tenant, server, audience, pointerVersion],
      );
      return rows as unknown as readonly Acceptance[];
    }),

  restOn: async (tenant, scan, acceptances) => {
    const rows = await query<{ done: boolean }>(pool, 'select rest_on($1, $2, $3) as done', [
      tenant,
      scan,
      acceptances,
    ]);
    return rows[0]?.done === true;
  },
});

/** The operator's side. */
export const heldPart = (pool: pg.Pool): Pick<OperatorStore, 'acceptHeld' | 'listAcceptances'> => ({
  acceptHeld: async (tenant, { id, discovery, kind, reason, by }, receipt) => {
    const rows = await query<{ answer: Awaited<ReturnType<OperatorStore['acceptHeld']>> }>(
      pool,
      'select accept_held($1, $2, $3) as answer',
      [tenant, { id, discovery, kind, reason, by }, receipt],
    );
    return rows[0]?.answer ?? 'noSuchDiscovery';
  },

  listAcceptances: (tenant) =>
    withTenant(pool, tenant, async (client) => {
      const rows = await query(
        client,
        `select c.*, c.used_by is null and c.pointer_version = pointer_version(c.tenant, c.server, c.audience) as open
           from acceptance c where c.tenant = $1 order by c.accepted_at desc, c.id limit 1000`,
        [tenant],
      );
      return rows.map(
        (row) =>
          ({
            id: row['id'],
            discovery: row['discovery'],
            server: row['server'],
            audience: row['audience'],
            kind: row['kind'],
            identity: row['identity'],
            revision: row['revision'],
            contentRoot: row['content_root'],
            reason: row['reason'],
            by: row['accepted_by'],
            acceptedAt: iso(row['accepted_at']),
            receipt: row['receipt'],
            usedBy: row['used_by'],
            open: row['open'],
          }) as StoredAcceptance,
      );
    }),
});
