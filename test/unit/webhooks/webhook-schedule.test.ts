import { describe, expect, it } from 'vitest';
import { resultOf, type WebhookOutcome } from '#api/clients/webhook-http.ts';
import { nextStep, stepOutsideSchedule } from '#api/jobs/webhook-schedule.ts';

describe('what follows an attempt', () => {
  const started = new Date('2026-01-01T00:00:00Z');
  const finished = new Date('2026-01-01T00:00:10Z');
  const answered = (status: number, retryAfter: string | null = null): WebhookOutcome => ({ kind: 'answered', status, retryAfter, durationMs: 1 });
  const timedOut: WebhookOutcome = { kind: 'failed', result: 'timeout', problem: '', durationMs: 10_000 };
  const pauseAfter = (attempts: number, outcome: WebhookOutcome, jitter = 0): number | string => {
    const next = nextStep(outcome, attempts, started, finished, jitter);
    return next.state === 'pending' ? (next.at.getTime() - started.getTime()) / 1_000 : next.state;
  };

  it('is the schedule of six attempts over 2 h 42 m 30 s, then nothing', () => {
    const pauses = [1, 2, 3, 4, 5, 6].map((attempts) => pauseAfter(attempts, timedOut));
    expect(pauses).toEqual([30, 120, 600, 1_800, 7_200, 'exhausted']);
    expect(pauses.slice(0, 5).reduce((sum: number, pause) => sum + Number(pause), 0)).toBe(2 * 3_600 + 42 * 60 + 30);
  });

  it('jitter lengthens a pause by 5 % at most', () => {
    expect(pauseAfter(5, timedOut, 1)).toBe(7_560);
  });

  it.each([200, 201, 202, 204, 299])('%d is delivery', (status) => expect(pauseAfter(1, answered(status))).toBe('delivered'));
  it.each([100, 301, 302, 307, 308, 400, 401, 404, 409, 429, 500, 503])('%d is failure', (status) => expect(pauseAfter(1, answered(status))).toBe(30));
  it('410 stops', () => expect(pauseAfter(1, answered(410))).toBe('stopped'));

  it.each<[string, string, number, number | string, number?]>([
    ['seconds', '120', 1, 130],
    ['seconds with spaces', ' 120 ', 1, 130],
    ['less than the schedule', '120', 3, 600],
    ['an HTTP date', 'Thu, 01 Jan 2026 00:05:10 GMT', 1, 310],
    ['an HTTP date in the past', 'Thu, 01 Jan 2025 00:00:00 GMT', 1, 30],
    ['an HTTP date far away', 'Thu, 01 Jan 2099 00:00:00 GMT', 1, 86_410],
    ['nonsense', 'soon', 1, 30],
    ['nothing', '', 1, 30],
    ['a negative number', '-5', 1, 30],
    ['zero', '0', 1, 30],
    ['more than a day', '86401', 1, 86_410],
    ['an absurd number', '999999999999999999999', 1, 86_410],
    ['more digits than a number has', '9'.repeat(400), 1, 86_410],
    ['an exponent', '1e9', 1, 30],
    ['infinity', 'Infinity', 1, 30],
    ['with a redirect', '120', 1, 130, 302],
    ['after the last attempt', '120', 6, 'exhausted'],
  ])('Retry-After is honoured upward only, and for a day at most: %s', (_what, header, attempts, expected, status = 503) => {
    expect(pauseAfter(attempts, answered(status, header))).toBe(expected);
  });
});

describe('what follows a resend', () => {
  const finished = new Date('2026-01-01T00:00:10Z');
  const next = new Date('2026-01-01T02:00:00Z');
  const afterResend = (state: 'pending' | 'delivered' | 'exhausted' | 'stopped', status: number, retryAfter: string | null = null) =>
    stepOutsideSchedule({ kind: 'answered', status, retryAfter, durationMs: 1 }, { state, nextAttemptAt: next }, finished);

  it('a 2xx delivers a webhook whatever became of it before', () => {
    for (const state of ['pending', 'delivered', 'exhausted', 'stopped'] as const) expect(afterResend(state, 204)).toEqual({ state: 'delivered' });
  });
  it('a failure leaves it as it was and its schedule where it was', () => {
    for (const state of ['delivered', 'exhausted', 'stopped'] as const)
      for (const status of [302, 410, 500]) expect(afterResend(state, status)).toEqual({ state });
    for (const status of [302, 404, 500]) expect(afterResend('pending', status)).toEqual({ state: 'pending', at: next });
  });
  it('410 stops one that is pending, and Retry-After postpones it', () => {
    expect(afterResend('pending', 410)).toEqual({ state: 'stopped' });
    expect(afterResend('pending', 503, '60')).toEqual({ state: 'pending', at: next });
    expect(afterResend('pending', 503, '7200')).toEqual({ state: 'pending', at: new Date('2026-01-01T02:00:10Z') });
  });
});

it('every outcome is counted under a class of its own', () => {
  const results = [200, 299, 302, 404, 410, 500, 599].map((status) => resultOf({ kind: 'answered', status, retryAfter: null, durationMs: 1 }));
  expect(results).toEqual(['2xx', '2xx', '3xx', '4xx', '4xx', '5xx', '5xx']);
  for (const result of ['timeout', 'dns', 'tls', 'refused', 'blocked'] as const)
    expect(resultOf({ kind: 'failed', result, problem: '', durationMs: 1 })).toBe(result);
});
