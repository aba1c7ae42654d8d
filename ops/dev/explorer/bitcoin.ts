import { codecOf } from '#shared/chains/codecs.ts';
import { satoshisOf } from '#shared/chains/bitcoin/json.ts';
import { RpcRefused } from '#shared/chains/rpc.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import type { LocalChain } from '../local-chain.ts';
import type { BitcoinNode } from '../services/bitcoin-node.ts';
import { addressLink, blockLink, code, factTable, type Html, link, markup, type Page, type Pages, page, table, text, time, units, unknown } from './html.ts';

interface Script {
  address?: string;
  type: string;
}

/** Amounts are as `satoshisOf` reads them. */
interface Output {
  value: unknown;
  n: number;
  scriptPubKey: Script;
}

interface Transaction {
  txid: string;
  vsize: number;
  vin: { coinbase?: string; txid?: string; vout?: number }[];
  vout: Output[];
  /** Absent while it waits. */
  blockhash?: string;
}

interface Block {
  hash: string;
  height: number;
  time: number;
  previousblockhash?: string;
  /** Below zero once another branch took its place. */
  confirmations: number;
  tx: string[];
}

/** One local chain as its pages see it. */
interface Local {
  network: NetworkConfig;
  node: BitcoinNode;
  chain: Pick<LocalChain, 'balance'>;
}

/** The pages of a local Bitcoin chain, whose node must be able to find any transaction (-txindex). */
export function bitcoinPages(network: NetworkConfig, node: BitcoinNode, chain: Pick<LocalChain, 'balance'>): Pages {
  const local = { network, node, chain };
  return async (kind, id) => {
    if (kind === 'tx' && /^[0-9a-fA-F]{64}$/.test(id)) return transactionPage(local, id.toLowerCase());
    if (kind === 'block' && /^\d{1,15}$/.test(id)) return blockPage(local, Number(id));
    if (kind === 'address' && codecOf(network).parse(id).ok) return addressPage(local, id);
    return undefined;
  };
}

async function transactionPage({ network, node }: Local, txid: string): Promise<Page> {
  const transaction = await find<Transaction>(node, 'getrawtransaction', [txid, true]);
  if (transaction === undefined) return unknown(network, 'transaction', txid);
  const block = transaction.blockhash === undefined ? undefined : await find<Block>(node, 'getblock', [transaction.blockhash, 1]);
  const inputs = await Promise.all(transaction.vin.map((input) => spentOutput(node, input)));
  const paid = sum(inputs.map((input) => input?.output)) - sum(transaction.vout);
  const facts: [string, Html][] = [
    ['Status', text(block === undefined ? 'waiting for a block' : block.confirmations > 0 ? 'confirmed' : 'its block was replaced')],
    ['Block', block === undefined ? text('none yet') : markup`${blockLink(network, block.height)} at ${time(block.time)}`],
    ['Confirmations', text(String(Math.max(block?.confirmations ?? 0, 0)))],
    ['Fee', text(inputs.includes(undefined) ? 'none' : `${coins(network, paid)}, ${transaction.vsize} vbytes`)],
  ];
  const from = inputs.map((input) =>
    input === undefined
      ? [text('new coins'), text('-'), text('-')]
      : [
          text(coins(network, satoshis(input.output))),
          owner(network, input.output.scriptPubKey),
          link(`/explorer/${network.name}/tx/${input.txid}`, `${input.txid}:${input.output.n}`),
        ],
  );
  const to = transaction.vout.map((output) => [text(String(output.n)), text(coins(network, satoshis(output))), owner(network, output.scriptPubKey)]);
  const moved = markup`<h2>Inputs</h2>${table(['Amount', 'From', 'Output spent'], from)}<h2>Outputs</h2>${table(['Number', 'Amount', 'To'], to)}`;
  return page(network, 'Transaction', txid, markup`${factTable(facts)}${moved}`);
}

/** The output an input spends; undefined for the one input of a coinbase, which makes coins. */
async function spentOutput(node: BitcoinNode, { txid, vout }: Transaction['vin'][number]): Promise<{ txid: string; output: Output } | undefined> {
  if (txid === undefined) return undefined;
  const { vout: outputs } = await node.call<Transaction>('getrawtransaction', [txid, true]);
  const output = outputs.find(({ n }) => n === vout);
  return output === undefined ? undefined : { txid, output };
}

async function blockPage({ network, node }: Local, height: number): Promise<Page> {
  const hash = await find<string>(node, 'getblockhash', [height]);
  if (hash === undefined) return unknown(network, 'block', String(height));
  const block = await node.call<Block>('getblock', [hash, 1]);
  const facts: [string, Html][] = [
    ['Hash', code(block.hash)],
    ['Parent', block.previousblockhash === undefined ? text('-') : markup`${blockLink(network, height - 1)} ${code(block.previousblockhash)}`],
    ['Time', time(block.time)],
    ['Confirmations', text(String(block.confirmations))],
    ['Transactions', text(String(block.tx.length))],
  ];
  const list = block.tx.map((txid) => [link(`/explorer/${network.name}/tx/${txid}`, txid)]);
  return page(network, 'Block', String(height), markup`${factTable(facts)}${table(['Transaction'], list)}`);
}

async function addressPage({ network, chain }: Local, holder: string): Promise<Page> {
  const balance = await chain.balance(holder, null);
  return page(network, 'Address', holder, table(['Asset', 'Balance'], [[text(network.nativeSymbol), text(units(balance, 8))]]));
}

/** What the node knows; undefined for what it does not. */
async function find<T>(node: BitcoinNode, method: string, params: unknown[]): Promise<T | undefined> {
  return node.call<T>(method, params).catch((error: unknown) => {
    if (error instanceof RpcRefused) return undefined;
    throw error;
  });
}

/** The address behind a script, or what kind of script it is. */
function owner(network: NetworkConfig, { address, type }: Script): Html {
  return address !== undefined && codecOf(network).parse(address).ok ? addressLink(network, address) : text(type);
}

function satoshis({ value }: Output): bigint {
  return satoshisOf(value) ?? 0n;
}

function sum(outputs: readonly (Output | undefined)[]): bigint {
  return outputs.reduce((total, output) => total + (output === undefined ? 0n : satoshis(output)), 0n);
}

function coins(network: NetworkConfig, raw: bigint): string {
  return `${units(raw, 8)} ${network.nativeSymbol}`;
}
