import type { Context } from './command.ts';
import { bad, type Finding, good } from './finding.ts';

interface Closed {
  freezes: { scope: string; reason: string }[];
  haltedWallets: { network: string; role: string; address: string; reason: string }[];
  awaitingComparison: boolean;
}

/** Whether anything keeps cashouts from being sent: a freeze, a wallet that was stopped, or a database of another history. */
export async function checkDispatch(context: Context): Promise<Finding> {
  const { freezes, haltedWallets, awaitingComparison } = (await context.operator.must('GET', '/freezes')) as unknown as Closed;
  const [halted] = haltedWallets;
  if (halted !== undefined) {
    const seen = `${haltedWallets.length} wallets halted, such as the ${halted.role} wallet ${halted.address} on ${halted.network}: ${halted.reason}`;
    const frozen = freezes.length === 0 ? '' : `; frozen besides: ${freezes.map((one) => one.scope).join(', ')} (npx sluice dispatch status)`;
    return bad('dispatch', seen + frozen, 'somebody else may have its key: move what is left of it, and find out who sent that transaction');
  }
  const [first] = freezes;
  if (first !== undefined)
    return bad(
      'dispatch',
      `frozen: ${freezes.map((one) => one.scope).join(', ')}; ${first.reason}`,
      `when it is mended: npx sluice dispatch unfreeze --scope ${first.scope}`,
    );
  if (awaitingComparison) return bad('dispatch', 'the database was restored or taken over', 'it goes on by itself once the chains were compared with it');
  return good('dispatch', 'open');
}

/** Work that was given up and needs a person. */
export async function checkJobs(context: Context): Promise<Finding> {
  const { items, pagination } = (await context.operator.must('GET', '/jobs?limit=100')) as {
    items: { state: string; topic: string; lastError: string | null }[];
    pagination: { total: number };
  };
  const dead = items.filter((job) => job.state === 'dead');
  const [first] = dead;
  if (first !== undefined)
    return bad('jobs', `${dead.length} given up, such as ${first.topic}: ${first.lastError ?? 'no reason kept'}`, 'see GET /jobs; a dead job needs a person');
  return good('jobs', `${pagination.total} waiting, none dead`);
}

/** Whether the books contradict themselves. */
export async function checkAudit(context: Context): Promise<Finding> {
  const { checks } = (await context.operator.must('GET', '/audit')) as unknown as { checks: { check: string; rows: unknown[] }[] };
  const failed = checks.filter((one) => one.rows.length > 0).map((one) => one.check);
  return failed.length === 0 ? good('audit', `${checks.length} checks clean`) : bad('audit', `not clean: ${failed.join(', ')}`, 'npx sluice audit');
}
