import { Transaction } from 'bitcoinjs-lib';
import { method, type Methods } from './method.ts';
import type { BitcoinNode } from './node.ts';
import { POLICY } from './parameters.ts';
import { dustLimit } from './policy.ts';
import { RPC, RpcError } from './refusal.ts';
import { coins, satoshisOf } from './request.ts';
import { broadcast } from './rpc-mempool.ts';
import { txArgument } from './rpc-transactions.ts';
import { scriptOfAddress } from './script.ts';
import type { AddressKind } from './sign.ts';
import type { Wallet } from './wallet.ts';

const KINDS: readonly string[] = ['legacy', 'p2sh-segwit', 'bech32', 'bech32m'] satisfies AddressKind[];

/** The wallet a call is for: the one its URL names, or the only one there is. @throws RpcError */
function walletOf({ wallets }: BitcoinNode, named: string | null): Wallet {
  const [only, ...others] = wallets.open.values();
  if (named !== null) {
    const wallet = wallets.open.get(named);
    if (wallet === undefined) throw new RpcError(RPC.walletNotFound, 'Requested wallet does not exist or is not loaded');
    return wallet;
  }
  if (only === undefined)
    throw new RpcError(
      RPC.walletNotFound,
      'No wallet is loaded. Load a wallet using loadwallet or create a new one with createwallet. (Note: A default wallet is no longer automatically created)',
    );
  if (others.length > 0)
    throw new RpcError(
      RPC.walletNotSpecified,
      'Multiple wallets are loaded. Please select which wallet to use by requesting the RPC through the /wallet/<walletname> URI path.',
    );
  return only;
}

/** @throws RpcError for what is no address or no amount */
function payment(address: string, value: bigint): { script: Uint8Array; value: bigint } {
  const script = scriptOfAddress(address);
  if (script === null) throw new RpcError(RPC.addressOrKey, `Invalid Bitcoin address: ${address}`);
  if (value < dustLimit(script)) throw new RpcError(RPC.insufficientFunds, 'Transaction amount too small');
  return { script, value };
}

/** Methods of the node's own wallets: enough to be paid from, with keys that are no secret. */
export const walletMethods: Methods = {
  createwallet: method(
    ['wallet_name', 'disable_private_keys', 'blank', 'passphrase', 'avoid_reuse', 'descriptors', 'load_on_startup', 'external_signer'],
    (node, ask) => ({
      name: node.wallets.create(ask.text('wallet_name')).name,
    }),
  ),
  loadwallet: method(['filename', 'load_on_startup'], (node, ask) => {
    const name = ask.text('filename');
    if (node.wallets.open.has(name)) throw new RpcError(RPC.walletAlreadyLoaded, `Wallet "${name}" is already loaded.`);
    throw new RpcError(RPC.walletNotFound, `Wallet file verification failed. Failed to load database path '${name}'. Path does not exist.`);
  }),
  listwallets: method([], (node) => [...node.wallets.open.keys()]),
  getnewaddress: method(['label', 'address_type'], (node, ask, named) => {
    const kind = ask.text('address_type', 'bech32');
    if (!KINDS.includes(kind)) throw new RpcError(RPC.addressOrKey, `Unknown address type '${kind}'`);
    return walletOf(node, named).newAddress(kind as AddressKind);
  }),
  getbalance: method(['dummy', 'minconf', 'include_watchonly', 'avoid_reuse'], (node, _ask, named) => coins(walletOf(node, named).balance())),
  sendtoaddress: method(
    [
      'address',
      'amount',
      'comment',
      'comment_to',
      'subtractfeefromamount',
      'replaceable',
      'conf_target',
      'estimate_mode',
      'avoid_reuse',
      'fee_rate',
      'verbose',
    ],
    (node, ask, named) => {
      const outputs = [payment(ask.text('address'), ask.amount('amount'))];
      const rate = ask.has('fee_rate') ? ask.amount('fee_rate') / 100_000n : POLICY.walletFeeRate;
      const wallet = walletOf(node, named);
      return broadcast(node, wallet.sign(wallet.fund(outputs, rate, ask.bool('subtractfeefromamount', false)).raw).tx, 0n);
    },
  ),
  sendmany: method(['dummy', 'amounts', 'minconf', 'comment', 'subtractfeefrom', 'replaceable'], (node, ask, named) => {
    const outputs = Object.entries(ask.object('amounts')).map(([address, amount]) => payment(address, satoshisOf(amount) ?? 0n));
    const wallet = walletOf(node, named);
    return broadcast(node, wallet.sign(wallet.fund(outputs, POLICY.walletFeeRate).raw).tx, 0n);
  }),
  fundrawtransaction: method(['hexstring', 'options', 'iswitness'], (node, ask, named) => {
    const { raw, changeAt } = walletOf(node, named).fund(unfunded(ask.text('hexstring')).outs, POLICY.walletFeeRate);
    const vsize = BigInt(raw.virtualSize()) + 27n * BigInt(raw.ins.length);
    return { hex: raw.toHex(), fee: coins((POLICY.walletFeeRate * vsize) / 1000n), changepos: changeAt };
  }),
  signrawtransactionwithwallet: method(['hexstring', 'prevtxs', 'sighashtype'], (node, ask, named) => {
    const { tx, complete } = walletOf(node, named).sign(txArgument(ask.text('hexstring')).raw);
    return { hex: tx.hex, complete };
  }),
};

/** A transaction without inputs: to most readers the count of its inputs is the marker of a witness. @throws RpcError */
function unfunded(hex: string): Transaction {
  try {
    if (hex.slice(8, 10) !== '00') throw new RpcError(RPC.invalidParameter, 'This wallet funds transactions that have no input yet.');
    const raw = Transaction.fromHex(`${hex.slice(0, 8)}01${'00'.repeat(37)}ffffffff${hex.slice(10)}`);
    raw.ins = [];
    return raw;
  } catch (error) {
    throw error instanceof RpcError ? error : new RpcError(RPC.deserialization, 'TX decode failed. Make sure the tx has at least one input.');
  }
}
