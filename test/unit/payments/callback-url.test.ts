import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callbackRedirect } from '#shared/core/callback-url.ts';
import { SentJson } from '#shared/core/sent-json.ts';
import { times } from '#test/harness/counts.ts';

const RESULT = { paymentUid: '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44', status: 'SUCCESS' };
const TAIL = `paymentUid=${RESULT.paymentUid}&status=SUCCESS`;
const redirect = (url: string, params: Record<string, unknown> | null = null): string =>
  callbackRedirect(url, params === null ? null : SentJson.of(params), RESULT);

describe('where the browser goes after the result (decisions 7)', () => {
  it.each([
    ['https://shop.example', `https://shop.example?${TAIL}`],
    ['https://shop.example/thanks', `https://shop.example/thanks?${TAIL}`],
    ['https://shop.example/thanks?', `https://shop.example/thanks?${TAIL}`],
    ['http://localhost:3000/a?b=c%20d&flag&e=%2F', `http://localhost:3000/a?b=c%20d&flag&e=%2F&${TAIL}`],
    ['https://shop.example/#/done?x=1', `https://shop.example/?${TAIL}#/done?x=1`],
    ['https://shop.example/?a=1#top', `https://shop.example/?a=1&${TAIL}#top`],
  ])('keeps the query and the fragment of %s byte for byte', (url, expected) => {
    expect(redirect(url)).toBe(expected);
  });

  it('appends scalars as they are and nested values as compact JSON', () => {
    const url = new URL(redirect('https://shop.example/', { order: 'A 1&2', n: 7.5, ok: true, none: null, list: [1, 'a'], deep: { a: { b: 'ü' } }, '': 'x' }));
    expect([...url.searchParams].slice(0, -2)).toEqual([
      ['order', 'A 1&2'],
      ['n', '7.5'],
      ['ok', 'true'],
      ['none', 'null'],
      ['list', '[1,"a"]'],
      ['deep', '{"a":{"b":"ü"}}'],
      ['', 'x'],
    ]);
  });

  it('appends a number digit by digit as it was sent, however large', () => {
    const sent = new SentJson('{"order": 12345678901234567890, "rate":1.50, "deep":{"b":1e3, "a":9007199254740993}}');
    expect(callbackRedirect('https://shop.example/', sent, RESULT)).toBe(
      `https://shop.example/?order=12345678901234567890&rate=1.50&deep=%7B%22b%22%3A1e3%2C%22a%22%3A9007199254740993%7D&${TAIL}`,
    );
  });

  it.each(['https://shop.example/?status=PAID&paymentUid=x&%73tatus=y&a=1', 'https://shop.example/?a=1'])(
    'lets the id and the status win over equal names in %s',
    (own) => {
      const url = new URL(redirect(own, { status: 'FREE', paymentUid: ['x'], b: '2' }));
      expect([...url.searchParams]).toEqual([['a', '1'], ['b', '2'], ...Object.entries(RESULT)]);
    },
  );

  it('is not confused by names that every object has', () => {
    const url = new URL(redirect('https://shop.example/?toString=1&hasOwnProperty=2', { valueOf: 'x' }));
    expect([...url.searchParams.keys()]).toEqual(['toString', 'hasOwnProperty', 'valueOf', 'paymentUid', 'status']);
  });

  it('never leaves the host, and always carries the result once', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (own, params) => {
        const url = new URL(redirect(own, params as Record<string, unknown>));
        expect([url.origin, url.pathname, url.hash]).toEqual([new URL(own).origin, new URL(own).pathname, new URL(own).hash]);
        expect([url.searchParams.getAll('paymentUid'), url.searchParams.getAll('status')]).toEqual([[RESULT.paymentUid], [RESULT.status]]);
        for (const name of Object.keys(params)) expect(url.searchParams.has(name)).toBe(true);
      }),
      { numRuns: times(20_000) },
    );
  });
});
