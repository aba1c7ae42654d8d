import { createChain } from './chain.ts';
import { createChainState, type Entry } from './chain-state.ts';
import { type TronControl, tronControl } from './control.ts';
import { controlHandler, miningTimer } from '../control-server.ts';
import { noFaults } from '../faults.ts';
import { controlVerbs } from './control-server.ts';
import { beginChain } from './genesis.ts';
import { listen } from '../http.ts';
import { type Journal, openJournal } from '../journal.ts';
import { HONEST, type TronNode } from './node.ts';
import { serve } from './server.ts';

export interface TronNodeOptions {
  /** On 127.0.0.1; any free one when absent. */
  port?: number;
  /** Where the chain is kept; in memory only when absent. */
  folder?: string;
  /** A block every so many seconds; mined by control only when absent. */
  intervalSeconds?: number;
  /** Blocks the solidified side stays behind the head, on a new chain; 1 when absent. */
  solidLag?: number;
  /** Unix milliseconds of block 0 of a new chain; its id depends on it. Now when absent. */
  genesisTimeMs?: number;
  /** Unix milliseconds; the machine's clock when absent. */
  clock?: () => number;
}

export interface RunningTronNode {
  url: string;
  control: TronControl;
  stop(): Promise<void>;
}

/** Starts a local TRON node: the full-node and solidity HTTP API, and the control below `/dev/`. */
export async function startTronNode(options: TronNodeOptions = {}): Promise<RunningTronNode> {
  const clock = options.clock ?? Date.now;
  const journal = options.folder === undefined ? null : openJournal<Entry>(options.folder);
  const state = restore(journal, options, clock);
  const chain = createChain(state, clock);
  // A block of number 0 has no `number` in its JSON, which clients do not expect of a head: no real node is ever asked there.
  if (state.head().number === 0) chain.mine(state.settings.solidLag + 1);
  const node: TronNode = { chain, behaviour: { ...HONEST }, refused: new Set() };
  const faults = noFaults();
  const timer = miningTimer(() => node.chain.mine(1));
  const server = serve(node, faults, controlHandler(controlVerbs(node, faults, timer)));
  const { port, close } = await listen(server, options.port);
  if (options.intervalSeconds !== undefined) timer.start(options.intervalSeconds);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    control: tronControl(url),
    stop: async () => {
      timer.stop();
      await close();
      journal?.close();
    },
  };
}

function restore(journal: Journal<Entry> | null, options: TronNodeOptions, clock: () => number): ReturnType<typeof createChainState> {
  const state = createChainState((entry) => {
    journal?.append(entry);
    if (journal?.grown()) journal.compact(state.entries());
  });
  for (const entry of journal?.found ?? []) state.replay(entry);
  if (state.blocks.length === 0) {
    beginChain(state, BigInt(options.genesisTimeMs ?? clock()));
    state.set({ solidLag: options.solidLag ?? 1 });
  } else journal?.compact(state.entries());
  return state;
}
