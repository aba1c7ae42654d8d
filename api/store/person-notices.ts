import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** What people are told of by mail, so that they learn of what they did not do. */
export type NoticedAct =
  | 'passkey.add'
  | 'membership.end'
  | 'member.proposed'
  | 'member.invited'
  | 'member.joined'
  | 'member.removed'
  | 'operator.joined'
  | 'passkey.remove'
  | 'authenticator.add'
  | 'authenticator.remove'
  | 'person.recovered'
  | 'paper-code.use'
  | 'identity.add'
  | 'identity.remove';

export interface Notice {
  id: string;
  what: NoticedAct;
  /** Where it came from, where that is known. */
  address: string | null;
  /** Of a change of a gateway's people: where, who and as what, a line each. */
  about: string | null;
}

/**
 * Keeps what a person is to be told; false, and nothing kept, when they were told of the same `most` times within an hour, of one gateway where it is about one. Reads
 * person_notices_old; locks nothing.
 */
export async function insertNotice(tx: Tx, personId: string, { id, what, address, about }: Notice, most: number): Promise<boolean> {
  const rows = await tx`
    insert into person_notices (id, person_id, what, address, about)
    select ${id}, ${personId}, ${what}, ${address}, ${about}
    where (
      select count(*) from person_notices
      where at > sluice_now() - interval '1 hour' and person_id = ${personId} and what = ${what}
        and split_part(coalesce(about, ''), chr(10), 1) = ${about?.split('\n')[0] ?? ''}) < ${most}
    returning 1`;
  return rows.length === 1;
}

/** Reads a notice with the address that it is mailed to. Locks nothing. */
export async function findNotice(sql: Reads, id: string): Promise<(Notice & { email: string; at: Date }) | undefined> {
  const [row] = await sql<(Notice & { email: string; at: Date })[]>`
    select n.id, n.what, n.address, n.about, n.at, p.email from person_notices n join people p on p.id = n.person_id where n.id = ${id}`;
  return row;
}
