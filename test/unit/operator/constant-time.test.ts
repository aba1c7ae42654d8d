import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import type { Deps } from '#api/deps.ts';
import { operatorToken } from '#api/http/security.ts';
import { hashSecret, pepperOf } from '#api/gateways/keys.ts';
import { matchingSteps } from '#api/gateways/totp.ts';
import { closeMark } from '#api/intents/close-mark.ts';
import { isMacOf } from '#shared/platform/key-ring.ts';
import { times } from '#test/harness/counts.ts';
import { totpCode } from '#test/harness/totp-code.ts';

const SAMPLES = times(160_000);
/** Above this two sets of times are not of one kind (Welch, as leakage tests of hardware use it). */
const SAME_KIND = 4.5;
const ROUNDS = 3;

/** Whether judging the one takes as long as judging the other, by Welch's t over samples taken in random order; the slowest tenth is the machine's own. */
function welch(judge: (guess: string) => unknown, guesses: readonly [string, string], samples: number): number {
  const seen: [number[], number[]] = [[], []];
  const order = randomBytes(samples);
  for (let at = 0; at < samples; at++) {
    const side = ((order[at] ?? 0) & 1) as 0 | 1;
    const started = process.hrtime.bigint();
    judge(guesses[side]);
    seen[side].push(Number(process.hrtime.bigint() - started));
  }
  const [a, b] = seen.map((all) => describeSample(all.sort((x, y) => x - y).slice(0, Math.floor(all.length * 0.9)))) as [Sample, Sample];
  return (a.mean - b.mean) / Math.sqrt(a.variance / a.count + b.variance / b.count);
}

interface Sample {
  mean: number;
  variance: number;
  count: number;
}

function describeSample(values: readonly number[]): Sample {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1), count: values.length };
}

/** The least of a few rounds: a real difference is in all of them, and a busy machine is not. */
function least(judge: (guess: string) => unknown, guesses: readonly [string, string], samples: number): number {
  for (let warm = 0; warm < 500; warm++) judge(guesses[warm & 1 ? 1 : 0]);
  let smallest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS && smallest >= SAME_KIND; round++) smallest = Math.min(smallest, Math.abs(welch(judge, guesses, samples)));
  return smallest;
}

const secret = randomBytes(32).toString('hex');
const pepper = 'a-pepper-of-at-least-thirty-two-characters';
const changed = (text: string, at: number): string => `${text.slice(0, at)}${text[at] === '0' ? '1' : '0'}${text.slice(at + 1)}`;
const pair = (text: string): [string, string] => [changed(text, 0), changed(text, text.length - 1)];

it('a comparison that stops at the first difference would be seen', () => {
  const long = secret.repeat(20);
  const naive = (guess: string): boolean => {
    for (let at = 0; at < long.length; at++) if (guess[at] !== long[at]) return false;
    return true;
  };
  expect(least(naive, pair(long), 20_000)).toBeGreaterThan(SAME_KIND);
});

const token = `token-${randomBytes(20).toString('hex')}`;
const named = `anna-${randomBytes(20).toString('hex')}`;
const deps = { config: { SLUICE_OPERATOR_TOKEN: token, SLUICE_OPERATOR_TOKENS: [{ name: 'anna', token: named }] } } as unknown as Deps;
const asked = (guess: string): Promise<unknown> =>
  operatorToken(deps, {
    request: { headers: {}, headersDistinct: { authorization: [`Bearer ${guess}`] } } as unknown as IncomingMessage,
    rawBody: Buffer.alloc(0),
    clientIp: '127.0.0.1',
    requestId: 'none',
    permissions: [],
    recognise: () => undefined,
  }).catch(() => undefined);
const stored = hashSecret(pepper, secret);
const ring = { current: pepper, next: undefined, previous: 'another-pepper-of-thirty-two-characters' };
const seed = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const code = totpCode(seed, 1_700_000_000);
const payout = { payoutId: 'p', walletAddress: '0xhot', nonce: 7, anchor: null };
const mark = closeMark(pepper, payout);

it.each<[what: string, judge: (guess: string) => unknown, right: string, samples: number]>([
  ['an API key', (guess) => pepperOf(ring, guess, stored), secret, SAMPLES],
  [
    'the MAC of an order',
    (guess) => isMacOf(ring, Buffer.from(guess, 'hex'), (key) => Buffer.from(closeMark(key, payout), 'hex')),
    mark,
    Math.ceil(SAMPLES / 5),
  ],
  ['an operator token', asked, token, SAMPLES],
  ['the token of a person', asked, named, SAMPLES],
  ['an authenticator code', (guess) => matchingSteps(seed, guess, 1_700_000_000), code, Math.ceil(SAMPLES / 20)],
])('judging %s takes as long whether its first or its last character is wrong', (_, judge, right, samples) => {
  expect(least(judge, pair(right), samples)).toBeLessThan(SAME_KIND);
});

it('judging a key takes as long whether there is such a key or not', () => {
  const other = createHmac('sha256', pepper).update('another').digest();
  const judge = (which: string): unknown => pepperOf(ring, secret, which === 'known' ? other : undefined);
  expect(least(judge, ['known', 'unknown'], SAMPLES)).toBeLessThan(SAME_KIND);
});
