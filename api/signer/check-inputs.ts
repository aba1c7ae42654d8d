import { setTimeout as pause } from 'node:timers/promises';
import type { Chain } from '#api/deps.ts';
import { findSpendable, findUnspent, listLocked } from '#api/store/outputs.ts';
import type { StoredPayout } from '#api/store/payouts.ts';
import { findDepositIndex, type StoredWallet } from '#api/store/wallets.ts';
import { spendsOutputs } from '#api/payouts/rules/families.ts';
import { nameOf, purseOf, spendingOf } from '#api/payouts/rules/spending.ts';
import { depositPath } from '#api/payouts/rules/wallets.ts';
import { ChainUnavailable, type OwnOutput, type TransferSigner } from '#shared/chains/chain.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import type { AttemptVerdict } from './check-earlier.ts';

/** The signer stops waiting for a node after this long and asks again later, because other payouts of its network wait meanwhile. */
const CONFIRM_MS = 3_000;

/**
 * What the signer found about the inputs of a plan: the path of the key for each address, the sender that the bytes will name, and the amount of
 * output 0.
 */
export interface CheckedInputs {
  paths: Record<string, string>;
  sender: string;
  rawAmount: bigint;
}

/**
 * Checks which outputs a plan spends, with the signer's own look-up and its own keys (reliability D13, D15). Only for families whose coins are
 * outputs.
 * The first input must be the anchor. Every input must be a final output of the pool that pays, hold the amount in the plan, be taken for this
 * payout, and lie at an address that the signer derives itself. Change must go to the paying wallet, and the inputs must exceed amount and change
 * by exactly the planned fee. A close spends only the anchor. A join has no change, and its fee is at most what it brings. Locks nothing.
 * @throws Invariant when the plan cannot be read
 */
export async function checkInputs(
  sql: Reads,
  chain: Chain,
  signer: TransferSigner,
  { payout, wallet, attempt }: { payout: StoredPayout; wallet: StoredWallet; attempt: Extract<AttemptVerdict, { kind: unknown }> },
): Promise<CheckedInputs | { wait: string } | { refuse: string }> {
  if (wallet.role === 'deposit') return { refuse: 'a deposit address pays nobody where coins are outputs' };
  const { inputs, change } = spendingOf(chain, payout.plan.fields ?? {});
  const [first] = inputs as [OwnOutput, ...OwnOutput[]];
  if (nameOf(first) !== payout.anchor) return { refuse: 'it does not spend its anchor first' };
  if (change !== null && change.address !== wallet.address) return { refuse: 'its change goes elsewhere than to its wallet' };
  const close = attempt.kind === 'close';
  if (close && (inputs.length > 1 || change !== null)) return { refuse: 'a close spends more than the anchor' };
  const joins = payout.purpose === 'consolidation' && !close;
  if (joins && (inputs.length < 2 || change !== null)) return { refuse: 'it does not join outputs into one' };
  const rawFee = BigInt(payout.plan.rawFee ?? 0);
  const left = inputs.reduce((sum, input) => sum + input.rawAmount, 0n) - (change?.rawAmount ?? 0n) - rawFee;
  const rawAmount = close ? left : payout.rawAmount;
  if (left !== rawAmount || left <= 0n) return { refuse: 'what its inputs leave over is not its fee' };
  if (joins && rawFee > left) return { refuse: 'joining its outputs costs more than what arrives' };

  const signed = attempt.earlier.flatMap(({ fields }) => spendingOf(chain, fields).inputs);
  // As our rows have it: inputs that earlier bytes spend must still exist; all others must be final, free and of the payout's pool.
  const there = [...(await findSpendable(sql, purseOf(chain, wallet), inputs, payout.id)), ...(await findUnspent(sql, chain.id, signed))];
  for (const input of inputs) {
    const booked = there.find((one) => nameOf(one) === nameOf(input));
    if (booked === undefined) return { wait: `output ${nameOf(input)} cannot be spent (any more)` };
    if (booked.rawAmount !== input.rawAmount || booked.address !== input.address) return { refuse: `output ${nameOf(input)} is not what the plan says it is` };
  }
  const taken = new Set((await listLocked(sql, payout.id)).map(nameOf));
  const free = inputs.find((input) => !taken.has(nameOf(input)));
  if (free !== undefined) return { refuse: `output ${nameOf(free)} was not taken for it` };

  const paths: Record<string, string> = {};
  for (const { address } of inputs) {
    const path = await pathOf(sql, chain, wallet, address);
    if (path === null || signer.addressAt(path) !== address)
      return { refuse: `an output lies at ${address}, which is not an address of its pool that the key has` };
    paths[address] = path;
  }
  return { paths, sender: first.address, rawAmount };
}

/**
 * Asks a node to confirm that each input exists and holds the amount in our rows. A signature names the amount of its own input only (BIP-143), so an
 * attacker who can change rows could obtain two signatures, each with another amount wrong, that together burn coins. Returns why signing must wait,
 * or null; always null where coins are balances.
 */
export async function confirmInputs(chain: Chain, fields: Record<string, string>): Promise<string | null> {
  if (!spendsOutputs(chain.config.family)) return null;
  const { outputs } = chain.reader;
  if (outputs === undefined) return 'no endpoint can say whether its outputs are there';
  const { inputs } = spendingOf(chain, fields);
  try {
    // The signer signs nothing else of this network while it waits here.
    const answer = await Promise.race([outputs(inputs), pause(CONFIRM_MS, null, { ref: false })]);
    if (answer === null) return 'the node does not say whether its outputs are there';
    const other = inputs.findIndex(({ rawAmount }, i) => answer.rawAmounts[i] !== rawAmount);
    return other === -1 ? null : `the node says that output ${nameOf(inputs[other] as OwnOutput)} holds ${answer.rawAmounts[other] ?? 'nothing (any more)'}`;
  } catch (error) {
    if (error instanceof ChainUnavailable) return `the node cannot confirm its outputs: ${error.message}`;
    throw error;
  }
}

/** Path of the key for an address that the wallet may spend from: the wallet's own address, already checked, or a deposit address. Null for any other. */
async function pathOf(sql: Reads, chain: Chain, wallet: StoredWallet, address: string): Promise<string | null> {
  if (address === wallet.address) return wallet.derivationPath;
  const index = wallet.role === 'funding' ? undefined : await findDepositIndex(sql, chain.config.family, address);
  return index === undefined || chain.deriver.depositAddress(index) !== address ? null : depositPath(chain, index);
}
