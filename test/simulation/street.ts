import { randomUUID } from 'node:crypto';
import { applyMessage } from '#api/consumers/apply-message.ts';
import { requestMissing } from '#api/consumers/chain-events.ts';
import type { Chain, Deps } from '#api/deps.ts';
import { matureCredits } from '#api/ledger/mature-credits.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { acquireConsumerLease } from '#test/fixtures/consumer-lease.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { decodeBlockMessage } from '#shared/core/block-codec.ts';
import { openPayer } from '#shared/chains/payers.ts';
import { openReader } from '#shared/chains/readers.ts';
import type { FamilyDriver, FamilyNode } from '#test/chains/conformance/family.ts';
import { aScanner, type Scanner } from '#test/chains/conformance/scanner.ts';
import type { FreshDatabase } from '#test/harness/database.ts';

/** One network of a town: a real node, and the real indexer and consumer that follow it when told to. */
export interface Street {
  driver: FamilyDriver;
  node: FamilyNode;
  /** Its row in `networks`. */
  id: string;
  name: string;
  assets: readonly StoredAsset[];
  /** What is wrong with its node at the moment. */
  trouble: string | null;
  /** The reader and payer of the process that lives now. */
  chain: Chain;
  scanner: Scanner;
}

/** How many of the newest blocks may still go. */
export const NOT_FINAL = 2;
const ROUNDS_TO_HEAL = 12;

/** Opens the endpoints of a street for a process that starts, and an indexer that begins where the consumer was; the leases of the dead are over. */
export async function openStreet(database: FreshDatabase, street: Pick<Street, 'node'> & { chain: Chain }): Promise<Pick<Street, 'chain' | 'scanner'>> {
  const config = street.node.network;
  for (const table of ['indexer_leases', 'consumer_leases'])
    await database.sql`update ${database.sql(table)} set expires_at = clock_timestamp() - interval '1 second' where network_id = ${street.chain.id}`;
  const chain = { ...street.chain, config, reader: openReader(config), payer: openPayer(config) };
  return { chain, scanner: await aScanner({ db: database.as('indexer'), network: config, networkId: chain.id, reader: chain.reader }) };
}

/** Takes the consumer's lease of a street for a process that starts; whoever had it before is gone. */
export async function takeLease(deps: Deps, street: Pick<Street, 'id'>): Promise<number> {
  const fence = await acquireConsumerLease(deps.db.sql, { networkId: street.id, holder: randomUUID(), seconds: 86_400 });
  if (fence === undefined) throw new Error('somebody else consumes this network');
  return fence;
}

/**
 * Lets the indexer look and the consumer apply until the books have seen the head; answers whether they have, which they
 * do not while the node is in trouble.
 */
export async function followStreet(deps: Deps, street: Street, fence: number): Promise<boolean> {
  const network = { id: street.id, name: street.name };
  for (let round = 0; round < ROUNDS_TO_HEAL; round++) {
    for (const text of await street.scanner.look()) {
      const decoded = decodeBlockMessage(text);
      if (!decoded.ok) throw new Error(`the indexer wrote what nobody can read: ${decoded.problem}`);
      const applied = await applyMessage(deps, network, fence, decoded.message);
      if (applied.outcome === 'frozen') throw new Error(applied.reason);
    }
    await creditFinalDeposits(deps, network.id);
    await matureCredits(deps);
    if (street.scanner.problem() !== undefined) return false;
    const [tip] = await deps.db.sql<{ hash: string }[]>`select hash from chain_tips where network_id = ${street.id}`;
    if (tip?.hash === (await street.node.chain.headHash()) && !(await street.scanner.hasUnacknowledged())) return true;
    await requestMissing(deps, network);
    if (await street.scanner.isAskedToRewind()) await street.scanner.join();
  }
  return false;
}
