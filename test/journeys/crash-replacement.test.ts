import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { advanceClock } from '#api/store/clock.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { FamilyDriver } from '#test/chains/conformance/family.ts';
import { DRIVERS } from '#test/chains/conformance/families.ts';
import { FULL } from '#test/harness/counts.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { demoNetwork } from '#test/harness/networks.ts';
import { type Crash, dieAtEach, dieTwice } from './crash.ts';
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
const FAILED: Crash[] = [['api', 'fail.final']];
const PATIENCE_MS = 120_000;

interface Earned {
  amount: string;
  destination: string;
}

interface Paid {
  destination: string;
  settled: Record<string, unknown>;
}

describe.each(DRIVERS.map((driver) => [driver.family, driver] as const))('a cashout on %s that is not paid at first survives SIGKILL', (_family, driver) => {
  const { paying, main } = driver;
  let scene: Scene;
  let destinations = 0;
  beforeAll(async () => {
    scene = await aScene({ blockMs: 250, networks: [await demoNetwork(driver.network)] });
    // Coins of our own on the hot wallet, so that nothing has to be swept before a payout.
    const plenty = scene.raw(main, scene.worth(main, 1_000n));
    await scene.chainOf(main).pay(scene.world.network.wallets.hot.address, scene.contract(main), plenty);
  });
  afterAll(() => scene?.stop());

  const sql = () => scene.world.database.sql;
  const pass = async (seconds: number): Promise<void> => {
    await scene.world.database.transaction((tx) => advanceClock(tx, seconds));
    await paying.passTime(scene.chainOf(main), seconds);
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
  /** What is cashed out, and where to. */
  const earn = async (): Promise<Earned> => {
    const payment = await scene.open(main, { amount: '40' });
    await scene.chainOf(main).pay(payment.address, scene.contract(main), payment.rawAmount);
    await scene.resting(payment.id);
    const balance = await scene.balance(main, scene.worth(main, 39n));
    destinations += 1;
    return { amount: balance.totalAvailable as string, destination: driver.stranger(destinations) };
  };
  /** Pays out while blocks wait: `meanwhile` has the payout before any block could take it, and calls `goOn` once they may. */
  const payOut =
    (meanwhile: (settlementId: string, goOn: () => void) => Promise<void>) =>
    async ({ amount, destination }: Earned): Promise<Paid> => {
      const goOn = await scene.holdBlocks();
      try {
        const { id } = (await scene.cashout(main, amount, destination)) as { id: string };
        await until('the payout to be sent', ({ status }) => status === 'BROADCAST', id);
        await meanwhile(id, goOn);
        return { destination, settled: await scene.settled(id) };
      } finally {
        goOn();
      }
    };
  /** As many blocks as make a payout late, none of which takes it, and as much time. */
  const outdate = async (): Promise<void> => {
    // Before its time is up, so that nobody asks what gas is needed while a block has room for none.
    await paying.mineWithout(scene.chainOf(main), POLICY.payoutBumpBlocks);
    await pass(paying.outdatedSeconds);
    // Only a block that is final and later than the bytes proves that they expired; nobody needs an estimate for it.
    if (paying.replacing === 'expiry') await paying.mineWithout(scene.chainOf(main), POLICY.payoutBumpBlocks);
  };
  const expectPaidOnce = async ({ destination, settled }: Paid): Promise<void> => {
    expect(await scene.held(main, destination)).toBe(scene.raw(main, settled.netAmount as string));
    const effects = await sql()`select distinct txid from sightings where kind in ('native', 'token') and canonical and recipient = ${destination}`;
    expect(effects).toHaveLength(1);
    await waitFor(() => assertBooksMatchChain(scene.world).then(() => true), { what: 'books to match the chain' });
    await scene.world.audit();
  };

  const replaced = payOut(async (id, goOn) => {
    await outdate();
    await until('further bytes', ({ attempts }) => attempts > 1, id);
    goOn();
  });
  const closed = payOut(async (id, goOn) => {
    const mend = await paying.breakToken?.(scene.chainOf(main));
    try {
      // Where nothing can be made to fail, it has been offered as often as it ever will be.
      const signed = mend === undefined ? POLICY.payoutAttempts : 1;
      for (let attempt = 1; attempt < signed; attempt++) {
        await outdate();
        await until(`${attempt + 1} attempts`, ({ attempts }) => attempts > attempt, id);
      }
      await outdate();
      await until('the payout to be stuck', ({ stuck }) => stuck, id);
      await pass(paying.closeSeconds);
      // Handed over before any block may take what it replaces.
      await until('a closing transaction', ({ attempts, status }) => attempts > signed && status === 'BROADCAST', id);
      goOn();
      await until('the payout to have failed', ({ status }) => status === 'FAILED', id);
    } finally {
      await mend?.();
    }
  });
  const failed = payOut(async (id, goOn) => {
    const mend = await paying.breakToken?.(scene.chainOf(main));
    try {
      goOn();
      await until('the payout to fail on chain', ({ failed }) => failed, id);
    } finally {
      await mend?.();
    }
  });

  const stories: [what: string, points: Crash[], work: (made: Earned) => Promise<Paid>][] = [
    ['its bytes being replaced: exactly one payout', REPLACED[paying.replacing], replaced],
    ...(paying.replacing === 'bump'
      ? [['its nonce or coin being used up: exactly one payout, by a second payout', CLOSED, closed] satisfies [string, Crash[], typeof closed]]
      : []),
    ...(paying.breakToken === null
      ? []
      : [['its transfer having failed: paid once, by a second payout', FAILED, failed] satisfies [string, Crash[], typeof failed]]),
  ];
  describe.each(stories)('%s', (_what, points, work) => {
    if (FULL) {
      it.each(points)('of the %s at %s', async (part, point) => {
        const made = await earn();
        await expectPaidOnce(await dieTwice(scene, [part, point], () => work(made)));
      });
      return;
    }
    it('at every point of it', async () => {
      for (const paid of await dieAtEach(scene, points, { prepare: earn, work })) await expectPaidOnce(paid);
    });
  });
});
