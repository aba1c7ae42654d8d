import type { Block } from './block.ts';
import type { Hex } from './bytes.ts';
import type { Cells } from './cells.ts';
import type { Chain } from './chain.ts';
import { cellsAt } from './chain-state.ts';
import type { Json } from './print.ts';

/** How this node is configured and how it misbehaves; set by control, kept nowhere. */
export interface Behaviour {
  /** `vm.saveInternalTx`: without it no info tells of internal transactions. */
  saveInternalTx: boolean;
  /** `vm.supportConstant`: without it nothing can be simulated. */
  supportConstant: boolean;
  /** `vm.estimateEnergy`. */
  estimateEnergy: boolean;
  /** The node's transaction cache also remembers what it refused: sent again, that is a duplicate. */
  rememberRefused: boolean;
  /** Blocks the node pretends not to have seen yet. */
  staleBlocks: number;
  /** The newest so many blocks are answered with `{}` when asked for by number or id. */
  unreadableBlocks: number;
  /** The infos of the newest so many blocks are answered with `[]` and `{}`. */
  unreadableInfos: number;
}

export const HONEST: Behaviour = {
  saveInternalTx: true,
  supportConstant: true,
  estimateEnergy: true,
  rememberRefused: false,
  staleBlocks: 0,
  unreadableBlocks: 0,
  unreadableInfos: 0,
};

export interface TronNode {
  chain: Chain;
  behaviour: Behaviour;
  /** Ids of refused transactions, for `rememberRefused`. */
  refused: Set<Hex>;
}

/** One of the two sides a node is asked on: everything it has, or only what is solidified. */
export interface View {
  node: TronNode;
  solid: boolean;
  height: number;
  cells(): Cells;
  /** The block, or null when this side does not have it (yet). */
  block(number: number): Block | null;
}

export function viewOf(node: TronNode, solid: boolean): View {
  const { state } = node.chain;
  const seen = Math.max(0, state.head().number - node.behaviour.staleBlocks);
  const height = solid ? Math.min(seen, state.settings.solidHeight) : seen;
  return {
    node,
    solid,
    height,
    cells: () => (height === state.head().number ? state.cells : cellsAt(state, height)),
    block: (number) => (number >= 0 && number <= height ? (state.blocks[number] ?? null) : null),
  };
}

/** What a client asked, from the query or the body. */
export interface Request {
  visible: boolean;
  body: Json;
  text(name: string): string;
  /** @throws Error when it is there and no whole number */
  int(name: string): bigint;
  /** @throws Error when it is no address in the form that `visible` says */
  address(name: string): Hex;
}

/** Answers one path; what it throws becomes the node's `{"Error": …}`. */
export type Handler = (view: View, request: Request) => unknown;
