import { randomBytes } from 'node:crypto';
import { createClient } from 'redis';
import { runAudit } from '#api/audit/run-audit.ts';
import { decodeBlockMessage } from '#shared/core/block-codec.ts';
import type { BlockMessage, Transfer } from '#shared/core/chain-events.ts';
import { rowId } from '#shared/core/ids.ts';
import { formatAmount, fromUnits } from '#shared/core/money.ts';
import type { Database, Tx } from '#shared/platform/postgres.ts';
import { type Bench, type Figures, type Found, median, ratio, rounded } from './bench.ts';
import { aShop } from './http.ts';
import { networkAt, untilTip } from './indexing.ts';
import { usageOf } from './machine.ts';
import type { ApiProcess, Stage } from './stage.ts';
import { addressOfPayment, openToldChain, type PaymentAddress, type ToldChain, type ToldTransfer } from './told-chain.ts';
import { watchedHex } from './watched.ts';

const PAYMENTS = { tiny: 20, full: 4_000 };
const ROUNDS = { tiny: 1, full: 3 };
/** Blocks of a turn, and sightings in each: about as many as the largest networks have transactions in a block. */
const BLOCKS = { tiny: 2, full: 6 };
const PER_BLOCK = { tiny: 10, full: 500 };
const EMPTY_BLOCKS = { tiny: 2, full: 40 };
const RAW_AMOUNT = '10000000';
const SENDER = '0x00000000000000000000000000000000000000ff';
/** A token that nobody configured; anybody can write one. */
const OTHER_TOKEN = '0x00000000000000000000000000000000000000ee';
const BARE_STREAM = 'bench:sightings';
const LEAST_PER_SECOND = 20_000;

/** How many sightings a second a real worker stores, from blocks being in the stream to their transactions being committed. */
export const sightings: Bench = {
  what: 'sightings of payments’ addresses from the stream to committed transactions, one message a block: deposits, transfers of other tokens, and blocks without any, against the same rows written bare',
  async run(stage, size) {
    const tag = { tag: 'finalized' } as const;
    // Nothing becomes final meanwhile: to credit is another thing than to store.
    const network = { ...(await networkAt('evm', 'http://127.0.0.1:1')), finality: { resolve: [{ rule: tag }], mature: tag } };
    const database = await stage.database();
    const environment = stage.environment(database, await stage.networksFile([network]));
    const api = await stage.startApi({ ...environment, SLUICE_ROLES: 'http,worker' });
    const chain = openToldChain(stage, network.name);
    const writer = await openBareWriter(stage);
    const found: Found = { figures: {}, ratios: {}, goals: [], proofs: {} };
    let told = { deposits: 0, sightings: 0 };
    try {
      const scene = await addPayments(
        database,
        await addressOfPayment({ shop: await aShop(api), origin: api.origin, sql: database.sql, chain }, '10'),
        PAYMENTS[size],
      );
      const contest = { stage, database, api, chain, writer, scene, rounds: ROUNDS[size], found };
      const many = { blocks: BLOCKS[size], perBlock: PER_BLOCK[size] };
      const none = { contract: OTHER_TOKEN, blocks: EMPTY_BLOCKS[size], perBlock: 0 };
      const kinds = [
        { name: 'empty blocks', ...none },
        { name: 'deposits', contract: scene.contract, ...many },
        { name: 'other tokens', contract: OTHER_TOKEN, ...many },
        // All that was told of is still to become final.
        { name: 'empty blocks behind them', ...none },
      ];
      for (const kind of kinds) {
        // As Postgres does by itself within a minute of so many rows: connections drop the plans that they made while there were none.
        await database.sql`analyze`;
        const stored = await compare({ ...contest, ...kind });
        told = { deposits: told.deposits + (kind.contract === scene.contract ? stored : 0), sightings: told.sightings + stored };
      }
    } finally {
      await Promise.all([writer.close(), chain.close(), api.stop()]);
    }
    const perSecond = Number(found.figures.deposits?.perSecond);
    found.goals.push({ goal: 'P12: sightings of payments’ addresses ≥ 20,000/s', measured: perSecond, met: perSecond >= LEAST_PER_SECOND });
    const [stored] = await database.sql<[{ sightings: number; deposits: number; sum: string }]>`
      select (select count(*) from sightings where canonical)::int as sightings, count(*)::int as deposits, coalesce(sum(raw_amount), 0)::text as sum from deposits where state = 'seen'`;
    const audit = (await runAudit(database.sql)).filter(({ rows }) => rows.length > 0).map(({ check }) => check);
    found.proofs = {
      numberAndSumExact:
        stored.sightings === told.sightings && stored.deposits === told.deposits && BigInt(stored.sum) === BigInt(told.deposits) * BigInt(RAW_AMOUNT),
      auditClean: audit.length === 0,
      ...(audit.length === 0 ? {} : { auditViolated: audit.join(', ') }),
    };
    return found;
  },
};

/** Payments that wait for their deposits, and what is found of them without asking. */
interface Scene {
  networkId: string;
  contract: string;
  decimals: number;
  assetId: string;
  addresses: string[];
  places: Map<string, { addressId: string; paymentId: string }>;
}

/** Copies a payment that waits until there are so many; each has an address of its own that is watched. */
async function addPayments({ sql }: Database, { paymentId, contract, decimals, assetId }: PaymentAddress, count: number): Promise<Scene> {
  const addresses = Array.from({ length: count }, (_, i) => `0x${watchedHex(i)}`);
  await sql.unsafe(`create table bench_payments as select n, gen_random_uuid() as payment, address from unnest($1::text[]) with ordinality as a (address, n)`, [
    addresses,
  ]);
  const copies = [
    `insert into payments select (jsonb_populate_record(p, jsonb_build_object('id', b.payment))).* from payments p, bench_payments b where p.id = '${paymentId}' order by n`,
    `insert into payment_events (payment_id, event, from_status, to_status, facts, actor)
     select b.payment, e.event, e.from_status, e.to_status, e.facts, e.actor from payment_events e, bench_payments b where e.payment_id = '${paymentId}' order by n, e.id`,
    `insert into payment_offers select (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid(), 'payment_id', b.payment))).*
     from payment_offers o, bench_payments b where o.payment_id = '${paymentId}' order by n`,
    `insert into deposit_addresses
     select (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid(), 'payment_id', b.payment, 'address', b.address, 'derivation_index', 1000 + n))).*
     from deposit_addresses d, bench_payments b where d.payment_id = '${paymentId}' order by n`,
    `insert into watches select (jsonb_populate_record(w, jsonb_build_object('address', b.address))).*
     from watches w join deposit_addresses d on d.address = w.address, bench_payments b where d.payment_id = '${paymentId}' order by n`,
    `update payments p set selected_offer_id = o.id from bench_payments b, payment_offers o where p.id = b.payment and o.payment_id = p.id and o.selected_at is not null`,
    'drop table bench_payments',
    'analyze',
  ];
  for (const copy of copies) await sql.unsafe(copy);
  const rows = await sql<{ address: string; id: string; paymentId: string; networkId: string }[]>`
    select address, id, payment_id, network_id from deposit_addresses where payment_id <> ${paymentId}`;
  const places = new Map(rows.map((row) => [row.address, { addressId: row.id, paymentId: row.paymentId }]));
  return { networkId: rows[0]?.networkId as string, contract, decimals, assetId, addresses, places };
}

interface Contest {
  stage: Stage;
  database: Database & { url: string };
  api: ApiProcess;
  chain: ToldChain;
  writer: BareWriter;
  scene: Scene;
  rounds: number;
  found: Found;
  name: string;
  contract: string;
  blocks: number;
  perBlock: number;
}

/** Has the worker and the bare writer store the same number of blocks in turns, each following where the other ended; returns how many sightings were told of. */
async function compare({ stage, database, api, chain, writer, scene, rounds, found, name, contract, blocks, perBlock }: Contest): Promise<number> {
  let at = 0;
  const transfers = (): ToldTransfer[] =>
    Array.from({ length: perBlock }, () => ({
      sender: SENDER,
      recipient: scene.addresses[at++ % scene.addresses.length] as string,
      contract,
      rawAmount: RAW_AMOUNT,
    }));
  const some = (): string[] => Array.from({ length: blocks }, () => chain.nextBlock({ transfers: transfers() }));
  const byWorker = async (): Promise<{ seconds: number; cpuSeconds: number }> => {
    const messages = some();
    const [startedMs, before] = [Date.now(), usageOf(api.pid)];
    await chain.tell(messages);
    const { atMs } = await untilTip(database, scene.networkId, chain.head());
    return { seconds: (atMs - startedMs) / 1_000, cpuSeconds: usageOf(api.pid).cpuSeconds - before.cpuSeconds };
  };
  const bare = async (): Promise<number> => {
    const messages = some();
    const started = performance.now();
    await writer.write(database, scene, messages);
    return (performance.now() - started) / 1_000;
  };
  // What is compiled and prepared once is no part of the figure.
  await byWorker();
  await bare();
  const turns: { worker: { seconds: number; cpuSeconds: number }; bareSeconds: number }[] = [];
  for (let round = 0; round < rounds; round++) turns.push({ bareSeconds: await bare(), worker: await byWorker() });
  const things = Math.max(1, perBlock) * blocks;
  const figures: Figures = {
    perSecond: rounded(things / median(turns.map(({ worker }) => worker.seconds))),
    barePerSecond: rounded(things / median(turns.map(({ bareSeconds }) => bareSeconds))),
    blocksPerSecond: rounded(blocks / median(turns.map(({ worker }) => worker.seconds))),
    cpuUsEach: rounded((median(turns.map(({ worker }) => worker.cpuSeconds)) * 1e6) / things),
    blocks,
    perBlock,
  };
  found.figures[name] = figures;
  found.ratios[`${name} ÷ bare`] = ratio(median(turns.map(({ worker, bareSeconds }) => bareSeconds / worker.seconds)), 1);
  stage.say(`${name}: ${JSON.stringify(figures)} ${found.ratios[`${name} ÷ bare`]}`);
  return 2 * (rounds + 1) * blocks * perBlock;
}

/** Writes blocks as they are told, through Redis too, by as few statements as there can be, and believes every word. */
interface BareWriter {
  write(database: Database, scene: Scene, messages: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

async function openBareWriter({ redisUrl }: Pick<Stage, 'redisUrl'>): Promise<BareWriter> {
  const [producer, consumer] = [createClient({ url: redisUrl }), createClient({ url: redisUrl })];
  // A bench whose Redis went away fails by what it waits for.
  for (const client of [producer, consumer]) client.on('error', () => undefined);
  await Promise.all([producer.connect(), consumer.connect()]);
  let id = '0';
  return {
    async write(database, scene, messages) {
      const produced = Promise.all(messages.map((payload) => producer.xAdd(BARE_STREAM, '*', { payload })));
      for (let left = messages.length; left > 0; ) {
        const answer = (await consumer.xRead({ key: BARE_STREAM, id }, { COUNT: 64, BLOCK: 1_000 })) as
          | { messages: { id: string; message: Record<string, string> }[] }[]
          | null;
        for (const entry of answer?.flatMap((stream) => stream.messages) ?? []) {
          const decoded = decodeBlockMessage(entry.message.payload as string);
          if (!decoded.ok) throw new Error(decoded.problem);
          await database.transaction((tx) => writeBlock(tx, scene, decoded.message));
          id = entry.id;
          left -= 1;
        }
      }
      await produced;
    },
    close: async () => void (await Promise.all([producer.close(), consumer.close()])),
  };
}

/** The rows of one block, the tip among them: what the worker's transaction leaves behind. */
async function writeBlock(tx: Tx, scene: Scene, message: BlockMessage): Promise<void> {
  const { networkId } = scene;
  const transfers = message.sightings as Transfer[];
  const rows = transfers.map((one) => ({ ...one, at: message.time }));
  const deposits = transfers.flatMap((one) =>
    one.contract !== scene.contract
      ? []
      : [
          {
            ...one,
            ...scene.places.get(one.recipient),
            id: rowId({ randomBytes, wallClock: Date.now }),
            amount: formatAmount(fromUnits(BigInt(one.rawAmount), scene.decimals)),
          },
        ],
  );
  const shape = tx`(txid text, kind text, ordinal int, height bigint, "blockHash" text, position int, time float8, sender text, recipient text, contract text, "rawAmount" numeric`;
  await Promise.all([
    rows.length > 0 &&
      tx`
      insert into sightings (network_id, kind, txid, ordinal, height, block_hash, position, block_time, sender, recipient, contract, raw_amount)
      select ${networkId}, g.kind, g.txid, g.ordinal, g.height, g."blockHash", g.position, to_timestamp(g.time), g.sender, g.recipient, g.contract, g."rawAmount"
      from jsonb_to_recordset(${tx.json(rows as never)}) as g ${shape})`,
    deposits.length > 0 &&
      tx`
      insert into deposits (id, network_id, txid, kind, ordinal, address_id, payment_id, asset_id, sender, raw_amount, amount, height, block_hash, position, block_time, first_seen_at, state)
      select g.id, ${networkId}, g.txid, g.kind, g.ordinal, g."addressId", g."paymentId", ${scene.assetId}, g.sender, g."rawAmount", g.amount, g.height, g."blockHash", g.position,
        to_timestamp(g.time), to_timestamp(g.time), 'seen'
      from jsonb_to_recordset(${tx.json(deposits as never)}) as g ${shape}, id uuid, "addressId" uuid, "paymentId" uuid, amount numeric)`,
    tx`
      insert into chain_blocks (network_id, height, hash, parent_hash, block_time, canonical)
      values (${networkId}, ${message.to}, ${message.hash}, ${message.parentHash}, to_timestamp(${message.time}), true)`,
    tx`
      update chain_tips set height = ${message.to}, hash = ${message.hash}, block_time = to_timestamp(${message.time}), head_height = ${message.to}, seq = ${message.seq},
        applied_at = sluice_now() where network_id = ${networkId}`,
  ]);
}
