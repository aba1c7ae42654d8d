import { type Hex, parseAddress } from './bytes.ts';
import type { Cells, Value } from './cells.ts';
import { accountExists, add, cell, trxOf } from './ledger.ts';
import { invalid } from './refusal.ts';
import { type Resources, resourcesOf } from './resources.ts';

const TRX = 1_000_000n;
/** What a staked TRX gave in 2026, roughly; on a real chain it moves with the total staked. */
const PER_TRX = { energyLimit: 9n, netLimit: 1n };

type Limit = keyof typeof PER_TRX;

/** Staking: coins become a limit. @throws Refused when there are too few */
export function stake(cells: Cells, owner: Hex, sun: bigint, resource: string): void {
  if (sun < TRX) throw invalid('frozenBalance must be greater than or equal to 1 TRX');
  if (trxOf(cells, owner) < sun) throw invalid('frozenBalance must be less than or equal to accountBalance');
  add(cells, cell.trx(owner), -sun);
  addLimit(cells, owner, limitOf(resource), worth(sun, resource));
}

/** Delegating: the limit moves to somebody else, coins do not. @throws Refused when too little is staked */
export function delegate(cells: Cells, owner: Hex, text: string, sun: bigint, resource: string): void {
  const receiver = parseAddress(text);
  if (receiver === null || !accountExists(cells, receiver)) throw invalid('Account not exists');
  if (receiver === owner) throw invalid('receiverAddress must not be the same as ownerAddress');
  const limit = limitOf(resource);
  const points = worth(sun, resource);
  if (sun < TRX || resourcesOf(cells, owner)[limit] < points)
    throw invalid(`delegateBalance must be less than or equal to available Freeze${resource}V2 balance`);
  addLimit(cells, owner, limit, -points);
  addLimit(cells, receiver, limit, points);
}

function limitOf(resource: string): Limit {
  return resource === 'ENERGY' ? 'energyLimit' : 'netLimit';
}

function worth(sun: bigint, resource: string): bigint {
  return (sun / TRX) * PER_TRX[limitOf(resource)];
}

function addLimit(cells: Cells, address: Hex, limit: Limit, points: bigint): void {
  const resources: Resources = resourcesOf(cells, address);
  cells.set(cell.resources(address), { ...resources, [limit]: resources[limit] + points } as unknown as Value);
}
