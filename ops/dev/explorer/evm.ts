import type { AssetConfig, NetworkConfig } from '#shared/core/assets.ts';
import { callData, type EvmNode, hex } from '../services/evm-node.ts';
import {
  addressLink,
  blockLink,
  code,
  factTable,
  type Html,
  link,
  markup,
  type Page,
  type Pages,
  page,
  table,
  text,
  time,
  TRANSFER,
  units,
  unknown,
} from './html.ts';

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

const BALANCE_OF = '70a08231';

/** The pages of a local EVM chain. */
export function evmPages(network: NetworkConfig, node: EvmNode): Pages {
  const chain = { network, node };
  return async (kind, id) => {
    const key = id.toLowerCase();
    if (kind === 'tx' && /^0x[0-9a-f]{64}$/.test(key)) return transactionPage(chain, key);
    if (kind === 'block' && /^\d{1,15}$/.test(key)) return blockPage(chain, Number(key));
    if (kind === 'address' && /^0x[0-9a-f]{40}$/.test(key)) return addressPage(chain, key);
    return undefined;
  };
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
    ['From', addressLink(network, lower(transaction.from))],
    [
      'To',
      transaction.to === null
        ? markup`${addressLink(network, lower(receipt?.contractAddress ?? null))} (created)`
        : addressLink(network, lower(transaction.to)),
    ],
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
  if (event !== `0x${TRANSFER}` || topics.length !== 3 || from === undefined || to === undefined || !/^0x[0-9a-f]{64}$/.test(data)) return [];
  const asset = network.assets.find((one) => one.contract?.toLowerCase() === address.toLowerCase());
  const amount = asset === undefined ? `${BigInt(data)} units` : `${units(data, asset.decimals)} ${asset.symbol}`;
  return [[text(amount), addressLink(network, addressIn(from)), addressLink(network, addressIn(to)), addressLink(network, lower(address))]];
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

/** The address in the last 20 bytes of a topic. */
function addressIn(topic: string): string {
  return `0x${topic.slice(-40)}`.toLowerCase();
}

function lower(address: string | null): string | null {
  return address === null ? null : address.toLowerCase();
}
