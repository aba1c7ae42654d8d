import { parseBlock } from './block.ts';
import { createChain } from './chain.ts';
import { type BitcoinControl, bitcoinControl } from './control.ts';
import { controlHandler, miningTimer } from '../control-server.ts';
import { noFaults } from '../faults.ts';
import { controlVerbs } from './control-server.ts';
import { BITCOIN_CREDENTIALS, FAUCET_WALLET, FIRST_BLOCKS } from './demo.ts';
import { listen } from '../http.ts';
import { type Journal, openJournal } from '../journal.ts';
import { createMempool } from './mempool.ts';
import { type BitcoinNode, type Clock, createNode, type Step } from './node.ts';
import { scriptOfAddress } from './script.ts';
import { serve } from './server.ts';
import { parseTx } from './transaction.ts';
import { createWallets } from './wallet.ts';

export interface BitcoinNodeOptions {
  /** On 127.0.0.1; any free one when absent. */
  port?: number;
  /** Where the chain is kept; in memory only when absent. */
  folder?: string;
  /** A block to the faucet wallet every so many seconds; only by RPC when absent. */
  intervalSeconds?: number;
  /** `user:password` of the RPC; `sluice:sluice` when absent. */
  credentials?: string;
  /** Begins a new chain with a wallet that has coins; otherwise it is as a real regtest node's: one block, no wallet. */
  faucet?: boolean;
  /** Unix milliseconds; the machine's clock when absent. */
  clock?: () => number;
}

export interface RunningBitcoinNode {
  /** With the credentials in it. */
  url: string;
  control: BitcoinControl;
  stop(): Promise<void>;
}

/** Starts a local Bitcoin node: bitcoind's JSON-RPC in regtest shape, and the control below `/dev/`. */
export async function startBitcoinNode(options: BitcoinNodeOptions = {}): Promise<RunningBitcoinNode> {
  const journal = options.folder === undefined ? null : openJournal<Step>(options.folder);
  const clock = createClock(options.clock ?? Date.now);
  const node = restored(journal, clock);
  if (options.faucet === true && node.chain.tip().height === 0) fillFaucet(node, clock);
  const timer = miningTimer(() => node.mine(faucetScript(node)));
  const faults = noFaults();
  const credentials = options.credentials ?? BITCOIN_CREDENTIALS;
  const server = serve({ node, faults, control: controlHandler(controlVerbs(node, faults, { timer, warp: clock.warp })), credentials });
  const { port, close } = await listen(server, options.port);
  if (options.intervalSeconds !== undefined) timer.start(options.intervalSeconds);
  const url = `http://${credentials}@127.0.0.1:${port}`;
  return {
    url,
    control: bitcoinControl(url),
    stop: async () => {
      timer.stop();
      await close();
      journal?.close();
    },
  };
}

interface MovableClock extends Clock {
  warp(seconds: number): void;
}

function createClock(machineClock: () => number): MovableClock {
  let mocked = 0;
  let offset = 0;
  return {
    now: () => (mocked > 0 ? mocked : Math.floor(machineClock() / 1000)) + offset,
    set: (unixSeconds) => {
      mocked = unixSeconds;
      offset = 0;
    },
    warp: (seconds) => {
      offset += seconds;
    },
  };
}

function restored(journal: Journal<Step> | null, clock: MovableClock): BitcoinNode {
  let replaying = true;
  const record = (step: Step): void => {
    if (!replaying) journal?.append(step);
  };
  const chain = createChain(() => replaying);
  const mempool = createMempool(chain, clock.now);
  const wallets = createWallets(chain, mempool, ({ name, issued }) => record({ wallet: name, addresses: issued }));
  const node = createNode({ chain, mempool, wallets, clock, record });
  for (const step of journal?.found ?? []) replay(node, step);
  replaying = false;
  return node;
}

/** Does again what a step says; what has become impossible (a transaction too old by now) is left out. */
function replay(node: BitcoinNode, step: Step): void {
  if ('block' in step) {
    const found = parseBlock(step.block);
    if (found !== null) node.take(found);
  } else if ('tx' in step) {
    const tx = parseTx(step.tx);
    if (tx !== null) node.mempool.repeat(tx, step.time);
  } else if ('wallet' in step) node.wallets.restore(step.wallet, step.addresses);
  else if ('forget' in step) node.mempool.forget(step.forget);
  else {
    const block = node.chain.find('invalidate' in step ? step.invalidate : step.reconsider);
    if (block !== undefined) 'invalidate' in step ? node.invalidate(block) : node.reconsider(block);
  }
}

/** Mines the first blocks a second apart, the last one now. */
function fillFaucet(node: BitcoinNode, clock: MovableClock): void {
  clock.warp(-FIRST_BLOCKS);
  for (let count = 0; count < FIRST_BLOCKS; count += 1) {
    clock.warp(1);
    node.mine(faucetScript(node));
  }
}

function faucetScript({ wallets }: BitcoinNode): Uint8Array {
  const wallet = wallets.open.get(FAUCET_WALLET) ?? wallets.create(FAUCET_WALLET);
  return scriptOfAddress(wallet.firstAddress) ?? new Uint8Array(0);
}
