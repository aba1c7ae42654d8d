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
import { allEnded, bothEnded } from '#shared/core/both-ended.ts';
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

/** What is stored of blocks that are reported: internal transfers, and sums (decision 0030). */
export interface StoredBefore {
  internal: Awaited<ReturnType<typeof listInternal>>;
  sums: Awaited<ReturnType<typeof listSumsIn>>;
}

/** Reads what is stored of the blocks that these sightings are in; for `recordDeposits`, by somebody who asks more in the same moment. */
export async function readStoredBefore(tx: Tx, networkId: string, sightings: readonly Sighting[]): Promise<StoredBefore> {
  const hashes = new Set(sightings.flatMap((one) => (one.kind === 'sent' ? [] : [one.blockHash])));
  const [internal, sums] = await Promise.all([
    listInternal(
      tx,
      networkId,
      sightings.filter((one) => one.kind === 'internal'),
    ),
    listSumsIn(tx, networkId, [...hashes]),
  ]);
  return { internal, sums };
}

/** Rows of which each statement here still takes all, sums the fewest: such few are sent behind one another without waiting for answers. */
const FEW = 50;

/**
 * Stores sightings and the deposits among them. Stored ones stay as they are, so the stream and an inquiry may both report the same transfer.
 * Call it under the lock of the network's tip, so that the blocks stay canonical until the commit. What is `stored` of the blocks is read where it is not given. `behind` sends what
 * may be sent once the sightings are. Returns the payments concerned, to be announced after it.
 */
export async function recordDeposits(
  tx: Tx,
  deps: Pick<Deps, 'chains' | 'randomBytes' | 'wallClock' | 'log'>,
  given: Seen,
  { stored, behind = async () => undefined }: { stored?: StoredBefore | undefined; behind?: () => Promise<unknown> } = {},
): Promise<string[]> {
  const { network, from, to, mark } = given;
  const before = stored ?? (await readStoredBefore(tx, network.id, given.sightings));
  const { kept, recounted } = withoutRecounted(given.sightings, before.internal);
  if (recounted.length > 0)
    deps.log.error({ network: network.name, from, to, txids: recounted }, 'two readings of a block count internal transfers differently; the first one stands');
  const { alone, sums } = await fold(tx, deps, network, { sightings: kept, stored: before.sums });
  const seen = { ...given, sightings: alone };
  const inserted = [() => insertSightings(tx, network.id, alone, sums), () => insertSums(tx, network.id, sums), () => insertSpends(tx, network.id, alone)];
  const listed = () => listDepositCandidates(tx, network.id, from, to);
  const spends = alone.reduce((count, one) => count + (one.kind === 'sent' ? (one.spends?.length ?? 0) : 0), 0);
  const isFew = alone.length + sums.length + spends <= FEW;
  if (!isFew) for (const insert of inserted) await insert();
  const [, candidates] = await bothEnded(allEnded(isFew ? inserted.map((insert) => insert()) : []), listed());
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
  const minedTxids = [...new Set(alone.map((sighting) => sighting.txid))];
  const [deposited] = await bothEnded(upsertDeposits(tx, network.id, believable), allEnded<unknown>([markMined(tx, network.id, minedTxids), behind()]));
  await noteDepositTraces(
    tx,
    deposited.map(({ id }) => id),
  );
  const lost = deposited.flatMap((one) => (one.lost ? [one.id] : []));
  const regained = lost.length === 0 ? [] : await regainDeposits(tx, lost);
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
  { sightings, stored }: { sightings: readonly Sighting[]; stored: StoredBefore['sums'] },
): Promise<{ alone: Sighting[]; sums: TransferSum[] }> {
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
