import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Merchant } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { FLOODER, floodData } from '#test/fixtures/flooder.ts';
import type { Deployable, RunningApi } from '#test/harness/deployables.ts';
import { aPayment, aWorld, type World } from '#test/harness/world.ts';

const BLOCKS = 20;
const TRANSACTIONS = 5;
const PER_TRANSACTION = 2_500;
const PER_BLOCK = TRANSACTIONS * PER_TRANSACTION;
/** The floor of the demo's USDT, and one unit of it: every second block of the flood is dust. */
const [FLOOR, UNIT] = [10_000n, 1n];
/** Shorter than a merchant's server waits for an answer, and far longer than one takes. */
const PATIENCE_MS = 240_000;

let world: World;
let api: RunningApi;
let indexer: Deployable;
let shop: Merchant;
const busy: ChildProcess[] = [];

beforeAll(async () => {
  world = await aWorld({ blockSeconds: 0 });
  api = await world.startApi();
  indexer = await world.startIndexer();
  await world.setPrices(api);
  shop = await world.aGateway(api);
  const { node } = world.chain;
  await node.call('evm_setBlockGasLimit', ['0x5f5e100']);
  // One core for both processes and somebody else who wants all of it; where that cannot be said, somebody on every core.
  const pinned = [api.pid, indexer.pid].every((pid) => spawnSync('taskset', ['-acp', '0', String(pid)]).status === 0);
  for (let at = 0; at < (pinned ? 1 : availableParallelism()); at++) {
    const child = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
    if (pinned) spawnSync('taskset', ['-acp', '0', String(child.pid)]);
    busy.push(child);
  }
});
afterAll(async () => {
  for (const child of busy) child.kill('SIGKILL');
  await world?.stop();
});

interface Opened {
  id: string;
  address: string;
}

/** Opens a payment and has its address assigned. */
async function open(symbol: string, overrides: Record<string, unknown> = {}): Promise<Opened> {
  const created = await shop.must('POST', '/payments', { body: aPayment('http://127.0.0.1:8099/webhook', overrides) });
  const id = created.paymentUid as string;
  const offer = (created.payment as { offers: { id: string; assetSymbol: string }[] }).offers.find((one) => one.assetSymbol === symbol);
  const selected = await waitFor(
    async () => {
      const { status, data } = await shop.call('POST', `/public/payments/${id}/offers/${offer?.id}/select`);
      return status === 200 ? (data as { status: string; depositAddress: string }) : undefined;
    },
    { what: 'an address to be assigned', timeoutMs: PATIENCE_MS },
  );
  return { id, address: selected.depositAddress };
}

const statusOf = async ({ id }: Opened): Promise<string> => (await shop.must('POST', `/payments/${id}/verify`)).status as string;
const tip = async (): Promise<number> => (await world.database.sql<{ height: number }[]>`select height from chain_tips`)[0]?.height ?? -1;

it('250,000 transfers to one address in 20 blocks end no process, keep nobody else waiting, and are booked to the unit', async () => {
  const { chain, database } = world;
  const { USDT, USDC } = chain.tokens;
  const flooded = await open('USDT', { checkAmountDeviation: false });
  const code = await chain.node.call<string>('eth_getCode', [USDT, 'latest']);
  await chain.node.call('anvil_setCode', [USDT, FLOODER]);

  const others: Opened[] = [];
  let reading = true;
  const openAndPay = async (): Promise<void> => {
    while (reading) {
      const other = await open('USDC');
      await chain.pay(other.address, USDC, 10_000_000n);
      // Blocks come while the flood is read, as they do on any chain.
      await chain.mine();
      others.push(other);
    }
  };
  const first = (await chain.node.height()) + 1;
  const paying = openAndPay();
  for (let block = 0; block < BLOCKS; block++) {
    for (let at = 0; at < TRANSACTIONS; at++)
      await chain.node.send({
        from: chain.faucet,
        to: USDT,
        data: floodData(flooded.address, PER_TRANSACTION, block % 2 === 0 ? UNIT : FLOOR),
        gas: 10_000_000n,
      });
    await chain.mine();
  }
  await chain.node.call('anvil_setCode', [USDT, code]);
  const last = await chain.node.height();
  expect(await tip(), 'the flood is still being read').toBeLessThan(last);
  let before = first;
  while (before < last) {
    const was = before;
    before = await waitFor(async () => ((await tip()) > was ? tip() : undefined), { what: `the tip to move on from ${was}`, timeoutMs: 60_000 });
  }
  reading = false;
  await paying;
  await chain.mine(3);
  expect(others.length, 'payments that got an address while the flood was read').toBeGreaterThan(1);
  for (const other of others)
    await waitFor(async () => (await statusOf(other)) === 'SUCCESS', { what: 'a payment beside the flood to be credited', timeoutMs: PATIENCE_MS });

  const whole = (BLOCKS / 2) * PER_BLOCK;
  const sums = () => database.sql<{ state: string; transfers: number; raw: string; rows: number }[]>`
    select state, sum(coalesce(parts, 1))::int as transfers, sum(raw_amount)::text as raw, count(*)::int as rows from deposits where payment_id = ${flooded.id}
    group by state order by state`;
  await waitFor(async () => (await sums()).every(({ state }) => state !== 'seen'), { what: 'all of the flood to be booked', timeoutMs: PATIENCE_MS });
  expect(await sums()).toEqual([
    { state: 'credited', transfers: whole, raw: String(BigInt(whole) * FLOOR), rows: expect.any(Number) },
    { state: 'dust', transfers: whole, raw: String(BigInt(whole) * UNIT), rows: expect.any(Number) },
  ]);
  // Another payer's block may come between the transactions of one, and a heap of dust holds less than the floor.
  expect((await sums()).reduce((rows, one) => rows + one.rows, 0)).toBeLessThanOrEqual(2 * TRANSACTIONS * BLOCKS);
  expect(await statusOf(flooded)).toBe('SUCCESS');
  const judged = await database.sql`select event from payment_events where payment_id = ${flooded.id} and from_status = 'PENDING'`;
  expect(judged).toHaveLength(1);
  expect((await database.sql`select sum(gross)::text as gross from credits where payment_id = ${flooded.id}`)[0]?.gross).toBe(String(whole / 100));
  for (const process of [api, indexer]) {
    expect(process.running()).toBe(true);
    expect(process.lines.filter((line) => line.includes('was blocked'))).toEqual([]);
  }
  await world.audit();
});
