import type { Deps } from '#api/deps.ts';
import { postEach } from '#api/ledger/post.ts';
import { type AllocatedBy, listDepositCandidates, regainDeposits, upsertDeposits } from '#api/store/deposits.ts';
import { markMined } from '#api/store/mempool.ts';
import { insertSpends } from '#api/store/outputs.ts';
import { insertSightings, listInternal, markSightingsBooked } from '#api/store/sightings.ts';
import { noteDepositTraces } from '#api/store/traces.ts';
import { insertSums, listSumsIn, readFoldFacts, restoreSums } from '#api/store/transfer-sums.ts';
import { coldAddress } from '#api/payouts/rules/cold.ts';
import type { Sighting } from '#shared/core/chain-events.ts';
import { crowds, foldTransfers, nameOfTransfer, type TransferSum } from '#shared/core/fold-transfers.ts';
import { rowId } from '#shared/core/ids.ts';
import { fromUnits, MONEY_LIMIT } from '#shared/core/money.ts';
import { withoutRecounted } from '#shared/core/rereadings.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { regain } from '#state-machines/ledger/postings.ts';

/** Sightings in canonical blocks `from`..`to` of a network, and who reported them. */
export interface Seen {
  network: { id: string; name: string };
  from: number;
  to: number;
  sightings: readonly Sighting[];
  /** The stream message that reported them, or the tip they were looked up under. It names the posting for a deposit that was lost and came back. */
  mark: { epoch: number; seq: number };
  /** Null when the stream reported them. */
  claimedBy: AllocatedBy | null;
}

/**
 * Stores sightings and the deposits among them. Stored ones stay as they are, so the stream and an inquiry may both report the same transfer.
 * Call it under the lock of the network's tip, so that the blocks stay canonical until the commit. Returns the payments concerned, to be announced
 * after it.
 */
export async function recordDeposits(tx: Tx, deps: Pick<Deps, 'chains' | 'randomBytes' | 'wallClock' | 'log'>, given: Seen): Promise<string[]> {
  const { network, from, to, mark } = given;
  const internal = given.sightings.filter((sighting) => sighting.kind === 'internal');
  const { kept, recounted } = withoutRecounted(given.sightings, await listInternal(tx, network.id, internal));
  if (recounted.length > 0)
    deps.log.error({ network: network.name, from, to, txids: recounted }, 'two readings of a block count internal transfers differently; the first one stands');
  const { alone, sums } = await fold(tx, deps, network, kept);
  const seen = { ...given, sightings: alone };
  await insertSightings(tx, network.id, alone, sums);
  await insertSums(tx, network.id, sums);
  await insertSpends(tx, network.id, alone);
  const candidates = await listDepositCandidates(tx, network.id, from, to);
  // An inquiry concerns only its own transfers, not others in the same block.
  const own = new Set([...alone, ...sums.map(({ transfer }) => transfer)].map(nameOf));
  const deposits = (seen.claimedBy === null ? candidates : candidates.filter((candidate) => own.has(nameOf(candidate)))).map(({ decimals, ...rest }) => ({
    ...rest,
    id: rowId(deps),
    amount: fromUnits(BigInt(rest.rawAmount), decimals),
    claimedBy: seen.claimedBy,
  }));
  // A configured token may claim anything. What is beyond all amounts is not believed: neither is what some of it would add up to one that the books can hold.
  const believable = deposits.filter((deposit) => deposit.amount < MONEY_LIMIT);
  if (believable.length < deposits.length)
    deps.log.error({ network: network.name, from, to }, 'a configured token claims to move more than exists; not taken as a deposit');
  const ids = await upsertDeposits(tx, network.id, believable);
  const [, , regained] = await Promise.all([
    noteDepositTraces(tx, ids),
    markMined(tx, network.id, [...new Set(alone.map((sighting) => sighting.txid))]),
    regainDeposits(tx, ids),
  ]);
  await postEach(
    tx,
    regained.map((deposit) => ({
      sourceKey: `deposit:${deposit.id}:regain:${mark.epoch}.${mark.seq}`,
      kind: 'regain',
      postings: regain(deposit.assetId, deposit.amount),
    })),
  );
  // What was booked in the former block is booked again in this one.
  if (regained.length > 0)
    await markSightingsBooked(
      tx,
      regained.map((deposit) => ({ ...deposit, networkId: network.id })),
    );
  return [...new Set(believable.map((deposit) => deposit.paymentId))];
}

/**
 * Folds many small transfers into sums where that changes no judgement (decision 0030). Parts of sums that are already stored are left out, so a
 * second report adds nothing.
 */
async function fold(
  tx: Tx,
  { chains }: Pick<Deps, 'chains'>,
  { id: networkId, name }: Seen['network'],
  sightings: readonly Sighting[],
): Promise<{ alone: Sighting[]; sums: TransferSum[] }> {
  const transfers = sightings.filter((one) => one.kind !== 'sent');
  const stored = await listSumsIn(tx, networkId, [...new Set(transfers.map((one) => one.blockHash))]);
  const known = new Set(stored.flatMap(({ blockHash, kind, parts }) => parts.map((part) => `${blockHash} ${nameOfTransfer({ ...part, kind })}`)));
  const told = new Set<string>();
  const fresh = sightings.filter((one) => {
    if (one.kind === 'sent' || !known.has(`${one.blockHash} ${nameOfTransfer(one)}`)) return true;
    told.add(one.blockHash);
    return false;
  });
  if (told.size > 0) await restoreSums(tx, networkId, [...told]);
  const groups = crowds(fresh);
  if (groups.length === 0) return { alone: fresh, sums: [] };
  const chain = chains.get(name);
  const cold = chain === undefined ? null : coldAddress(chain);
  const sums = foldTransfers(groups, await readFoldFacts(tx, networkId, groups, cold === null ? [] : [cold]));
  const summed = new Set<Sighting>(sums.flatMap(({ parts }) => parts));
  return { alone: fresh.filter((one) => !summed.has(one)), sums };
}

function nameOf(transfer: { txid: string; kind: string; ordinal?: number }): string {
  return `${transfer.txid} ${transfer.kind} ${transfer.ordinal}`;
}
