import { networks, payments } from 'bitcoinjs-lib';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { AddressKind } from '#ops/devnet/bitcoin/sign.ts';
import type { CommonChain } from '#test/harness/chain.ts';
import { aChainOf } from '#test/harness/chains.ts';
import { branch, type Made, mineThese } from './bitcoin-branches.ts';
import { BITCOIN_CORPORA, BITCOIN_PUBLISHED } from './bitcoin-corpus.ts';
import { lagging, withholding } from './bitcoin-faults.ts';
import { aPurse, type CoreCall, type Output, type Purse, scriptAt } from './bitcoin-purse.ts';
import { coreCall, printCore } from './bitcoin-rpc.ts';
import type { FamilyDriver, FamilyNode, Paying, Payment, TransferWay } from './family.ts';
import { fromHex } from './hex.ts';
import { jsonRpc, startMeddler } from './meddler.ts';
import { strangerHex } from './stranger.ts';

/** Who pays, and how they keep their coins; the first three have nothing to do with each other. */
const PAYERS: readonly (readonly [AddressKind, string])[] = [
  ['bech32', 'P2WPKH'],
  ['legacy', 'P2PKH'],
  ['bech32m', 'P2TR'],
  ['p2sh-segwit', 'P2SH-P2WPKH'],
];
/** Coins each of them has, so that no payment has to wait for the change of another. */
const COINS = 60;
const COIN = 20_000_000n;
/** After so long a node forgets what waits: Bitcoin Core's default, and a day. */
const FORGET_SECONDS = 15 * 86_400;

const paying: Paying = {
  money: { BTC: { earned: '0.05', cashout: '0.02' } },
  needsGas: false,
  plenty: 1_000_000_000n,
  replacing: 'bump',
  outdatedSeconds: POLICY.payoutBumpSeconds,
  closeSeconds: POLICY.anchorCloseSeconds,
  async forget(chain) {
    const call = coreCall(chain.url);
    await call('setmocktime', [Math.floor(Date.now() / 1_000) + FORGET_SECONDS]);
    // A node looks for what is too old when something new comes.
    await chain.pay(chain.outsider, null, 10_000n);
    await call('setmocktime', [0]);
  },
  async mineWithout(chain, blocks) {
    for (let mined = 0; mined < blocks; mined++) await mineThese(coreCall(chain.url), []);
  },
  passTime: async () => undefined,
  breakToken: null,
};

/** Bitcoin, on the node of ops/devnet/bitcoin or on a real one. */
export const bitcoin: FamilyDriver = {
  family: 'bitcoin',
  network: 'bitcoin',
  payments: { BTC: 1_000_000n },
  main: 'BTC',
  published: BITCOIN_PUBLISHED,
  async deriveElsewhere(mnemonic, path, chainId) {
    const { publicKey } = HDKey.fromMasterSeed(mnemonicToSeedSync(mnemonic)).derive(path);
    const network = chainId === 'mainnet' ? networks.bitcoin : networks.regtest;
    return payments.p2wpkh({ pubkey: publicKey as Uint8Array, network }).address as string;
  },
  corpora: BITCOIN_CORPORA,
  deepest: 100,
  stranger: (index) => payments.p2wpkh({ hash: fromHex(strangerHex(index)), network: networks.regtest }).address as string,
  open,
  faults: withholding(),
  paying,
  lag: lagging,
};

/** Everything a chain of the suite is made to do. */
export interface BitcoinNode extends FamilyNode {
  call: CoreCall;
  purses: readonly Purse[];
}

async function open(configured: NetworkConfig, { notFinal }: { notFinal: number }): Promise<BitcoinNode> {
  const chain = await aChainOf(configured, { blockSeconds: 0 });
  const call = coreCall(chain.url);
  const purses = PAYERS.map(([kind], at) => aPurse(call, kind, String(at + 1).repeat(64)));
  await fill(chain, call, purses);
  const meddler = await startMeddler(chain.url, jsonRpc, (reply) => printCore(reply));
  const rule = { blocks: notFinal + 1 };
  const made = new Map<string, Made>();
  const outputOf = ({ to, rawAmount }: Payment): Output => ({ script: scriptAt(to), value: rawAmount });
  const send = async (purse: Purse, raw: Output[]): Promise<string> => {
    const signed = await purse.sign(raw);
    await call('sendrawtransaction', [signed.hex]);
    made.set(signed.txid, { ...signed, purse });
    return signed.txid;
  };
  return {
    chain,
    call,
    purses,
    network: { ...configured, rpcUrls: [meddler.url], finality: { resolve: [{ rule }], mature: rule } },
    ways: waysOf((at, payments, before = []) => send(purses[at] as Purse, [...before, ...payments.map(outputOf)])),
    payFrom: (payer, _symbol, payment) => send(purses[payer] as Purse, [outputOf(payment)]),
    async reorganise(depth, fates) {
      await keepTime(call);
      for (const one of await branch(call, made, depth, fates, outputOf)) made.set(one.txid, one);
    },
    meddle: meddler.meddle,
    async stop() {
      await Promise.all([meddler.stop(), chain.stop()]);
    },
  };
}

/** Pays every purse in coins of its own, all of which are in a block. */
async function fill(chain: CommonChain, call: CoreCall, purses: readonly Purse[]): Promise<void> {
  for (const purse of purses) {
    const whole = COIN * BigInt(COINS + 1);
    const paid = await chain.payAndMine(purse.address, null, whole);
    const { vout } = await call<{ vout: { n: number; scriptPubKey: { address?: string } }[] }>('getrawtransaction', [paid, 1]);
    const at = vout.find((one) => one.scriptPubKey.address === purse.address)?.n as number;
    const coin = { txid: paid, vout: at, value: whole, script: purse.script };
    const outputs = Array.from({ length: COINS }, () => ({ script: purse.script, value: COIN }));
    const split = await purse.sign(outputs, { spends: [coin], change: false });
    await call('sendrawtransaction', [split.hex, 0]);
    for (const index of outputs.keys()) purse.add({ txid: split.txid, vout: index, value: COIN, script: purse.script });
  }
  await chain.mine(2);
}

/** Many blocks in a second take their times from the future; a node that is too far behind them would take no more. */
async function keepTime(call: CoreCall): Promise<void> {
  const { time } = await call<{ time: number }>('getblockheader', [await call('getbestblockhash')]);
  if (time > Date.now() / 1_000 + 3_000) await call('setmocktime', [time]);
}

/** Sends from one of the payers, after outputs that are nobody's of ours. */
type Send = (payer: number, payments: readonly Payment[], before?: Output[]) => Promise<string>;

function waysOf(send: Send): TransferWay[] {
  const way = (name: string, several: boolean, payer: number, before?: Output[]): TransferWay => ({
    name,
    symbol: 'BTC',
    kind: 'native',
    several,
    send: (payments) => send(payer, payments, before),
  });
  const stranger = (at: number): Output => ({ script: scriptAt(bitcoin.stranger(at)), value: 70_000n });
  return [
    ...PAYERS.map(([, kind], payer) => way(`a payment from ${kind}`, false, payer)),
    way('a payment after what others are paid', false, 0, [stranger(1), stranger(2), stranger(3)]),
    way('a batch', true, 2),
    way('a batch of an exchange, with others before', true, 3, [stranger(4), stranger(5)]),
  ];
}
