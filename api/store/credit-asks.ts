import type { Reads } from '#shared/platform/postgres.ts';

/** What an act is done to by which a gateway asks for screening credit, in the record of acts. */
export const SCREENING_CREDIT = 'screening-credit';
/** Days for which an ask waits; whoever still needs more asks again. */
const WAITS_DAYS = 14;
/** Gateways that are shown: more than anybody answers in a day. */
const MOST = 100;

/** That a gateway asked for screening credit, and got none since. */
interface CreditAsk {
  gatewayId: string;
  by: string;
  at: Date;
}

/** The last ask of each gateway that waits, or of one, the newest first; by the index of what acts are done to, which other acts may name as well. Locks nothing. */
export async function listCreditAsks(sql: Reads, { gatewayId = null }: { gatewayId?: string | null } = {}): Promise<CreditAsk[]> {
  return sql<CreditAsk[]>`
    select l.gateway_id, l.by, l.at from (
      select distinct on (a.gateway_id) a.gateway_id, a.actor as by, a.at, a.seq from console_actions a
      where a.target = ${SCREENING_CREDIT} and a.act = 'credits.ask' and a.at > sluice_now() - make_interval(days => ${WAITS_DAYS})
        and (${gatewayId}::uuid is null or a.gateway_id = ${gatewayId}::uuid)
      order by a.gateway_id, a.seq desc) l
    where not exists (
      select 1 from operator_actions o where o.target = l.gateway_id::text and o.action = 'screening-credits.add' and o.at > l.at)
    order by l.seq desc limit ${MOST}`;
}
