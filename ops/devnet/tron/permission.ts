import { type Hex, toBase58 } from './bytes.ts';
import type { Cells, Value } from './cells.ts';
import { Refused } from './refusal.ts';
import { signerOf, type Transaction } from './transaction.ts';

/** Who may sign for an account: weights of keys and how much weight it takes. */
export interface Permission {
  threshold: bigint;
  keys: { address: Hex; weight: bigint }[];
}

const permissionCell = (address: Hex): string => `permission:${address}`;

/** An account nobody changed is signed for by its own key; one that does not exist yet as well. */
export function permissionOf(cells: Cells, address: Hex): Permission {
  const set = cells.get(permissionCell(address)) as unknown as Permission | undefined;
  return set ?? { threshold: 1n, keys: [{ address, weight: 1n }] };
}

export function permissionCells(address: Hex, permission: Permission): [string, Value][] {
  return [[permissionCell(address), permission as unknown as Value]];
}

/** @throws Refused SIGERROR unless the signatures are of the owner's keys and weigh enough */
export function checkSignatures(cells: Cells, transaction: Transaction, owner: Hex): void {
  const refuse = (message: string): Refused => new Refused('SIGERROR', `Validate signature error: ${message}`);
  const permission = permissionOf(cells, owner);
  if (transaction.signatures.length === 0) throw refuse('miss sig or contract');
  if (transaction.signatures.length > permission.keys.length)
    throw refuse(`Signature count is ${transaction.signatures.length} more than key counts of permission : ${permission.keys.length}`);
  const signed = new Set<Hex>();
  let weight = 0n;
  for (const signature of transaction.signatures) {
    const signer = signerOrRefusal(transaction, signature, refuse);
    const key = permission.keys.find((each) => each.address === signer);
    if (!key) throw refuse(`${signature} is signed by ${toBase58(signer)} but it is not contained of permission.`);
    if (signed.has(signer)) throw refuse(`${toBase58(signer)} has signed twice!`);
    signed.add(signer);
    weight += key.weight;
  }
  if (weight < permission.threshold) throw refuse('sig error');
}

function signerOrRefusal(transaction: Transaction, signature: Hex, refuse: (message: string) => Refused): Hex {
  try {
    return signerOf(transaction.txid, signature);
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : 'sig error');
  }
}
