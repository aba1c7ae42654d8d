import type { CommonControl, Nothing } from '../control-api.ts';
import type { Behaviour } from './node.ts';
import type { FaultKind } from './faults.ts';
import type { Step } from './contracts.ts';

/** What every control verb takes and gives: one contract for server and client. Amounts are decimal strings. */
export interface ControlApi extends CommonControl<FaultKind> {
  mine: { takes: { count?: number; txids?: string[]; stepMs?: number }; gives: MinedAnswer };
  reorg: { takes: { depth: number; replacement?: ReplacementAsk; force?: boolean }; gives: MinedAnswer };
  setSolidLag: { takes: { blocks: number }; gives: Nothing };
  forget: { takes: { txids?: string[] }; gives: Nothing };
  behave: { takes: Partial<Behaviour>; gives: Nothing };
  recover: { takes: Nothing; gives: Nothing };
  fund: { takes: { address: string; sun: string }; gives: Nothing };
  fundAsset: { takes: { address: string; tokenId: string; raw: string }; gives: Nothing };
  mint: { takes: { contract: string; address: string; raw: string }; gives: Nothing };
  deployToken: { takes: TokenAsk; gives: { address: string } };
  script: { takes: ScriptAsk; gives: { address: string } };
  setResources: { takes: { address: string; energyLimit?: string; netLimit?: string }; gives: Nothing };
  setParameter: { takes: { name: string; value: string }; gives: Nothing };
  setPermission: { takes: { address: string; threshold: number; keys: { address: string; weight: number }[] }; gives: Nothing };
  setTime: { takes: { unixSeconds: number }; gives: StatusAnswer };
  warp: { takes: { seconds: number }; gives: StatusAnswer };
  status: { takes: Nothing; gives: StatusAnswer };
  accounts: { takes: Nothing; gives: { accounts: AccountAnswer[] } };
}

/** The old transactions, none, back into the pool, or signed transactions (hex) block by block. */
export type ReplacementAsk = 'keep' | 'drop' | 'pool' | string[][];

export interface TokenAsk {
  symbol: string;
  name?: string;
  decimals: number;
  /** What its functions return on success; 32 zero bytes is how USDT does it. */
  returns: 'zero' | 'true' | 'nothing';
  energyHeld?: number;
  energyNew?: number;
  penaltyMille?: number;
}

export interface ScriptAsk {
  name?: string;
  steps: Step[];
  energy?: number;
  outcome?: 'SUCCESS' | 'REVERT' | 'OUT_OF_ENERGY' | 'OUT_OF_TIME' | 'TRANSFER_FAILED';
  reason?: string;
  returns?: string;
}

export interface MinedAnswer {
  blocks: { number: number; id: string; txids: string[] }[];
  refused: { txid: string; reason: string }[];
}

export interface StatusAnswer {
  height: number;
  id: string;
  solidHeight: number;
  /** The chain's clock, Unix milliseconds. */
  nowMs: number;
  pool: string[];
}

export interface AccountAnswer {
  address: string;
  sun: string;
  /** Raw balances by contract address. */
  tokens: Record<string, string>;
}
