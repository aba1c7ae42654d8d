import type { Gateway } from '#api/deps.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import type { Purse } from '#api/store/outputs.ts';
import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import { decodePsbt } from '#shared/chains/bitcoin/psbt.ts';
import { networkBytes } from '#shared/chains/bitcoin/spend.ts';
import { POLICY } from '#shared/core/policy.ts';
import { aTreasuryOf, type Treasury, type TreasuryOptions } from '#test/fixtures/treasury.ts';
import type { BitcoinChain } from '#test/harness/bitcoin-chain.ts';

export interface PayoutRow {
  id: string;
  purpose: string;
  status: string;
  anchor: string;
  failure: string | null;
  fields: Record<string, string>;
}

export interface AttemptRow {
  id: string;
  kind: string;
  txid: string;
  /** Bytes as the network takes them, hex. */
  hex: string;
  /** Names of the outputs it spends, the anchor first. */
  inputs: string[];
  fee: bigint;
}

/** A treasury on a Bitcoin chain, with the steps that these tests take. */
export interface BitcoinSteps {
  treasury: Treasury<BitcoinChain>;
  shop: Gateway;
  payoutsOf(settlementId: string): Promise<PayoutRow[]>;
  attemptsOf(payoutId: string): Promise<AttemptRow[]>;
  /** Live locks of everybody, by name of the output. */
  locks(): Promise<Map<string, string>>;
  /** Creates a cashout and brings it to where its payout waits for the signer. */
  planned(amount: string, over?: { address?: string }): Promise<{ settlementId: string; payoutId: string }>;
  /** The same, signed and handed over. */
  sent(amount: string): Promise<{ settlementId: string; payoutId: string }>;
  /** Mines blocks that hold nothing, and applies them. */
  mineEmpty(blocks?: number): Promise<void>;
  /** Lets bytes wait in vain for long enough, then has a replacement planned, signed and handed over. */
  bump(): Promise<void>;
  purse(role: 'hot' | 'held' | 'funding'): Purse;
}

export async function bitcoinSteps(options: TreasuryOptions = {}): Promise<BitcoinSteps> {
  const treasury = (await aTreasuryOf('bitcoin', options)) as unknown as Treasury<BitcoinChain>;
  const shop = await treasury.world.aGateway();
  const { sql } = treasury.world.database;
  const payoutsOf = (settlementId: string): Promise<PayoutRow[]> => sql<PayoutRow[]>`
    select id, purpose, status, anchor, failure, plan->'fields' as fields from payouts where settlement_id = ${settlementId} and purpose = 'settlement'
    order by family, created_at`;
  const planned: BitcoinSteps['planned'] = async (amount, over = {}) => {
    const { id } = await treasury.cashOut(shop, 'BTC', amount, over);
    await dispatchSettlement(treasury.deps, id);
    const [payout] = await payoutsOf(id);
    if (payout?.status !== 'PLANNED') throw new Error(`never planned: ${JSON.stringify(await sql`select wait_reason from settlements where id = ${id}`)}`);
    return { settlementId: id, payoutId: payout.id };
  };
  const mineEmpty = async (blocks = 1): Promise<void> => {
    for (let i = 0; i < blocks; i++) await treasury.chain.mineOnly([]);
    await treasury.follow();
  };
  return {
    treasury,
    shop,
    payoutsOf,
    attemptsOf: async (payoutId) => {
      const rows = await sql<{ id: string; kind: string; txid: string; bytes: Buffer; fee: string }[]>`
        select id, kind, txid, signed_bytes as bytes, fee_limit::text as fee from payout_attempts where payout_id = ${payoutId} order by number`;
      return rows.map(({ bytes, fee, ...row }) => {
        const psbt = decodePsbt(bytes);
        return { ...row, fee: BigInt(fee), hex: networkBytes(psbt).toString('hex'), inputs: psbt.inputs.map(({ txid, vout }) => `${txid}:${vout}`) };
      });
    },
    locks: async () =>
      new Map(
        (
          await sql<{ name: string; payoutId: string }[]>`
        select txid || ':' || vout as name, payout_id from output_locks where released_at is null`
        ).map((row) => [row.name, row.payoutId]),
      ),
    planned,
    sent: async (amount) => {
      const made = await planned(amount);
      await treasury.sign();
      await treasury.work();
      return made;
    },
    mineEmpty,
    bump: async () => {
      await treasury.world.advance(POLICY.payoutBumpSeconds);
      await mineEmpty(POLICY.payoutBumpBlocks);
      await tendPayouts(treasury.deps);
      await treasury.sign();
      await treasury.work();
    },
    purse: (role) => ({ networkId: treasury.network.id, address: treasury.wallet(role), pool: role === 'hot' ? 'green' : role === 'held' ? 'held' : null }),
  };
}
