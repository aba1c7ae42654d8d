import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** Notes the person who made a key, or the key that made it, whose maker is then its own; of one that nobody in the console made nothing is noted. The key is there already. */
export async function insertKeyMaker(tx: Tx, keyId: string, by: { personId: string } | { keyId: string }): Promise<void> {
  if ('personId' in by) await tx`insert into api_key_makers (key_id, person_id) values (${keyId}, ${by.personId})`;
  else await tx`insert into api_key_makers (key_id, person_id) select ${keyId}, person_id from api_key_makers where key_id = ${by.keyId}`;
}

/** Notes the key that asked for each of these cashouts. */
export async function insertSettlementKeys(tx: Tx, asked: readonly { settlementId: string; keyId: string }[]): Promise<void> {
  await tx`
    insert into settlement_keys (settlement_id, key_id)
    select * from unnest(${asked.map((one) => one.settlementId)}::uuid[], ${asked.map((one) => one.keyId)}::text[])`;
}

/** A key that asked for a cashout, and who made it; null where nobody in the console did. */
export interface AskingKey {
  keyId: string;
  name: string | null;
  makerId: string | null;
  makerEmail: string | null;
}

/** The key that asked for a cashout; undefined when a person did, or when it was made before this was noted. Locks nothing. */
export async function findAskingKey(sql: Reads, settlementId: string): Promise<AskingKey | undefined> {
  const [row] = await sql<AskingKey[]>`
    select k.key_id, a.name, m.person_id as "makerId", p.email as "makerEmail"
    from settlement_keys k join api_keys a on a.id = k.key_id left join api_key_makers m on m.key_id = k.key_id left join people p on p.id = m.person_id
    where k.settlement_id = ${settlementId}`;
  return row;
}
