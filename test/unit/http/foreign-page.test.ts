import { expect, it } from 'vitest';
import { isForeignForm, isForeignPage, isNavigation } from '#api/checkout/foreign-page.ts';

const OWN = 'https://pay.example';

it.each([
  ['no browser at all', {}, false],
  ['a page of the checkout', { 'sec-fetch-site': 'same-origin', origin: OWN }, false],
  ['a page of the checkout under a name the proxy gave it', { 'sec-fetch-site': 'same-origin', origin: 'https://other.example' }, false],
  ['a person', { 'sec-fetch-site': 'none' }, false],
  ['an old browser on the checkout', { origin: OWN }, false],
  ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, true],
  ['another site that borrows the name', { 'sec-fetch-site': 'cross-site', origin: OWN }, true],
  ['a neighbour of the same site', { 'sec-fetch-site': 'same-site' }, true],
  ['a word nobody knows', { 'sec-fetch-site': 'sideways' }, true],
  ['an old browser on another site', { origin: 'https://evil.example' }, true],
  ['a sandboxed frame', { origin: 'null' }, true],
  ['the same name without TLS', { origin: 'http://pay.example' }, true],
  ['the same name on another port', { origin: 'https://pay.example:8443' }, true],
  ['a longer name', { origin: 'https://pay.example.evil.example' }, true],
] as const)('%s: %o is foreign: %s', (_who, headers, foreign) => expect(isForeignPage(headers, OWN)).toBe(foreign));

it.each([
  ['a form of the page, which hides where it was', { 'sec-fetch-site': 'same-origin', origin: 'null' }, false],
  ['the same in an old browser', { origin: 'null' }, false],
  ['a form in a sandboxed frame of another site', { 'sec-fetch-site': 'cross-site', origin: 'null' }, true],
  ['a form of another site in an old browser', { origin: 'https://evil.example' }, true],
  ['no browser at all', {}, false],
] as const)('%s: %o is a foreign form: %s', (_who, headers, foreign) => expect(isForeignForm(headers, OWN)).toBe(foreign));

it.each([
  ['a link that is followed', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, true],
  ['a link in a browser that does not say where to', { 'sec-fetch-mode': 'navigate' }, true],
  ['a frame', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }, false],
  ['a program', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }, false],
  ['nothing said', {}, false],
] as const)('%s: %o leads to a tab of its own: %s', (_what, headers, leads) => expect(isNavigation(headers)).toBe(leads));
