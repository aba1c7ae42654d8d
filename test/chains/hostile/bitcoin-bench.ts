import { payments } from 'bitcoinjs-lib';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import type { BitcoinNode } from '../conformance/bitcoin.ts';
import { mineThese } from '../conformance/bitcoin-branches.ts';
import { FEE, type Output, type Purse, type Signed, scriptAt, sumOf, unsigned } from '../conformance/bitcoin-purse.ts';
import { TEST_SEED } from '#test/harness/world.ts';

/** Deposit addresses a chain of these tests gives out at most. */
const ADDRESSES = 300;

/** What the rows of a Bitcoin chain are made with. */
export interface BitcoinBench {
  node: BitcoinNode;
  /** Somebody who pays, by the kind of coin: P2WPKH, P2PKH, P2TR, P2SH-P2WPKH. */
  purses: readonly [Purse, Purse, Purse, Purse];
  /** The public key of one of our addresses, which only a thief or we ourselves would know; the row is about scripts it is in. */
  keyOf(address: string): Uint8Array;
  /** Signs a transaction of the first purse. */
  sign(outputs: readonly Output[], purse?: Purse): Promise<Signed>;
  /** One of coins of several purses. */
  together(purses: readonly Purse[], outputs: readonly Output[]): Promise<Signed>;
  /** Mines a block of exactly these; answers its hash. */
  mine(...transactions: readonly Signed[]): Promise<string>;
  /** Signs and mines, in a block of its own, what no node would pass on. */
  pay(...outputs: readonly Output[]): Promise<string>;
}

export const to = (address: string, value: bigint): Output => ({ script: scriptAt(address), value });
export const locked = (hex: string, value: bigint): Output => ({ script: Uint8Array.from(Buffer.from(hex, 'hex')), value });

/** Opens the bench of a chain that mines only when it is told to. */
export function bitcoinBench(node: BitcoinNode): BitcoinBench {
  const { call, network } = node;
  const account = HDKey.fromMasterSeed(mnemonicToSeedSync(TEST_SEED)).derive(`${network.accountPath}/0`);
  const keys = new Map<string, Uint8Array>();
  for (let index = 0; index < ADDRESSES; index++) {
    const key = account.deriveChild(index).publicKey as Uint8Array;
    keys.set(Buffer.from(payTo(key)).toString('hex'), key);
  }
  const purses = node.purses as BitcoinBench['purses'];
  const sign: BitcoinBench['sign'] = (outputs, purse = purses[0]) => purse.sign(outputs);
  const mine: BitcoinBench['mine'] = (...signed) =>
    mineThese(
      call,
      signed.map(({ hex }) => hex),
    );
  return {
    node,
    purses,
    keyOf(address) {
      const found = keys.get(Buffer.from(scriptAt(address)).toString('hex'));
      if (found === undefined) throw new Error(`${address} is not one of the first ${ADDRESSES} addresses`);
      return found;
    },
    sign,
    async together(all, outputs) {
      const coins = [];
      for (const purse of all) coins.push(await purse.take());
      const transaction = unsigned(coins);
      for (const output of outputs) transaction.addOutput(output.script, output.value);
      const [first] = all as [Purse];
      transaction.addOutput(first.script, sumOf(coins) - sumOf(outputs) - FEE);
      for (const [index, purse] of all.entries()) purse.unlock(transaction, index, coins);
      return { txid: transaction.getId(), hex: transaction.toHex(), spends: coins };
    },
    mine,
    async pay(...outputs) {
      const signed = await sign(outputs);
      await mine(signed);
      return signed.txid;
    },
  };
}

function payTo(publicKey: Uint8Array): Uint8Array {
  return payments.p2wpkh({ pubkey: publicKey }).output as Uint8Array;
}
