import { controlClient } from '../control-client.ts';
import type { ControlApi, StatusAnswer } from './control-api.ts';
import type { FaultKind } from './faults.ts';

/** Does to a local Bitcoin node what no RPC of a real one does; everything else is standard RPC. */
export interface BitcoinControl {
  /** A block to the faucet wallet every so many seconds; fractions allowed. */
  setInterval(seconds: number): Promise<void>;
  /** No more blocks come by themselves, whoever asked for them; those that are asked for one by one still do. */
  stopMining(): Promise<void>;
  /**
   * Replaces the newest blocks by as many others: empty with the old transactions lost (`drop`) or waiting again (`pool`),
   * or with signed transactions in hex, block by block. Returns the new blocks' hashes.
   */
  reorg(depth: number, transactions?: 'drop' | 'pool' | string[][]): Promise<string[]>;
  /** Makes the next calls of a method (or `*`) go wrong. */
  failNext(method: string, kind: FaultKind, times?: number): Promise<void>;
  /** Answers the next calls of a method with this JSON text as their result. */
  answerNext(method: string, result: string, times?: number): Promise<void>;
  /** Answers the next calls of a method with an error. */
  errorNext(method: string, error: { code: number; message: string }, times?: number): Promise<void>;
  /** Loses transactions from the mempool, all of them when none is named: accepted is not mined. */
  forget(txids?: string[]): Promise<void>;
  setLatency(milliseconds: number): Promise<void>;
  /** Cuts the next so many connections without an answer. */
  dropConnections(count: number): Promise<void>;
  /** Hides the newest so many blocks, as a node that lags; 0 ends it. */
  staleHead(blocks: number): Promise<void>;
  /** Ends every fault and odd behaviour. */
  recover(): Promise<void>;
  /** Moves the chain's clock forward; it keeps running. */
  warp(seconds: number): Promise<StatusAnswer>;
  status(): Promise<StatusAnswer>;
}

/** A client of the control of the node at `url`. @throws Error with the node's words when it refuses */
export function bitcoinControl(url: string): BitcoinControl {
  const { ask, tell } = controlClient<ControlApi>(url);
  return {
    setInterval: (seconds) => tell('setInterval', { seconds }),
    stopMining: () => tell('stopMining', {}),
    reorg: async (depth, transactions = 'drop') => (await ask('reorg', { depth, transactions })).blocks,
    failNext: (method, kind, times = 1) => tell('failNext', { on: method, kind, times }),
    answerNext: (method, answer, times = 1) => tell('failNext', { on: method, kind: 'answer', times, answer }),
    errorNext: (method, error, times = 1) => tell('failNext', { on: method, kind: 'error', times, answer: JSON.stringify(error) }),
    forget: (txids) => tell('forget', { ...(txids && { txids }) }),
    setLatency: (milliseconds) => tell('setLatency', { milliseconds }),
    dropConnections: (count) => tell('dropConnections', { count }),
    staleHead: (blocks) => tell('staleHead', { blocks }),
    recover: () => tell('recover', {}),
    warp: (seconds) => ask('warp', { seconds }),
    status: () => ask('status', {}),
  };
}
