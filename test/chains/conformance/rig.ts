import { randomUUID } from 'node:crypto';
import { applyMessage } from '#api/consumers/apply-message.ts';
import { requestMissing } from '#api/consumers/chain-events.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { matureCredits } from '#api/ledger/mature-credits.ts';
import { createPayment } from '#api/payments/create.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { selectOffer } from '#api/payments/select-offer.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { acquireConsumerLease } from '#test/fixtures/consumer-lease.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { openPayer } from '#shared/chains/payers.ts';
import { openReader } from '#shared/chains/readers.ts';
import { decodeBlockMessage } from '#shared/core/block-codec.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { inProcess, plainCommit } from '#test/harness/in-process.ts';
import { type DeliveryStyle, ONCE } from './delivery.ts';
import type { FamilyDriver, FamilyNode } from './family.ts';
import { aScanner, type Scanner } from './scanner.ts';

/** Somebody's payment with its address, acknowledged by the indexer. */
export interface Payee {
  paymentId: string;
  /** Canonical. */
  address: string;
}

/** What the books say of one deposit. */
export interface BookedDeposit {
  txid: string;
  kind: string;
  ordinal: number;
  symbol: string;
  rawAmount: string;
  state: string;
  height: number;
  address: string;
}

/**
 * A family's node, the real reader and indexer on one side and the real consumer and books on the other, with nothing
 * but text between them; each step is taken when the test says so.
 */
export interface Rig {
  driver: FamilyDriver;
  node: FamilyNode;
  deps: Deps;
  assets: Record<string, StoredAsset>;
  networkId: string;
  scanner: Scanner;
  /** Payments that wait for `symbol`, one address each. */
  payees(count: number, symbol: string): Promise<Payee[]>;
  /** Lets the indexer look at the chain and hands on what it says, in the given style and then as long as it takes to reach the head. */
  follow(style?: DeliveryStyle): Promise<void>;
  /** The same without any healing: what the indexer can say now is handed on once. */
  lookOnce(style?: DeliveryStyle): Promise<void>;
  /** Mines this many blocks and follows. */
  mine(blocks: number, style?: DeliveryStyle): Promise<void>;
  /** Mines until everything so far is final, and follows. */
  bury(style?: DeliveryStyle): Promise<void>;
  tip(): Promise<{ height: number; hash: string } | undefined>;
  depositsOf(payees: readonly Payee[]): Promise<BookedDeposit[]>;
  /** Chain units booked as received by these payments, per symbol. */
  creditedOf(payees: readonly Payee[]): Promise<Record<string, bigint>>;
  /** Every audit query is empty, and the books hold what the chain says our addresses hold. */
  assertSound(): Promise<void>;
  stop(): Promise<void>;
}

const ROUNDS_TO_HEAL = 12;

/** Opens a node of the family, a database and everything between. */
export async function aRig(driver: FamilyDriver, options: { notFinal: number }): Promise<Rig> {
  const world = await inProcess({ network: driver.network });
  const node = await driver.open(world.network.config, options);
  const config = node.network;
  const stored = world.deps.chains.get(config.name);
  if (stored === undefined) throw new Error(`${config.name} is not configured`);
  const chain = { ...stored, config, reader: openReader(config), payer: openPayer(config) };
  const deps: Deps = { ...world.deps, chains: new Map([[config.name, chain]]) };
  const network = { id: chain.id, name: config.name };
  const { sql } = world.database;
  const fence = (await acquireConsumerLease(deps.db.sql, { networkId: network.id, holder: randomUUID(), seconds: 3_600 })) as number;
  const scanner = await aScanner({ db: world.database.as('indexer'), network: config, networkId: network.id, reader: chain.reader });
  const gateway = await world.aGateway();

  const apply = async (published: readonly string[]): Promise<void> => {
    for (const text of published) {
      const decoded = decodeBlockMessage(text);
      if (!decoded.ok) throw new Error(`the indexer wrote what nobody can read: ${decoded.problem}`);
      const applied = await applyMessage(deps, network, fence, decoded.message);
      if (applied.outcome === 'frozen') throw new Error(applied.reason);
    }
    await creditFinalDeposits(deps, network.id);
    await matureCredits(deps);
  };
  const tip = async () => {
    const [row] = await sql<{ height: number; hash: string }[]>`select height, hash from chain_tips where network_id = ${network.id}`;
    return row;
  };
  const follow = async (style = ONCE): Promise<void> => {
    let how = style;
    for (let round = 0; round < ROUNDS_TO_HEAL; round++) {
      await apply(how.deliver(await scanner.look()));
      how = ONCE;
      if ((await tip())?.hash === (await node.chain.headHash()) && !(await scanner.hasUnacknowledged())) return;
      await requestMissing(deps, network);
      if (await scanner.isAskedToRewind()) await scanner.join();
    }
    throw new Error(`the consumer stays at ${JSON.stringify(await tip())}${scanner.problem() === undefined ? '' : `: ${scanner.problem()}`}`);
  };
  const mine = async (blocks: number, style?: DeliveryStyle): Promise<void> => {
    await node.chain.mine(blocks);
    await follow(style);
  };

  await follow();
  const rig: Rig = {
    driver,
    node,
    deps,
    assets: world.assets,
    networkId: network.id,
    scanner,
    async payees(count, symbol) {
      const opened = await Promise.all(Array.from({ length: count }, () => openPayment(deps, gateway, symbol)));
      const selecting = Promise.all(opened.map((one) => selectOffer(deps, { ...one, clientIp: '127.0.0.1' })));
      await waitFor(async () => (await sql`select 1 from watches where acked_epoch is null`).length === count, { what: 'the addresses to be assigned' });
      await follow();
      const told = await selecting;
      // On a busy machine the payer was told to ask again before the addresses were watched.
      const answers = await Promise.all(
        told.map((answer, index) =>
          answer.status === 200 ? answer : selectOffer(deps, { ...(opened[index] as (typeof opened)[number]), clientIp: '127.0.0.1' }),
        ),
      );
      return answers.map((answer, index) => {
        const parsed = chain.codec.parse((answer.data as { depositAddress: string }).depositAddress);
        if (!parsed.ok) throw new Error(parsed.problem);
        return { paymentId: (opened[index] as { paymentId: string }).paymentId, address: parsed.canonical };
      });
    },
    follow,
    lookOnce: async (style = ONCE) => apply(style.deliver(await scanner.look())),
    mine,
    bury: (style) => mine(options.notFinal + 1, style),
    tip,
    depositsOf: (payees) =>
      sql<BookedDeposit[]>`
        select d.txid, d.kind, d.ordinal, a.symbol, d.raw_amount::text, d.state, d.height, da.address
        from deposits d join assets a on a.id = d.asset_id join deposit_addresses da on da.id = d.address_id
        where d.payment_id in ${sql(payees.map((one) => one.paymentId))} order by d.height, d.position, d.kind, d.ordinal`,
    async creditedOf(payees) {
      const rows = await sql<{ symbol: string; raw: string }[]>`
        select a.symbol, trunc(sum(c.gross) * 10::numeric ^ a.decimals)::text as raw from credits c join assets a on a.id = c.asset_id
        where c.payment_id in ${sql(payees.map((one) => one.paymentId))} group by a.symbol, a.decimals`;
      return Object.fromEntries(rows.map(({ symbol, raw }) => [symbol, BigInt(raw)]));
    },
    async assertSound() {
      await assertCleanAudit(world.database);
      await assertBooksMatchChain({ database: world.database, network: config });
    },
    async stop() {
      await chain.reader.close();
      await Promise.all([node.stop(), world.stop()]);
    },
  };
  return rig;
}

/** A payment of one dollar whose deviation nobody minds, so that any amount of its coin is credited. */
async function openPayment(deps: Deps, gateway: Gateway, symbol: string): Promise<{ paymentId: string; offerId: string }> {
  const body = { currencyCode: 'USD', amount: '1', checkoutMode: 'API' as const, webhookUrl: 'http://127.0.0.1:4242/hook', checkAmountDeviation: false };
  const created = await createPayment(deps, { gateway, body, clientIp: '127.0.0.1', commit: plainCommit(deps) });
  const { payment, paymentUid } = created.data as { paymentUid: string; payment: { offers: { id: string; assetSymbol: string }[] } };
  const offer = payment.offers.find((one) => one.assetSymbol === symbol);
  if (offer === undefined) throw new Error(`nobody offers ${symbol}`);
  return { paymentId: paymentUid, offerId: offer.id };
}
