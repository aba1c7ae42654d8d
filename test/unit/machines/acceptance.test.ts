import { describe, expect, it } from 'vitest';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { feeCeiling, mayDraw } from '#state-machines/settlement/acceptance.ts';
import { exceedsCap } from '#state-machines/settlement/gates/approval-cap.ts';

const ceiling = (asked: string, quoted: string | null): string => formatAmount(feeCeiling(parseTrusted(asked), quoted === null ? null : parseTrusted(quoted)));

describe('the highest fee a parked cashout may lock', () => {
  it.each([
    ['ten times what was quoted', '100', '1', '10'],
    ['no more than half of the amount', '10', '1', '5'],
    ['what was quoted, where that is more than half already', '10', '8', '8'],
    ['nothing, where nothing is charged', '10', '0', '0'],
    ['half of the amount, where nobody knows the quote any more', '10', null, '5'],
  ])('is %s', (_what, asked, quoted, expected) => {
    expect(ceiling(asked, quoted)).toBe(expected);
  });

  it('is less than the amount wherever the quote is', () => {
    for (const asked of ['0.000000000000000002', '1', '12345.678'])
      for (const share of [1n, 3n, 7n, 999n, 1_000n]) {
        const amount = parseTrusted<'asset'>(asked);
        const quoted = ((amount * share) / 1_001n) as typeof amount;
        const most = feeCeiling(amount, quoted);
        expect(most < amount && most >= quoted, `${asked} ${share}`).toBe(true);
      }
  });
});

it('a cashout draws from the pool it was accepted for, or from the one its route allows; a verdict chooses only for SMART', () => {
  const drawn = (route: 'GREEN' | 'AML_HELD' | 'SMART', pool: 'green' | 'held' | null) =>
    (['green', 'held'] as const).filter((one) => mayDraw({ route, pool }, one));
  expect(drawn('SMART', null)).toEqual(['green', 'held']);
  expect(drawn('GREEN', null)).toEqual(['green']);
  expect(drawn('AML_HELD', null)).toEqual(['held']);
  expect([drawn('SMART', 'held'), drawn('GREEN', 'green'), drawn('AML_HELD', 'held')]).toEqual([['held'], ['green'], ['held']]);
});

it('what is worth more than the cap is to be approved, and what nobody can price as well', () => {
  const worth = (priceUsd: string | undefined, cap: string | null) =>
    exceedsCap({
      amount: parseTrusted('10'),
      priceUsd: priceUsd === undefined ? undefined : parseTrusted(priceUsd),
      approvalCapUsd: cap === null ? null : parseTrusted(cap),
    });
  expect([worth('1', '10'), worth('1', '9.99'), worth(undefined, '10'), worth('1000', null), worth(undefined, null)]).toEqual([
    false,
    true,
    true,
    false,
    false,
  ]);
});
