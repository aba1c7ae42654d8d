import type { CommonControl, Nothing } from '../control-api.ts';
import type { FaultKind } from './faults.ts';

/** What every control verb takes and gives: one contract for server and client. */
export interface ControlApi extends CommonControl<FaultKind> {
  reorg: { takes: { depth: number; transactions: 'drop' | 'pool' | string[][] }; gives: { blocks: string[] } };
  forget: { takes: { txids?: string[] }; gives: Nothing };
  staleHead: { takes: { blocks: number }; gives: Nothing };
  recover: { takes: Nothing; gives: Nothing };
  warp: { takes: { seconds: number }; gives: StatusAnswer };
  status: { takes: Nothing; gives: StatusAnswer };
}

export interface StatusAnswer {
  height: number;
  hash: string;
  /** The chain's clock, Unix seconds. */
  now: number;
  waiting: string[];
  /** True from `stopMining` to the next `setInterval`: who mines by the clock from outside stops as well. */
  stopped: boolean;
}
