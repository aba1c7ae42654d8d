import { expect, it } from 'vitest';
import { parseUrl } from '#shared/core/parse-url.ts';

it('a URL with letters beyond ASCII stays one, however many were read before it', () => {
  const wrong: string[] = [];
  for (let read = 0; read < 50_000; read++) {
    parseUrl(`https://shop.example/${read % 7}`);
    for (const url of ['https://bücher.example/', 'https://shop.example/?naïve=é']) if (parseUrl(url) === null) wrong.push(url);
  }
  expect(wrong).toEqual([]);
  expect(['', 'shop.example', 'https://', 'https://shop.example:x/'].map(parseUrl)).toEqual([null, null, null, null]);
});
