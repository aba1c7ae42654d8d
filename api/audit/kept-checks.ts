import { type Check, LIMIT } from './check.ts';

/** What must hold of figures that are kept as sums (decision 0055). They only inform, so they are added up from their rows at night alone. */
export const KEPT_CHECKS: readonly Check[] = [
  {
    name: 'A33',
    title: 'what lists count, and what credits are said to add up to, is what their rows are',
    mayPass: false,
    query: `
      select list, gateway_id, status as of, sum(count) as difference from (
        select list, gateway_id, status, count from tallies
        union all
        select 'payments', gateway_id, status, -count(*) from payments group by 2, 3
        union all
        select 'settlements', gateway_id, status, -count(*) from settlements group by 2, 3
        union all
        select 'webhook_events', gateway_id, state, -count(*) from webhook_events group by 2, 3) both_sides
      group by 1, 2, 3 having sum(count) <> 0
      union all
      select 'credits', gateway_id, asset_id || ' ' || pool || ' ' || matured, sum(gross) from (
        select gateway_id, asset_id, pool, matured, gross, network_fee, commission from credit_tallies
        union all
        select gateway_id, asset_id, pool, matured_at is not null, -gross, -network_fee, -commission from credits) both_sides
      group by gateway_id, asset_id, pool, matured having sum(gross) <> 0 or sum(network_fee) <> 0 or sum(commission) <> 0 ${LIMIT}`,
    ofChanged: () => 'select 1 where false',
  },
];
