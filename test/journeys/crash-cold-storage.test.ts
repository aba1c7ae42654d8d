import { afterAll, beforeAll, expect, it } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import { FULL } from '#test/harness/counts.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { type Crash, dieAtEach, dieTwice } from './crash.ts';
import { aScene, type Scene } from './scene.ts';

const POINTS: Crash[] = [
  ['api', 'cold.planned'],
  ['signer', 'sign.requested'],
  ['signer', 'sign.done'],
  ['signer', 'attempt.inserted'],
  ['signer', 'attempt.committed'],
  ['api', 'broadcast.before'],
  ['api', 'broadcast.after'],
  ['api', 'sent.marked'],
  ['api', 'confirm.seen'],
  ['api', 'settle.effect-checked'],
  ['api', 'confirm.final'],
];
/** An address nobody here has the key of. */
const COLD = '0x00000000000000000000000000000000c01d0001';
const PATIENCE_MS = 240_000;
/** Half way between ceiling and floor, chain units. */
const TARGET = 75_000_000n;

let scene: Scene;
beforeAll(async () => {
  scene = await aScene({
    blockMs: 250,
    configure: (network) => ({
      ...network,
      cold: { address: COLD },
      assets: network.assets.map((asset) => (asset.symbol === 'USDT' ? { ...asset, coldStorage: { ceiling: '100', floor: '50' } } : asset)),
    }),
  });
});
afterAll(() => scene?.stop());

const hot = () => scene.held('USDT', scene.world.network.wallets.hot.address.toLowerCase());
const moved = () => scene.held('USDT', COLD);

/** Brings the hot wallet well above its ceiling, and answers what is excess of it. */
async function fill(): Promise<bigint> {
  await scene.chainOf('USDT').pay(scene.world.network.wallets.hot.address, scene.contract('USDT'), 300_000_000n);
  const before = await moved();
  await waitFor(async () => (await hot()) > 300_000_000n - TARGET, { what: 'the coins to arrive', timeoutMs: PATIENCE_MS });
  return before;
}

/** Waits until the hot wallet is down to its target and the books know where the rest is; the job runs once a minute, and sooner when the clock is moved. */
async function brought(before: bigint): Promise<void> {
  await waitFor(
    async () => {
      await scene.world
        .operator(scene.api)
        .call('POST', '/clock/advance', { body: { seconds: 1 } })
        .catch(() => undefined);
      const [row] = await scene.world.database.sql<
        { held: string }[]
      >`select (-balance * 1000000)::bigint::text as held from ledger_accounts where kind = 'cold'`;
      return (await hot()) === TARGET && row?.held === String(await moved());
    },
    { what: 'the excess to be in cold storage', timeoutMs: PATIENCE_MS },
  );
  expect(await moved()).toBeGreaterThan(before);
  await waitFor(() => assertBooksMatchChain(scene.world).then(() => true), { what: 'books to match the chain' });
  await scene.world.audit();
}

if (FULL) {
  it.each(POINTS)('a move to cold storage survives SIGKILL of the %s at %s, and is made once', async (part, point) => {
    const before = await fill();
    await dieTwice(scene, [part, point], () => brought(before));
  });
} else {
  it('a move to cold storage survives SIGKILL at every point of it, and is made once', async () => {
    await dieAtEach(scene, POINTS, { prepare: fill, work: brought });
  });
}
