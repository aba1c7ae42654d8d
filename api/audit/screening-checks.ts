import { type Check, LIMIT } from './check.ts';

/** What the audit asks about screening. */
export const SCREENING_CHECKS: readonly Check[] = [
  {
    name: 'A24',
    title: 'every screening credit ever given is left, held by one question, or spent on one verdict',
    mayPass: false,
    query: `
      select c.gateway_id, c.granted, c.credits, coalesce(s.used, 0) as used from screening_credits c
      left join (select gateway_id, count(*) as used from screenings where credit group by gateway_id) s on s.gateway_id = c.gateway_id
      where c.granted <> c.credits + coalesce(s.used, 0) ${LIMIT}`,
  },
];
