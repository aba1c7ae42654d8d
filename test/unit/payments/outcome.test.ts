import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { filledAmountOf } from '#api/payments/outcome.ts';
import { formatAmount, parseTrusted, type Usd } from '#shared/core/money.ts';
import { type Judgement, judgeDeposit } from '#state-machines/payment/judge-deposit.ts';
import { decimal, price } from '../core/arbitraries.ts';
import { compare, over, rational, round, text } from '../core/rational.ts';

const usd = (value: string) => parseTrusted<'usd'>(value) as Usd;
const at = new Date(0);

function judged(received: string, minimum: string): Judgement {
  const judgement = judgeDeposit(
    {
      openAmount: true,
      minimumUsd: usd(minimum),
      checkAmountDeviation: true,
      tolerance: { kind: 'ABSOLUTE', over: 0n, under: 0n },
      expiresAt: 1,
      expired: false,
      decided: false,
      selected: [],
    },
    { assetId: 'usdt', received: parseTrusted<'asset'>(received), firstSeenAt: 0, confirmedAt: 0, marketPriceUsd: usd('1'), byInquiry: false },
  );
  if ('needs' in judgement) throw new Error('a price was asked for');
  return judgement;
}

describe('the amount filled into an open payment (contract 2.7)', () => {
  test('is what was received on SUCCESS and the minimum on MISMATCH, in dollars and in the currency, half-up to two decimals', () => {
    fc.assert(
      fc.property(decimal({ digits: 5, places: 6 }), decimal({ digits: 5, places: 2 }), price, (received, minimum, rate) => {
        const fiat = { usd: usd(rate), source: 'static', at };
        const filled = filledAmountOf({ openAmount: true, currencyCode: 'EUR' }, judged(received, minimum), new Map([['fiat:EUR', fiat]]));
        const cents = round(rational(received), 2, 'half-up');
        const dollars = compare(cents, rational(minimum)) >= 0 ? cents : rational(minimum);
        const expected = round(over(dollars, rational(rate)), 2, 'half-up');
        expect(formatAmount(filled?.amountUsd ?? -1n)).toBe(text(dollars));
        expect(filled?.amount).toMatch(/^\d+\.\d\d$/);
        expect(compare(rational(filled?.amount ?? '-1'), expected)).toBe(0);
      }),
      // Just below a half: two roundings would come to 0.08.
      { examples: [['0.3', '0.01', '4.000000000000000001']] },
    );
  });

  test('needs no rate in dollars, has none while the rate of another currency is missing, and is not there for a fixed amount', () => {
    const judgement = judged('12.345', '10');
    expect(filledAmountOf({ openAmount: true, currencyCode: 'USD' }, judgement, new Map())).toEqual({ amount: '12.35', amountUsd: usd('12.35'), fiat: null });
    expect(filledAmountOf({ openAmount: true, currencyCode: 'EUR' }, judgement, new Map())).toBeUndefined();
    expect(filledAmountOf({ openAmount: false, currencyCode: 'EUR' }, judgement, new Map())).toBeNull();
  });
});
