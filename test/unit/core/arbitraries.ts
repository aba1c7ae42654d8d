import fc from 'fast-check';
import { vi } from 'vitest';
import { FULL, times } from '#test/harness/counts.ts';

/** Every property of the pure core runs a thousand times, or twenty thousand under `npm run test:long`. */
const RUNS = times(20_000);
vi.setConfig({ testTimeout: FULL ? 600_000 : 60_000 });
fc.configureGlobal({ numRuns: RUNS });

/** A money string of at most `places` decimals and `digits` digits before the point, often short, sometimes extreme. */
export function decimal(options: { digits?: number; places?: number; positive?: boolean } = {}): fc.Arbitrary<string> {
  const { digits = 12, places = 18, positive = false } = options;
  const whole = fc.oneof({ weight: 3, arbitrary: fc.bigInt({ min: 0n, max: 9_999n }) }, fc.bigInt({ min: 0n, max: 10n ** BigInt(digits) - 1n }));
  const fractional = fc.oneof(
    { weight: 2, arbitrary: fc.constant('') },
    { weight: 3, arbitrary: fc.nat({ max: 99 }).map((n) => `${n}`) },
    fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }).map((n) => n.toString().padStart(18, '0').slice(-places)),
    fc.constant(`${'0'.repeat(Math.max(0, places - 1))}1`),
  );
  return fc
    .tuple(whole, fractional)
    .map(([w, f]) => (f === '' || places === 0 ? `${w}` : `${w}.${f.slice(0, places)}`))
    .map((value) => (positive && /^[0.]*$/.test(value) ? '1' : value));
}

/** A price somebody might see on a market, from a millionth of a dollar to a million. */
export const price: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('1', '0.9998', '1.0003', '2500', '60000', '0.15', '0.000012', '3', '7'),
  decimal({ digits: 6, places: 8, positive: true }),
  decimal({ digits: 4, places: 18, positive: true }),
);

export const decimalsOfAsset: fc.Arbitrary<number> = fc.oneof(fc.constantFrom(0, 2, 6, 8, 18), fc.integer({ min: 0, max: 18 }));

/** Commission in basis points: none, usual, absurd. */
export const basis: fc.Arbitrary<number> = fc.oneof(fc.constantFrom(0, 1, 50, 100, 250, 10_000), fc.integer({ min: 0, max: 10_000 }));

export const feePayer = fc.constantFrom('MERCHANT' as const, 'CUSTOMER' as const, 'PLATFORM' as const);
