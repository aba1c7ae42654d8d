import type { AssetConfig, NetworkConfig } from '#shared/core/assets.ts';
import { formatAmount, fromUnits } from '#shared/core/money.ts';
import type { LocalNetworks } from './local-networks.ts';
import { callData, type EvmNode, hex } from './services/evm-node.ts';

/** A page and the status it is answered with. */
export interface Page {
  status: 200 | 404;
  html: string;
}

interface RpcTransaction {
  hash: string;
  from: string;
  to: string | null;
  value: string;
  nonce: string;
}

interface RpcReceipt {
  status: string;
  blockNumber: string;
  blockHash: string;
  contractAddress: string | null;
  gasUsed: string;
  effectiveGasPrice: string;
  logs: { address: string; topics: string[]; data: string }[];
}

interface RpcBlock {
  number: string;
  hash: string;
  parentHash: string;
  timestamp: string;
  transactions: string[];
}

/** One local chain as its pages see it. */
interface Local {
  network: NetworkConfig;
  node: EvmNode;
}

/** keccak256('Transfer(address,address,uint256)'). */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const BALANCE_OF = '70a08231';

/**
 * The pages behind the explorer links of local chains: `/explorer/<network>/tx/<hash>`, `…/block/<height>` and
 * `…/address/<address>`. What the chain does not know is a page with status 404; undefined for any other path.
 */
export async function explorerPage(local: Pick<LocalNetworks, 'networks' | 'chains'> | undefined, path: string): Promise<Page | undefined> {
  const match = /^\/explorer\/([a-z0-9-]{1,64})\/(tx|block|address)\/([0-9a-fA-Fx]{1,66})$/.exec(path);
  const [, name = '', kind, id = ''] = match ?? [];
  const node = local?.chains.get(name)?.node;
  const network = local?.networks.find((one) => one.name === name);
  if (node === undefined || network === undefined) return undefined;
  const chain = { network, node };
  const key = id.toLowerCase();
  if (kind === 'tx' && /^0x[0-9a-f]{64}$/.test(key)) return transactionPage(chain, key);
  if (kind === 'block' && /^\d{1,15}$/.test(key)) return blockPage(chain, Number(key));
  if (kind === 'address' && /^0x[0-9a-f]{40}$/.test(key)) return addressPage(chain, key);
  return undefined;
}

async function transactionPage(chain: Local, txid: string): Promise<Page> {
  const { network, node } = chain;
  const [transaction, receipt, height] = await Promise.all([
    node.call<RpcTransaction | null>('eth_getTransactionByHash', [txid]),
    node.call<RpcReceipt | null>('eth_getTransactionReceipt', [txid]),
    node.height(),
  ]);
  if (transaction === null) return unknown(network, 'transaction', txid);
  const block = receipt === null ? null : await node.call<RpcBlock | null>('eth_getBlockByNumber', [receipt.blockNumber, false]);
  const included = receipt === null || block === null ? null : { receipt, block, confirmations: height - Number(receipt.blockNumber) + 1 };
  const facts: [string, Html][] = [
    ['Status', text(receipt === null ? 'waiting to be mined' : receipt.status === '0x1' ? 'succeeded' : 'failed')],
    ['Block', included === null ? text('none yet') : markup`${blockLink(network, Number(included.block.number))} at ${time(included.block.timestamp)}`],
    ['Confirmations', text(included === null ? '0' : String(included.confirmations))],
    ['From', addressLink(network, transaction.from)],
    ['To', transaction.to === null ? markup`${addressLink(network, receipt?.contractAddress ?? null)} (created)` : addressLink(network, transaction.to)],
    ['Value', text(`${units(transaction.value, 18)} ${network.nativeSymbol}`)],
    ['Fee', text(receipt === null ? 'unknown' : `${units(BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice), 18)} ${network.nativeSymbol}`)],
    ['Nonce', text(String(Number(transaction.nonce)))],
  ];
  const transfers = (receipt?.logs ?? []).flatMap((log) => transferRow(network, log));
  const moved = transfers.length === 0 ? markup`` : markup`<h2>Token transfers</h2>${table(['Amount', 'From', 'To', 'Contract'], transfers)}`;
  return page(network, 'Transaction', txid, markup`${factTable(facts)}${moved}`);
}

/** A fungible token's transfer; an event of the same name that carries no plain amount (a collectible's) is not one. */
function transferRow(network: NetworkConfig, { address, topics, data }: RpcReceipt['logs'][number]): Html[][] {
  const [event, from, to] = topics;
  if (event !== TRANSFER || topics.length !== 3 || from === undefined || to === undefined || !/^0x[0-9a-f]{64}$/.test(data)) return [];
  const asset = network.assets.find((one) => one.contract?.toLowerCase() === address.toLowerCase());
  const amount = asset === undefined ? `${BigInt(data)} units` : `${units(data, asset.decimals)} ${asset.symbol}`;
  return [[text(amount), addressLink(network, addressIn(from)), addressLink(network, addressIn(to)), addressLink(network, address)]];
}

async function blockPage({ network, node }: Local, number: number): Promise<Page> {
  const [block, height] = await Promise.all([node.call<RpcBlock | null>('eth_getBlockByNumber', [hex(BigInt(number)), false]), node.height()]);
  if (block === null) return unknown(network, 'block', String(number));
  const facts: [string, Html][] = [
    ['Hash', code(block.hash)],
    ['Parent', number === 0 ? code(block.parentHash) : markup`${blockLink(network, number - 1)} ${code(block.parentHash)}`],
    ['Time', time(block.timestamp)],
    ['Confirmations', text(String(height - number + 1))],
    ['Transactions', text(String(block.transactions.length))],
  ];
  const list = block.transactions.map((txid) => [link(`/explorer/${network.name}/tx/${txid}`, txid)]);
  return page(network, 'Block', String(number), markup`${factTable(facts)}${list.length === 0 ? markup`` : table(['Transaction'], list)}`);
}

async function addressPage({ network, node }: Local, address: string): Promise<Page> {
  const balances = await Promise.all(network.assets.map((asset) => balanceOf(node, address, asset)));
  const sent = await node.call<string>('eth_getTransactionCount', [address, 'latest']);
  const rows = network.assets.map((asset, index) => [text(asset.symbol), text(units(balances[index] ?? 0n, asset.decimals))]);
  return page(network, 'Address', address, markup`${factTable([['Transactions sent', text(String(Number(sent)))]])}${table(['Asset', 'Balance'], rows)}`);
}

async function balanceOf(node: EvmNode, address: string, { contract }: AssetConfig): Promise<bigint> {
  if (contract === null) return BigInt(await node.call<string>('eth_getBalance', [address, 'latest']));
  const answer = await node.call<string>('eth_call', [{ to: contract, data: callData(BALANCE_OF, address) }, 'latest']);
  return answer === '0x' ? 0n : BigInt(answer);
}

/** HTML that is safe to send: made by `markup` and the functions below only. */
interface Html {
  html: string;
}

/** Joins safe pieces; a plain string cannot get in. */
function markup(parts: TemplateStringsArray, ...pieces: Html[]): Html {
  return { html: parts.map((part, index) => part + (pieces[index]?.html ?? '')).join('') };
}

function text(value: string): Html {
  return { html: value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;') };
}

function code(value: string): Html {
  return markup`<code>${text(value)}</code>`;
}

function link(path: string, label: string): Html {
  return markup`<a href="${text(path)}"><code>${text(label)}</code></a>`;
}

function addressLink(network: NetworkConfig, address: string | null): Html {
  return address === null ? text('-') : link(`/explorer/${network.name}/address/${address.toLowerCase()}`, address);
}

function blockLink(network: NetworkConfig, number: number): Html {
  return link(`/explorer/${network.name}/block/${number}`, String(number));
}

function time(seconds: string): Html {
  return text(new Date(Number(seconds) * 1_000).toISOString());
}

function factTable(rows: [string, Html][]): Html {
  return { html: `<table>${rows.map(([name, value]) => `<tr><th scope="row">${text(name).html}</th><td>${value.html}</td></tr>`).join('')}</table>` };
}

function table(header: string[], rows: Html[][]): Html {
  const head = header.map((name) => `<th scope="col">${text(name).html}</th>`).join('');
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell.html}</td>`).join('')}</tr>`).join('');
  return { html: `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>` };
}

function page(network: NetworkConfig, kind: string, id: string, body: Html, status: Page['status'] = 200): Page {
  const { html } = markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${text(`${kind} ${id}`)}</title>
<style>body{font:1rem/1.5 sans-serif;margin:2rem;overflow-wrap:anywhere}th{text-align:left;padding-right:1.5rem;vertical-align:top;white-space:nowrap}</style></head>
<body><h1>${text(kind)}</h1><p>${text(network.name)}, a local chain: nothing here is real money.</p><p>${code(id)}</p>${body}</body></html>
`;
  return { status, html };
}

function unknown(network: NetworkConfig, kind: string, id: string): Page {
  return page(network, `Unknown ${kind}`, id, markup`<p>This chain does not know it (any more).</p>`, 404);
}

/** The address in the last 20 bytes of a topic. */
function addressIn(topic: string): string {
  return `0x${topic.slice(-40)}`;
}

function units(raw: string | bigint, decimals: number): string {
  return formatAmount(fromUnits(BigInt(raw), decimals));
}
