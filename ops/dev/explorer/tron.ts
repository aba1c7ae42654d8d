import { tronAddress, toBase58 } from '#shared/chains/tron/address.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import type { LocalChain } from '../local-chain.ts';
import { heightOf, type TronNode } from '../services/tron-node.ts';
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

type Whole = number | bigint;

interface Transaction {
  txID?: string;
  ret?: { contractRet?: string }[];
  raw_data?: {
    contract?: {
      type?: string;
      parameter?: { value?: { owner_address?: string; to_address?: string; contract_address?: string; amount?: Whole; call_value?: Whole } };
    }[];
    expiration?: Whole;
  };
}

interface Info {
  id?: string;
  fee?: Whole;
  blockNumber?: number;
  blockTimeStamp?: number;
  result?: string;
  receipt?: { energy_usage_total?: Whole; net_usage?: Whole; net_fee?: Whole; result?: string };
  log?: { address: string; topics?: string[]; data?: string }[];
  internal_transactions?: {
    rejected?: boolean;
    caller_address: string;
    transferTo_address: string;
    callValueInfo?: { callValue?: Whole; tokenId?: string }[];
  }[];
}

/** One local chain as its pages see it. */
interface Local {
  network: NetworkConfig;
  node: TronNode;
  chain: Pick<LocalChain, 'balance'>;
}

/** The pages of a local TRON chain. */
export function tronPages(network: NetworkConfig, node: TronNode, chain: Pick<LocalChain, 'balance'>): Pages {
  const local = { network, node, chain };
  return async (kind, id) => {
    if (kind === 'tx' && /^[0-9a-fA-F]{64}$/.test(id)) return transactionPage(local, id.toLowerCase());
    if (kind === 'block' && /^\d{1,15}$/.test(id)) return blockPage(local, Number(id));
    if (kind === 'address' && tronAddress.parse(id).ok) return addressPage(local, id);
    return undefined;
  };
}

async function transactionPage({ network, node }: Local, txid: string): Promise<Page> {
  const [mined, pending, info, head] = await Promise.all([
    node.call<Transaction>('wallet/gettransactionbyid', { value: txid }),
    node.call<Transaction>('wallet/gettransactionfrompending', { value: txid }),
    node.call<Info>('wallet/gettransactioninfobyid', { value: txid }),
    node.head(),
  ]);
  const transaction = mined.txID === undefined ? pending : mined;
  const included = info.id === undefined ? undefined : { height: info.blockNumber ?? 0, seconds: (info.blockTimeStamp ?? 0) / 1_000 };
  const contract = transaction.raw_data?.contract?.[0];
  const value = contract?.parameter?.value ?? {};
  if (transaction.txID === undefined || contract === undefined) return unknown(network, 'transaction', txid);
  const coin = (sun: Whole | undefined): Html => text(`${units(BigInt(sun ?? 0), 6)} ${network.nativeSymbol}`);
  const facts: [string, Html][] = [
    ['Status', text(included === undefined ? 'waiting for a block' : outcome(transaction, info))],
    ['Block', included === undefined ? text('none yet') : markup`${blockLink(network, included.height)} at ${time(included.seconds)}`],
    ['Confirmations', text(included === undefined ? '0' : String(heightOf(head) - included.height + 1))],
    ['Kind', text(contract.type ?? '-')],
    ['From', address(network, value.owner_address)],
    ['To', address(network, value.to_address ?? value.contract_address)],
    ['Value', coin(contract.type === 'TransferContract' ? value.amount : value.call_value)],
    ['Fee', included === undefined ? text('unknown') : coin(info.fee)],
    ['Energy', text(String(info.receipt?.energy_usage_total ?? 0))],
    ['Bandwidth', text(info.receipt?.net_fee === undefined ? String(info.receipt?.net_usage ?? 0) : 'paid for')],
  ];
  const transfers = (info.log ?? []).flatMap((log) => transferRow(network, log));
  const moved = transfers.length === 0 ? markup`` : markup`<h2>Token transfers</h2>${table(['Amount', 'From', 'To', 'Contract'], transfers)}`;
  const calls = (info.internal_transactions ?? []).flatMap((one) => internalRows(network, one));
  const inside = calls.length === 0 ? markup`` : markup`<h2>Transfers by contracts</h2>${table(['Amount', 'From', 'To', 'Outcome'], calls)}`;
  return page(network, 'Transaction', txid, markup`${factTable(facts)}${moved}${inside}`);
}

function outcome(transaction: Transaction, info: Info): string {
  const result = transaction.ret?.[0]?.contractRet ?? info.receipt?.result ?? 'SUCCESS';
  return info.result === undefined && result === 'SUCCESS' ? 'succeeded' : `failed: ${result}`;
}

/** A fungible token's transfer; an event of the same name that carries no plain amount is not one. */
function transferRow(network: NetworkConfig, { address: contract, topics = [], data = '' }: NonNullable<Info['log']>[number]): Html[][] {
  const [event, from, to] = topics;
  if (event !== TRANSFER || topics.length !== 3 || from === undefined || to === undefined || !/^[0-9a-f]{64}$/.test(data)) return [];
  const asset = network.assets.find((one) => one.contract === base58(contract));
  const raw = BigInt(`0x${data}`);
  const amount = asset === undefined ? `${raw} units` : `${units(raw, asset.decimals)} ${asset.symbol}`;
  return [[text(amount), address(network, from.slice(-40)), address(network, to.slice(-40)), address(network, contract)]];
}

function internalRows(network: NetworkConfig, internal: NonNullable<Info['internal_transactions']>[number]): Html[][] {
  return (internal.callValueInfo ?? []).flatMap(({ callValue = 0, tokenId }) =>
    callValue === 0
      ? []
      : [
          [
            text(tokenId === undefined ? `${units(BigInt(callValue), 6)} ${network.nativeSymbol}` : `${callValue} of token ${tokenId}`),
            address(network, internal.caller_address),
            address(network, internal.transferTo_address),
            text(internal.rejected === true ? 'rejected' : 'moved'),
          ],
        ],
  );
}

async function blockPage({ network, node }: Local, number: number): Promise<Page> {
  const [block, head] = await Promise.all([node.block(number), node.head()]);
  if (block === null) return unknown(network, 'block', String(number));
  const { parentHash = '', timestamp = 0 } = block.block_header.raw_data;
  const transactions = block.transactions ?? [];
  const facts: [string, Html][] = [
    ['Hash', code(block.blockID)],
    ['Parent', number === 0 ? code(parentHash) : markup`${blockLink(network, number - 1)} ${code(parentHash)}`],
    ['Time', time(timestamp / 1_000)],
    ['Confirmations', text(String(heightOf(head) - number + 1))],
    ['Transactions', text(String(transactions.length))],
  ];
  const list = transactions.map(({ txID }) => [link(`/explorer/${network.name}/tx/${txID}`, txID)]);
  return page(network, 'Block', String(number), markup`${factTable(facts)}${list.length === 0 ? markup`` : table(['Transaction'], list)}`);
}

async function addressPage({ network, chain }: Local, holder: string): Promise<Page> {
  const balances = await Promise.all(network.assets.map(({ contract }) => chain.balance(holder, contract)));
  const rows = network.assets.map((asset, index) => [text(asset.symbol), text(units(balances[index] ?? 0n, asset.decimals))]);
  return page(network, 'Address', holder, table(['Asset', 'Balance'], rows));
}

/** An address as nodes write it, readable; whatever is none is shown as it came. */
function address(network: NetworkConfig, hex: string | undefined): Html {
  if (hex === undefined) return text('-');
  const readable = base58(hex);
  return readable === undefined ? text(hex) : addressLink(network, readable);
}

function base58(hex: string): string | undefined {
  return /^(41)?[0-9a-f]{40}$/.test(hex) ? toBase58(hex) : undefined;
}
