import type { Deps } from '#api/deps.ts';
import { insertFreeze } from '#api/store/freezes.ts';
import type { Unproven } from './say.ts';

/**
 * What becomes of something that is to be paid and that nobody is proven to have accepted: it waits, where an upgrade goes on; else somebody changed a row,
 * and its network is frozen as the signer would freeze it, before anything is planned. `what` names it.
 */
export async function stopUnproven(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  { network, what }: { network: string; what: string },
  unproven: Unproven,
): Promise<{ waiting: string } | { closed: string }> {
  if ('wait' in unproven) return { waiting: unproven.wait };
  const reason = `${what} is not paid: ${unproven.refuse}`;
  await insertFreeze(db.sql, { scope: `network:${network}`, reason });
  log.error({ network, reason }, 'something to be paid was accepted by nobody: somebody changed its row');
  return { closed: reason };
}
