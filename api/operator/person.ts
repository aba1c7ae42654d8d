import type { Deps } from '#api/deps.ts';
import type { Person } from '#api/store/operator-actions.ts';
import { Invariant } from '#shared/core/errors.ts';

/** Who makes this call, as its token proves. @throws Invariant outside of a call to the operator API */
export function personOf({ operator }: Pick<Deps, 'operator'>): Person {
  if (operator === undefined) throw new Invariant('nobody calls');
  return operator.person;
}
