import { expect, it } from 'vitest';
import { nameSkeleton } from '#shared/core/name-skeleton.ts';

it.each([
  ['Acme Books', 'ACME-BOOKS'],
  ['Acme Books', '\u0410\u0441me B\u043e\u043eks'],
  ['Acme Books', 'Acm\u00e9 B00ks'],
  ['Acme Books', 'A\u200bc\u200dme Bo\u2060oks'],
  ['Acme Books', '\uff21cme Books'],
  ['Willow', 'WIII0VV'],
  ['Modern', 'Modem'],
  ['Paypal', 'P\u0251yPa\u04cf'],
  ['Ebay', '\u1d07\u0299\u1d00y'],
  ['Acme', '\ua4ee\u13df\u13b7\u13ac'],
  ['Acme', '\u15e9\u1455me'],
])('%s and %s can be taken for each other', (one, other) => {
  expect(nameSkeleton(other)).toBe(nameSkeleton(one));
});

it.each([
  ['Acme Books', 'Acme Boots'],
  ['\u0425\u043b\u0435\u0431', '\u041c\u043e\u043b\u043e\u043a\u043e'],
  ['\u66f8\u5e97', '\u82b1\u5c4b'],
  ['!!!', '???'],
])('%s and %s cannot', (one, other) => {
  expect(nameSkeleton(other)).not.toBe(nameSkeleton(one));
});
