import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeNews, encodeNews, type News, openNews } from '#api/checkout/news.ts';

/** A line without Redis: what is nudged arrives at once. */
function aLine() {
  const words: string[] = [];
  let listener: (word: string) => void = () => undefined;
  const news = openNews({
    nudge: (_channel, word = '') => {
      words.push(word);
      listener(word);
    },
    onNudge: (_channel, heard) => {
      listener = heard;
      return () => undefined;
    },
    deaf: () => false,
  });
  return { news, words, say: (word: string) => listener(word) };
}

it('arrives as it was announced, whatever it is about', () => {
  fc.assert(
    fc.property(fc.array(fc.uuid(), { maxLength: 20 }), fc.option(fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/), { nil: undefined }), (paymentIds, network) => {
      const news: News = { paymentIds, ...(network !== undefined && { network }) };
      expect(decodeNews(encodeNews(news))).toEqual(news);
    }),
  );
});

it('of a payload that nobody of ours wrote is at most a payment to look at', () => {
  for (const word of ['', ' ', '{"paymentIds":["x"]}', '\0', 'a b c', `${'x '.repeat(1_000)}`]) expect(decodeNews(word).paymentIds).toEqual([]);
});

it('about very many payments goes in messages of a bounded size, none of them lost', () => {
  const { news, words } = aLine();
  const heard: string[] = [];
  news.listen(
    ({ paymentIds }) => heard.push(...paymentIds),
    () => undefined,
  );
  const paymentIds = Array.from({ length: 1_201 }, () => randomUUID());
  news.announce({ paymentIds, network: 'tron' });
  expect(heard).toEqual(paymentIds);
  expect(Math.max(...words.map((word) => word.length))).toBeLessThan(20_000);
});

it('may be about a network alone', () => {
  const { news } = aLine();
  const heard: News[] = [];
  news.listen(
    (one) => heard.push(one),
    () => undefined,
  );
  news.announce({ paymentIds: [], network: 'bitcoin' });
  expect(heard).toEqual([{ paymentIds: [], network: 'bitcoin' }]);
});

it('that was lost on its way has everything looked at, and no news is said of nothing', () => {
  const { news, words, say } = aLine();
  let [heard, resumed] = [0, 0];
  news.listen(
    () => {
      heard += 1;
    },
    () => {
      resumed += 1;
    },
  );
  say('');
  expect([heard, resumed]).toEqual([0, 1]);
  news.announce({ paymentIds: [] });
  expect(words).toEqual([]);
});
