import { describe, expect, it } from 'vitest';
import { makeStatement, publicHalf, readStatement, trustedKeys } from '#shared/platform/statements.ts';

// RFC 8032, 7.1, test 1.
const KEY = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
const PUBLIC = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
const OTHER = '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb';
const ABOUT = { kind: 'cashout', subject: 'one' };
const SAID = { recipient: '0xabc', amount: '10.5', pool: null };
const statement = makeStatement(KEY, { ...ABOUT, said: SAID });

it('the public half of a key is the one RFC 8032 gives', () => {
  expect(publicHalf(KEY)).toBe(PUBLIC);
});

describe('a statement', () => {
  it('says to whoever trusts its key what was said, and the same thing always in the same words', () => {
    expect(readStatement([PUBLIC], statement, ABOUT)).toEqual(SAID);
    expect(makeStatement(KEY, { ...ABOUT, said: { pool: null, amount: '10.5', recipient: '0xabc' } })).toEqual(statement);
    expect(statement.text).toBe('["sluice statement 1","cashout","one",[["amount","10.5"],["pool",null],["recipient","0xabc"]]]');
  });

  it.each([
    ['to whoever trusts another key', [publicHalf(OTHER)], {}, ABOUT],
    ['to whoever trusts no key', [], {}, ABOUT],
    ['about something else', [PUBLIC], { subject: 'two' }, { kind: 'cashout', subject: 'two' }],
    ['of another kind', [PUBLIC], { kind: 'refund' }, { kind: 'refund', subject: 'one' }],
    ['in other words', [PUBLIC], { text: statement.text.replace('10.5', '99.5') }, ABOUT],
    ['signed by another key', [PUBLIC], { signature: makeStatement(OTHER, { ...ABOUT, said: SAID }).signature }, ABOUT],
    ['with half a signature', [PUBLIC], { signature: statement.signature.subarray(0, 32) }, ABOUT],
  ])('says nothing %s', (_, trusted, changed, about) => {
    expect(readStatement(trusted, { ...statement, ...changed }, about)).toBeNull();
  });

  it('signed by any of the trusted keys counts, so that a key can change', () => {
    expect(readStatement([publicHalf(OTHER), PUBLIC], statement, ABOUT)).toEqual(SAID);
  });
});

it('a process trusts the keys it was given, and its own', () => {
  expect(trustedKeys({ SLUICE_INTENT_KEY: KEY, SLUICE_INTENT_PUBLIC_KEYS: [publicHalf(OTHER)] })).toEqual([PUBLIC, publicHalf(OTHER)]);
  expect(trustedKeys({ SLUICE_INTENT_PUBLIC_KEYS: [PUBLIC] })).toEqual([PUBLIC]);
});
