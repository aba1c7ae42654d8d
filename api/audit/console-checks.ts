import { type Check, LIMIT } from './check.ts';

/** How many of the newest rows the minute looks at; the night reads all. */
export const NEWEST = 1_000;

/** What must hold of what people did (decision 0063). */
export const CONSOLE_CHECKS: readonly Check[] = [
  {
    name: 'A34',
    title: 'what people did is a chain: no row was changed, taken out or put between',
    mayPass: false,
    asksMore: true,
    query: brokenLinks('true'),
    ofChanged: brokenLinksOfNewest,
  },
];

/** The same of the newest rows alone, as text of a statement. */
export function brokenLinksOfNewest(): string {
  return brokenLinks(`a.seq > (select max(seq) from console_actions) - ${NEWEST}`);
}

function brokenLinks(among: string): string {
  return `
      select seq as id, problem from (
        select a.seq, case
            when a.hash <> console_action_hash(a) then 'it does not say what it said'
            when a.seq > 1 and b.seq is null then 'the row before it is gone'
            when a.previous <> coalesce(b.hash, repeat('0', 64)) then 'it does not follow the row before it' end as problem
        from console_actions a left join console_actions b on b.seq = a.seq - 1 where ${among}) found
      where problem is not null ${LIMIT}`;
}
