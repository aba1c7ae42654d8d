import { expect } from 'vitest';
import type { Deps, Gateway } from '#api/deps.ts';
import { committer, fingerprint } from '#api/http/idempotency.ts';
import { createSettlement } from '#api/settlements/create.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { getSettlement, type SettlementView } from '#api/settlements/view.ts';
import { planSweeps } from '#api/treasury/plan-sweeps.ts';
import { formatAmount, parseTrusted, toUnits } from '#shared/core/money.ts';
import { DRIVERS } from '#test/chains/conformance/families.ts';
import type { FamilyDriver } from '#test/chains/conformance/family.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { assertBooksEqualChain, type Treasury } from '#test/fixtures/treasury.ts';
import type { CommonChain } from '#test/harness/chain.ts';
import { aMortal, type Mortal } from '#test/simulation/mortal.ts';
import type { Random } from '#test/simulation/random.ts';

/** Where a fault happens: one family's chain with everything of ours around it, and a merchant with money. */
export interface Stage {
  driver: FamilyDriver;
  treasury: Treasury<CommonChain>;
  shop: Gateway;
  random: Random;
  /** What the merchant asks for, somewhere nobody was ever paid before. */
  order: Order;
}

export interface Order {
  key: string;
  body: { assetId: string; amount: string; address: string };
}

let destinations = 0;

/** Sets the scene: a merchant that earned enough for one cashout of a random amount. */
export async function aStage(treasury: Treasury<CommonChain>, random: Random): Promise<Stage> {
  const driver = DRIVERS.find(({ family }) => family === treasury.network.config.family);
  if (driver === undefined) throw new Error('nobody drives this family');
  const { main, paying } = driver;
  const shop = await treasury.world.aGateway({ cashout: { enabled: true, allowlist: [] } });
  const { earned } = paying.money[main] as { earned: string };
  await treasury.earn(shop, main, earned);
  destinations += 1;
  // Between two and four fifths of it.
  const amount = formatAmount((parseTrusted(earned) * BigInt(40 + random.below(40))) / 100n);
  const body = { assetId: assetOf(treasury, main).id, amount, address: driver.stranger(500_000 + destinations) };
  return { driver, treasury, shop, random, order: { key: `${destinations}-${random.below(1_000_000)}`, body } };
}

function assetOf(treasury: Treasury<CommonChain>, symbol: string): StoredAsset {
  const found = treasury.assets[symbol];
  if (found === undefined) throw new Error(`there is no ${symbol} here`);
  return found;
}

/** The stage's processes as one that can die. */
export function mortalOf({ treasury }: Stage): Mortal {
  return aMortal(treasury.deps, treasury.signers);
}

/** The merchant's call under its Idempotency-Key, by whatever process is given. */
export async function ask({ shop, order }: Stage, deps: Deps): Promise<string> {
  const keyed = {
    scope: { gatewayId: shop.id, operation: 'createSettlement', key: order.key },
    fingerprint: fingerprint('POST', '/api/v1/merchant/settlements', Buffer.from(JSON.stringify(order.body))),
  };
  const reply = await createSettlement(deps, { gateway: shop, body: order.body, commit: committer(deps, keyed).commit });
  return (reply.data as SettlementView).id;
}

export interface Planned {
  settlementId: string;
  payoutId: string;
}

/** A cashout that waits for the signer. */
export async function planned(stage: Stage): Promise<Planned> {
  const { treasury } = stage;
  const settlementId = await ask(stage, treasury.deps);
  for (let round = 0; round < 10; round++) {
    await dispatchSettlement(treasury.deps, settlementId);
    const [payout] = await payoutsOf(stage, settlementId);
    if (payout?.status === 'PLANNED') return { settlementId, payoutId: payout.id };
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
  }
  throw new Error(`settlement ${settlementId} was never planned`);
}

/** A cashout whose bytes are stored and not sent. */
export async function signed(stage: Stage): Promise<Planned & { attemptId: string }> {
  const made = await planned(stage);
  await stage.treasury.sign();
  const [attempt] = await attemptsOf(stage, made.payoutId);
  if (attempt === undefined) throw new Error(`payout ${made.payoutId} was not signed`);
  return { ...made, attemptId: attempt.id };
}

/** A cashout whose bytes the network was given. */
export async function sent(stage: Stage): Promise<Planned & { attemptId: string; txid: string; bytes: Uint8Array }> {
  const made = await signed(stage);
  await sendAgain(stage);
  const [attempt] = await attemptsOf(stage, made.payoutId);
  return { ...made, txid: attempt?.txid as string, bytes: attempt?.bytes as Uint8Array };
}

/** Runs every job now, due or not. */
export async function sendAgain({ treasury }: Stage): Promise<void> {
  await treasury.world.database.sql`update outbox set due_at = sluice_now() where state = 'due'`;
  await treasury.work();
}

export function payoutsOf({ treasury }: Stage, settlementId: string) {
  return treasury.world.database.sql<{ id: string; status: string; family: number; nonce: number | null }[]>`
    select id, status, family, nonce from payouts where settlement_id = ${settlementId} and purpose = 'settlement' order by family`;
}

export function attemptsOf({ treasury }: Stage, payoutId: string) {
  return treasury.world.database.sql<{ id: string; txid: string; bytes: Uint8Array }[]>`
    select id, txid, signed_bytes as bytes from payout_attempts where payout_id = ${payoutId} order by number`;
}

export async function statusOf({ treasury, shop }: Stage, settlementId: string): Promise<string> {
  return (await getSettlement(treasury.deps, { gateway: shop, id: settlementId })).status;
}

/** Lets everything arrive: the cashout is settled, its destination holds exactly what it says, and the books equal the chain. */
export async function expectPaidOnce(stage: Stage, settlementId: string): Promise<void> {
  const { treasury, shop, order } = stage;
  await pushSweeps(stage);
  await treasury.settleAll();
  await treasury.mine(2);
  const settled = await getSettlement(treasury.deps, { gateway: shop, id: settlementId });
  expect(settled.status).toBe('SETTLED');
  const { contract, decimals } = assetOf(treasury, stage.driver.main);
  const { address } = order.body;
  const held = contract === null ? await treasury.chain.balance(address) : await treasury.chain.tokenBalance(contract, address);
  expect(held).toBe(toUnits(parseTrusted(settled.netAmount), decimals));
  const rows = await treasury.world.database.sql`select 1 from settlements where gateway_id = ${shop.id}`;
  expect(rows, 'one order is one settlement').toHaveLength(1);
  await assertBooksEqualChain(treasury);
  await treasury.audit();
}

/** As a worker does every few seconds: sweeps that wait for their gas, also those no cashout needs any more, go a step further. */
async function pushSweeps({ treasury }: Stage): Promise<void> {
  for (let round = 0; round < 10; round++) {
    const waiting = await treasury.world.database.sql`select 1 from payouts where purpose = 'sweep' and status = 'PLANNED' and plan->>'rawFee' is null`;
    if (waiting.length === 0) return;
    await planSweeps(treasury.deps);
    await treasury.work();
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
  }
}
