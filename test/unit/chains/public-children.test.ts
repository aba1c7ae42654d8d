import { HDKey } from '@scure/bip32';
import { describe, expect, it } from 'vitest';
import { evmDeriver } from '#shared/chains/evm/deriver.ts';
import { keccak } from '#shared/chains/evm/keccak.ts';
import { publicChildren } from '#shared/chains/public-children.ts';
import { FULL } from '#test/harness/counts.ts';

const PARENTS = FULL ? 300 : 30;
const LAST = 0x7fffffff;

/** The same extended public key for the same number. */
const parentOf = (i: number): HDKey =>
  HDKey.fromExtendedKey(HDKey.fromMasterSeed(keccak(Buffer.from(`seed ${i}`))).derive(`m/44'/60'/${i}'/0`).publicExtendedKey);
const hex = (bytes: Uint8Array | null): string => Buffer.from(bytes ?? []).toString('hex');

describe('keys below a public key', () => {
  it(`are what the library in JavaScript derives, below ${PARENTS} parents, in either form`, () => {
    for (let i = 0; i < PARENTS; i++) {
      const parent = parentOf(i);
      const [compressed, whole] = [publicChildren(parent, true), publicChildren(parent, false)];
      const anywhere = Number(BigInt(`0x${hex(keccak(Buffer.from(`index ${i}`))).slice(0, 8)}`) & BigInt(LAST));
      for (const index of [0, 1, i, 255, 256, 65_536, anywhere, LAST]) {
        const expected = hex(parent.deriveChild(index).publicKey);
        const point = hex(whole(index));
        expect(hex(compressed(index)), `${i}/${index}`).toBe(expected);
        expect(point).toHaveLength(130);
        // Even and odd y are what the first byte of the short form says.
        expect(`${Number.parseInt(point.slice(-1), 16) % 2 === 0 ? '02' : '03'}${point.slice(2, 66)}`).toBe(expected);
      }
    }
  });

  it('are the same whichever was asked for before', () => {
    const [child, again] = [publicChildren(parentOf(1), true), publicChildren(parentOf(1), true)];
    const ahead = [0, 1, 2, 3].map((index) => hex(child(index)));
    expect([3, 2, 1, 0].map((index) => hex(again(index)))).toEqual(ahead.toReversed());
    expect(new Set(ahead).size).toBe(4);
  });

  it.each([-1, 0.5, Number.NaN, LAST + 1, 2 ** 32, Number.POSITIVE_INFINITY])('refuses %s, where only a private key has a child or nothing has', (index) => {
    expect(() => publicChildren(parentOf(2), true)(index)).toThrow('has a child');
  });

  it('refuses a key that has no chain code', () => {
    expect(() => publicChildren(new HDKey({ publicKey: parentOf(3).publicKey as Uint8Array }), true)).toThrow('no children');
  });

  it('leaves whoever shows a private key with an error, as before', () => {
    expect(() => evmDeriver(HDKey.fromMasterSeed(keccak(Buffer.from('secret'))).privateExtendedKey)).toThrow('private');
  });
});
