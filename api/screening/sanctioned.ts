import {
  lockScreeningCredits,
  moveScreeningCredit,
  findVerdict,
  insertSanctioned,
  lockUnfinishedScreening,
  recordSanctioned,
  type ScreeningSubject,
  type StoredVerdict,
} from '#api/store/screenings.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import type { ScreeningDeps } from './purchase.ts';

const SOURCE = 'sanctions';

/**
 * The verdict of the sanctions list: 100 when any of these addresses is on it, undefined otherwise. It is stored at no cost;
 * a question that was being bought ends with it and gives its credit back. A deposit that has a verdict keeps it.
 * Locks the gateway's credits, then the question.
 */
export async function findSanctioned(deps: ScreeningDeps, subject: ScreeningSubject, addresses: readonly string[]): Promise<StoredVerdict | undefined> {
  if (deps.sources.sanctions?.lists(addresses) !== true) return undefined;
  return deps.db.transaction(async (tx) => {
    await lockScreeningCredits(tx, subject.gatewayId);
    const open = await lockUnfinishedScreening(tx, subject);
    const known = await findVerdict(tx, subject);
    if (known !== undefined && (known.sanctioned || subject.depositId !== null)) return known;
    deps.metrics?.amlScreens.inc({ provider: SOURCE, result: 'sanctioned' });
    if (open === undefined) {
      const id = uuidFrom(deps.randomBytes(16));
      await insertSanctioned(tx, { ...subject, id, source: SOURCE });
      return { id, score: 100, sanctioned: true };
    }
    await recordSanctioned(tx, { id: open.id, source: SOURCE });
    if (open.state !== 'failed') await moveScreeningCredit(tx, subject.gatewayId, 1);
    return { id: open.id, score: 100, sanctioned: true };
  });
}
