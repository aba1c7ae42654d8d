import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { amount, type Coins, formatAmount, parseTrusted } from '#shared/core/money.ts';
import { sharesOf } from '#state-machines/aml/shares.ts';
import { drawInOrder } from '#state-machines/ledger/draw.ts';
import '../core/arbitraries.ts';
import { add, compare, minus, type Rational, rational, smaller, text, ZERO } from '../core/rational.ts';

/** Decimal texts of up to 18 places, as the database gives them. */
const decimal = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 24n }), fc.integer({ min: 0, max: 18 }))
  .map(([n, places]) => formatAmount(amount(n * 10n ** BigInt(18 - places))));
const pool = fc.array(decimal, { maxLength: 12 });

const coins = (value: string): Coins => parseTrusted(value);
const credits = (pieces: readonly string[]) => pieces.map((piece, i) => ({ id: `c${i}`, remaining: coins(piece) }));

/** First in, first out, in fractions: what each piece gives is what is wanted beyond all pieces before it, at most itself. */
function oracle(pieces: readonly string[], wanted: string): { taken: Rational[]; missing: Rational } {
  let before = ZERO;
  const total = rational(wanted);
  const taken = pieces.map((piece) => {
    const open = compare(total, before) > 0 ? minus(total, before) : ZERO;
    before = add(before, rational(piece));
    return smaller(rational(piece), open);
  });
  return { taken, missing: compare(total, before) > 0 ? minus(total, before) : ZERO };
}

describe('drawing from a pool', () => {
  test('takes each credit to its last unit before it touches the next', () => {
    expect(drawInOrder(credits(['1', '0', '2.5', '4']), coins('3'))).toEqual({
      draws: [
        { id: 'c0', taken: coins('1') },
        { id: 'c2', taken: coins('2') },
      ],
      missing: 0n,
    });
  });

  test('says what is missing instead of inventing it', () => {
    expect(drawInOrder(credits(['0.000000000000000001']), coins('1')).missing).toBe(coins('0.999999999999999999'));
    expect(drawInOrder([], coins('7'))).toEqual({ draws: [], missing: coins('7') });
    expect(drawInOrder(credits(['5']), coins('0'))).toEqual({ draws: [], missing: 0n });
  });

  test('is exact for any pool and any amount', () => {
    fc.assert(
      fc.property(pool, decimal, (pieces, wanted) => {
        const { draws, missing } = drawInOrder(credits(pieces), coins(wanted));
        const says = oracle(pieces, wanted);
        expect(formatAmount(missing)).toBe(formatAmount(coins(text(says.missing))));
        const byId = new Map(draws.map((draw) => [draw.id, draw.taken]));
        for (const [i, taken] of says.taken.entries()) expect(formatAmount(byId.get(`c${i}`) ?? amount(0n))).toBe(formatAmount(coins(text(taken))));
        for (const { taken } of draws) expect(taken > 0n).toBe(true);
      }),
    );
  });

  test('in two steps takes what it takes in one', () => {
    fc.assert(
      fc.property(pool, decimal, decimal, (pieces, one, two) => {
        const first = drawInOrder(credits(pieces), coins(one));
        const gone = new Map(first.draws.map((draw) => [draw.id, draw.taken]));
        const rest = credits(pieces).map(({ id, remaining }) => ({ id, remaining: amount<'asset'>(remaining - (gone.get(id) ?? 0n)) }));
        const second = drawInOrder(rest, coins(two));
        const both = drawInOrder(credits(pieces), amount(coins(one) + coins(two)));
        const sums = new Map<string, bigint>();
        for (const { id, taken } of [...first.draws, ...second.draws]) sums.set(id, (sums.get(id) ?? 0n) + taken);
        expect(Object.fromEntries(sums)).toEqual(Object.fromEntries(both.draws.map(({ id, taken }) => [id, taken])));
        expect(first.missing + second.missing).toBe(both.missing);
      }),
    );
  });
});

describe('what is left of a payment', () => {
  const credit = fc.record({ assetId: fc.constantFrom('usdt', 'eth'), matured: fc.boolean(), remaining: decimal });

  test('adds up per asset and maturity, and names no asset of which nothing is left', () => {
    fc.assert(
      fc.property(fc.array(credit, { maxLength: 10 }), (list) => {
        const shares = sharesOf(
          list.map((one) => ({ ...one, pool: 'held' as const, taken: null, net: coins(one.remaining), remaining: coins(one.remaining) })),
        );
        for (const assetId of ['usdt', 'eth']) {
          const sumOf = (matured: boolean) =>
            list.filter((one) => one.assetId === assetId && one.matured === matured).reduce((sum, one) => add(sum, rational(one.remaining)), ZERO);
          const share = shares.get(assetId);
          const whole = add(sumOf(true), sumOf(false));
          expect(share === undefined).toBe(compare(whole, ZERO) === 0);
          if (share === undefined) continue;
          expect(formatAmount(share.matured)).toBe(formatAmount(coins(text(sumOf(true)))));
          expect(formatAmount(share.maturing)).toBe(formatAmount(coins(text(sumOf(false)))));
        }
      }),
    );
  });
});
