import type { Deps } from '#api/deps.ts';
import type { StoredSettlement } from '#api/store/settlements.ts';
import { formatAmount } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Said } from '#shared/platform/statements.ts';
import { differing, heard, say } from './say.ts';

/** Who approved a cashout, and by what. */
export interface Approval {
  /** The authenticator, as its row is called; of somebody who approved in the console, their own id. */
  authenticator: string;
  /** Its time step that was used up for this cashout and is used up for every other (RFC 6238); null when the release before this one kept it, and for somebody in the console. */
  step: number | null;
  /** Milliseconds since 1970. */
  atMs: number;
  /** Otherwise by its code; `person` in the console. */
  by?: string;
}

/** Says that a person approved a cashout, in the transaction that uses their code up. @throws Invariant outside of the http role */
export async function sayApproved(tx: Tx, deps: Pick<Deps, 'config'>, row: Row, { authenticator, step, atMs, by = 'code' }: Approval): Promise<void> {
  const said = { ...wordsOf(row), by, authenticator, step: step === null ? null : String(step), at: new Date(atMs).toISOString() };
  await say(tx, deps, { kind: 'approval', subject: row.id, said });
}

/** Whether so many people approved this very cashout: of this gateway, this much, to this address. Whoever has the gateway's authenticator counts as one. Locks nothing. */
export async function isApproved(sql: Reads, deps: Pick<Deps, 'config'>, row: Row, people = 1): Promise<boolean> {
  const approvals = (await heard(sql, deps, { kind: 'approval', subject: row.id })).filter((said) => differing(said, wordsOf(row)) === null);
  return new Set(approvals.map(({ authenticator }) => authenticator)).size >= people;
}

type Row = Pick<StoredSettlement, 'id' | 'gatewayId' | 'assetId' | 'canonicalAddress' | 'amount'>;

function wordsOf({ gatewayId, assetId, canonicalAddress: recipient, amount }: Row): Said {
  return { gatewayId, assetId, recipient, amount: formatAmount(amount) };
}
