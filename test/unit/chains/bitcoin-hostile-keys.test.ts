import * as curve from 'tiny-secp256k1';
import { Transaction as MadeTransaction, crypto } from 'bitcoinjs-lib';
import { expect, it } from 'vitest';
import { crossCheckAmounts } from '#shared/chains/bitcoin/prevouts.ts';
import { addressOfPublicKey } from '#shared/chains/evm/deriver.ts';

const SECRET = new Uint8Array(32).fill(1);
const KEY = curve.pointFromScalar(SECRET, true) as Uint8Array;
/** No point of the curve has this x. */
const NO_POINT = Buffer.from(`02${'5'.padStart(64, '0')}`, 'hex');
const TIMES = 4_000;

// What the library throws out of WebAssembly leaves its stack where it was: some 3,100 to 3,400 of them, and it does nothing more for this process.
const isStillOfUse = (): boolean => curve.verify(SECRET, KEY, curve.sign(SECRET, SECRET)) && curve.pointCompress(KEY, false).length === 65;

function manyTimes(throws: () => unknown): void {
  for (let i = 0; i < TIMES; i++)
    try {
      throws();
    } catch {
      // As it does each time.
    }
}

it('finds keys that are no points as often as a node likes, and reads good ones afterwards', () => {
  const made = new MadeTransaction();
  made.addInput(Buffer.alloc(32, 1), 0);
  made.addOutput(Buffer.from('6a', 'hex'), 9n);
  const signature = Buffer.from('3006020101020101' + '01', 'hex');
  const input = { txid: '11'.repeat(32), vout: 0, scriptSig: Buffer.alloc(0), sequence: 0, witness: [signature, NO_POINT] };
  const prevouts = [{ rawAmount: 10n, script: `0014${Buffer.from(crypto.hash160(NO_POINT)).toString('hex')}` }];
  const transaction = { bytes: Buffer.from(made.toBuffer()), txid: '22'.repeat(32), wtxid: '', inputs: [input], outputs: [], coinbase: false, prevouts };
  expect(() => crossCheckAmounts(transaction, [0])).toThrow('was not signed over');
  manyTimes(() => crossCheckAmounts(transaction, [0]));
  expect(isStillOfUse()).toBe(true);
});

it('refuses bytes that are no key as often as they are given', () => {
  expect(() => addressOfPublicKey(NO_POINT)).toThrow('no compressed public key');
  manyTimes(() => addressOfPublicKey(NO_POINT));
  expect(isStillOfUse()).toBe(true);
});
