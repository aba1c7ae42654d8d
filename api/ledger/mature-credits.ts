import type { Deps } from '#api/deps.ts';
import { listMaturingCredits, markMatured } from '#api/store/credits.ts';
import { isPassing } from '#shared/platform/database-problems.ts';
import { mature } from '#state-machines/ledger/postings.ts';
import { collectOwed } from './collect-owed.ts';
import { post } from './post.ts';

const BATCH = 200;

/**
 * Makes credits withdrawable once their delay has passed and their block is final by the maturity rule (decisions 5, 10), each in its own
 * transaction; returns how many. Any number of workers may run it at once. One that its gateway's books do not allow holds up none of the others.
 * @throws what the first of those that could not be matured failed of, once the others are
 */
export async function matureCredits(deps: Pick<Deps, 'db'>): Promise<number> {
  let matured = 0;
  const failed: unknown[] = [];
  let due: string[] = [];
  do {
    // Behind those before, whatever became of them: as many that fail as one look takes would stand before all others for ever.
    due = await listMaturingCredits(deps.db.sql, BATCH, due.at(-1));
    for (const id of due) {
      try {
        if (await matureCredit(deps, id)) matured += 1;
      } catch (error) {
        if (isPassing(error)) throw error;
        failed.push(error);
      }
    }
  } while (due.length === BATCH);
  if (failed.length > 0) throw failed[0];
  return matured;
}

function matureCredit(deps: Pick<Deps, 'db'>, id: string): Promise<boolean> {
  return deps.db.transaction(async (tx) => {
    const credit = await markMatured(tx, id);
    if (credit === undefined) return false;
    const postings = mature({ gatewayId: credit.gatewayId, assetId: credit.assetId, pool: credit.pool, amount: credit.net });
    const posted = await post(tx, { sourceKey: `credit:${credit.id}:mature`, kind: 'mature', postings });
    if (credit.pool === 'green') await collectOwed(tx, { ...credit, pool: 'green', cause: `credit:${credit.id}` });
    return posted;
  });
}
