import { expect, it } from 'vitest';
import { judgeFates } from '#api/signer/prove-dead.ts';
import type { Fate } from '#shared/chains/ask-fate.ts';

const DEAD: Fate = { is: 'dead' };
const PAID: Fate = { is: 'paid', txid: 'a' };
const OPEN: Fate = { is: 'open', why: 'nonce 7 is not used in a final block' };
const judge = (told: Record<string, Fate>, { witnesses = 2, declared = false } = {}) =>
  judgeFates(new Map(Object.entries(told)), { witnesses, declared, slot: 'nonce:0xwallet:7' });

it.each([
  ['two providers that agree', { one: DEAD, two: DEAD }, {}],
  ['two that agree, whoever lags', { one: OPEN, two: DEAD, three: DEAD }, {}],
  ['one where one is enough', { one: DEAD }, { witnesses: 1 }],
  ['two people, where nobody can be asked', {}, { declared: true }],
  ['two people, where a provider does not know', { one: OPEN }, { declared: true }],
])('%s prove that it will never be mined', (_, told, how) => {
  expect(judge(told as Record<string, Fate>, how)).toBeNull();
});

it.each([
  ['one provider of two that are needed', { one: DEAD }, {}, /1 of 2 providers say that it will not/],
  ['nobody', {}, {}, /0 of 2/],
  ['one that lies and one that is honest', { liar: DEAD, honest: OPEN }, {}, /nonce:0xwallet:7.*honest says that nonce 7 is not used/],
  ['two that lie and one that saw it pay', { liar: DEAD, other: DEAD, honest: PAID }, {}, /transaction a has paid it, says honest/],
  ['two people, where a provider saw it pay', { honest: PAID }, { declared: true }, /has paid it/],
])('%s do not', (_, told, how, reason) => {
  expect(judge(told as Record<string, Fate>, how)).toMatch(reason);
});
