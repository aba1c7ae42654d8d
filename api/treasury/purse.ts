import type { Chain } from '#api/deps.ts';
import { findSpendable, findUnspent, lockOutputs, lockPaymentsOf, type Outpoint, type Purse, releaseOutputs } from '#api/store/outputs.ts';
import type { StoredWallet } from '#api/store/wallets.ts';
import type { OwnOutput } from '#shared/chains/chain.ts';
import { decoderOf, outputsOf } from '#shared/chains/payers.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** What a transaction spends and gives back, where coins are outputs. */
export type Spending = NonNullable<ReturnType<typeof outputsOf>>;

/** Why inputs may not be spent. `wait`: as things stand now; a fork, a verdict or another payout may have taken them. `refuse`: they say what is not so. */
export type InputsProblem = { wait: string } | { refuse: string };

/** Whose outputs a wallet spends: its own, and those of the deposits of its pool, if it has one (decisions 10). */
export function purseOf(chain: Chain, { address, role }: Pick<StoredWallet, 'address' | 'role'>): Purse {
  return { networkId: chain.id, address, pool: role === 'hot' ? 'green' : role === 'held' ? 'held' : null };
}

/** `txid:vout`, by which the books name an output. */
export function nameOf({ txid, vout }: Outpoint): string {
  return `${txid}:${vout}`;
}

/** The output of such a name. @throws Invariant when it is none */
export function outpointOf(name: string): Outpoint {
  const [, txid, vout] = /^([0-9a-f]{64}):(0|[1-9]\d{0,9})$/.exec(name) ?? [];
  if (txid === undefined) throw new Invariant(`${name} is no output`);
  return { txid, vout: Number(vout) };
}

/** What fields of a quote or of signed bytes spend. @throws Invariant when they cannot be read, or on families whose coins are balances */
export function spendingOf(chain: Pick<Chain, 'config'>, fields: Record<string, string>): Spending {
  const spending = outputsOf(chain.config.family, fields);
  if (spending === null || spending.inputs[0] === undefined) throw new Invariant('the plan spends no outputs');
  return spending;
}

/** The output that all attempts of a family made of these fields spend: their first. @throws Invariant as `spendingOf` */
export function anchorOf(chain: Chain, fields: Record<string, string>): string {
  return nameOf(spendingOf(chain, fields).inputs[0] as OwnOutput);
}

/** How many outputs the largest of these plans spends; one where coins are balances. @throws Invariant when one cannot be read */
export function mostInputs(chain: Chain, plans: readonly Record<string, string>[]): number {
  return Math.max(1, ...plans.map((fields) => outputsOf(chain.config.family, fields)?.inputs.length ?? 1));
}

/** Everything these signed bytes spend. @throws Invariant when they cannot be read */
export async function signedInputs(chain: Chain, attempts: readonly { signedBytes: Uint8Array }[]): Promise<OwnOutput[]> {
  const decoded = await Promise.all(attempts.map(({ signedBytes }) => decoderOf(chain.config)(signedBytes)));
  return decoded.flatMap(({ fields }) => spendingOf(chain, fields).inputs);
}

/**
 * Why a payout of a wallet may not spend these outputs, or null when it may: each must be in a final block with this amount at
 * this address, unspent, and of the wallet's pool unless it is among those that bytes of the payout were `signed` for
 * already: of these only that they are still there. Locks nothing; true until commit under the locks of `takeOutputs`.
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
 * Takes the inputs of a plan for a payout, and gives back what it had taken for a plan before and never signed. Answers why it
 * may not have them, having changed nothing. The caller holds the locks of wallet and payout; locks the payments of deposits
 * among them.
 * @throws Invariant when another payout has one of them all the same
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
