import { expect, it } from 'vitest';
import { readStatements } from '#ops/bench/idle-statements.ts';

const WORKER = 'sluice-api http+worker 1a2b3c4d 2026-01-02T03:04:05Z';
const line = (session: number, name: string, statement: string): string => `${session}|${name}|LOG:  duration: 0.500 ms  ${statement}\n`;
const executed = (session: number, name: string, statement: string): string =>
  line(session, name, `parse x: ${statement}`) + line(session, name, `bind x: ${statement}`) + line(session, name, `execute x: ${statement}`);

it('statements are counted by the part that asked them, each once, whichever process and however many parameters it was', () => {
  const log =
    executed(1, WORKER, 'select 1\n\tfrom outbox where id in ($1, $2)') +
    `1|${WORKER}|DETAIL:  parameters: $1 = 'select 2'\n` +
    executed(2, 'sluice-api http+worker 99999999 2026-01-02T03:09:05Z', 'select 1 from outbox where id in ($1)') +
    line(3, 'sluice-periodic', 'statement: select 1 from outbox where id in ($1)');
  expect(readStatements(log)).toEqual([
    { part: 'sluice-api http+worker', text: 'select 1 from outbox where id in ($…)', byBlock: false, count: 2, milliseconds: 1 },
    { part: 'sluice-periodic', text: 'select 1 from outbox where id in ($…)', byBlock: false, count: 1, milliseconds: 0.5 },
  ]);
});

it('a transaction that applies a block is brought by it as a whole, and no other session that asks meanwhile', () => {
  const log =
    line(1, WORKER, 'statement: begin') +
    executed(1, WORKER, 'select 1 from consumer_leases where network_id = $1 for share') +
    line(2, WORKER, 'statement: begin') +
    executed(2, WORKER, 'select 2') +
    executed(1, WORKER, 'insert into chain_tips as t (network_id) values ($1)') +
    line(1, WORKER, 'statement: commit') +
    line(2, WORKER, 'statement: commit') +
    executed(3, 'sluice-indexer', 'update indexer_leases set reading = $1::text::jsonb');
  const byBlock = (is: boolean) => readStatements(log).filter((one) => one.byBlock === is);
  expect(byBlock(true).map(({ text }) => text.split(' ').slice(0, 2).join(' '))).toEqual([
    'begin',
    'commit',
    'insert into',
    'select 1',
    'update indexer_leases',
  ]);
  expect(byBlock(false).map(({ text }) => text)).toEqual(['begin', 'commit', 'select 2']);
});
