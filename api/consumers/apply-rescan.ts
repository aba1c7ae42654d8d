import type { Deps } from '#api/deps.ts';
import { recordDeposits } from '#api/payments/record-deposits.ts';
import { lockTip } from '#api/store/chain-blocks.ts';
import { readIndexerLease } from '#api/store/leases.ts';
import { mayHaveWork } from '#api/store/outbox.ts';
import { advanceRescan, countUnstored, listContradicted, listOpened, lockRescan, setRescanProblem } from '#api/store/rescans.ts';
import { applyOutgoing } from '#api/payouts/apply-outgoing.ts';
import type { BlockMessage } from '#shared/core/chain-events.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import type { ConsumedNetwork } from './apply-message.ts';

/** What became of one part of a rescan. */
export type AppliedRescan = { outcome: 'applied'; found: number; paymentIds: string[] } | { outcome: 'refused'; reason: string } | { outcome: 'dropped' };

/**
 * Books what was missed in final blocks that an operator has read again: sightings that are stored already stay as they are, and what a
 * wallet's opening balance has in it is left out, so each coin is in the books once. Blocks that contradict the ones that were applied are
 * refused. Safe to call twice with the same message. Locks the tip and the rescan, then as a block does.
 */
export async function applyRescan(deps: Deps, network: ConsumedNetwork, message: BlockMessage): Promise<AppliedRescan> {
  let within: Tx | undefined;
  const applied = await deps.db.transaction(async (tx): Promise<AppliedRescan> => {
    within = tx;
    const tip = await lockTip(tx, network.id);
    const writer = await readIndexerLease(tx, network.id);
    if (tip === undefined || message.to > tip.finalHeight || (writer !== undefined && message.epoch < writer.epoch)) return { outcome: 'dropped' };
    const rescan = await lockRescan(tx, network.id, message);
    if (rescan === undefined) return { outcome: 'dropped' };
    const told = [
      { height: message.to, hash: message.hash },
      { height: message.from - 1, hash: message.parentHash },
      ...message.sightings.map((one) => ({ height: one.height, hash: one.blockHash })),
    ];
    const [contradicted] = await listContradicted(tx, network.id, told);
    if (contradicted !== undefined) {
      const reason = `the node has another block ${contradicted} than was applied`;
      await setRescanProblem(tx, rescan.id, reason);
      return { outcome: 'refused', reason };
    }
    const opened = await listOpened(tx, network.id, message.sightings);
    const sightings = message.sightings.filter((_, at) => !opened.has(at));
    const found = await countUnstored(tx, network.id, sightings);
    const paymentIds = await recordDeposits(tx, deps, { network, from: message.from, to: message.to, sightings, mark: tip, claimedBy: null });
    if (found > 0) await applyOutgoing(tx, deps, { networkId: network.id, networkName: network.name });
    await advanceRescan(tx, rescan.id, { to: message.to, found });
    return { outcome: 'applied', found, paymentIds: found > 0 ? paymentIds : [] };
  });
  crashPoint('rescan.committed');
  if (within !== undefined && mayHaveWork(within)) deps.wake();
  if (applied.outcome === 'applied' && applied.paymentIds.length > 0) deps.announce(applied.paymentIds, network.name);
  return applied;
}
