import type { ControlApi, StatusAnswer } from './control-api.ts';
import { commonVerbs, type MiningTimer, type Verbs } from '../control-server.ts';
import { type Faults, noFaults } from '../faults.ts';
import type { FaultKind } from './faults.ts';
import type { BitcoinNode } from './node.ts';
import { parseTx, type Tx } from './transaction.ts';
import { sha256 } from './bytes.ts';

/** The machine around the node that control may turn. */
export interface Machine {
  timer: MiningTimer;
  warp(seconds: number): void;
}

/** Everything a test or a developer may do to the node beside its RPC. */
export function controlVerbs(node: BitcoinNode, faults: Faults<FaultKind>, machine: Machine): Verbs<ControlApi> {
  const { chain, mempool } = node;
  const status = (): StatusAnswer => ({
    height: chain.tip().height,
    hash: chain.tip().hash,
    now: node.now(),
    waiting: [...mempool.entries.keys()],
    stopped: machine.timer.stopped(),
  });
  return {
    ...commonVerbs(faults, machine.timer),
    reorg: ({ depth, transactions }) => ({ blocks: reorganise(node, depth, transactions) }),
    forget: ({ txids = [...mempool.entries.keys()] }) => {
      node.forget(txids);
      return {};
    },
    staleHead: ({ blocks }) => {
      node.behaviour.staleBlocks = blocks;
      return {};
    },
    recover: () => {
      Object.assign(faults, noFaults());
      node.behaviour.staleBlocks = 0;
      return {};
    },
    warp: ({ seconds }) => {
      machine.warp(seconds);
      return status();
    },
    status,
  };
}

function reorganise(node: BitcoinNode, depth: number, transactions: ControlApi['reorg']['takes']['transactions']): string[] {
  const { chain, mempool } = node;
  const lowest = chain.at(chain.tip().height - depth + 1);
  if (lowest === undefined || depth < 1 || lowest.height === 0) throw new Error(`there are no ${depth} blocks to replace`);
  const given = Array.isArray(transactions) ? transactions.map((block) => block.map(read)) : [];
  const waiting = new Set(mempool.entries.keys());
  // Blocks of a new branch pay somebody else, or they might be the old ones again.
  const script = Uint8Array.of(0x00, 0x14, ...sha256(Buffer.from(`${chain.tip().hash} ${depth}`)).subarray(0, 20));
  node.invalidate(lowest);
  if (transactions !== 'pool') node.forget([...mempool.entries.keys()].filter((txid) => !waiting.has(txid)));
  return Array.from({ length: depth }, (_, at) => node.mine(script, given[at] ?? []).hash);
}

function read(hex: string): Tx {
  const tx = parseTx(hex);
  if (tx === null) throw new Error(`${hex} is no transaction`);
  return tx;
}
