import { hash } from 'node:crypto';
import { pino } from 'pino';
import { type Merchant, must } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { encodeBlockMessage } from '#shared/core/block-codec.ts';
import { type BlockMessage, blockStream, type Transfer } from '#shared/core/chain-events.ts';
import type { Sql } from '#shared/platform/postgres.ts';
import { openStreams } from '#shared/platform/redis-streams.ts';
import { SECRETS, type Stage } from './stage.ts';

/** A token transfer of a block that is told, without what the block says of it. */
export type ToldTransfer = Pick<Transfer, 'sender' | 'recipient' | 'contract' | 'rawAmount'>;

/** What a block that is told holds. */
export interface ToldBlock {
  transfers?: readonly ToldTransfer[];
  /** Addresses that are watched from this block on. */
  acks?: readonly string[];
  /** Whether it is final as soon as it is there; else nothing is that comes after the last one that was. */
  final?: boolean;
}

/** A network that has no node: its blocks are what is told of it, on the stream of the real consumer. */
export interface ToldChain {
  network: string;
  /** Height of the last block that was written out. */
  head(): number;
  /** Writes the next block out as an indexer does, one message for each, and sends nothing yet. */
  nextBlock(block: ToldBlock): string;
  /** Sends messages in their order. */
  tell(messages: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Plays the indexer of one network that nobody has told anything about yet. */
export function openToldChain(stage: Pick<Stage, 'redisUrl'>, network: string): ToldChain {
  const streams = openStreams({ url: stage.redisUrl, key: SECRETS.SLUICE_STREAM_KEY, name: 'sluice-bench', log: pino({ level: 'silent' }) });
  const hashOf = (height: number): string => `0x${hash('sha256', `${network} block ${height}`)}`;
  let height = 100;
  let finalNumber = height;
  let seq = 0;
  return {
    network,
    head: () => height,
    nextBlock({ transfers = [], acks = [], final = false }) {
      height += 1;
      if (final) finalNumber = height;
      seq += 1;
      const time = Math.floor(Date.now() / 1_000);
      const block = { height, blockHash: hashOf(height), time };
      const message: BlockMessage = {
        network,
        epoch: 1,
        seq,
        from: height,
        to: height,
        parentHash: hashOf(height - 1),
        hash: block.blockHash,
        safeNumber: finalNumber,
        finalNumber,
        headNumber: height,
        time,
        sightings: transfers.map((one, position) => ({
          kind: 'token',
          txid: `0x${hash('sha256', `${network} transaction ${height} ${position}`)}`,
          ordinal: 0,
          position,
          ...block,
          ...one,
        })),
        acks: acks.map((address) => ({ address, watchedFrom: height })),
      };
      return encodeBlockMessage(message);
    },
    async tell(messages) {
      for (const message of messages) await streams.append(blockStream(network), message);
    },
    close: () => streams.close(),
  };
}

/** Where a payment waits for one of its assets. */
export interface PaymentAddress {
  paymentId: string;
  /** Canonical. */
  address: string;
  assetId: string;
  contract: string;
  decimals: number;
}

/** Creates a payment in USDC that is shown its address, as its network's indexer says that it watches it. */
export async function addressOfPayment(
  { shop, origin, sql, chain }: { shop: Merchant; origin: string; sql: Sql; chain: ToldChain },
  usd: string,
): Promise<PaymentAddress> {
  const body = { currencyCode: 'USD', amount: usd, checkoutMode: 'API', webhookUrl: 'https://shop.example/hooks/sluice' };
  const { paymentUid, payment } = (await shop.must('POST', '/payments', { body })) as {
    paymentUid: string;
    payment: { offers: { id: string; assetId: string; assetSymbol: string; contractAddress: string; assetDecimals: number }[] };
  };
  const offer = payment.offers.find(({ assetSymbol }) => assetSymbol === 'USDC');
  if (offer === undefined) throw new Error('there is no offer in USDC');
  const selected = must(`${origin}/api/v1/public/payments/${paymentUid}/offers/${offer.id}/select`, 'POST');
  const findAddress = async (): Promise<string | undefined> =>
    (await sql<{ address: string }[]>`select address from deposit_addresses where payment_id = ${paymentUid}`)[0]?.address;
  const address = await waitFor(findAddress, { what: 'a deposit address' });
  await chain.tell([chain.nextBlock({ acks: [address], final: true })]);
  await selected;
  return { paymentId: paymentUid, address, assetId: offer.assetId, contract: offer.contractAddress.toLowerCase(), decimals: offer.assetDecimals };
}
