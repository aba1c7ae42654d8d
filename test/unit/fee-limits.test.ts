import { describe, expect, it } from 'vitest';
import type { Deps } from '#api/deps.ts';
import { checkFee, checkTopUp } from '#api/treasury/limits.ts';
import { parseTrusted } from '#shared/core/money.ts';

/** One ether is 2000 dollars, a USDT one dollar, and nobody knows what anything else is worth. */
const PRICES: Record<string, string> = { ETH: '2000', USDT: '1' };
const deps = {
  prices: { fresh: async (symbol: string) => (PRICES[symbol] === undefined ? undefined : { usd: parseTrusted<'usd'>(PRICES[symbol]) }) },
} as unknown as Deps;
const ETHER = 10n ** 18n;
const fee = (rawFee: bigint, symbol = 'ETH') => ({ rawFee, native: { symbol, decimals: 18 } });
const locked = (coins: string) => ({ coins: parseTrusted<'asset'>(coins), symbol: 'USDT' });

describe('a fee that a node named', () => {
  it.each<[string, Parameters<typeof checkFee>[1], Parameters<typeof checkFee>[2], RegExp | null]>([
    ['is paid at the ceiling', fee(ETHER / 8n), null, null],
    ['waits one unit above it', fee(ETHER / 8n + 1n), null, /above the ceiling/],
    ['waits at any absurd amount', fee(2n ** 200n), locked('1000000'), /above the ceiling/],
    ['is paid at ten times what was locked for it', fee(ETHER / 200n), locked('1'), null],
    ['waits above ten times what was locked for it', fee(ETHER / 200n + 1n), locked('1'), /10 times what was locked/],
    ['is paid at ten times that for each output it spends', { ...fee(ETHER / 50n), inputs: 4 }, locked('1'), null],
    ['waits above that', { ...fee(ETHER / 50n + 1n), inputs: 4 }, locked('1'), /10 times what was locked/],
    ['waits above the ceiling however many outputs it spends', { ...fee(ETHER / 8n + 1n), inputs: 1_000 }, locked('1'), /above the ceiling/],
    ['is held against the ceiling alone where nothing was locked', fee(ETHER / 10n), locked('0'), null],
    ['waits while nobody knows what the coin is worth', fee(1n, 'TRX'), null, /no fresh price for TRX/],
  ])('%s', async (_what, named, held, problem) => {
    const answer = await checkFee(deps, named, held);
    if (problem === null) expect(answer).toBeNull();
    else expect(answer).toMatchObject({ problem: expect.stringMatching(problem), lasting: false });
  });
});

describe('a top-up that a fee asks for', () => {
  it('is made up to 500 dollars and no further', async () => {
    const topUp = (rawAmount: bigint) => checkTopUp(deps, { symbol: 'ETH', decimals: 18, rawAmount });
    expect(await topUp(ETHER / 4n)).toBeNull();
    expect(await topUp(ETHER / 4n + 1n)).toMatchObject({ problem: expect.stringMatching(/above the ceiling/) });
  });
});
