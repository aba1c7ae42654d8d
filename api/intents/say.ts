import type { Deps } from '#api/deps.ts';
import { insertStatements, listStatements } from '#api/store/keyed-orders.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { makeStatement, readStatement, type Said, trustedKeys } from '#shared/platform/statements.ts';

/** What can be said: a cashout was accepted, a person approved one, a refund or withheld coins were ordered, an act was proposed, bytes will never be mined. */
export type Kind = 'cashout' | 'approval' | 'refund' | 'withheld' | 'proposal' | 'death';

/** Why something is not proven to have come in over HTTP: not yet, while an upgrade goes on, or not at all. */
export type Unproven = { wait: string } | { refuse: string };

/**
 * Says in the name of the http role what was accepted, in the transaction that does it (decisions 10).
 * @throws Invariant in a process that has no key for it, which is every one without the http role
 */
export async function say(tx: Tx, { config }: Pick<Deps, 'config'>, ...said: { kind: Kind; subject: string; said: Said }[]): Promise<void> {
  const key = config.SLUICE_INTENT_KEY;
  if (key === undefined) throw new Invariant(`only the http role accepts: this process has no key to say ${said[0]?.kind} with`);
  await insertStatements(
    tx,
    said.map((one) => makeStatement(key, one)),
  );
}

/** Everything that was said of one kind about one thing under a key this process trusts, oldest first; the rest counts for nothing. Locks nothing. */
export async function heard(sql: Reads, { config }: Pick<Deps, 'config'>, about: { kind: Kind; subject: string }): Promise<Said[]> {
  const trusted = trustedKeys(config);
  const said = (await listStatements(sql, about)).map((statement) => readStatement(trusted, statement, about));
  return said.filter((one) => one !== null);
}

/** No http role has stated it. It waits if it is older than the upgrade that brought statements, while http still countersigns (decision 0036). */
export function unheard({ config }: Pick<Deps, 'config'>, since: Date, reason: string): Unproven {
  const until = config.SLUICE_INTENT_ADOPT_BEFORE;
  return until !== undefined && since < until ? { wait: `${reason}, and it waits for the http role to countersign it` } : { refuse: reason };
}

/** The first of these words that was said otherwise, or not at all; null when all were said just so. Pure. */
export function differing(said: Said, words: Said): string | null {
  return Object.keys(words).find((name) => said[name] !== words[name]) ?? null;
}
