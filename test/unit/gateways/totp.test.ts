import { describe, expect, it } from 'vitest';
import { matchingSteps, newTotpSecret } from '#api/gateways/totp.ts';

/** The 20 bytes of RFC 6238's test vectors, in base32. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('an authenticator code', () => {
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at %i is the last six digits of what RFC 6238 lists', (time, code) => {
    expect(matchingSteps(SECRET, code, time)).toEqual([Math.floor(time / 30)]);
  });

  it('counts one step early and one step late, to the second, and names the step it belongs to', () => {
    const step = 37_037_037;
    const accepted = (unixSeconds: number): number[] => matchingSteps(SECRET, '050471', unixSeconds);
    for (const at of [(step - 1) * 30, step * 30, (step + 1) * 30, (step + 2) * 30 - 1]) expect([at, accepted(at)]).toEqual([at, [step]]);
    for (const at of [(step - 1) * 30 - 1, (step + 2) * 30]) expect([at, accepted(at)]).toEqual([at, []]);
  });

  it('is wrong for another secret, with a digit changed, and with one missing', () => {
    const other = newTotpSecret((length) => new Uint8Array(length));
    expect(matchingSteps(other, '287082', 59)).toEqual([]);
    for (const code of ['287083', '28708', '', '2870820', '２８７０８２']) expect([code, matchingSteps(SECRET, code, 59)]).toEqual([code, []]);
  });
});
