import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { scriptOfAddress } from '#shared/chains/bitcoin/address.ts';
import { satoshisOf } from '#shared/chains/bitcoin/json.ts';
import { bitcoinParams } from '#shared/chains/bitcoin/params.ts';
import { RpcRefused } from '#shared/chains/rpc.ts';
import { formatAmount, fromUnits } from '#shared/core/money.ts';
import { bitcoinControl } from '#ops/devnet/bitcoin/control.ts';
import { FAUCET_WALLET, FIRST_BLOCKS } from '#ops/devnet/bitcoin/demo.ts';
import { bitcoinPages } from './explorer/bitcoin.ts';
import { type LocalChain, type LocalFamily, MINED_WITHIN_MS } from './local-chain.ts';
import { type BitcoinNode, bitcoinNode, startBitcoinService } from './services/bitcoin-node.ts';
import { orStop } from './services/child.ts';
import { unlessAborted, waitFor } from './services/wait.ts';

/** Where blocks and their fees go once the faucet is full: an address of no key. */
const NOBODY = 'bcrt1qtjp2g8g9dcd6pdr92uelwsa8svhnff8fz26d0k';
/** Where demo cashouts go: a taproot and a witness key hash address, of no keys. */
const OUTSIDER = 'bcrt1p2zffkaxp5py4fdutfdsrt6t6tcrc5ks09rkfd428hlhf4n5q8tqq5az5cr';
const OTHER_OUTSIDER = 'bcrt1qqstmcaz4szxl3lkkqvnzvs2jdmctzstxyalc32';
/** The chain behind a Bitcoin node, paid from with the node's own wallet. */
export function bitcoinChain(node: BitcoinNode): LocalChain {
  return {
    async pay(recipient, contract, rawAmount) {
      if (contract !== null) throw new Error('there are no tokens on Bitcoin');
      return node.call<string>('sendtoaddress', [recipient, inCoins(rawAmount)]);
    },
    payTogether: (recipient, rawAmounts) => payTogether(node, recipient, rawAmounts),
    async mined(txid) {
      await waitFor(async () => (await node.call<{ confirmations?: number }>('getrawtransaction', [txid, true])).confirmations, {
        what: `transaction ${txid} to be mined`,
        timeoutMs: MINED_WITHIN_MS,
      });
    },
    balance: (address) => balanceOf(node, address),
    async blockHash(height) {
      return height > (await node.height()) ? undefined : node.call<string>('getblockhash', [height]);
    },
    identity: async () => (await node.call<{ chain: string }>('getblockchaininfo')).chain,
  };
}

/** The node writes amounts as decimals of whole coins, and takes them as text. */
function inCoins(satoshis: bigint): string {
  return formatAmount(fromUnits(satoshis, 8));
}

/** Wallets of nodes refuse to pay one address twice, so the outputs are written here; the wallet adds inputs, change and signatures. */
async function payTogether(node: BitcoinNode, recipient: string, rawAmounts: readonly bigint[]): Promise<string> {
  const script = Buffer.from(scriptOfAddress(recipient, bitcoinParams('regtest')), 'hex');
  const outputs = rawAmounts.map((rawAmount) => {
    const value = Buffer.alloc(8);
    value.writeBigUInt64LE(rawAmount);
    return Buffer.concat([value, Buffer.from([script.length]), script]);
  });
  // Version 2, no input yet, the outputs, no lock time.
  const unfunded = Buffer.concat([Buffer.from([2, 0, 0, 0, 0, outputs.length]), ...outputs, Buffer.alloc(4)]);
  const { hex } = await node.call<{ hex: string }>('fundrawtransaction', [unfunded.toString('hex'), {}, false]);
  const signed = await node.call<{ hex: string }>('signrawtransactionwithwallet', [hex]);
  return node.call<string>('sendrawtransaction', [signed.hex]);
}

/** Satoshis at an address by the node's set of unspent outputs, which it looks through for one caller at a time. */
async function balanceOf(node: BitcoinNode, address: string): Promise<bigint> {
  const scanned = await waitFor(() => node.call<{ total_amount: unknown }>('scantxoutset', ['start', [`addr(${address})`]]), {
    what: `the coins at ${address}`,
  });
  const found = satoshisOf(scanned.total_amount);
  if (found === undefined) throw new Error(`the node tells no amount for ${address}`);
  return found;
}

/** Opens the wallet that everything is paid from, and gives it the coins of the first blocks on a chain that has none. */
async function fillFaucet(node: BitcoinNode): Promise<void> {
  if (!(await node.call<string[]>('listwallets')).includes(FAUCET_WALLET))
    await node.call('loadwallet', [FAUCET_WALLET]).catch((error: unknown) => {
      if (error instanceof RpcRefused) return node.call('createwallet', [FAUCET_WALLET]);
      throw error;
    });
  const height = await node.height();
  if (height >= FIRST_BLOCKS) return;
  // Made in the past: blocks that come at once carry later and later times, and none may lie ahead of the clock for long.
  await node.call('setmocktime', [Math.floor(Date.now() / 1_000) - FIRST_BLOCKS]);
  await node.call('generatetoaddress', [FIRST_BLOCKS - height, await node.call<string>('getnewaddress', ['', 'bech32'])]);
  await node.call('setmocktime', [0]);
}

/**
 * Mines a block every so often at the time of the service clock, `ahead.seconds` before the machine's; where somebody moved the
 * chain further ahead (POST /clock/advance), its own time is followed. No block while the node was told to stop mining. Answers how to stop.
 */
function mineBySeconds(node: BitcoinNode, { blockSeconds, ahead, isStopped }: Mining): () => Promise<void> {
  const stopping = new AbortController();
  let seen = -1;
  const mine = async (): Promise<void> => {
    if (await isStopped()) return;
    const wall = Math.floor(Date.now() / 1_000);
    const tip = await node.call<Header>('getblockheader', [await node.call<string>('getbestblockhash')]);
    if (seen === -1) seen = tip.height - 1;
    // Not the tip alone: a block of ours may have come on top of the one that moved the time.
    for (let block = tip; block.height > seen && block.previousblockhash !== undefined; ) {
      await ahead.atLeast(block.time - wall);
      block = await node.call<Header>('getblockheader', [block.previousblockhash]);
    }
    seen = tip.height;
    if (ahead.seconds() > 0) await node.call('setmocktime', [wall + ahead.seconds()]);
    await node.call('generatetoaddress', [1, NOBODY]);
  };
  const mining = (async () => {
    while (!stopping.signal.aborted) {
      // A node that does not answer now is asked again for the next block.
      await mine().catch(() => undefined);
      await pause(blockSeconds * 1_000, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();
  return async () => {
    stopping.abort();
    await mining;
  };
}

interface Mining {
  blockSeconds: number;
  ahead: Ahead;
  isStopped(): Promise<boolean>;
}

interface Header {
  height: number;
  time: number;
  previousblockhash?: string;
}

/** How far a chain's time is ahead of the machine's. */
interface Ahead {
  seconds(): number;
  atLeast(seconds: number): Promise<void>;
}

/** Kept beside the chain: a node refuses to open one whose last block is hours ahead of its clock. */
async function openAhead(path: string): Promise<Ahead> {
  let seconds = Number(await readFile(path, 'utf8').catch(() => '0'));
  return {
    seconds: () => seconds,
    async atLeast(wanted) {
      if (wanted <= seconds) return;
      seconds = wanted;
      await writeFile(path, String(seconds));
    },
  };
}

/** Bitcoin chains on this machine: the node of ops/devnet/bitcoin as a process of its own, or the bitcoind that BITCOIND_BIN names. */
export const bitcoinFamily: LocalFamily = {
  outsider: OUTSIDER,
  otherOutsider: OTHER_OUTSIDER,
  walletCoins: 1n,
  open: (url) => bitcoinChain(bitcoinNode(url)),
  pages: (network, url) => bitcoinPages(network, bitcoinNode(url), bitcoinFamily.open(url)),
  async start({ keptAt, ...options }) {
    const ahead = await openAhead(`${keptAt}.ahead`);
    const { service, url, real } = await startBitcoinService({ ...options, folder: keptAt, aheadSeconds: ahead.seconds() });
    const node = bitcoinNode(url);
    await orStop(service, () => unlessAborted(options.signal, () => fillFaucet(node)));
    let stopMining = async (): Promise<void> => undefined;
    return {
      ...bitcoinChain(node),
      url,
      service,
      async startMining({ blockSeconds, serviceNow }) {
        // A service clock that was advanced in an earlier run: block times must not fall behind.
        await ahead.atLeast(Math.floor((serviceNow.getTime() - Date.now()) / 1_000));
        const isStopped = async (): Promise<boolean> => !real && (await bitcoinControl(url).status()).stopped;
        stopMining = mineBySeconds(node, { blockSeconds, ahead, isStopped });
      },
      async stop() {
        // A node that hangs ends the mining only by being stopped.
        await Promise.all([stopMining(), service.stop()]);
      },
    };
  },
};
