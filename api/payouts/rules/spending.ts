import type { Chain } from '#api/deps.ts';
import type { Outpoint, Purse } from '#api/store/outputs.ts';
import type { StoredWallet } from '#api/store/wallets.ts';
import type { OwnOutput } from '#shared/chains/chain.ts';
import { decoderOf, outputsOf } from '#shared/chains/payers.ts';
import { Invariant } from '#shared/core/errors.ts';

/** The outputs that a transaction spends and gives back. */
export type Spending = NonNullable<ReturnType<typeof outputsOf>>;

/** The outputs that a wallet may spend: its own, and those of its pool's deposits if it has a pool (decisions 10). */
export function purseOf(chain: Chain, { address, role }: Pick<StoredWallet, 'address' | 'role'>): Purse {
  return { networkId: chain.id, address, pool: role === 'hot' ? 'green' : role === 'held' ? 'held' : null };
}

/** Name of an output in the books: `txid:vout`. */
export function nameOf({ txid, vout }: Outpoint): string {
  return `${txid}:${vout}`;
}

/** The output with this name. @throws Invariant when the name is malformed */
export function outpointOf(name: string): Outpoint {
  const [, txid, vout] = /^([0-9a-f]{64}):(0|[1-9]\d{0,9})$/.exec(name) ?? [];
  if (txid === undefined) throw new Invariant(`${name} is no output`);
  return { txid, vout: Number(vout) };
}

/** The outputs that the fields of a quote or of signed bytes spend. @throws Invariant when they cannot be read, or on families whose coins are balances */
export function spendingOf(chain: Pick<Chain, 'config'>, fields: Record<string, string>): Spending {
  const spending = outputsOf(chain.config.family, fields);
  if (spending === null || spending.inputs[0] === undefined) throw new Invariant('the plan spends no outputs');
  return spending;
}

/** The anchor: the first output that these fields spend, which every attempt spends. @throws Invariant as `spendingOf` */
export function anchorOf(chain: Chain, fields: Record<string, string>): string {
  return nameOf(spendingOf(chain, fields).inputs[0] as OwnOutput);
}

/** The most outputs that any of these plans spends; one where coins are balances. @throws Invariant when one cannot be read */
export function mostInputs(chain: Chain, plans: readonly Record<string, string>[]): number {
  return Math.max(1, ...plans.map((fields) => outputsOf(chain.config.family, fields)?.inputs.length ?? 1));
}

/** All outputs that these signed bytes spend. @throws Invariant when they cannot be read */
export async function signedInputs(chain: Chain, attempts: readonly { signedBytes: Uint8Array }[]): Promise<OwnOutput[]> {
  const decoded = await Promise.all(attempts.map(({ signedBytes }) => decoderOf(chain.config)(signedBytes)));
  return decoded.flatMap(({ fields }) => spendingOf(chain, fields).inputs);
}
