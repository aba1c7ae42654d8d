import type { Hex } from './bytes.ts';
import { amount, type Cells, type Value } from './cells.ts';

/** Cell names; addresses are 41-prefixed hex throughout. */
export const cell = {
  account: (address: Hex) => `account:${address}`,
  trx: (address: Hex) => `trx:${address}`,
  asset: (address: Hex, tokenId: string) => `asset:${tokenId}:${address}`,
  assetsOf: (address: Hex) => `assets:${address}`,
  code: (address: Hex) => `code:${address}`,
  token: (contract: Hex, address: Hex) => `token:${contract}:${address}`,
  allowance: (contract: Hex, owner: Hex, spender: Hex) => `allowance:${contract}:${owner}:${spender}`,
  supply: (contract: Hex) => `supply:${contract}`,
  resources: (address: Hex) => `resources:${address}`,
};

/** An account exists once something created it; a token balance alone does not (chains 3.5). */
export function accountExists(cells: Cells, address: Hex): boolean {
  return cells.get(cell.account(address)) !== undefined;
}

export function createAccount(cells: Cells, address: Hex, timeMs: bigint): void {
  if (!accountExists(cells, address)) cells.set(cell.account(address), { createTime: timeMs });
}

export function isContract(cells: Cells, address: Hex): boolean {
  return cells.get(cell.code(address)) !== undefined;
}

export function trxOf(cells: Cells, address: Hex): bigint {
  return amount(cells, cell.trx(address));
}

/** Adds to (or takes from) a cell that counts something. @throws Error when it would fall below zero: callers check first */
export function add(cells: Cells, key: string, delta: bigint): void {
  const after = amount(cells, key) + delta;
  if (after < 0n) throw new Error(`${key} would fall below zero`);
  cells.set(key, after);
}

/** Moves sun between two accounts that exist. */
export function moveTrx(cells: Cells, from: Hex, to: Hex, sun: bigint): void {
  add(cells, cell.trx(from), -sun);
  add(cells, cell.trx(to), sun);
}

/** Moves a TRC-10 token and remembers that the recipient holds it. */
export function moveAsset(cells: Cells, from: Hex, to: Hex, tokenId: string, raw: bigint): void {
  add(cells, cell.asset(from, tokenId), -raw);
  receiveAsset(cells, to, tokenId, raw);
}

export function receiveAsset(cells: Cells, to: Hex, tokenId: string, raw: bigint): void {
  add(cells, cell.asset(to, tokenId), raw);
  const held = assetsOf(cells, to);
  if (!held.includes(tokenId)) cells.set(cell.assetsOf(to), [...held, tokenId]);
}

/** Ids of the TRC-10 tokens an account ever held. */
export function assetsOf(cells: Cells, address: Hex): string[] {
  return ((cells.get(cell.assetsOf(address)) ?? []) as Value[]).map(String);
}
