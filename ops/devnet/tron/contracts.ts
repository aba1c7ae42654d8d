import type { Hex } from './bytes.ts';
import type { Cells, Value } from './cells.ts';
import { cell } from './ledger.ts';

/** A TRC-20 ledger; `returns` is what its state-changing functions return on success. */
export interface TokenCode {
  kind: 'token';
  name: string;
  symbol: string;
  decimals: bigint;
  /** `zero` is the real USDT: 32 zero bytes on success (chains 3.3). `nothing` returns no bytes, `true` is the standard. */
  returns: 'zero' | 'true' | 'nothing';
  /** Energy of a transfer to an address that holds some already, and to one that holds none; the penalty of a busy contract included. */
  energyHeld: bigint;
  energyNew: bigint;
  /** How much of it is penalty (dynamic energy), in thousandths. */
  penaltyMille: bigint;
}

/** One thing a scripted contract does, in order. Amounts are decimal strings; addresses 41-prefixed hex or `caller`, `self`, `arg:N`. */
export type Step =
  /** Emits a log; from another address it stands for a call to that contract. */
  | { do: 'log'; address?: string; topics: Hex[]; data: Hex }
  /** Passes coins on and leaves an internal transaction; `sun` may be `callValue`. Moves nothing when `rejected`. */
  | { do: 'send'; to: string; sun: string; rejected?: boolean; note?: string }
  /** Passes a TRC-10 token on, or only says so when `rejected`. */
  | { do: 'sendAsset'; to: string; tokenId: string; raw: string; rejected?: boolean }
  /** Calls a TRC-20 of this chain: moves what this contract holds, and logs it. */
  | { do: 'transferToken'; contract: string; to: string; raw: string }
  /** Adds an internal transaction word for word, moving nothing: for shapes no honest contract leaves. */
  | { do: 'internal'; caller?: string; to: string; values: { sun?: string; tokenId?: string }[]; rejected?: boolean; note?: string };

/** A contract that does the same whatever it is called with. */
export interface ScriptCode {
  kind: 'script';
  name: string;
  steps: Step[];
  energy: bigint;
  /** How the call ends after its steps; anything but SUCCESS undoes them. */
  outcome: 'SUCCESS' | 'REVERT' | 'OUT_OF_ENERGY' | 'OUT_OF_TIME' | 'TRANSFER_FAILED';
  /** Reason of a REVERT. */
  reason: string;
  /** Bytes returned on success. */
  returns: Hex;
}

export type Code = TokenCode | ScriptCode;

export function codeAt(cells: Cells, address: Hex): Code | null {
  return (cells.get(cell.code(address)) as unknown as Code | undefined) ?? null;
}

/** A contract is an account too: it exists and can hold coins. */
export function codeCells(address: Hex, code: Code, timeMs: bigint): [string, Value][] {
  return [
    [cell.code(address), code as unknown as Value],
    [cell.account(address), { createTime: timeMs, contract: true }],
  ];
}
