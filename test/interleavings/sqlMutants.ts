/**
 * The guards that stand in SQL, taken out of a clone's functions one at a time: real rounds over such a database must be
 * disagreed with, or they would not notice if a migration lost the guard. Which round shows it, the simulation knows.
 */
import { asAdmin } from '../support/administrator.js';
import type { TestPostgres } from '../support/services.js';
import type { Kind } from './acts.js';
import { disagreements } from './agreement.js';
import type { Fence } from './core.js';
import { fencing } from './mutant.js';
import { findDisagreement } from './mutationCheck.js';
import { asReal, type RealParts } from './realRound.js';
import { cloneForRounds, openRealStack } from './realStack.js';

export interface SqlMutant {
  readonly name: string;
  readonly fence: Fence;
  readonly kind: Kind;
  readonly function: string;
  readonly guard: RegExp;
  /** What stands there instead. */
  readonly by: string;
}

const inFunction = (
  name: 'store_page' | 'promote' | 'renew_freshness',
  fence: Fence,
  kind: Kind,
  guard: RegExp,
  by = 'false',
): SqlMutant => ({ name: `${fence} in ${name}`, fence, kind, function: name, guard, by });

export const SQL_MUTANTS: readonly SqlMutant[] = [
  inFunction('store_page', 'hasClaim', 'freeze', /segment = p_segment and attempt = p_attempt/, 'true'),
  inFunction('promote', 'epochAtPromotion', 'policy', /epoch <> s\.policy_epoch/),
  inFunction('promote', 'trustAtPromotion', 'trust', /v\.trust_version <> s\.trust_version/),
  inFunction('promote', 'isOpen', 'closed', /v\.closed_reason is not null/),
  inFunction(
    'promote',
    'pointerAtPromotion',
    'competitor',
    /pointer_version\([^)]*\) <> s\.base_pointer_version/,
  ),
  inFunction('renew_freshness', 'pointerAtRenewal', 'competitor', /a\.version <> s\.base_pointer_version/),
  inFunction(
    'renew_freshness',
    'epochAtRenewal',
    'policy',
    /s\.policy_epoch <> coalesce\(\(select[^)]*\)[^)]*\), 0\)/,
  ),
  inFunction(
    'renew_freshness',
    'trustAtRenewal',
    'trust',
    /s\.trust_version is distinct from \(select[^)]*\)/,
  ),
];

/** Simulated rounds that are looked through for one that shows the guard. */
const MOST = 5_000;

const removeGuard = (adminUrl: string, { function: name, guard, by }: SqlMutant): Promise<void> =>
  asAdmin(adminUrl, async (admin) => {
    const { rows } = await admin.query<{ text: string }>(
      "select pg_get_functiondef(oid) as text from pg_proc where proname = $1 and pronamespace = 'genlock'::regnamespace",
      [name],
    );
    const text = rows[0]?.text ?? '';
    if (!guard.test(text)) throw new Error(`${name} has no guard like ${guard}`);
    await admin.query(text.replace(guard, by));
  });

/**
 * @param untouched parts over a database with all of its guards, in which the same round must be as it must be
 * @returns what was said first; null where nothing disagrees
 */
export const findRealDisagreement = async (
  mutant: SqlMutant,
  postgres: TestPostgres,
  untouched: RealParts,
  seed: number,
): Promise<string | null> => {
  const simulated = await findDisagreement(
    fencing(mutant.name, [mutant.kind], mutant.fence),
    seed,
    MOST,
    asReal,
  );
  if (simulated === null) return null;
  if ((await disagreements(simulated.schedule, untouched)).length > 0) return null;
  const database = await cloneForRounds(postgres);
  try {
    await removeGuard(database.adminUrl, mutant);
    const stack = await openRealStack(database);
    try {
      return (await disagreements(simulated.schedule, stack))[0] ?? null;
    } finally {
      await stack.close();
    }
  } finally {
    await database.drop();
  }
};
