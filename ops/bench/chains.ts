import { deployDemoTokens, FAUCET, fillFaucet } from '#ops/dev/local-evm.ts';
import { startAnvil } from '#ops/dev/services/anvil.ts';
import { bitcoinNode } from '#ops/dev/services/bitcoin-node.ts';
import { transferData } from '#ops/dev/services/evm-node.ts';
import { startBitcoinNode } from '#ops/devnet/bitcoin/start.ts';
import { DEMO_TRON_TOKENS } from '#ops/devnet/tron/demo.ts';
import { payLocally } from '#ops/devnet/tron/send.ts';
import { startTronNode } from '#ops/devnet/tron/start.ts';
import type { Family } from '#shared/core/assets.ts';
import { addressOf, strangerHex, watchedHex } from './watched.ts';

/** How much happens on a chain that is made for a bench. */
export interface Traffic {
  blocks: number;
  perBlock: number;
  /** One transfer of so many goes to a watched address. */
  oneIn: number;
  /** How many addresses of the first ones are paid to, in turn. */
  recipients: number;
  /** Blocks before all of those, with a fifth of their traffic: whatever starts, connects and gets compiled does so there. */
  warmUp?: number;
  /** Leaves native coin out (EVM). */
  tokensOnly?: boolean;
}

/** What some blocks hold: transfers, those to watched addresses, and the sum of the raw amounts of these over all coins. */
export interface Tally {
  transfers: number;
  deposits: number;
  sum: bigint;
}

/** A local chain with traffic on it, and what of it concerns watched addresses. */
export interface BusyChain extends Tally {
  family: Family;
  url: string;
  /** Height of the last block. */
  head: number;
  /** First block with traffic. */
  first: number;
  /** First block after those to warm up with, and what is in the blocks from there on. */
  measuredFrom: number;
  measured: Tally;
  /** Pays one watched address and mines; for what is measured at the head. */
  payNow?(hex: string, rawAmount: bigint): Promise<void>;
  stop(): Promise<void>;
}

interface Payment {
  hex: string;
  rawAmount: bigint;
  /** Of several coins of a chain, the native one. */
  native: boolean;
}

const WARM_UP_SHARE = 1 / 5;

function blocksOf({ blocks, warmUp = 0 }: Traffic): number {
  return warmUp + blocks;
}

/** The payments of one block, those to warm up with included; every tenth is in native coin. */
function paymentsOf(block: number, { perBlock, oneIn, recipients, warmUp = 0, tokensOnly = false }: Traffic): (Payment & { ours: boolean })[] {
  return Array.from({ length: block < warmUp ? Math.ceil(perBlock * WARM_UP_SHARE) : perBlock }, (_, i) => {
    const n = block * perBlock + i;
    const ours = n % oneIn === 0;
    return {
      ours,
      hex: ours ? watchedHex((n / oneIn) % recipients) : strangerHex(n),
      rawAmount: BigInt(1_000 + n),
      native: !tokensOnly && (n % (10 * oneIn) === 0 || i % 10 === 9),
    };
  });
}

/** What is in the blocks of a chain whose first one with traffic is `first`. */
function talliesOf(traffic: Traffic, first: number): Pick<BusyChain, 'first' | 'measuredFrom' | 'measured' | keyof Tally> {
  const { warmUp = 0 } = traffic;
  return { first, ...tally(traffic, 0), measuredFrom: first + warmUp, measured: tally(traffic, warmUp) };
}

function tally(traffic: Traffic, from: number): Tally {
  const all = Array.from({ length: blocksOf(traffic) - from }, (_, i) => paymentsOf(from + i, traffic)).flat();
  const ours = all.filter((one) => one.ours);
  return { transfers: all.length, deposits: ours.length, sum: ours.reduce((sum, { rawAmount }) => sum + rawAmount, 0n) };
}

/** anvil with token and native transfers. */
export async function busyEvm(traffic: Traffic): Promise<BusyChain> {
  const anvil = await startAnvil({});
  const { node } = anvil;
  const { contracts } = await deployDemoTokens(node);
  await fillFaucet(node, { contracts });
  await node.call('evm_setAutomine', [false]);
  const first = (await node.height()) + 1;
  const send = async (payments: readonly Payment[]): Promise<void> => {
    const batch = payments.map(({ hex, rawAmount, native }, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'eth_sendTransaction',
      params: [
        native
          ? { from: FAUCET.address, to: `0x${hex}`, value: `0x${rawAmount.toString(16)}`, gas: '0x5208' }
          : { from: FAUCET.address, to: contracts.USDC, data: transferData(`0x${hex}`, rawAmount), gas: '0x186a0' },
      ],
    }));
    const response = await fetch(anvil.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(batch) });
    const refused = ((await response.json()) as { error?: { message: string } }[]).find(({ error }) => error !== undefined);
    if (refused?.error) throw new Error(refused.error.message);
  };
  for (let block = 0; block < blocksOf(traffic); block++) {
    await send(paymentsOf(block, traffic));
    await node.mine(1);
  }
  return {
    family: 'evm',
    url: anvil.url,
    head: await node.height(),
    ...talliesOf(traffic, first),
    async payNow(hex, rawAmount) {
      await send([{ hex, rawAmount, native: false }]);
      await node.mine(1);
    },
    stop: () => anvil.stop(),
  };
}

/** The TRON node of ops/devnet with TRC-20 and TRX transfers. */
export async function busyTron(traffic: Traffic): Promise<BusyChain> {
  const running = await startTronNode({});
  const { control, url } = running;
  const first = (await headOfTron(url)) + 1;
  for (let block = 0; block < blocksOf(traffic); block++) {
    await Promise.all(
      paymentsOf(block, traffic).map(({ hex, rawAmount, native }) =>
        payLocally(url, { to: addressOf('tron', hex), contract: native ? null : DEMO_TRON_TOKENS.USDC, raw: rawAmount }),
      ),
    );
    await control.mine(1);
  }
  // Its solid side stays a block behind.
  await control.mine(2);
  return { family: 'tron', url, head: await headOfTron(url), ...talliesOf(traffic, first), stop: () => running.stop() };
}

async function headOfTron(url: string): Promise<number> {
  const response = await fetch(`${url}/wallet/getnowblock`, { method: 'POST', body: '{}' });
  return ((await response.json()) as { block_header: { raw_data: { number: number } } }).block_header.raw_data.number;
}

/** Outputs of one transaction; a block holds as many transactions as its payments need. */
const OUTPUTS_PER_TRANSACTION = 10;

/** The Bitcoin node of ops/devnet, its faucet paying many at once. */
export async function busyBitcoin(traffic: Traffic): Promise<BusyChain> {
  const running = await startBitcoinNode({ faucet: true });
  const node = bitcoinNode(running.url);
  const miner = addressOf('bitcoin', strangerHex(0));
  const first = (await node.height()) + 1;
  for (let block = 0; block < blocksOf(traffic); block++) {
    const payments = paymentsOf(block, traffic);
    for (let at = 0; at < payments.length; at += OUTPUTS_PER_TRANSACTION) {
      const amounts = payments.slice(at, at + OUTPUTS_PER_TRANSACTION).map(({ hex, rawAmount }) => [addressOf('bitcoin', hex), satoshis(rawAmount)]);
      await node.call('sendmany', ['', Object.fromEntries(amounts)]);
    }
    await node.call('generatetoaddress', [1, miner]);
  }
  return { family: 'bitcoin', url: running.url, head: await node.height(), ...talliesOf(traffic, first), stop: () => running.stop() };
}

function satoshis(rawAmount: bigint): string {
  return `${rawAmount / 100_000_000n}.${(rawAmount % 100_000_000n).toString().padStart(8, '0')}`;
}
