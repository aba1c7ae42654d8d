import { describe, expect, it } from 'vitest';
import { isBusy, isTooMuch } from '#shared/chains/rpc-answers.ts';

describe('an error reply', () => {
  it.each([
    [-32_005, 'limit exceeded'],
    [429, 'slow down'],
    [-32_000, 'rate limit reached'],
    [-32_097, 'too many requests'],
  ])('%i %j is about the endpoint', (code, message) => {
    expect(isBusy({ code, message })).toBe(true);
  });

  // A contract that is paid chooses these words; one that could make an endpoint look busy would stop everybody who asks it.
  it.each([
    [3, 'execution reverted: rate limit: too many requests'],
    [3, 'rate limit'],
    [-32_000, 'execution reverted: too many requests'],
    [-32_603, "VM Exception while processing transaction: reverted with reason string 'daily request limit'"],
    [-32_015, 'Reverted 0x rate limit'],
    [429, 'execution reverted'],
  ])('%i %j is about a contract, whatever it says', (code, message) => {
    expect(isBusy({ code, message })).toBe(false);
  });

  it('is no answer that is too large when a contract says so', () => {
    expect(isTooMuch('response size exceeds the limit')).toBe(true);
    expect(isTooMuch('execution reverted: response size exceeds the limit')).toBe(false);
  });
});
