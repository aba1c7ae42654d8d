import { afterAll, beforeAll, expect, it } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import { bitcoin } from '#test/chains/conformance/bitcoin.ts';
import type { BitcoinChain } from '#test/harness/bitcoin-chain.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { demoNetwork } from '#test/harness/networks.ts';
import { type Crash, dieAtEach } from './crash.ts';
import { aScene, type Scene } from './scene.ts';

/** More than a payment spends, beside the one coin that the wallet of the pool has from the beginning; in dollars as much more. */
const OUTPUTS = 150;
const DOLLARS = 84_000n;
/** Every point between the choice of outputs and their being one. */
const POINTS: Crash[] = [
  ['api', 'consolidate.decided'],
  ['api', 'consolidate.committed'],
  ['api', 'confirm.seen'],
  ['api', 'confirm.final'],
  ['signer', 'sign.requested'],
  ['signer', 'sign.done'],
  ['signer', 'attempt.inserted'],
  ['signer', 'attempt.committed'],
];

let scene: Scene;
let destinations = 0;
const { main } = bitcoin;
beforeAll(async () => {
  scene = await aScene({ blockMs: 250, networks: [await demoNetwork(bitcoin.network)] });
});
afterAll(() => scene?.stop());

it('joins small outputs once and pays the cashout that waits for it once, whenever a process dies', async () => {
  const earn = async (): Promise<{ amount: string; destination: string }> => {
    const payment = await scene.open(main, { amount: `${DOLLARS}` });
    const chain = scene.chainOf(main) as BitcoinChain;
    await chain.purse.pay(Array.from({ length: OUTPUTS }, () => ({ to: payment.address, rawAmount: payment.rawAmount / BigInt(OUTPUTS) + 1n })));
    await scene.resting(payment.id);
    const balance = await scene.balance(main, scene.worth(main, DOLLARS - 1_000n));
    destinations += 1;
    return { amount: balance.totalAvailable as string, destination: bitcoin.stranger(destinations) };
  };
  const cashOut = async ({ amount, destination }: { amount: string; destination: string }) => {
    const created = await scene.cashout(main, amount, destination);
    return { destination, settled: await scene.settled(created.id as string) };
  };
  for (const { destination, settled } of await dieAtEach(scene, POINTS, { prepare: earn, work: cashOut })) {
    expect(await scene.held(main, destination)).toBe(scene.raw(main, settled.netAmount as string));
    const { sql } = scene.world.database;
    expect(await sql`select distinct txid from sightings where kind = 'native' and canonical and recipient = ${destination}`).toHaveLength(1);
    const joins = await sql`
      select distinct status from payouts where settlement_id = ${settled.id as string} and purpose = 'consolidation' and status <> 'CANCELLED'`;
    expect(joins).toEqual([{ status: 'CONFIRMED' }]);
  }
  await waitFor(() => assertBooksMatchChain(scene.world).then(() => true), { what: 'books to match the chain' });
  await scene.world.audit();
});
