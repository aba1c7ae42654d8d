import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initEccLib } from 'bitcoinjs-lib';
import * as ecc from 'tiny-secp256k1';
import { type BitcoinNode, bitcoinNode, startBitcoinService } from '#ops/dev/services/bitcoin-node.ts';
import { freePort } from '#ops/dev/services/wait.ts';
import type { BitcoinControl } from '#ops/devnet/bitcoin/control.ts';
import { addressOf } from '#ops/devnet/bitcoin/script.ts';
import { startBitcoinNode } from '#ops/devnet/bitcoin/start.ts';
import { aPurse, type Purse } from './bitcoin-purse.ts';
import type { ChainOptions, CommonChain } from './chain.ts';

initEccLib(ecc);

/** A local Bitcoin chain on the node of ops/devnet/bitcoin, or on the bitcoind that BITCOIND_BIN names. */
export interface BitcoinChain extends CommonChain {
  node: BitcoinNode;
  /** What no RPC of a real node does; null on one. */
  control: BitcoinControl | null;
  /** The faucet's key and coins: pays several at once, replaces, signs what is asked. */
  purse: Purse;
  /** Sends signed bytes and answers the id. */
  send(hex: string): Promise<string>;
  /** Mines one block of exactly these transactions (ids of waiting ones, or raw bytes) and answers its hash. */
  mineOnly(transactions: readonly string[]): Promise<string>;
  /** Loses waiting transactions and what spends them: accepted is not mined. */
  forget(txids: readonly string[]): Promise<void>;
  /** Somebody else's coins: a purse of its own key with a confirmed coin in it. */
  aPayer(rawAmount: bigint): Promise<Purse>;
}

/** Bitcoin for the deployment's own wallets, for fees and cashouts. */
const WALLET_SATOSHIS = 100_000_000n;
const FAUCET_KEY = new Uint8Array(32).fill(7);
const OUTSIDER = 'bcrt1qqstmcaz4szxl3lkkqvnzvs2jdmctzstxyalc32';
/** Rewards that may be spent at once: 3,000 bitcoin. */
const RIPE = 60;
const MATURITY = 100;
/** Longer than a node keeps what waits. */
const EXPIRY_SECONDS = 15 * 86_400;

/** A local Bitcoin chain on a free port with a rich faucet, mining one block per transaction, or one every `blockSeconds` (0: only by `mine`). */
export async function aBitcoinChain(options: ChainOptions = {}): Promise<BitcoinChain> {
  const running = await start(options.port);
  const node = bitcoinNode(running.url);
  const purse = aPurse(node, FAUCET_KEY);
  const miner = randomAddress();
  const mine = async (blocks = 1): Promise<void> => {
    await node.call('generatetoaddress', [blocks, miner]);
  };
  const forget = async (txids: readonly string[]): Promise<void> => {
    if (txids.length === 0) return;
    if (running.control === null) await outlive(node, purse, new Set(txids));
    else await running.control.forget([...txids]);
  };
  // In the past, so that the clock is where the last block is.
  await node.call('setmocktime', [Math.floor(Date.now() / 1_000) - RIPE - MATURITY]);
  await node.call('generatetoaddress', [RIPE, purse.address]);
  await node.call('generatetoaddress', [MATURITY, miner]);
  await node.call('setmocktime', [0]);
  await purse.look();
  const minesItself = options.blockSeconds !== undefined;
  const pay = async (to: string, contract: string | null, rawAmount: bigint): Promise<string> => {
    if (contract !== null) throw new Error('there are no tokens on Bitcoin');
    const { txid } = await purse.pay([{ to, rawAmount }]);
    if (!minesItself) await mine();
    return txid;
  };
  if (options.fund !== undefined && options.fund.length > 0) {
    await purse.pay(options.fund.map((to) => ({ to, rawAmount: WALLET_SATOSHIS })));
    await mine();
  }
  const timer = options.blockSeconds ? setInterval(() => void mine().catch(() => undefined), options.blockSeconds * 1_000) : undefined;
  const chain: BitcoinChain = {
    family: 'bitcoin',
    url: running.url,
    node,
    control: running.control,
    purse,
    tokens: {},
    faucet: purse.address,
    outsider: OUTSIDER,
    mine,
    pay,
    async payAndMine(to, contract, rawAmount) {
      const txid = await pay(to, contract, rawAmount);
      if (minesItself) await mine();
      return txid;
    },
    mint: () => Promise.reject(new Error('there are no tokens on Bitcoin')),
    tokenBalance: () => Promise.reject(new Error('there are no tokens on Bitcoin')),
    balance: (address) => purse.balanceOf(address),
    async reorg(depth, transactions = []) {
      const height = await node.height();
      const lowest = await node.call<string>('getblockhash', [height - depth + 1]);
      const before = new Set(await node.call<string[]>('getrawmempool'));
      await node.call('invalidateblock', [lowest]);
      const other = randomAddress();
      for (let at = 0; at < depth; at += 1) {
        const given = transactions.filter(({ block }) => block === at).map(({ transaction }) => String(transaction));
        await node.call('generateblock', [other, given]);
      }
      await forget((await node.call<string[]>('getrawmempool')).filter((txid) => !before.has(txid)));
    },
    forget,
    headHash: () => node.call('getbestblockhash'),
    send: (hex) => node.call('sendrawtransaction', [hex, 0]),
    mineOnly: async (transactions) => (await node.call<{ hash: string }>('generateblock', [miner, transactions])).hash,
    async aPayer(rawAmount) {
      const payer = aPurse(node, new Uint8Array(randomBytes(32)));
      await purse.pay([{ to: payer.address, rawAmount }]);
      await mine();
      await payer.look();
      return payer;
    },
    async stop() {
      clearInterval(timer);
      await running.stop();
    },
  };
  return chain;
}

interface Running {
  url: string;
  control: BitcoinControl | null;
  stop(): Promise<void>;
}

async function start(port: number | undefined): Promise<Running> {
  if (!process.env.BITCOIND_BIN) return startBitcoinNode(port === undefined ? {} : { port });
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bitcoind-'));
  const { service, url } = await startBitcoinService({ root: process.cwd(), port: port ?? (await freePort()), folder, log: () => undefined });
  return {
    url,
    control: null,
    async stop() {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Makes a real node lose transactions: it looks for what is older than two weeks whenever something comes, so something comes
 * in two weeks. What else waited is sent again. The clock is the machine's afterwards.
 */
async function outlive(node: BitcoinNode, purse: Purse, lost: ReadonlySet<string>): Promise<void> {
  const waiting = await node.call<string[]>('getrawmempool');
  const others = await Promise.all(waiting.filter((txid) => !lost.has(txid)).map((txid) => node.call<string>('getrawtransaction', [txid])));
  await node.call('setmocktime', [Math.floor(Date.now() / 1_000) + EXPIRY_SECONDS]);
  await purse.pay([{ to: purse.address, rawAmount: 10_000n }]);
  await node.call('setmocktime', [0]);
  for (const hex of others) await node.call('sendrawtransaction', [hex, 0]);
}

/** An address of no key, another one every time: blocks of a new branch pay somebody else, or they might be the old ones again. */
function randomAddress(): string {
  return addressOf(Uint8Array.of(0x00, 0x14, ...randomBytes(20))) ?? '';
}
