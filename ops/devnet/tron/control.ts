import { controlClient } from '../control-client.ts';
import type { AccountAnswer, ControlApi, MinedAnswer, ReplacementAsk, ScriptAsk, StatusAnswer, TokenAsk } from './control-api.ts';
import type { FaultKind } from './faults.ts';
import type { Behaviour } from './node.ts';

/** Drives a local TRON node from a test, a developer's command or the demo; addresses are base58 or 41-prefixed hex. */
export interface TronControl {
  /** Mines blocks now; with `txids` the first takes these transactions alone and the others none. */
  mine(count?: number, txids?: string[]): Promise<MinedAnswer>;
  /** Mines blocks whose timestamps are so far apart, running ahead of the clock. */
  mineSpaced(count: number, stepMs: number): Promise<MinedAnswer>;
  /** A block every so many seconds; fractions allowed. */
  setInterval(seconds: number): Promise<void>;
  stopMining(): Promise<void>;
  /**
   * Replaces the newest blocks by others of the same height: with the same transactions, whatever they refer to (`keep`),
   * empty (`drop`), empty with the transactions back in the pool (`pool`), or with signed transactions in hex.
   * Refuses to undo solidified blocks unless forced.
   */
  reorg(depth: number, replacement?: ReplacementAsk, options?: { force?: boolean }): Promise<MinedAnswer>;
  /** How many blocks the solidified side stays behind; what is solidified stays so. */
  setSolidLag(blocks: number): Promise<void>;
  /** Makes the next requests to a path (`wallet/getnowblock`, or `*`) go wrong. */
  failNext(path: string, kind: FaultKind, times?: number): Promise<void>;
  /** Answers the next requests to a path with this JSON text, word for word. */
  answerNext(path: string, answer: string, times?: number): Promise<void>;
  /** Loses transactions from the pool, all of them when none is named: accepted is not included. */
  forget(txids?: string[]): Promise<void>;
  setLatency(milliseconds: number): Promise<void>;
  /** Cuts the next so many connections without an answer. */
  dropConnections(count: number): Promise<void>;
  /** Hides the newest so many blocks, as a node that lags; 0 ends it. */
  staleHead(blocks: number): Promise<void>;
  behave(behaviour: Partial<Behaviour>): Promise<void>;
  /** Ends every fault and odd behaviour. */
  recover(): Promise<void>;
  /** Gives sun to an address as though it had always had them; no transaction tells of it, no reorganisation takes it. */
  fund(address: string, sun: bigint): Promise<void>;
  fundAsset(address: string, tokenId: string, raw: bigint): Promise<void>;
  /** The same for a TRC-20 balance. */
  mint(contract: string, address: string, raw: bigint): Promise<void>;
  /** Puts a token on the chain and answers its address. */
  deployToken(token: TokenAsk): Promise<string>;
  /** Puts a contract on the chain that does the given steps whatever it is called with, and answers its address. */
  script(script: ScriptAsk): Promise<string>;
  /** Staked or delegated limits. */
  setResources(address: string, limits: { energyLimit?: bigint; netLimit?: bigint }): Promise<void>;
  /** A chain parameter such as `getEnergyFee`. */
  setParameter(name: string, value: bigint): Promise<void>;
  setPermission(address: string, threshold: number, keys: { address: string; weight: number }[]): Promise<void>;
  /** Sets the chain's clock; blocks mined from now on have it. */
  setTime(unixSeconds: number): Promise<StatusAnswer>;
  warp(seconds: number): Promise<StatusAnswer>;
  status(): Promise<StatusAnswer>;
  accounts(): Promise<AccountAnswer[]>;
}

/** A client of the control of the node at `url`. @throws Error with the node's words when it refuses */
export function tronControl(url: string): TronControl {
  const { ask, tell } = controlClient<ControlApi>(url);
  return {
    mine: (count = 1, txids) => ask('mine', { count, ...(txids && { txids }) }),
    mineSpaced: (count, stepMs) => ask('mine', { count, stepMs }),
    setInterval: (seconds) => tell('setInterval', { seconds }),
    stopMining: () => tell('stopMining', {}),
    reorg: (depth, replacement = 'keep', options = {}) => ask('reorg', { depth, replacement, ...options }),
    setSolidLag: (blocks) => tell('setSolidLag', { blocks }),
    failNext: (path, kind, times = 1) => tell('failNext', { on: path, kind, times }),
    answerNext: (path, answer, times = 1) => tell('failNext', { on: path, kind: 'answer', times, answer }),
    forget: (txids) => tell('forget', { ...(txids && { txids }) }),
    setLatency: (milliseconds) => tell('setLatency', { milliseconds }),
    dropConnections: (count) => tell('dropConnections', { count }),
    staleHead: (staleBlocks) => tell('behave', { staleBlocks }),
    behave: (behaviour) => tell('behave', behaviour),
    recover: () => tell('recover', {}),
    fund: (address, sun) => tell('fund', { address, sun: `${sun}` }),
    fundAsset: (address, tokenId, raw) => tell('fundAsset', { address, tokenId, raw: `${raw}` }),
    mint: (contract, address, raw) => tell('mint', { contract, address, raw: `${raw}` }),
    deployToken: async (token) => (await ask('deployToken', token)).address,
    script: async (script) => (await ask('script', script)).address,
    setResources: (address, { energyLimit, netLimit }) =>
      tell('setResources', {
        address,
        ...(energyLimit !== undefined && { energyLimit: `${energyLimit}` }),
        ...(netLimit !== undefined && { netLimit: `${netLimit}` }),
      }),
    setParameter: (name, value) => tell('setParameter', { name, value: `${value}` }),
    setPermission: (address, threshold, keys) => tell('setPermission', { address, threshold, keys }),
    setTime: (unixSeconds) => ask('setTime', { unixSeconds }),
    warp: (seconds) => ask('warp', { seconds }),
    status: () => ask('status', {}),
    accounts: async () => (await ask('accounts', {})).accounts,
  };
}
