import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { advanceClock } from '#api/store/clock.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { FamilyDriver } from '#test/chains/conformance/family.ts';
import { DRIVERS } from '#test/chains/conformance/families.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { demoNetwork } from '#test/harness/networks.ts';
import { type Crash, dieTwice } from './crash.ts';
import { aScene, type Scene } from './scene.ts';

/** Where a process dies while bytes that no block took are replaced; what replaces them differs between families. */
const REPLACED: Record<FamilyDriver['paying']['replacing'], Crash[]> = {
  bump: [
    ['api', 'bump.decided'],
    ['api', 'bump.committed'],
    ['signer', 'bump.attempt-committed'],
  ],
  expiry: [
    ['api', 'expire.decided'],
    ['api', 'expire.committed'],
  ],
};
const CLOSED: Crash[] = [
  ['api', 'close.decided'],
  ['api', 'close.committed'],
];
const PATIENCE_MS = 120_000;

describe.each(DRIVERS.map((driver) => [driver.family, driver] as const))('a cashout on %s that is not paid at first survives SIGKILL', (_family, driver) => {
  const { paying } = driver;
  let scene: Scene;
  let destinations = 0;
  let destination: string;
  beforeAll(async () => {
    scene = await aScene({ blockMs: 250, networks: [await demoNetwork(driver.network)] });
    // Tokens of our own on the hot wallet, so that nothing has to be swept before a payout.
    await scene.chainOf('USDT').pay(scene.world.network.wallets.hot.address, scene.contract('USDT'), 1_000_000_000n);
  });
  afterAll(() => scene?.stop());

  const sql = () => scene.world.database.sql;
  /** Blocks go on, and take nothing until the returned function is called. */
  const takeNothing = (): (() => void) => {
    const chain = scene.chainOf('USDT');
    const { mine } = chain;
    chain.mine = (blocks = 1) => paying.mineWithout({ ...chain, mine }, blocks);
    return () => {
      chain.mine = mine;
    };
  };
  const pass = async (seconds: number): Promise<void> => {
    await scene.world.database.transaction((tx) => advanceClock(tx, seconds));
    await paying.passTime(scene.chainOf('USDT'), seconds);
  };
  const until = (
    what: string,
    seen: (payout: { status: string; attempts: number; stuck: boolean; failed: boolean }) => boolean,
    settlementId: string,
  ): Promise<unknown> =>
    waitFor(
      async () => {
        const [payout] = await sql()<{ status: string; attempts: number; stuck: boolean; failed: boolean }[]>`
          select p.status, p.plan ? 'stuckSince' as stuck, (select count(*)::int from payout_attempts a where a.payout_id = p.id) as attempts,
            exists (select 1 from payout_attempts a join sightings s on s.txid = a.txid where a.payout_id = p.id and s.kind = 'sent' and not s.succeeded and s.canonical) as failed
          from payouts p where p.settlement_id = ${settlementId} and p.purpose = 'settlement' order by p.family limit 1`;
        return payout !== undefined && seen(payout);
      },
      { what, timeoutMs: PATIENCE_MS },
    );
  const cashOut = async (): Promise<string> => {
    const payment = await scene.open('USDT', { amount: '40' });
    await scene.chainOf('USDT').pay(payment.address, scene.contract('USDT'), payment.rawAmount);
    await scene.resting(payment.id);
    const balance = await scene.balance('USDT', '39');
    destinations += 1;
    destination = driver.stranger(destinations);
    return balance.totalAvailable as string;
  };
  const expectPaidOnce = async (settled: Record<string, unknown>): Promise<void> => {
    expect(await scene.held('USDT', destination)).toBe(scene.raw('USDT', settled.netAmount as string));
    const effects = await sql()`select distinct txid from sightings where kind = 'token' and canonical and recipient = ${destination}`;
    expect(effects).toHaveLength(1);
    await waitFor(() => assertBooksMatchChain(scene.world).then(() => true), { what: 'books to match the chain' });
    await scene.world.audit();
  };

  it.each(REPLACED[paying.replacing])('of the %s at %s, its bytes being replaced: exactly one payout', async (part, point) => {
    const amount = await cashOut();
    const settled = await dieTwice(scene, [part, point], async () => {
      const takeAgain = takeNothing();
      try {
        const { id } = (await scene.cashout('USDT', amount, destination)) as { id: string };
        await until('the payout to be sent', ({ status }) => status === 'BROADCAST', id);
        await pass(paying.outdatedSeconds);
        await until('further bytes', ({ attempts }) => attempts > 1, id);
        takeAgain();
        return await scene.settled(id);
      } finally {
        takeAgain();
      }
    });
    await expectPaidOnce(settled);
  });

  it.each(paying.replacing === 'bump' ? CLOSED : [])(
    'of the %s at %s, its nonce being used up: exactly one payout, by a second family',
    async (part, point) => {
      const amount = await cashOut();
      const settled = await dieTwice(scene, [part, point], async () => {
        const takeAgain = takeNothing();
        let mend = async (): Promise<void> => undefined;
        try {
          const { id } = (await scene.cashout('USDT', amount, destination)) as { id: string };
          await until('the payout to be sent', ({ status }) => status === 'BROADCAST', id);
          mend = await paying.breakToken(scene.chainOf('USDT'));
          await pass(paying.outdatedSeconds);
          await until('the payout to be stuck', ({ stuck }) => stuck, id);
          await pass(POLICY.payoutCloseSeconds);
          await until('a closing transaction', ({ attempts }) => attempts > 1, id);
          takeAgain();
          await until('the family to have failed', ({ status }) => status === 'FAILED', id);
          await mend();
          return await scene.settled(id);
        } finally {
          takeAgain();
          await mend();
        }
      });
      await expectPaidOnce(settled);
    },
  );

  it('of the api at fail.final: paid once, by a second family', async () => {
    const amount = await cashOut();
    const settled = await dieTwice(scene, ['api', 'fail.final'], async () => {
      const takeAgain = takeNothing();
      let mend = async (): Promise<void> => undefined;
      try {
        const { id } = (await scene.cashout('USDT', amount, destination)) as { id: string };
        await until('the payout to be sent', ({ status }) => status === 'BROADCAST', id);
        mend = await paying.breakToken(scene.chainOf('USDT'));
        takeAgain();
        await until('the payout to fail on chain', ({ failed }) => failed, id);
        await mend();
        return await scene.settled(id);
      } finally {
        takeAgain();
        await mend();
      }
    });
    await expectPaidOnce(settled);
  });
});
