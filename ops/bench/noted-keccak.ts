import { keccak as hash } from '#shared/chains/evm/keccak.ts';

/** What was hashed while `note` was set, in this order. */
export const hashed: { note: boolean; messages: Uint8Array[] } = { note: false, messages: [] };

/** Stands for shared/chains/evm/keccak.ts in a program that is to know what is hashed. */
export function keccak(bytes: Uint8Array): Uint8Array {
  if (hashed.note) hashed.messages.push(Uint8Array.from(bytes));
  return hash(bytes);
}
