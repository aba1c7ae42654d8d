import type { Deps } from '#api/deps.ts';
import { findOperator } from '#api/store/people.ts';
import type { Person } from '#api/store/proposals.ts';
import { Invariant, ServiceError } from '#shared/core/errors.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { SHARED_OPERATOR } from '#shared/platform/config.ts';

/** Who makes this call, as its token proves. @throws Invariant outside of a call to the operator API */
export function personOf({ operator }: Pick<Deps, 'operator'>): Person {
  if (operator === undefined) throw new Invariant('nobody calls');
  return operator.person;
}

/**
 * The same for an act that takes two people: where two have tokens of their own, they are the two, and the token that everybody may know is nobody,
 * so that one person who has a token of each kind is never both (decision 0036).
 * @throws conflict when the caller came with the shared token all the same; Invariant outside of a call to the operator API
 */
export function personOfTwo(deps: Pick<Deps, 'operator' | 'config'>): Person {
  const person = personOf(deps);
  const names = new Set(deps.config.SLUICE_OPERATOR_TOKENS.map(({ name }) => name));
  if (person.name === SHARED_OPERATOR && names.size >= 2)
    throw new ServiceError('conflict', { message: `This takes two people with tokens of their own: ${[...names].join(', ')} have one.` });
  return person;
}

/**
 * Whether somebody of this name is, as things are now, one of the two that an act takes: a token that was taken back, or a role at the deployment, leaves no half of an act behind.
 * Locks nothing.
 */
export async function isOfTwo({ config }: Pick<Deps, 'config'>, tx: Reads, name: string): Promise<boolean> {
  if (cameByConsole(name)) return (await findOperator(tx, name)) !== undefined;
  const names = new Set(config.SLUICE_OPERATOR_TOKENS.map((one) => one.name));
  return names.has(name) || (name === SHARED_OPERATOR && names.size < 2);
}

/** Whether this is somebody of the console, who is called by their address; no token has such a name. Pure. */
export function cameByConsole(name: string): boolean {
  return name.includes('@');
}
