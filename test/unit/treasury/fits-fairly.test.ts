import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fitsFairly } from '#api/payouts/gateway-limits.ts';
import { amount } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';

const limitOf = (value: bigint) => amount<'usd'>(value);

describe('a limit that gateways share', () => {
  test('lets one gateway have all but what is kept for the others, and each of them its share afterwards', () => {
    const question = { limit: limitOf(1_000n), gateways: 5, gatewayId: 'a', used: new Map<string | null, bigint>() };
    // A quarter is kept: 50 for each of five; 750 are for whoever comes first.
    expect(fitsFairly({ ...question, alone: 800n })).toBe(true);
    expect(fitsFairly({ ...question, alone: 801n })).toBe(false);
    const used = new Map([['a', 800n]]);
    expect(fitsFairly({ ...question, used, gatewayId: 'a', alone: 1n })).toBe(false);
    expect(fitsFairly({ ...question, used, gatewayId: 'b', alone: 50n })).toBe(true);
    expect(fitsFairly({ ...question, used, gatewayId: 'b', alone: 51n })).toBe(false);
  });

  test('counts what is nobody’s cashout as common use', () => {
    expect(fitsFairly({ limit: limitOf(1_000n), gateways: 5, gatewayId: 'a', used: new Map([[null, 700n]]), alone: 100n })).toBe(true);
    expect(fitsFairly({ limit: limitOf(1_000n), gateways: 5, gatewayId: 'a', used: new Map([[null, 700n]]), alone: 101n })).toBe(false);
  });

  test('is never passed, and whatever others sent, a gateway that has sent nothing may send its share', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 12n }),
        fc.integer({ min: 2, max: 20 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 18 }), fc.bigInt({ min: 0n, max: 10n ** 12n })), { maxLength: 60 }),
        (limit, gateways, asked) => {
          const used = new Map<string | null, bigint>();
          for (const [who, alone] of asked) {
            const gatewayId = String(who % (gateways - 1));
            if (fitsFairly({ limit: limitOf(limit), gateways, used, gatewayId, alone })) used.set(gatewayId, (used.get(gatewayId) ?? 0n) + alone);
          }
          expect([...used.values()].reduce((sum, one) => sum + one, 0n) <= limit).toBe(true);
          const share = limit / BigInt(POLICY.limitKeptForAll) / BigInt(gateways);
          expect(fitsFairly({ limit: limitOf(limit), gateways, used, gatewayId: 'quiet', alone: share })).toBe(true);
        },
      ),
    );
  });
});
