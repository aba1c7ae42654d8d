import type { FaultKind } from './faults.ts';

/** What every control verb takes and gives: one contract for server and client. */
export interface ControlApi {
  setInterval: { takes: { seconds: number }; gives: Nothing };
  stopMining: { takes: Nothing; gives: Nothing };
  reorg: { takes: { depth: number; transactions: 'drop' | 'pool' | string[][] }; gives: { blocks: string[] } };
  failNext: { takes: { method: string; kind: FaultKind; times?: number; answer?: string }; gives: Nothing };
  forget: { takes: { txids?: string[] }; gives: Nothing };
  setLatency: { takes: { milliseconds: number }; gives: Nothing };
  dropConnections: { takes: { count: number }; gives: Nothing };
  staleHead: { takes: { blocks: number }; gives: Nothing };
  recover: { takes: Nothing; gives: Nothing };
  warp: { takes: { seconds: number }; gives: StatusAnswer };
  status: { takes: Nothing; gives: StatusAnswer };
}

export type Nothing = Record<string, never>;

export interface StatusAnswer {
  height: number;
  hash: string;
  /** The chain's clock, Unix seconds. */
  now: number;
  waiting: string[];
}
