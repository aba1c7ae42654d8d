import type { Reads } from '#shared/platform/postgres.ts';

/** How much of a refused message is kept, characters, and how many of them per network. */
const KEPT_CHARACTERS = 4_000;
const KEPT_MESSAGES = 1_000;

/** Sets a refused stream message aside and forgets the oldest ones of its network; parking it twice is harmless. */
export async function parkMessage(sql: Reads, message: { networkId: string; streamId: string; reason: string; payload: string }): Promise<void> {
  const payload = message.payload.slice(0, KEPT_CHARACTERS).replaceAll('\u0000', '');
  await sql`
    with parked as (
      insert into parked_messages (network_id, stream_id, reason, payload) values (${message.networkId}, ${message.streamId}, ${message.reason}, ${payload})
      on conflict (network_id, stream_id) do nothing
    )
    delete from parked_messages where id in (
      select id from parked_messages where network_id = ${message.networkId} order by id desc offset ${KEPT_MESSAGES})`;
}
