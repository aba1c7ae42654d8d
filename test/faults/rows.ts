import { Psbt } from 'bitcoinjs-lib';
import { expect } from 'vitest';
import { broadcastAttempt } from '#api/payouts/broadcast.ts';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { restampStaticPrices } from '#api/store/prices.ts';
import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import type { Deps } from '#api/deps.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { POLICY } from '#shared/core/policy.ts';
import { connect } from '#shared/platform/postgres.ts';
import { mineThese } from '#test/chains/conformance/bitcoin-branches.ts';
import { coreCall } from '#test/chains/conformance/bitcoin-rpc.ts';
import type { TreasuryFamily } from '#test/fixtures/treasury.ts';
import { cutLink } from '#test/harness/cut-link.ts';
import { ask, attemptsOf, expectPaidOnce, mortalOf, payoutsOf, planned, sendAgain, sent, signed, type Stage, statusOf } from './stage.ts';
import { urlFor } from '#test/harness/logins.ts';

/** One row of the fault matrix (reliability 4), and how it is survived. */
export interface FaultRow {
  row: string;
  name: string;
  /** Families it can happen on. */
  families: readonly TreasuryFamily[];
  /** Without coins in any wallet. */
  poor?: true;
  /** It leaves behind what no other row should start with. */
  own?: true;
  play(stage: Stage): Promise<void>;
}

const ALL: readonly TreasuryFamily[] = ['evm', 'tron', 'bitcoin'];
/** Where a block can hold a transfer that failed. */
const FAILING: readonly TreasuryFamily[] = ['evm', 'tron'];
/** Where a transfer costs coins of a wallet. */
const WITH_GAS: readonly TreasuryFamily[] = ['evm', 'tron'];
/** What nodes say to bytes they have, had, or do not want. */
const ANSWERS = [
  'already known',
  'nonce too low',
  'replacement transaction underpriced',
  'DUP_TRANSACTION_ERROR',
  '503 Service Unavailable',
  '<html>Bad Gateway</html>',
];

/** A worker whose node treats what it is handed in this way. */
function withBroadcast(stage: Stage, broadcast: (pass: () => Promise<unknown>) => Promise<{ accepted: boolean; answer: string }>): Deps {
  const { deps } = stage.treasury;
  const chains = [...deps.chains].map(([name, chain]): [string, typeof chain] => [
    name,
    { ...chain, payer: { ...chain.payer, broadcast: (bytes) => broadcast(() => chain.payer.broadcast(bytes)) } },
  ]);
  return { ...deps, chains: new Map(chains) };
}

/** Time passes for the service, its prices and the chain. */
async function pass({ treasury, driver }: Stage, seconds: number): Promise<void> {
  await treasury.world.advance(seconds);
  await treasury.deps.db.transaction(restampStaticPrices);
  await driver.paying.passTime(treasury.chain, seconds);
}

/** The network loses what it was given, and no block takes it for as long as it takes until it is replaced. */
async function replace(stage: Stage): Promise<void> {
  const { treasury, driver } = stage;
  await driver.paying.mineWithout(treasury.chain, POLICY.payoutBumpBlocks);
  await treasury.follow();
  await pass(stage, driver.paying.outdatedSeconds);
  await driver.paying.mineWithout(treasury.chain, POLICY.payoutBumpBlocks);
  await treasury.follow();
  expect(await tendPayouts(treasury.deps)).toBe(1);
  expect(await treasury.sign()).toContain('signed');
  await sendAgain(stage);
}

export const FAULT_ROWS: readonly FaultRow[] = [
  {
    row: 'F1',
    name: 'a kill before the commit of a create leaves no row and the key free',
    families: ALL,
    async play(stage) {
      const process = mortalOf(stage);
      process.dieAt('commit.before');
      await expect(ask(stage, process.deps)).rejects.toThrow('died');
      expect(await stage.treasury.world.database.sql`select 1 from settlements where gateway_id = ${stage.shop.id}`).toHaveLength(0);
      await expectPaidOnce(stage, await ask(stage, stage.treasury.deps));
    },
  },
  {
    row: 'F2',
    name: 'a kill between commit and answer: asking again replays the same id',
    families: ALL,
    async play(stage) {
      const process = mortalOf(stage);
      process.dieAt('commit.after');
      await expect(ask(stage, process.deps)).rejects.toThrow('died');
      const [row] = await stage.treasury.world.database.sql<{ id: string }[]>`select id from settlements where gateway_id = ${stage.shop.id}`;
      expect(await ask(stage, stage.treasury.deps)).toBe(row?.id);
      await expectPaidOnce(stage, row?.id as string);
    },
  },
  {
    row: 'F3',
    name: 'a link cut while the commit is answered: the key says that it happened',
    families: ALL,
    async play(stage) {
      const { treasury } = stage;
      const link = await cutLink(urlFor(treasury.world.database.url));
      const db = connect(link.url, { name: 'cut', max: 2 });
      try {
        link.cutNextCommit();
        const first = await ask(stage, { ...treasury.deps, db }).catch(() => undefined);
        expect(link.cuts).toBe(1);
        const again = await ask(stage, treasury.deps);
        if (first !== undefined) expect(again).toBe(first);
        await expectPaidOnce(stage, again);
      } finally {
        await link.close();
        await db.end();
      }
    },
  },
  {
    row: 'F4',
    name: 'a crash between signing and storing: the bytes are gone and never sent, the next ones use the same nonce or coin',
    families: ALL,
    async play(stage) {
      const { settlementId, payoutId } = await planned(stage);
      const [before] = await payoutsOf(stage, settlementId);
      const process = mortalOf(stage);
      // The first transaction of the signer only looks.
      process.dieAt('commit.before', 2);
      await expect(signPayout(process.deps, process.signers, payoutId)).rejects.toThrow('died');
      expect(await attemptsOf(stage, payoutId)).toHaveLength(0);
      await expectPaidOnce(stage, settlementId);
      expect(await payoutsOf(stage, settlementId)).toMatchObject([{ id: payoutId, nonce: before?.nonce ?? null, status: 'CONFIRMED' }]);
      expect(await attemptsOf(stage, payoutId)).toHaveLength(1);
    },
  },
  {
    row: 'F5',
    name: 'a crash between storing and sending: the stored bytes are sent',
    families: ALL,
    async play(stage) {
      const { settlementId, payoutId } = await planned(stage);
      const process = mortalOf(stage);
      process.dieAt('commit.after', 2);
      await expect(signPayout(process.deps, process.signers, payoutId)).rejects.toThrow('died');
      const stored = await attemptsOf(stage, payoutId);
      expect(stored).toHaveLength(1);
      await expectPaidOnce(stage, settlementId);
      expect(await attemptsOf(stage, payoutId)).toEqual(stored);
    },
  },
  {
    row: 'F6',
    name: 'a crash between sending and noting it: sending again changes nothing',
    families: ALL,
    async play(stage) {
      const { settlementId, payoutId, attemptId } = await signed(stage);
      const process = mortalOf(stage);
      process.dieAt('broadcast.after');
      await expect(broadcastAttempt(process.deps, attemptId)).rejects.toThrow('died');
      expect(await payoutsOf(stage, settlementId)).toMatchObject([{ status: 'SIGNED' }]);
      await expectPaidOnce(stage, settlementId);
      expect(await attemptsOf(stage, payoutId)).toHaveLength(1);
    },
  },
  {
    row: 'F7',
    name: 'a broadcast that was taken and never answered is tracked by its id and never signed again',
    families: ALL,
    async play(stage) {
      const { settlementId, payoutId, attemptId } = await signed(stage);
      const silent = withBroadcast(stage, async (pass) => {
        await pass();
        throw new ChainUnavailable('no answer in time', { trouble: 'slow' });
      });
      await broadcastAttempt(silent, attemptId).catch(() => undefined);
      await expectPaidOnce(stage, settlementId);
      expect(await attemptsOf(stage, payoutId)).toHaveLength(1);
    },
  },
  {
    row: 'F8',
    name: 'a broadcast that was dropped is sent again, and replaced within its payout when no block takes it',
    families: ALL,
    async play(stage) {
      const { settlementId, payoutId, attemptId } = await signed(stage);
      const deaf = withBroadcast(stage, async () => {
        throw new ChainUnavailable('no answer in time', { trouble: 'slow' });
      });
      await broadcastAttempt(deaf, attemptId).catch(() => undefined);
      await sendAgain(stage);
      await replace(stage);
      await expectPaidOnce(stage, settlementId);
      expect(await payoutsOf(stage, settlementId)).toMatchObject([{ family: 1, status: 'CONFIRMED' }]);
      expect(await attemptsOf(stage, payoutId)).toHaveLength(2);
    },
  },
  {
    row: 'F9',
    name: 'no answer to a broadcast proves anything: the chain decides',
    families: ALL,
    async play(stage) {
      const { settlementId, payoutId, attemptId } = await signed(stage);
      for (let times = 0; times < 3; times++) {
        const answer = stage.random.pick(ANSWERS);
        const taken = stage.random.chance(0.5);
        const odd = withBroadcast(stage, async (pass) => {
          if (taken) await pass();
          return { accepted: false, answer };
        });
        await broadcastAttempt(odd, attemptId);
      }
      await expectPaidOnce(stage, settlementId);
      expect(await attemptsOf(stage, payoutId)).toHaveLength(1);
    },
  },
  {
    row: 'F10',
    name: 'of several dispatchers one plans the payout',
    families: ALL,
    async play(stage) {
      const settlementId = await ask(stage, stage.treasury.deps);
      const many = 2 + stage.random.below(8);
      await Promise.all(Array.from({ length: many }, () => dispatchSettlement(stage.treasury.deps, settlementId)));
      await expectPaidOnce(stage, settlementId);
      expect(await payoutsOf(stage, settlementId)).toHaveLength(1);
    },
  },
  {
    row: 'F11',
    name: 'a job that runs twice has one effect, and one that is lost is found again',
    families: ALL,
    async play(stage) {
      const { treasury } = stage;
      const settlementId = await ask(stage, treasury.deps);
      if (stage.random.chance(0.5)) {
        await treasury.world.database.sql`update outbox set state = 'dead' where ref_id = ${settlementId} and topic = 'settlement.dispatch'`;
        await pass(stage, 61);
        expect(await periodicWork['requeue-settlements'].run(treasury.deps)).toBe(1);
      } else {
        await treasury.work();
        await treasury.world.database.sql`update outbox set state = 'due', due_at = sluice_now() where ref_id = ${settlementId}`;
        await treasury.work();
      }
      await expectPaidOnce(stage, settlementId);
      expect(await payoutsOf(stage, settlementId)).toHaveLength(1);
    },
  },
  {
    row: 'F12',
    name: 'a nonce stuck under a fee twenty times as high is bumped within its payout',
    families: ['evm'],
    async play(stage) {
      const { treasury } = stage;
      const { settlementId, payoutId } = await sent(stage);
      const { node } = treasury.chain as unknown as { node: { call<T>(method: string, params: unknown[]): Promise<T> } };
      const { baseFeePerGas } = await node.call<{ baseFeePerGas: string }>('eth_getBlockByNumber', ['latest', false]);
      const [plan] = await treasury.world.database.sql<{ cap: string }[]>`select plan->'fields'->>'maxFeePerGas' as cap from payouts where id = ${payoutId}`;
      // At least twenty times as high, and above what the bytes offer: on a quiet chain they offer far more than the base fee.
      const outOfReach = (BigInt(plan?.cap ?? 0) * 21n) / 20n;
      const spiked = BigInt(baseFeePerGas) * 20n > outOfReach ? BigInt(baseFeePerGas) * 20n : outOfReach;
      const spike = (): Promise<unknown> => node.call('anvil_setNextBlockBaseFeePerGas', [`0x${spiked.toString(16)}`]);
      for (let block = 0; block < POLICY.payoutBumpBlocks; block++) {
        await spike();
        await treasury.mine();
      }
      await pass(stage, POLICY.payoutBumpSeconds);
      expect(await tendPayouts(treasury.deps)).toBe(1);
      expect(await treasury.sign()).toContain('signed');
      await sendAgain(stage);
      await expectPaidOnce(stage, settlementId);
      expect(await payoutsOf(stage, settlementId)).toHaveLength(1);
      expect((await attemptsOf(stage, payoutId)).length).toBeGreaterThan(1);
    },
  },
  {
    row: 'F13',
    name: 'a payout that fails on chain is made again once, when the failure is final',
    families: FAILING,
    async play(stage) {
      const { treasury, driver } = stage;
      const { settlementId } = await sent(stage);
      const mend = await driver.paying.breakToken?.(treasury.chain);
      await treasury.mine();
      await mend?.();
      expect(await payoutsOf(stage, settlementId)).toHaveLength(1);
      await expectPaidOnce(stage, settlementId);
      expect(await payoutsOf(stage, settlementId)).toMatchObject([
        { family: 1, status: 'FAILED' },
        { family: 2, status: 'CONFIRMED' },
      ]);
    },
  },
  {
    row: 'F14',
    name: 'a failed payout that succeeds after a reorganisation is one transfer',
    families: FAILING,
    async play(stage) {
      const { treasury, driver } = stage;
      const { settlementId, bytes } = await sent(stage);
      const mend = await driver.paying.breakToken?.(treasury.chain);
      await treasury.mine();
      await mend?.();
      const raw = Buffer.from(bytes).toString('hex');
      await treasury.reorganise(1, [{ transaction: driver.family === 'evm' ? `0x${raw}` : raw, block: 0 }]);
      await expectPaidOnce(stage, settlementId);
      expect(await payoutsOf(stage, settlementId)).toMatchObject([{ family: 1, status: 'CONFIRMED' }]);
    },
  },
  {
    row: 'F15',
    name: 'a bitcoin payout that was replaced, its block reorganised for one with the other bytes, is one transfer: both spend the anchor',
    families: ['bitcoin'],
    async play(stage) {
      const { treasury, random } = stage;
      const { settlementId, payoutId } = await sent(stage);
      await replace(stage);
      const both = await attemptsOf(stage, payoutId);
      expect(both).toHaveLength(2);
      const raw = both.map(({ bytes }) => Psbt.fromBuffer(bytes).extractTransaction(true).toHex());
      const call = coreCall(treasury.chain.url);
      const [first, other] = random.chance(0.5) ? [0, 1] : [1, 0];
      await mineThese(call, [raw[first] as string]);
      // Together they are no block: the anchor is spent.
      await expect(mineThese(call, [raw[other] as string])).rejects.toThrow(/missingorspent|inputs/);
      await treasury.follow();
      expect(await payoutsOf(stage, settlementId)).toMatchObject([{ status: 'INCLUDED' }]);
      await treasury.reorganise(1, [{ transaction: raw[other] as string, block: 0 }]);
      await expectPaidOnce(stage, settlementId);
      expect(await payoutsOf(stage, settlementId)).toMatchObject([{ family: 1, status: 'CONFIRMED' }]);
      const [settled] = await treasury.world.database.sql<{ txid: string }[]>`
        select distinct txid from sightings where canonical and kind = 'native' and recipient = ${stage.order.body.address}`;
      expect(settled?.txid).toBe(both[other]?.txid);
    },
  },
  {
    row: 'F16',
    name: 'bytes that expired unseen are signed anew only after the proof that they are dead',
    families: ['tron'],
    async play(stage) {
      const { treasury } = stage;
      const { settlementId, payoutId } = await sent(stage);
      await treasury.follow();
      expect(await tendPayouts(treasury.deps)).toBe(0);
      await replace(stage);
      await expectPaidOnce(stage, settlementId);
      expect(await attemptsOf(stage, payoutId)).toHaveLength(2);
    },
  },
  {
    row: 'F17',
    name: 'a signer that is away for ten minutes delays payouts and loses none',
    families: ALL,
    async play(stage) {
      const { treasury } = stage;
      const { settlementId } = await planned(stage);
      for (let minute = 0; minute < 10; minute += 2) {
        await pass(stage, 120);
        await treasury.mine();
        await tendPayouts(treasury.deps);
        await sendAgain(stage);
      }
      expect(await statusOf(stage, settlementId)).toBe('REQUESTED');
      await expectPaidOnce(stage, settlementId);
    },
  },
  {
    row: 'F18',
    name: 'with empty wallets a cashout waits, is not rejected, and is paid once they are filled',
    families: WITH_GAS,
    poor: true,
    async play(stage) {
      const { treasury, driver } = stage;
      const settlementId = await ask(stage, treasury.deps);
      for (let round = 0; round < 3; round++) {
        await sendAgain(stage);
        await treasury.sign();
        await treasury.mine();
      }
      expect(await statusOf(stage, settlementId)).toBe('REQUESTED');
      await treasury.chain.payAndMine(treasury.wallet('funding'), null, driver.paying.plenty);
      await treasury.mine(2);
      await expectPaidOnce(stage, settlementId);
    },
  },
];
