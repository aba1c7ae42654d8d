import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWorthSpending, MOST_INPUTS, type Selection, selectCoins, sumOf } from '#shared/chains/bitcoin/coin-selection.ts';
import { outpointOf } from '#shared/chains/bitcoin/fields.ts';
import { feeAt, mostFee, needOf } from '#shared/chains/bitcoin/need.ts';
import { dustOf, vsizeOf } from '#shared/chains/bitcoin/vsize.ts';
import type { OwnOutput } from '#shared/chains/chain.ts';
import { times } from '#test/harness/counts.ts';

const SCRIPTS = {
  p2pkh: `76a914${'11'.repeat(20)}88ac`,
  p2sh: `a914${'22'.repeat(20)}87`,
  p2wpkh: `0014${'33'.repeat(20)}`,
  p2wsh: `0020${'44'.repeat(32)}`,
  p2tr: `5120${'55'.repeat(32)}`,
};
const CHANGE = `0014${'66'.repeat(20)}`;
const ADDRESS = 'bcrt1qgnjggmy65s5s5fen2tnt3gm4uxmru7n66nspdj';

const coin = (rawAmount: bigint, at: number): OwnOutput => ({ txid: (at + 1).toString(16).padStart(64, '0'), vout: at % 3, rawAmount, address: ADDRESS });
const coinsOf = (...amounts: bigint[]): OwnOutput[] => amounts.map(coin);
const payment = (rawAmount: bigint, feeRate: bigint, script = SCRIPTS.p2wpkh) =>
  needOf(rawAmount, feeRate, { payment: script, change: CHANGE, dust: dustOf(CHANGE) });

function chosen(coins: readonly OwnOutput[], need: ReturnType<typeof payment>, fixed: readonly OwnOutput[] = []): Selection {
  const selection = selectCoins(coins, need, fixed);
  if ('lacking' in selection) throw new Error(`lacking ${selection.lacking}`);
  return selection;
}

const rates = fc.oneof(fc.bigInt({ min: 100n, max: 3_000n }), fc.bigInt({ min: 3_000n, max: 200_000n }));
const amounts = fc.oneof(
  fc.bigInt({ min: 200n, max: 3_000n }),
  fc.bigInt({ min: 3_000n, max: 60_000n }),
  fc.constantFrom(10_000n, 20_000n, 50_000n),
  fc.bigInt({ min: 60_000n, max: 10_000_000n }),
);
const questions = fc
  .record({
    values: fc.array(amounts, { maxLength: 8 }),
    script: fc.constantFrom(...Object.values(SCRIPTS)),
    feeRate: rates,
    free: amounts,
    /** Aims at an exact match of the first few, a little off. */
    aimed: fc.option(fc.record({ inputs: fc.integer({ min: 1, max: 4 }), off: fc.bigInt({ min: -40n, max: 400n }) })),
    fixed: fc.integer({ min: 0, max: 2 }),
  })
  .map(({ values, script, feeRate, free, aimed, fixed }) => {
    const coins = coinsOf(...values);
    const part = coins.slice(0, aimed?.inputs ?? 0);
    const aim = sumOf(part) - feeAt(feeRate, vsizeOf(part.length, [script])) - (aimed?.off ?? 0n);
    const rawAmount = aim > 0n ? aim : free;
    return { coins: coins.slice(fixed), fixed: coins.slice(0, fixed), need: payment(rawAmount, feeRate, script), script };
  });

/** Every set of outputs that could pay, by trying them all. */
function everySet(coins: readonly OwnOutput[], fixed: readonly OwnOutput[]): { inputs: number; sum: bigint }[] {
  return Array.from({ length: 2 ** coins.length }, (_, bits) => {
    const set = coins.filter((_, at) => (bits >> at) & 1);
    return { inputs: fixed.length + set.length, sum: sumOf(fixed) + sumOf(set) };
  }).filter(({ inputs }) => inputs > 0);
}

const least = <T extends number | bigint>(values: readonly T[]): T | undefined =>
  values.reduce<T | undefined>((a, b) => (a === undefined || b < a ? b : a), undefined);

describe('the selection of outputs for a Bitcoin payment', () => {
  it('adds up to the satoshi, pays the rate for what it really takes, makes no dust, and is what trying all sets would find', () => {
    fc.assert(
      fc.property(questions, ({ coins, fixed, need, script }) => {
        const { rawAmount, feeOf, feeRate, dust } = need;
        const useful = coins.filter((one) => isWorthSpending(one, feeRate));
        const sets = everySet(useful, fixed);
        const able = sets.filter(({ inputs, sum }) => sum - rawAmount >= feeOf(inputs, false));
        const selection = selectCoins(coins, need, fixed);
        expect('lacking' in selection).toBe(able.length === 0);
        if ('lacking' in selection) {
          // Exactly that much more is enough, and nothing less is.
          expect('lacking' in selectCoins([...coins, coin(selection.lacking, 90)], need, fixed)).toBe(false);
          expect('lacking' in selectCoins([...coins, coin(selection.lacking - 1n, 90)], need, fixed)).toBe(true);
          return;
        }
        const { inputs, change, fee } = selection;
        expect(sumOf(inputs)).toBe(rawAmount + change + fee);
        expect(fee * 1_000n).toBeGreaterThanOrEqual(feeRate * vsizeOf(inputs.length, change > 0n ? [script, CHANGE] : [script]));
        expect(fee).toBeLessThanOrEqual(mostFee(feeRate, inputs.length, { payment: script, change: CHANGE, dust }));
        expect(change === 0n || change >= dust).toBe(true);
        expect(inputs.slice(0, fixed.length)).toEqual(fixed);
        expect(new Set(inputs.map(outpointOf)).size).toBe(inputs.length);
        expect(inputs.slice(fixed.length).every((one) => useful.includes(one))).toBe(true);

        const spending = feeAt(feeRate, 68n);
        const worth = spending > dust ? spending : dust;
        const withChange = (minimum: bigint) => least(sets.filter((set) => set.sum - rawAmount - feeOf(set.inputs, true) >= minimum).map((set) => set.inputs));
        const sensible = withChange(worth);
        const fewest = sensible ?? withChange(dust);
        const exact = sets
          .map((set) => ({ ...set, fee: set.sum - rawAmount }))
          .filter((set) => set.fee >= feeOf(set.inputs, false) && set.fee <= feeOf(set.inputs, true))
          .filter((set) => fewest === undefined || set.inputs <= fewest + 1)
          .reduce<{ inputs: number; fee: bigint } | undefined>((a, b) => (a === undefined || b.fee < a.fee ? b : a), undefined);
        // One input more than with change is taken where that is cheaper by more than a tenth of an input, counting what the change will cost.
        const lost = change > 0n && change < spending ? change : spending;
        const cheaper = exact !== undefined && (fewest === undefined || exact.inputs <= fewest || (feeOf(fewest, true) + lost - exact.fee) * 10n > spending);
        if (sensible !== undefined || fewest === undefined) expect(change === 0n && exact !== undefined).toBe(cheaper);
        if (change > 0n) expect({ inputs: inputs.length, enough: change >= (sensible === undefined ? dust : worth) }).toEqual({ inputs: fewest, enough: true });
        else if (exact !== undefined) expect(fee).toBe(exact.fee);
        else expect({ fewest, inputs: inputs.length }).toEqual({ fewest: undefined, inputs: least(able.map((set) => set.inputs)) });
        if (change > 0n && sensible === undefined) expect(cheaper).toBe(false);
      }),
      { numRuns: times(20_000) },
    );
  });

  it('is the same whatever the order in which the outputs are given', () => {
    const shuffled = questions.chain((question) =>
      fc.record({ question: fc.constant(question), mixed: fc.shuffledSubarray(question.coins, { minLength: question.coins.length }) }),
    );
    fc.assert(
      fc.property(shuffled, ({ question: { coins, need, fixed }, mixed }) => {
        expect(selectCoins(mixed, need, fixed)).toEqual(selectCoins(coins, need, fixed));
      }),
      { numRuns: times(4_000) },
    );
  });

  it('prefers outputs that match exactly to making change, and puts the largest first', () => {
    const fee = feeAt(10_000n, vsizeOf(2, [SCRIPTS.p2wpkh]));
    const { inputs, change } = chosen(coinsOf(500_000n, 30_000n, 70_000n), payment(100_000n - fee, 10_000n));
    expect(inputs.map(({ rawAmount }) => rawAmount)).toEqual([70_000n, 30_000n]);
    expect(change).toBe(0n);
  });

  it('prefers fewer outputs to more that cost the same, and takes one more where that is cheaper by a tenth of an input', () => {
    const rate = 10_000n;
    // 31 virtual bytes separate the cheapest exact match of two from one output with change that is spent later.
    const rawAmount = 100_000n;
    const two = (wasted: bigint) => {
      const sum = rawAmount + feeAt(rate, vsizeOf(2, [SCRIPTS.p2wpkh])) + wasted;
      return [sum / 2n, sum - sum / 2n];
    };
    const countOf = (wasted: bigint) => chosen(coinsOf(500_000n, ...two(wasted)), payment(rawAmount, rate)).inputs.length;
    expect(countOf(0n)).toBe(2);
    expect(countOf(200n)).toBe(2);
    expect(countOf(260n)).toBe(1);
    expect(countOf(310n)).toBe(1);
  });

  it('does not spend three more outputs to save one of change', () => {
    const four = [25_000n, 25_001n, 25_002n, 25_003n];
    const fee = feeAt(10_000n, vsizeOf(4, [SCRIPTS.p2wpkh]));
    const { inputs } = chosen(coinsOf(500_000n, ...four), payment(100_006n - fee, 10_000n));
    expect(inputs.map(({ rawAmount }) => rawAmount)).toEqual([500_000n]);
  });

  it('takes the smallest output that will do when one will', () => {
    expect(chosen(coinsOf(900_000n, 400_000n, 150_000n, 90_000n), payment(100_000n, 5_000n)).inputs.map(({ rawAmount }) => rawAmount)).toEqual([150_000n]);
  });

  it('leaves alone what costs more than it brings, however much of it there is', () => {
    const dusty = Array.from({ length: 150 }, (_, at) => coin(680n, at));
    expect(selectCoins(dusty, payment(1_000n, 10_000n))).toHaveProperty('lacking');
    expect(selectCoins(dusty, payment(1_000n, 9_500n))).not.toHaveProperty('lacking');
  });

  it('gives to the fee what would come back as dust, when no further output can help', () => {
    const need = payment(100_000n, 1_000n);
    const bare = need.feeOf(1, false);
    const { change, fee } = chosen(coinsOf(100_000n + need.feeOf(1, true) + 293n), need);
    expect({ change, fee }).toEqual({ change: 0n, fee: need.feeOf(1, true) + 293n });
    expect(chosen(coinsOf(100_000n + need.feeOf(1, true) + 294n), need).change).toBe(294n);
    expect(chosen(coinsOf(100_000n + bare), need).fee).toBe(bare);
    expect(selectCoins(coinsOf(100_000n + bare - 1n), need)).toEqual({ lacking: need.feeOf(2, false) - bare + 1n });
  });

  it('stays within what one transaction should hold, and ends, over ten thousand outputs', () => {
    const many = Array.from({ length: 10_000 }, (_, at) => coin(20_000n + BigInt((at * 7_919) % 10_007), at));
    const { inputs } = chosen(many, payment(4_000_000n, 2_000n));
    expect(inputs.length).toBeLessThanOrEqual(MOST_INPUTS);
    expect(selectCoins(many, payment(7_000_000n, 2_000n))).toHaveProperty('lacking');
  });
});

describe('the size of a Bitcoin payment', () => {
  it('counts per output 34, 32, 31 and 43 virtual bytes by its kind, and 68 per input', () => {
    const outputs = Object.fromEntries(
      Object.entries(SCRIPTS).map(([kind, script]) => [kind, vsizeOf(1, [SCRIPTS.p2wpkh, script]) - vsizeOf(1, [SCRIPTS.p2wpkh])]),
    );
    expect(outputs).toEqual({ p2pkh: 34n, p2sh: 32n, p2wpkh: 31n, p2wsh: 43n, p2tr: 43n });
    expect(vsizeOf(3, [CHANGE]) - vsizeOf(2, [CHANGE])).toBe(68n);
    expect(vsizeOf(1, [SCRIPTS.p2wpkh])).toBe(110n);
  });

  it('knows the smallest output that nodes pass on, by its kind', () => {
    const dust = Object.fromEntries(Object.entries(SCRIPTS).map(([kind, script]) => [kind, dustOf(script)]));
    expect(dust).toEqual({ p2pkh: 546n, p2sh: 540n, p2wpkh: 294n, p2wsh: 330n, p2tr: 330n });
  });
});
