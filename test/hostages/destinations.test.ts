import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveHeldPayment } from '#api/aml/resolve-held-payment.ts';
import type { Gateway } from '#api/deps.ts';
import { rejectSettlement } from '#api/operator/reject-settlement.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import type { ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { assertBooksEqualChain, aTreasury, MERCHANT, type Treasury } from '#test/fixtures/treasury.ts';
import { sendAs, stranger } from '#test/harness/sign-as.ts';

let treasury: Treasury;
let thief: Gateway;
let victim: Gateway;
beforeEach(async () => {
  treasury = await aTreasury();
  thief = await treasury.world.aGateway({ name: 'Thief', cashout: { enabled: true } });
  victim = await treasury.world.aGateway({ name: 'Victim', cashout: { enabled: true } });
});
afterEach(async () => {
  try {
    await treasury.mine(2);
    await assertBooksEqualChain(treasury);
    await treasury.audit();
  } finally {
    await treasury.stop();
  }
});

/** Where the thief's cashouts go. */
const TRAP = '0x000000000000000000000000000000000bad0001';
/** Reverts with these words once its storage is not empty. */
const saying = (words: string): string =>
  `0x60005460085700005b7f${'08c379a0'.padEnd(64, '0')}600052602060045260${words.length.toString(16).padStart(2, '0')}6024527f${Buffer.from(words).toString('hex').padEnd(64, '0')}60445260646000fd`;
const code = {
  /** Refuses in the words of a provider that is asked too much. */
  busy: saying('rate limit: too many requests'),
  /** Refuses in words that no database stores. */
  nul: saying('no\0thing'),
  /** Burns all gas it is given when its caller is not simulated with a fortune: `if (caller.balance >> 120) return; for (;;);` */
  fortune: '0x333160781c600c575b6008565b00',
  /** Does nothing while its storage is empty, burns all gas it is given once it is not. */
  turncoat: '0x60005460085700005b600856',
  /** The same with the opcode that is none. */
  invalid: '0x60005460085700005bfe',
  /** Does nothing when its call is free, as in a careless simulation. */
  free: '0x3a600657005b600656',
  /** Writes eight fresh slots once its storage is not empty: dearer, but not everything. */
  dearer: `0x60005460085700005b${Array.from({ length: 8 }, (_, i) => `600160${(i + 1).toString(16).padStart(2, '0')}55`).join('')}00`,
};

const sql = () => treasury.world.database.sql;
const install = (bytes: string) => treasury.chain.node.call('anvil_setCode', [TRAP, bytes]);
const turn = (to: 0 | 1) => treasury.chain.node.call('anvil_setStorageAt', [TRAP, `0x${'0'.repeat(64)}`, `0x${String(to).padStart(64, '0')}`]);
const status = async (gateway: Gateway, id: string) => (await getSettlement(treasury.deps, { gateway, id })).status;
const reasonFor = async (id: string) => (await sql()<{ reason: string | null }[]>`select wait_reason as reason from settlements where id = ${id}`)[0]?.reason;
const payoutsOf = (id: string) =>
  sql()<{ status: string; rawFee: string | null; gas: string; fee: string }[]>`
    select status, raw_fee::text, plan->'fields'->>'gas' as gas, plan->>'rawFee' as fee from payouts where settlement_id = ${id} and purpose = 'settlement' order by family`;
const quoteOf = async (id: string) =>
  (await sql()<{ units: string; rawFee: string }[]>`select units::text, raw_fee::text from settlement_quotes where settlement_id = ${id}`)[0];
const chargesOf = (gateway: Gateway) =>
  sql()<{ cause: string; amount: string; raw: string }[]>`
    select cause, trim_scale(amount)::text as amount, raw_native::text as raw from charges where gateway_id = ${gateway.id} order by at, id`;
const balanceOf = async (gateway: Gateway, kind: string, symbol: string) =>
  (
    await sql()<{ balance: string }[]>`
      select trim_scale(balance)::text as balance from ledger_accounts where gateway_id = ${gateway.id} and kind = ${kind} and asset_id = ${treasury.assets[symbol]?.id as string}`
  )[0]?.balance ?? '0';

/** Plays worker, signer and chain once. */
async function round(): Promise<void> {
  await sql()`update outbox set due_at = sluice_now() where state = 'due' and topic = 'settlement.dispatch'`;
  await treasury.work();
  await treasury.sign();
  await treasury.work();
  await treasury.mine();
}

/** How many rounds it takes until a cashout is settled. */
async function roundsUntilSettled(gateway: Gateway, id: string): Promise<number> {
  for (let rounds = 1; rounds <= 30; rounds++) {
    await round();
    if ((await status(gateway, id)) === 'SETTLED') return rounds;
  }
  throw new Error(`not settled after 30 rounds: ${await reasonFor(id)}`);
}

/** Rounds the victim's cashout takes when nobody is in its way. */
async function undisturbed(): Promise<number> {
  await treasury.earn(victim, 'ETH', '0.5');
  const { id } = await treasury.cashOut(victim, 'ETH', '0.1');
  return roundsUntilSettled(victim, id);
}

describe('a recipient that answers a simulation differently', () => {
  it.each(['fortune', 'free'] as const)('is refused when its cashout is created (%s)', async (trick) => {
    await treasury.earn(thief, 'ETH', '0.5');
    await install(code[trick]);
    const refusal = await treasury.cashOut(thief, 'ETH', '0.1', { address: TRAP }).catch((error: ServiceError) => error);
    expect(refusal).toMatchObject({ code: 'validation_error', field: 'address' });
  });

  it.each(['turncoat', 'invalid', 'dearer', 'busy', 'nul'] as const)(
    'and turns coat afterwards steps aside: the next cashout takes not one round longer (%s)',
    async (trick) => {
      const alone = await undisturbed();
      await treasury.earn(thief, 'ETH', '0.5');
      await install(code[trick]);
      const held = await treasury.cashOut(thief, 'ETH', '0.1', { address: TRAP });
      await turn(1);
      expect(await undisturbed()).toBeLessThanOrEqual(alone);
      expect(await status(thief, held.id)).toBe('REQUESTED');
      expect((await treasury.deps.chains.get(treasury.network.config.name)?.payer.balance(TRAP, null)) ?? null).toBe(0n);
      expect(await reasonFor(held.id)).toMatch(trick === 'dearer' ? /takes \d+ gas, of which \d+ were quoted/ : /the network refuses the transfer/);
      await turn(0);
      expect(await roundsUntilSettled(thief, held.id)).toBeGreaterThan(0);
      expect(await chargesOf(thief)).toEqual([]);
    },
  );

  it('has nothing brought for gas that it is not going to get', async () => {
    await treasury.earn(thief, 'ETH', '0.5');
    await install(code.dearer);
    const { id } = await treasury.cashOut(thief, 'ETH', '0.1', { address: TRAP });
    await turn(1);
    for (let i = 0; i < 3; i++) await round();
    expect(await reasonFor(id)).toMatch(/takes \d+ gas, of which \d+ were quoted/);
    expect(await sql()`select purpose from payouts`).toEqual([]);
  });

  it('is given no more gas than was quoted, and no transaction of its costs more than was locked', async () => {
    await treasury.earn(thief, 'ETH', '0.5');
    await install(code.dearer);
    const { id } = await treasury.cashOut(thief, 'ETH', '0.1', { address: TRAP });
    const quote = await quoteOf(id);
    while ((await payoutsOf(id)).length === 0) await round();
    await treasury.settleAll();
    const [payout] = await payoutsOf(id);
    expect(payout?.gas).toBe(quote?.units);
    expect(BigInt(payout?.fee as string)).toBeLessThanOrEqual(BigInt(quote?.rawFee as string));
  });
});

describe('a recipient that burns the gas of its payout', () => {
  it('has it paid by its own gateway, twice, and the service pays nothing', async () => {
    const alone = await undisturbed();
    await treasury.earn(thief, 'ETH', '0.5');
    await install(code.turncoat);
    const { id } = await treasury.cashOut(thief, 'ETH', '0.1', { address: TRAP });
    for (const family of [1, 2]) {
      for (let i = 0; i < 30 && (await payoutsOf(id)).length < family; i++) {
        await sql()`update outbox set due_at = sluice_now() where state = 'due' and topic = 'settlement.dispatch'`;
        await treasury.work();
        if ((await payoutsOf(id)).length === family) break;
        await treasury.sign();
        await treasury.work();
        await treasury.mine();
      }
      // Signed while the destination behaves, mined when it does not.
      await treasury.sign();
      await treasury.work();
      await turn(1);
      await treasury.mine(3);
      await turn(0);
      expect((await payoutsOf(id)).map((payout) => payout.status)).toEqual(Array(family).fill('FAILED'));
    }
    const charges = await chargesOf(thief);
    expect(charges.map((charge) => charge.cause)).toEqual(['failed', 'failed']);
    expect(charges.map((charge) => charge.raw)).toEqual((await payoutsOf(id)).map((payout) => payout.rawFee));
    const view = await getSettlement(treasury.deps, { gateway: thief, id });
    expect(Number(view.feeCharged)).toBeCloseTo(
      charges.reduce((sum, charge) => sum + Number(charge.amount), 0),
      12,
    );
    // What the recipient was promised is untouched.
    expect(await balanceOf(thief, 'reserved', 'ETH')).toBe('0.1');
    expect(await balanceOf(thief, 'owed', 'ETH')).toBe('0');
    expect(await undisturbed()).toBeLessThanOrEqual(alone);
    await rejectSettlement(treasury.deps, { params: { id }, query: {}, body: { reason: 'its destination burns gas' } });
    expect(await balanceOf(thief, 'reserved', 'ETH')).toBe('0');
  });

  it('has it owed by a gateway whose balance is used up, paid by its claim when that ends, else by its next credits', async () => {
    await treasury.earn(thief, 'ETH', '0.1');
    await install(code.turncoat);
    const all = await balanceOf(thief, 'available', 'ETH');
    const { id } = await treasury.cashOut(thief, 'ETH', all, { address: TRAP });
    for (let i = 0; i < 30 && (await payoutsOf(id)).length === 0; i++) {
      await sql()`update outbox set due_at = sluice_now() where state = 'due' and topic = 'settlement.dispatch'`;
      await treasury.work();
      if ((await payoutsOf(id)).length > 0) break;
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    await treasury.sign();
    await treasury.work();
    await turn(1);
    await treasury.mine(3);
    const [charge] = await chargesOf(thief);
    expect(await balanceOf(thief, 'owed', 'ETH')).toBe(`-${charge?.amount}`);
    await treasury.audit();
    // It goes on paying what it is owed: the recipient behaves now.
    await turn(0);
    await treasury.settleAll();
    expect(await status(thief, id)).toBe('SETTLED');
    expect(await balanceOf(thief, 'owed', 'ETH')).toBe(`-${charge?.amount}`);
    const before = Number(await balanceOf(thief, 'available', 'ETH'));
    const earned = await balanceOf(victim, 'available', 'ETH');
    await treasury.earn(victim, 'ETH', '0.2');
    const net = Number(await balanceOf(victim, 'available', 'ETH')) - Number(earned);
    await treasury.earn(thief, 'ETH', '0.2');
    expect(await balanceOf(thief, 'owed', 'ETH')).toBe('0');
    expect(Number(await balanceOf(thief, 'available', 'ETH'))).toBeCloseTo(before + net - Number(charge?.amount), 12);
  });

  it('has it paid by coins that an operator releases, before its gateway can claim them', async () => {
    const screened = await treasury.world.aGateway({ name: 'Screened', cashout: { enabled: true }, screening: { enabled: true, credits: 100 } });
    await treasury.earn(screened, 'ETH', '0.1', 0);
    await install(code.turncoat);
    const { id } = await treasury.cashOut(screened, 'ETH', await balanceOf(screened, 'available', 'ETH'), { address: TRAP });
    for (let i = 0; i < 30; i++) {
      await round0();
      if ((await payoutsOf(id)).length > 0) break;
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    await treasury.sign();
    await treasury.work();
    await turn(1);
    await treasury.mine(3);
    await turn(0);
    const [charge] = await chargesOf(screened);
    expect(await balanceOf(screened, 'owed', 'ETH')).toBe(`-${charge?.amount}`);
    const flagged = await treasury.earn(screened, 'ETH', '0.2', 90);
    const held = Number(await balanceOf(screened, 'held', 'ETH'));
    const [payment] = await sql()<{ id: string }[]>`select payment_id as id from deposit_addresses where address = ${flagged}`;
    await resolveHeldPayment(treasury.deps, { paymentId: payment?.id as string, resolution: { action: 'RELEASE' }, reason: 'a test' });
    expect(await balanceOf(screened, 'owed', 'ETH')).toBe('0');
    expect(Number(await balanceOf(screened, 'available', 'ETH'))).toBeCloseTo(held - Number(charge?.amount), 12);
    await treasury.settleAll();
  });

  it('does not hold up what is signed behind it while fees rise', async () => {
    await treasury.earn(thief, 'ETH', '0.5');
    await treasury.earn(victim, 'ETH', '0.5');
    await install(code.turncoat);
    const first = await treasury.cashOut(thief, 'ETH', '0.1', { address: TRAP });
    const second = await treasury.cashOut(victim, 'ETH', '0.1');
    await treasury.chain.payAndMine(treasury.wallet('hot'), null, 10n ** 18n);
    await treasury.mine(2);
    await round0();
    expect([(await payoutsOf(first.id)).length, (await payoutsOf(second.id)).length]).toEqual([1, 1]);
    await treasury.sign();
    await treasury.work();
    await turn(1);
    // Dearer than both signed bytes, and it stays so: they need more, and one of the two recipients cannot be simulated any more.
    const [caps] = await sql()<{ cap: string }[]>`select max((plan->'fields'->>'maxFeePerGas')::numeric)::text as cap from payouts`;
    const dearBlock = async (): Promise<void> => {
      await treasury.chain.node.call('anvil_setNextBlockBaseFeePerGas', [`0x${((BigInt(caps?.cap as string) * 11n) / 10n).toString(16)}`]);
      await treasury.mine();
    };
    for (let i = 0; i < POLICY.payoutBumpBlocks; i++) await dearBlock();
    let minutes = 0;
    for (; minutes < 10 && (await status(victim, second.id)) !== 'SETTLED'; minutes++) {
      await treasury.world.advance(POLICY.payoutBumpSeconds);
      await tendPayouts(treasury.deps);
      await treasury.sign();
      await treasury.work();
      for (let i = 0; i < POLICY.payoutBumpBlocks; i++) await dearBlock();
    }
    expect(await status(victim, second.id)).toBe('SETTLED');
    expect(minutes * POLICY.payoutBumpSeconds).toBeLessThan(POLICY.payoutCloseSeconds);
    expect((await payoutsOf(first.id)).map((payout) => payout.status)).toEqual(['FAILED']);
    // Using the nonce up was the destination's doing as well.
    expect(await chargesOf(thief)).toMatchObject([{ cause: 'failed' }]);
    await turn(0);
    await treasury.settleAll();
  });
});

async function round0(): Promise<void> {
  await sql()`update outbox set due_at = sluice_now() where state = 'due' and topic = 'settlement.dispatch'`;
  await treasury.work();
}

describe('a recipient that moves its tokens away between quote and payout', () => {
  it('is paid all the same, and its gateway is charged the difference', async () => {
    const usdt = treasury.assets.USDT?.contract as string;
    await treasury.chain.payAndMine(MERCHANT, usdt, 1n);
    await treasury.earn(thief, 'USDT', '50');
    const { id } = await treasury.cashOut(thief, 'USDT', '20');
    const left = Number(await balanceOf(thief, 'available', 'USDT'));
    // As if it had spent what it had: its slot is empty again, and writing it costs a fresh one.
    await treasury.chain.node.call('anvil_setBalance', [MERCHANT, '0xde0b6b3a7640000']);
    await sendAs(treasury.chain.node, stranger('merchant'), { to: usdt, data: `0xa9059cbb${TRAP.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}` });
    await treasury.mine();
    await treasury.settleAll();
    expect(await status(thief, id)).toBe('SETTLED');
    const [quote, [payout], charges] = [await quoteOf(id), await payoutsOf(id), await chargesOf(thief)];
    expect(BigInt(payout?.gas as string)).toBeGreaterThan(BigInt(quote?.units as string));
    expect(charges).toMatchObject([{ cause: 'units' }]);
    const share = (BigInt(payout?.rawFee as string) * (BigInt(payout?.gas as string) - BigInt(quote?.units as string))) / BigInt(payout?.gas as string);
    expect(charges[0]?.raw).toBe(share.toString());
    expect(Number(await balanceOf(thief, 'available', 'USDT'))).toBeCloseTo(left - Number(charges[0]?.amount), 6);
  });
});

describe('a payout that was to be given more gas', () => {
  it('is charged by the gas of the bytes that were mined', async () => {
    await treasury.earn(victim, 'USDT', '50');
    const { id } = await treasury.cashOut(victim, 'USDT', '20');
    while ((await payoutsOf(id)).length === 0) await round();
    await treasury.sign();
    // As when it was about to be raised, to gas that its recipient needed for a moment.
    await sql()`update payouts set plan = plan || jsonb_build_object('units', ((plan->>'units')::numeric * 2)::text) where settlement_id = ${id} and purpose = 'settlement'`;
    await treasury.settleAll();
    expect(await status(victim, id)).toBe('SETTLED');
    expect(await chargesOf(victim)).toEqual([]);
  });
});

describe('a gateway with many cashouts that cannot go', () => {
  it('has them looked at in its own turn: the first cashout of another gateway is planned by the very next run', async () => {
    await treasury.earn(thief, 'ETH', '0.5');
    await treasury.earn(victim, 'ETH', '0.5');
    const warm = await treasury.cashOut(victim, 'ETH', '0.01');
    await roundsUntilSettled(victim, warm.id);
    await install(code.invalid);
    const stuck: string[] = [];
    for (let i = 0; i < 12; i++) stuck.push((await treasury.cashOut(thief, 'ETH', '0.01', { address: TRAP })).id);
    await turn(1);
    const { id } = await treasury.cashOut(victim, 'ETH', '0.01');
    await dispatchSettlement(treasury.deps, stuck.at(-1) as string);
    expect(await reasonFor(stuck[0] as string)).toMatch(/refuses/);
    expect(await payoutsOf(id)).toHaveLength(1);
    // The more of them wait, the more seldom each of them is looked at.
    expect(await dispatchSettlement(treasury.deps, stuck[0] as string)).toBeGreaterThanOrEqual(60);
    await turn(0);
    await treasury.settleAll();
  });
});

describe('a gateway with many small cashouts', () => {
  it('takes none of the coins that were swept for a larger one of another gateway', async () => {
    const alone = await (async () => {
      await treasury.earn(victim, 'USDT', '500');
      const { id } = await treasury.cashOut(victim, 'USDT', '400');
      return roundsUntilSettled(victim, id);
    })();
    const left = await balanceOf(victim, 'available', 'USDT');
    await treasury.cashOut(victim, 'USDT', left);
    await treasury.settleAll();
    for (let i = 0; i < 12; i++) await treasury.earn(thief, 'USDT', '10');
    await treasury.earn(victim, 'USDT', '500');
    const small = async () => {
      for (let i = 0; i < 3; i++) await treasury.cashOut(thief, 'USDT', '3');
    };
    await small();
    const { id } = await treasury.cashOut(victim, 'USDT', '490');
    let rounds = 0;
    // Each time something came in, there are new ones to take it.
    for (; rounds < 30 && (await status(victim, id)) !== 'SETTLED'; rounds++) {
      await round();
      await small();
    }
    expect(rounds).toBeLessThanOrEqual(alone);
    await treasury.settleAll();
  });
});

describe('a rise of the gas price', () => {
  it('is paid within the budget for it, beyond which a cashout waits alone until fees fall, and is charged to nobody', async () => {
    await treasury.earn(victim, 'ETH', '1');
    const { id } = await treasury.cashOut(victim, 'ETH', '0.1');
    const quote = await quoteOf(id);
    // So dear that the budget does not bear it: 250 USD is what any fee may be, 12.50 what one gateway may have of the budget.
    const dear = BigInt(quote?.rawFee as string) * 400n;
    await treasury.chain.node.call('anvil_setNextBlockBaseFeePerGas', [`0x${(dear / BigInt(quote?.units as string)).toString(16)}`]);
    await treasury.mine();
    await round0();
    await treasury.sign();
    await round0();
    expect(await payoutsOf(id)).toEqual([]);
    expect(await reasonFor(id)).toBeTruthy();
    await treasury.settleAll();
    const [payout] = await payoutsOf(id);
    expect(payout?.status).toBe('CONFIRMED');
    expect(await chargesOf(victim)).toEqual([]);
  });
});
