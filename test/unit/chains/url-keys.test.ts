import { expect, it } from 'vitest';
import { keyHider } from '#shared/chains/url-keys.ts';

const KEY = 'a1b2c3d4e5f6a7b8c9d0';

it.each([
  ['in the path', `https://node.example/v3/${KEY}`],
  ['in the path, before the end', `https://node.example/${KEY}/rpc/`],
  ['in the query', `https://node.example/rpc?apikey=${KEY}`],
  ['as the password', `https://user:${KEY}@node.example/`],
  ['as the user', `https://:${KEY}@node.example/`],
])('a key %s of a URL is hidden wherever its endpoint says it', (_, url) => {
  const hidden = keyHider(url)(`project ${KEY} has no credits left (${KEY})`);
  expect(hidden).toBe('project [key] has no credits left ([key])');
});

it('is hidden as it is meant, and as it is written', () => {
  const hide = keyHider('https://user:s%23cret%2Fword@node.example/');
  expect(hide('s#cret/word s%23cret%2Fword')).toBe('[key] [key]');
});

it('leaves the words of a URL that are no keys', () => {
  const text = 'execution reverted at rpc v3 mainnet of user x';
  expect(keyHider('https://user:x@node.example/v3/mainnet/rpc?x=1')(text)).toBe(text);
});
