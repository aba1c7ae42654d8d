import { nameOf } from '#api/payouts/rules/spending.ts';
import { findSpendable, findUnspent, lockOutputs, lockPaymentsOf, type Outpoint, type Purse, releaseOutputs } from '#api/store/outputs.ts';
import type { OwnOutput } from '#shared/chains/chain.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

/**
 * Why inputs may not be spent. `wait`: not now, because a fork, a verdict or another payout may have taken them. `refuse`: the inputs contradict
 * the books.
 */
export type InputsProblem = { wait: string } | { refuse: string };

/**
 * Why a payout of a wallet may not spend these outputs, or null when it may.
 * Each output must be in a final block with this amount at this address, unspent, and of the wallet's pool. Outputs that bytes of the payout were
 * already `signed` for must only still exist. Locks nothing; under the locks of `takeOutputs` the answer holds until commit.
 */
export async function inputsProblem(
  sql: Reads,
  purse: Purse,
  payoutId: string | undefined,
  inputs: readonly OwnOutput[],
  signed: readonly Outpoint[] = [],
): Promise<InputsProblem | null> {
  const known = new Map((await findUnspent(sql, purse.networkId, signed)).map((one) => [nameOf(one), one]));
  for (const one of await findSpendable(sql, purse, inputs, payoutId)) known.set(nameOf(one), one);
  for (const input of inputs) {
    const there = known.get(nameOf(input));
    if (there === undefined) return { wait: `output ${nameOf(input)} cannot be spent (any more)` };
    if (there.rawAmount !== input.rawAmount || there.address !== input.address) return { refuse: `output ${nameOf(input)} is not what the plan says it is` };
  }
  return null;
}

/**
 * Takes the inputs of a plan for a payout, and frees those that it took for an earlier plan and never signed. Returns why it may not have them,
 * without any change, or null. The caller holds the locks of wallet and payout; locks the payments of deposits among the inputs.
 * @throws Invariant when another payout holds one of them nevertheless
 */
export async function takeOutputs(
  tx: Tx,
  purse: Purse,
  payoutId: string,
  inputs: readonly OwnOutput[],
  signed: readonly Outpoint[] = [],
): Promise<InputsProblem | null> {
  await lockPaymentsOf(tx, purse.networkId, inputs);
  const problem = await inputsProblem(tx, purse, payoutId, inputs, signed);
  if (problem !== null) return problem;
  if (!(await lockOutputs(tx, purse.networkId, payoutId, inputs))) throw new Invariant(`an output of payout ${payoutId} is taken twice`);
  await releaseOutputs(tx, payoutId, [...inputs, ...signed]);
  return null;
}
