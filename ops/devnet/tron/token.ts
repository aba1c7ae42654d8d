import { addressArgument, APPROVAL_TOPIC, argument, encodeString, selector, TRANSFER_TOPIC } from './abi.ts';
import { addressWord, type Hex, word } from './bytes.ts';
import { amount, type Cells } from './cells.ts';
import type { TokenCode } from './contracts.ts';
import { add, cell } from './ledger.ts';

/** An event; the address is 41-prefixed here and loses the prefix where it is printed. */
export interface Log {
  address: Hex;
  topics: Hex[];
  data: Hex;
}

export type TokenOutcome = { ok: true; returns: Hex; logs: Log[]; energy: bigint; penalty: bigint } | { ok: false; reason: string | null; energy: bigint };

const READS: Record<Hex, (cells: Cells, self: Hex, code: TokenCode, data: Hex) => Hex> = {
  [selector('name()')]: (_cells, _self, code) => encodeString(code.name),
  [selector('symbol()')]: (_cells, _self, code) => encodeString(code.symbol),
  [selector('decimals()')]: (_cells, _self, code) => word(code.decimals),
  [selector('totalSupply()')]: (cells, self) => word(amount(cells, cell.supply(self))),
  [selector('balanceOf(address)')]: (cells, self, _code, data) => word(amount(cells, cell.token(self, addressArgument(data, 0)))),
  [selector('allowance(address,address)')]: (cells, self, _code, data) =>
    word(amount(cells, cell.allowance(self, addressArgument(data, 0), addressArgument(data, 1)))),
};

const READ_ENERGY = 935n;
const APPROVE_ENERGY = 99_764n;
const REVERT_ENERGY = 2_300n;
const ZERO_ADDRESS = `41${'0'.repeat(40)}`;
const UNLIMITED = (1n << 256n) - 1n;

/** Whether the function called changes nothing, as its ABI says. */
export function isRead(data: Hex): boolean {
  return Object.hasOwn(READS, data.slice(0, 8));
}

/** Runs one call of a token. There is no machine below: what a caller can observe is what the real contracts show. */
export function callToken(cells: Cells, self: Hex, code: TokenCode, caller: Hex, data: Hex, callValue: bigint): TokenOutcome {
  if (callValue > 0n) return { ok: false, reason: null, energy: REVERT_ENERGY };
  const read = READS[data.slice(0, 8)];
  if (read) return { ok: true, returns: read(cells, self, code, data), logs: [], energy: READ_ENERGY, penalty: 0n };
  switch (data.slice(0, 8)) {
    case selector('transfer(address,uint256)'):
      return move(cells, self, code, caller, addressArgument(data, 0), argument(data, 1));
    case selector('transferFrom(address,address,uint256)'):
      return spend(cells, self, code, caller, data);
    case selector('approve(address,uint256)'):
      return approve(cells, self, code, caller, addressArgument(data, 0), argument(data, 1));
    default:
      return { ok: false, reason: null, energy: REVERT_ENERGY };
  }
}

function move(cells: Cells, self: Hex, code: TokenCode, from: Hex, to: Hex, raw: bigint): TokenOutcome {
  if (to === ZERO_ADDRESS) return { ok: false, reason: 'ERC20: transfer to the zero address', energy: REVERT_ENERGY };
  if (amount(cells, cell.token(self, from)) < raw) return { ok: false, reason: 'SafeMath: subtraction overflow', energy: REVERT_ENERGY };
  // A cell that turns from nothing to something costs more than one that only changes: the recipient decides the price.
  const energy = amount(cells, cell.token(self, to)) > 0n ? code.energyHeld : code.energyNew;
  add(cells, cell.token(self, from), -raw);
  add(cells, cell.token(self, to), raw);
  return { ok: true, returns: success(code), logs: [transferLog(self, from, to, raw)], energy, penalty: (energy * code.penaltyMille) / 1000n };
}

function spend(cells: Cells, self: Hex, code: TokenCode, caller: Hex, data: Hex): TokenOutcome {
  const from = addressArgument(data, 0);
  const key = cell.allowance(self, from, caller);
  const allowed = amount(cells, key);
  const raw = argument(data, 2);
  if (allowed < raw) return { ok: false, reason: 'ERC20: transfer amount exceeds allowance', energy: REVERT_ENERGY };
  const outcome = move(cells, self, code, from, addressArgument(data, 1), raw);
  if (outcome.ok && allowed !== UNLIMITED) add(cells, key, -raw);
  return outcome;
}

function approve(cells: Cells, self: Hex, code: TokenCode, owner: Hex, spender: Hex, raw: bigint): TokenOutcome {
  cells.set(cell.allowance(self, owner, spender), raw);
  const log = { address: self, topics: [APPROVAL_TOPIC, addressWord(owner), addressWord(spender)], data: word(raw) };
  return { ok: true, returns: success(code), logs: [log], energy: APPROVE_ENERGY, penalty: (APPROVE_ENERGY * code.penaltyMille) / 1000n };
}

export function transferLog(contract: Hex, from: Hex, to: Hex, raw: bigint): Log {
  return { address: contract, topics: [TRANSFER_TOPIC, addressWord(from), addressWord(to)], data: word(raw) };
}

function success(code: TokenCode): Hex {
  return code.returns === 'nothing' ? '' : word(code.returns === 'true' ? 1n : 0n);
}
