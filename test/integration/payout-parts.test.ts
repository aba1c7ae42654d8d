import { afterAll, describe, expect, onTestFinished } from 'vitest';
import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { adoptOutgoing } from '#api/operator/outgoing.ts';
import { showSettlement } from '#api/operator/timelines.ts';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import { listBalances } from '#api/settlements/balances.ts';
import { rejectSettlement } from '#api/settlements/reject.ts';
import { getSettlement } from '#api/settlements/view.ts';
import type { PayoutDetail } from '#api/store/operator-timelines.ts';
import { findUnspent } from '#api/store/outputs.ts';
import { outpointOf } from '#api/payouts/rules/spending.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { payout as payoutRecord } from '#state-machines/payout/machine.ts';
import { everyPartIsNeeded } from '#test/fixtures/removed-parts.ts';
import { aTreasury, aTreasuryOf, type Treasury } from '#test/fixtures/treasury.ts';
import type { BitcoinChain } from '#test/harness/bitcoin-chain.ts';
import type { CommonChain, TestChain } from '#test/harness/chain.ts';
import type { TronChain } from '#test/harness/tron-chain.ts';

// What the machine of payouts draws is what happens: each edge and each action of it, taken away, is missed by somebody. No step here makes
// work due that is not: whatever nobody is told to do at once is not done before long.

/** A cashout on the local chain of one family. */
interface Cashout<C extends CommonChain> {
  treasury: Treasury<C>;
  shop: Gateway;
  symbol: string;
  id: string;
  /** What its gateway could withdraw before. */
  earned: string;
  /** Chain units that its merchant had before. */
  had: bigint;
}

interface Chains {
  evm: TestChain;
  tron: TronChain;
  bitcoin: BitcoinChain;
}

/** Treasuries in which nothing is under way, for the next behaviour. */
const idle: { [F in keyof Chains]?: Treasury<Chains[F]> } = {};
afterAll(async () => {
  for (const treasury of Object.values(idle)) {
    await treasury.audit();
    await treasury.stop();
  }
});

describe('of a payout, each edge and action is needed:', () => {
  everyPartIsNeeded(payoutRecord, {
    'PLANNED SIGNED SIGNED': async () => {
      const cashout = await planned('evm');
      return ends(cashout, async ({ treasury }) => {
        await treasury.sign();
        await treasury.work();
        await treasury.mine();
        expect(await paid(cashout)).toBe('once');
      });
    },
    'PLANNED CANCELLED CANCELLED': async () => {
      const cashout = await planned('bitcoin', '0.05', ['0.06']);
      return ends(
        cashout,
        async ({ treasury, shop, id, symbol }) => {
          await rejectSettlement(treasury.deps, { id, reason: 'asked for' });
          const again = await treasury.cashOut(shop, symbol, '0.05');
          await rounds(treasury, 3);
          expect(await seen({ ...cashout, id: again.id })).toEqual({ status: 'SETTLED', paid: 'once', payouts: ['CONFIRMED: transfer'] });
        },
        { status: 'REJECTED', payouts: ['CANCELLED: '] },
      );
    },
    'PLANNED CLOSED PLANNED': async () => {
      const cashout = await planned('evm');
      return ends(
        cashout,
        async ({ treasury, shop, id, symbol }) => {
          await rejectSettlement(treasury.deps, { id, reason: 'asked for' });
          // All that it claimed is there again, and what comes behind it is paid: its nonce is used up.
          const behind = await treasury.cashOut(shop, symbol, cashout.earned);
          await rounds(treasury, 3);
          expect(await seen({ ...cashout, id: behind.id })).toEqual({ status: 'SETTLED', paid: 'once', payouts: ['CONFIRMED: transfer'] });
        },
        { status: 'REJECTED', payouts: ['FAILED: close'] },
      );
    },
    'SIGNED SENT BROADCAST': async () => {
      const cashout = await planned('evm');
      await cashout.treasury.sign();
      return ends(cashout, async ({ treasury }) => {
        await treasury.work();
        expect((await seen(cashout)).payouts).toEqual(['BROADCAST: transfer']);
      });
    },
    'SIGNED SEEN INCLUDED': async () => {
      const { waiting, gas } = await waitsForGas();
      await waiting.treasury.sign();
      // A worker hands the bytes over, and is gone before it writes that down.
      return ends(waiting, async (cashout) => {
        await handOver(cashout, gas);
        await goesOnAtOnce(cashout);
      });
    },
    'SIGNED BUMPED REPLACING': async () => {
      const cashout = await planned('evm');
      const price = await tooCheap(cashout, { handedOver: false });
      return ends(cashout, (one) => isRaised(one, price), { payouts: ['CONFIRMED: transfer, transfer'] });
    },
    'SIGNED CLOSED REPLACING': async () => {
      const cashout = await planned('evm');
      const price = await tooCheap(cashout, { handedOver: false });
      await refusedForLong(cashout);
      return ends(cashout, (one) => isClosed(one, price), { payouts: ['FAILED: transfer, close', 'CONFIRMED: transfer'] });
    },
    'SIGNED EXPIRED REPLACING': async () => {
      const cashout = await planned('tron');
      await cashout.treasury.sign();
      await pass(cashout, 180);
      return ends(cashout, isSignedAnew, { payouts: ['CONFIRMED: transfer, transfer'] });
    },
    'BROADCAST SEEN INCLUDED': async () => {
      const { waiting } = await waitsForGas();
      await waiting.treasury.sign();
      await waiting.treasury.work();
      return ends(waiting, goesOnAtOnce);
    },
    'BROADCAST BUMPED REPLACING': async () => {
      const cashout = await planned('evm');
      const price = await tooCheap(cashout, { handedOver: true });
      return ends(cashout, (one) => isRaised(one, price), { payouts: ['CONFIRMED: transfer, transfer'] });
    },
    'BROADCAST CLOSED REPLACING': async () => {
      const cashout = await planned('evm');
      const price = await tooCheap(cashout, { handedOver: true });
      await refusedForLong(cashout);
      return ends(cashout, (one) => isClosed(one, price), { payouts: ['FAILED: transfer, close', 'CONFIRMED: transfer'] });
    },
    'BROADCAST EXPIRED REPLACING': async () => {
      const cashout = await planned('tron');
      await cashout.treasury.sign();
      await cashout.treasury.work();
      await cashout.treasury.chain.control.forget();
      await pass(cashout, 180);
      return ends(cashout, isSignedAnew, { payouts: ['CONFIRMED: transfer, transfer'] });
    },
    'REPLACING SIGNED SIGNED': async () => {
      const cashout = await planned('evm');
      const price = await tooCheap(cashout, { handedOver: true });
      await tendPayouts(cashout.treasury.deps);
      return ends(cashout, (one) => isTaken(one, price), { payouts: ['CONFIRMED: transfer, transfer'] });
    },
    'REPLACING SEEN INCLUDED': async () => {
      const { waiting, gas } = await waitsForGas();
      await tooCheap(waiting, { handedOver: true });
      await tendPayouts(waiting.treasury.deps);
      // Further bytes are planned, and the first ones are taken after all.
      return ends(waiting, async (cashout) => {
        await handOver(cashout, gas);
        await goesOnAtOnce(cashout);
      });
    },
    'REPLACING CLOSED REPLACING': async () => {
      const cashout = await planned('evm');
      const price = await tooCheap(cashout, { handedOver: true });
      // Further bytes are planned, which the signer never got to.
      await tendPayouts(cashout.treasury.deps);
      await cashout.treasury.world.advance(POLICY.payoutQuoteSeconds);
      await refusedForLong(cashout);
      return ends(cashout, (one) => isClosed(one, price), { payouts: ['FAILED: transfer, close', 'CONFIRMED: transfer'] });
    },
    // Bytes that the books lost have spent one of its two outputs: it can never be mined, and the other one is needed for what pays instead.
    'REPLACING ABANDONED FAILED': async () => {
      const cashout = await planned('bitcoin', '0.1', ['0.06', '0.06']);
      await cashout.treasury.sign();
      const close = await closeNobodyKnows(cashout);
      return ends(
        cashout,
        async ({ treasury }) => {
          const operator = { person: { name: 'anna' }, name: null, clientIp: '127.0.0.1', token: 'named', requestId: null } as const;
          const body = { network: treasury.network.config.name, txid: close, close: true, reason: 'found' };
          await adoptOutgoing({ ...treasury.deps, operator }, { params: {}, query: {}, body });
          await rounds(treasury, 1);
        },
        { payouts: ['FAILED: transfer', 'CONFIRMED: transfer'] },
      );
    },
    'INCLUDED ORPHANED BROADCAST': async () => {
      const cashout = await included('evm');
      // Whoever was to hand it over again sees that there is no need to.
      await cashout.treasury.world.advance(POLICY.payoutBumpSeconds);
      await cashout.treasury.work();
      return ends(cashout, async ({ treasury }) => {
        await treasury.reorganise(1);
        expect(await paid(cashout)).toBe('nothing');
        await treasury.work();
        await treasury.mine();
        expect(await paid(cashout)).toBe('once');
      });
    },
    'INCLUDED FINAL_SUCCESS CONFIRMED': async () => ends(await included('evm'), async () => undefined),
    'INCLUDED FINAL_FAILURE FAILED': async () => {
      const cashout = await included('evm', { fails: true });
      return ends(
        cashout,
        async ({ treasury }) => {
          await treasury.mine();
          await rounds(treasury, 1);
        },
        { payouts: ['FAILED: transfer', 'CONFIRMED: transfer'] },
      );
    },
  });
});

/** A treasury with nothing under way: one that was left like that by the behaviour before, or a new one whose hot wallet has coins to pay with. */
async function aWorld<F extends keyof Chains>(family: F): Promise<Treasury<Chains[F]>> {
  const left = idle[family];
  delete idle[family];
  if (left !== undefined) return left;
  const treasury = (family === 'evm' ? await aTreasury() : await aTreasuryOf(family)) as unknown as Treasury<Chains[F]>;
  const { chain } = treasury;
  if (family !== 'bitcoin') {
    await chain.payAndMine(treasury.wallet('hot'), chain.tokens.USDT as string, 10_000_000_000n);
    if (family === 'tron') await chain.payAndMine(treasury.wallet('hot'), null, 10n ** 9n);
    await treasury.mine(2);
  }
  return treasury;
}

/** A cashout of a merchant that earned these amounts; nothing has happened to it. */
async function aCashout<F extends keyof Chains>(family: F, amount: string, earned: readonly string[]): Promise<Cashout<Chains[F]>> {
  const treasury = await aWorld(family);
  onTestFinished(async () => {
    if (Object.values(idle).includes(treasury as never)) return;
    if (leavesNothing(treasury) && (await comesToRest(treasury))) Object.assign(idle, { [family]: treasury });
    else await treasury.stop();
  });
  const symbol = family === 'bitcoin' ? 'BTC' : 'USDT';
  const shop = await treasury.world.aGateway();
  for (const coins of earned) await treasury.earn(shop, symbol, coins);
  const [had, { items }] = await Promise.all([merchantHas(treasury, symbol), listBalances(treasury.deps, { gateway: shop })]);
  const { id } = await treasury.cashOut(shop, symbol, amount);
  return { treasury, shop, symbol, id, earned: items[0]?.totalAvailable as string, had };
}

/**
 * With the whole machine again, what is under way in it comes to its end by itself: true when nothing of what was missed is left, in any
 * row. A new treasury takes longer than that.
 */
async function comesToRest(treasury: Treasury<CommonChain>): Promise<boolean> {
  const { deps, world } = treasury;
  const { sql } = world.database;
  await world.advance(POLICY.payoutBumpSeconds);
  for (let round = 0; round < 5; round++) {
    try {
      for (const name of ['rebroadcast-payouts', 'requeue-settlements', 'tend-payouts'] as const) await periodicWork[name].run(deps);
      await rounds(treasury, 1);
      const [open] = await sql<{ count: number }[]>`
        select (select count(*) from payouts where status not in ('CONFIRMED', 'FAILED', 'CANCELLED')) + (select count(*) from freezes)
          + (select count(*) from settlements where status not in ('SETTLED', 'REJECTED')) + (select count(*) from wallets where halted_reason is not null) as count`;
      if (open?.count === 0) return await treasury.audit().then(() => true);
    } catch (error) {
      deps.log.info({ err: error }, 'a treasury is left behind');
      return false;
    }
  }
  return false;
}

/** One whose payout waits for the signer. */
async function planned<F extends keyof Chains>(family: F, amount = '20', earned: readonly string[] = ['50']): Promise<Cashout<Chains[F]>> {
  const cashout = await aCashout(family, amount, earned);
  if (family === 'evm') await setGas(cashout.treasury as unknown as Treasury, 10n ** 18n);
  await cashout.treasury.work();
  expect((await seen(cashout)).payouts).toEqual(['PLANNED: ']);
  return cashout;
}

/** One whose payout is in a block that is not final; with `fails` it moved nothing there. */
async function included(family: 'evm', { fails = false } = {}): Promise<Cashout<TestChain>> {
  const cashout = await planned(family);
  const { treasury } = cashout;
  const { node, tokens } = treasury.chain;
  await treasury.sign();
  await treasury.work();
  const real = await node.call<string>('eth_getCode', [tokens.USDT, 'latest']);
  // A contract that refuses everything.
  if (fails) await node.call('anvil_setCode', [tokens.USDT, '0x60006000fd']);
  await treasury.mine();
  await node.call('anvil_setCode', [tokens.USDT, real]);
  expect((await seen(cashout)).payouts).toEqual(['INCLUDED: transfer']);
  return cashout;
}

/** One that waits for the gas its wallet is sent, and is looked at rarely, as many of its gateway wait. */
async function waitsForGas(): Promise<{ waiting: Cashout<TestChain>; gas: string }> {
  const waiting = await aCashout('evm', '20', ['50']);
  const { treasury, id } = waiting;
  await setGas(treasury, 0n);
  await treasury.work();
  const { sql } = treasury.world.database;
  await sql`update outbox set due_at = sluice_now() + make_interval(secs => ${POLICY.waitingPauseSeconds}) where topic = 'settlement.dispatch' and ref_id = ${id}`;
  const [gas, ...more] = await payoutsOf(waiting);
  expect([gas?.purpose, gas?.status, more]).toEqual(['top_up', 'PLANNED', []]);
  return { waiting, gas: gas?.id as string };
}

/** Whether whoever comes next finds what they would find in a new one: not where the outputs that are left decide what can be paid. */
function leavesNothing({ network }: Treasury<CommonChain>): boolean {
  return network.config.family !== 'bitcoin';
}

/**
 * What a behaviour says: what happens, and how the cashout ends once it is final, which is what its merchant and an operator see. Its
 * treasury has nothing under way then.
 */
function ends<C extends CommonChain>(
  cashout: Cashout<C>,
  happens: (cashout: Cashout<C>) => Promise<void>,
  end: { status?: string; payouts?: string[] } = {},
): () => Promise<void> {
  return async () => {
    await happens(cashout);
    const { treasury } = cashout;
    await treasury.mine(2);
    const status = end.status ?? 'SETTLED';
    const { paid: was, ...found } = await seen(cashout);
    expect(found).toEqual({ status, payouts: end.payouts ?? ['CONFIRMED: transfer'] });
    if (status === 'SETTLED') expect(was).toBe('once');
    if (leavesNothing(treasury)) Object.assign(idle, { [treasury.network.config.family]: treasury });
  };
}

/** Signs it, lets blocks go by that are a little too expensive for it, and as much time as it takes until more may be offered; answers the price. */
async function tooCheap({ treasury }: Cashout<TestChain>, { handedOver }: { handedOver: boolean }): Promise<bigint> {
  await treasury.sign();
  if (handedOver) await treasury.work();
  const { sql } = treasury.world.database;
  const [open] = await sql<{ cap: string }[]>`select plan->'fields'->>'maxFeePerGas' as cap from payouts where status in ('SIGNED', 'BROADCAST')`;
  const price = (BigInt(open?.cap as string) * 21n) / 20n;
  for (let i = 0; i < POLICY.payoutBumpBlocks; i++) {
    await costs(treasury, price);
    await treasury.mine();
  }
  await treasury.world.advance(POLICY.payoutBumpSeconds);
  return price;
}

/** What the hot wallet has to pay for gas, wei. */
async function setGas({ chain, wallet }: Treasury, wei: bigint): Promise<void> {
  await chain.node.call('anvil_setBalance', [wallet('hot'), `0x${wei.toString(16)}`]);
}

/** The price of the next block, wei for a unit of gas. */
async function costs({ chain }: Treasury, wei: bigint): Promise<void> {
  await chain.node.call('anvil_setNextBlockBaseFeePerGas', [`0x${wei.toString(16)}`]);
}

/** More is offered for it, which the next block takes though it is too expensive for what was offered first. */
async function isRaised(cashout: Cashout<TestChain>, price: bigint): Promise<void> {
  await tendPayouts(cashout.treasury.deps);
  await isTaken(cashout, price);
}

/** What is planned is signed, handed over, and in the next block. */
async function isTaken(cashout: Cashout<TestChain>, price: bigint): Promise<void> {
  const { treasury } = cashout;
  await treasury.sign();
  await treasury.work();
  await costs(treasury, price);
  await treasury.mine();
  expect(await paid(cashout)).toBe('once');
}

/** A worker to whose node the transfer looks like one that would fail; closing a nonce does not. */
function refused({ deps }: Treasury): Deps {
  const [name, chain] = [...deps.chains][0] as [string, Chain];
  return { ...deps, chains: new Map([[name, { ...chain, payer: { ...chain.payer, quote: async () => ({ ok: false, rejected: 'the token is paused' }) } }]]) };
}

/** For as long as anybody has patience with it. */
async function refusedForLong({ treasury }: Cashout<TestChain>): Promise<void> {
  await tendPayouts(refused(treasury));
  await treasury.world.advance(POLICY.payoutCloseSeconds);
}

/** Its nonce is used up in the next block, by bytes that pay nobody; then one new payout pays. */
async function isClosed(cashout: Cashout<TestChain>, price: bigint): Promise<void> {
  const { treasury } = cashout;
  await tendPayouts(refused(treasury));
  await treasury.sign();
  await treasury.work();
  await costs(treasury, price);
  await treasury.mine();
  expect(await seen(cashout)).toEqual({ status: 'PROCESSING', paid: 'nothing', payouts: ['INCLUDED: transfer, close'] });
  await treasury.mine();
  await rounds(treasury, 1);
}

/** Its bytes are dead, and it gets new ones. */
async function isSignedAnew({ treasury }: Cashout<TronChain>): Promise<void> {
  await tendPayouts(treasury.deps);
  await treasury.sign();
  await treasury.work();
  await treasury.mine();
}

/** Lets chain time pass, one block every half a minute, and our own. */
async function pass({ treasury }: Cashout<TronChain>, seconds: number): Promise<void> {
  await treasury.chain.control.mineSpaced(Math.ceil(seconds / 30), 30_000);
  await treasury.world.advance(seconds);
  await treasury.follow();
}

/** Gives a payout's first bytes to a node that takes them in its next block, without any row being told. */
async function handOver({ treasury }: Cashout<TestChain>, payoutId: string): Promise<void> {
  const [row] = await treasury.world.database.sql<{ bytes: Uint8Array }[]>`
    select signed_bytes as bytes from payout_attempts where payout_id = ${payoutId} order by number`;
  await [...treasury.deps.chains.values()][0]?.payer.broadcast(row?.bytes as Uint8Array);
  await costs(treasury, 10n ** 8n);
}

/** What it waits for is in the next block, and it is paid in the one after that, before the first is final. */
async function goesOnAtOnce(cashout: Cashout<TestChain>): Promise<void> {
  const { treasury } = cashout;
  await treasury.mine();
  await treasury.work();
  await treasury.sign();
  await treasury.work();
  await treasury.mine();
  expect(await paid(cashout)).toBe('once');
}

/** Has the key of the anchor's address give it back to the hot wallet with bytes that no row tells of, final in blocks. */
async function closeNobodyKnows({ treasury, id }: Cashout<BitcoinChain>): Promise<string> {
  const { sql } = treasury.world.database;
  const [row] = await sql<{ anchor: string }[]>`select anchor from payouts where settlement_id = ${id}`;
  const [anchor] = await findUnspent(sql, treasury.network.id, [outpointOf(row?.anchor as string)]);
  const [deposit] = await sql<{ index: number }[]>`select derivation_index as index from deposit_addresses where address = ${anchor?.address as string}`;
  const [chain, signer] = [[...treasury.deps.chains.values()][0], [...treasury.signers.values()][0]];
  if (anchor === undefined || chain === undefined || signer === undefined) throw new Error('its anchor is gone');
  const path = `${chain.config.accountPath}/0/${deposit?.index}`;
  const intent = { sender: anchor.address, recipient: treasury.wallet('hot'), contract: null, rawAmount: anchor.rawAmount - 2_000n };
  const fields = { inputs: `${row?.anchor}:${anchor.rawAmount}:${anchor.address}`, change: '' };
  const signed = await signer.sign(path, { intent, nonce: null, fields, paths: { [anchor.address]: path } });
  expect(await chain.payer.broadcast(signed.signedBytes)).toMatchObject({ accepted: true });
  await treasury.mine(4);
  return signed.txid;
}

/** Worker, signer and chain, each in turn, without anybody being hurried. */
async function rounds(treasury: Treasury<CommonChain>, count: number): Promise<void> {
  for (let round = 0; round < count; round++) {
    await treasury.work();
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
  }
}

async function merchantHas({ chain, merchant, assets }: Treasury<CommonChain>, symbol: string): Promise<bigint> {
  const contract = assets[symbol]?.contract ?? null;
  return contract === null ? chain.balance(merchant) : chain.tokenBalance(contract, merchant);
}

/** Whether the chain paid its merchant. */
async function paid({ treasury, shop, symbol, id, had }: Cashout<CommonChain>): Promise<'nothing' | 'once' | bigint> {
  const { netAmount } = await getSettlement(treasury.deps, { gateway: shop, id });
  const received = (await merchantHas(treasury, symbol)) - had;
  if (received === 0n) return 'nothing';
  return received === toUnits(parseTrusted(netAmount as string), treasury.assets[symbol]?.decimals ?? 18) ? 'once' : received;
}

/** All payouts made for it, as the operator's page of it lists them. */
async function payoutsOf({ treasury, id }: Cashout<CommonChain>): Promise<PayoutDetail[]> {
  const { data } = await showSettlement(treasury.deps, { params: { id }, query: {}, body: undefined });
  return (data as { payouts: PayoutDetail[] }).payouts;
}

/** What its merchant and an operator see of it: the payouts that were to pay it, with what was signed for each. */
async function seen(cashout: Cashout<CommonChain>) {
  const { treasury, shop, id } = cashout;
  const { status } = await getSettlement(treasury.deps, { gateway: shop, id });
  const payouts = (await payoutsOf(cashout)).filter(({ purpose }) => purpose === 'settlement');
  return { status, paid: await paid(cashout), payouts: payouts.map((one) => `${one.status}: ${one.attempts.map(({ kind }) => kind).join(', ')}`) };
}
