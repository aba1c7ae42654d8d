import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import { DRIVERS } from '#test/chains/conformance/families.ts';
import type { FamilyDriver } from '#test/chains/conformance/family.ts';
import { FULL } from '#test/harness/counts.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { demoNetwork } from '#test/harness/networks.ts';
import { type Crash, dieAtEach, dieTwice } from './crash.ts';
import { aScene, type Scene } from './scene.ts';

/** Only where coins that merchants earned must be collected before they can be paid out. */
const SWEEP: Crash = ['api', 'sweep.planned'];
const CASHOUT: Crash[] = [
  ['api', 'settle.reserved'],
  ['api', 'dispatch.locked'],
  ['api', 'dispatch.nonce-allocated'],
  ['api', 'dispatch.committed'],
  ['signer', 'sign.requested'],
  ['signer', 'sign.done'],
  ['signer', 'attempt.inserted'],
  ['signer', 'attempt.committed'],
  ['api', 'broadcast.before'],
  ['api', 'broadcast.after'],
  ['api', 'sent.marked'],
  ['api', 'confirm.seen'],
  ['api', 'confirm.final'],
  ['api', 'settle.effect-checked'],
  ['api', 'settle.posted'],
];

/** Before, during and after the journal remembers a signature, and before it leaves: on every family, whose bytes differ in what excludes what. */
const JOURNAL: Crash[] = [
  ['signer', 'journal.before-append'],
  ['signer', 'journal.torn'],
  ['signer', 'journal.appended'],
  ['signer', 'journal.synced'],
];

const SWEEPING = DRIVERS.filter(({ paying }) => paying.needsGas);

/** Every point a cashout of the family can die at. */
function pointsOf(driver: FamilyDriver): Crash[] {
  return SWEEPING.includes(driver) ? [SWEEP, ...CASHOUT, ...JOURNAL] : [...CASHOUT, ...JOURNAL];
}

/** `npm test` has each point die on one of the families, in turn, and those of the journal on every one; `npm run test:long` has every point die on every one that comes past it. */
function shareOf(driver: FamilyDriver): Crash[] {
  const shared = CASHOUT.filter((_, at) => DRIVERS[at % DRIVERS.length] === driver);
  return driver === SWEEPING.at(-1) ? [SWEEP, ...shared, ...JOURNAL] : [...shared, ...JOURNAL];
}

/** Dies at every point of a cashout of one family, with the real processes; one file per family, so that they run side by side. */
export function cashoutSurvivesSigkill(driver: FamilyDriver): void {
  describe(`a cashout on ${driver.family} survives SIGKILL`, () => {
    let scene: Scene;
    let destinations = 0;
    const { main } = driver;
    beforeAll(async () => {
      scene = await aScene({ blockMs: 250, networks: [await demoNetwork(driver.network)] });
    });
    afterAll(() => scene?.stop());

    /** What is cashed out: every cashout finds the hot wallet short of it, so that where there is gas a top-up and a sweep come before the payout. */
    const earn = async (): Promise<Cashout> => {
      const payment = await scene.open(main, { amount: '40' });
      await scene.chainOf(main).pay(payment.address, scene.contract(main), payment.rawAmount);
      await scene.resting(payment.id);
      const balance = await scene.balance(main, scene.worth(main, 39n));
      destinations += 1;
      return { amount: balance.totalAvailable as string, destination: driver.stranger(destinations) };
    };
    const cashOut = async ({ amount, destination }: Cashout): Promise<Paid> => {
      const created = await scene.cashout(main, amount, destination);
      return { destination, settled: await scene.settled(created.id as string) };
    };
    const expectPaidOnce = async ({ destination, settled }: Paid): Promise<void> => {
      expect(await scene.held(main, destination)).toBe(scene.raw(main, settled.netAmount as string));
      const effects = await scene.world.database
        .sql`select distinct txid from sightings where kind in ('native', 'token') and canonical and recipient = ${destination}`;
      expect(effects).toHaveLength(1);
      await waitFor(() => assertBooksMatchChain(scene.world).then(() => true), { what: 'books to match the chain' });
      await scene.world.audit();
    };

    if (FULL) {
      it.each(pointsOf(driver))('of the %s at %s: exactly one payout, books equal to the chain', async (part, point) => {
        const made = await earn();
        await expectPaidOnce(await dieTwice(scene, [part, point], () => cashOut(made)));
      });
      return;
    }

    it('at every point of it: exactly one payout, books equal to the chain', async () => {
      for (const paid of await dieAtEach(scene, shareOf(driver), { prepare: earn, work: cashOut })) await expectPaidOnce(paid);
    });
  });
}

interface Cashout {
  amount: string;
  destination: string;
}

interface Paid {
  destination: string;
  settled: Record<string, unknown>;
}
