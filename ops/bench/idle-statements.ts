/** Statements of one kind that one part of the product asked. */
export interface AskedOften {
  /** What the sessions call themselves, without what tells two of a kind apart. */
  part: string;
  /** The statement on one line, its lists of parameters and rows cut to one. */
  text: string;
  /** Whether a block brought it: the more blocks, the more often it is asked. */
  byBlock: boolean;
  count: number;
  milliseconds: number;
}

/** What each line of the log has to begin with for `readStatements`: the session's process, and what it calls itself. */
export const LOG_LINE_PREFIX = '%p|%a|';

const STATEMENT = /^(\d+)\|([^|\n]*)\|LOG: {2}duration: ([\d.]+) ms {2}(?:execute [^:\n]*|statement): (.*(?:\n\t.*)*)/gm;
/** The transaction that applies a block locks or writes the tip of its chain. */
const APPLIES = /insert into chain_(blocks|tips)|from chain_tips .* for update/;
/** What an indexer notes before it reads a block, which renews its lease where that is soon due, and what the consumer of blocks asks after it applied one. */
const AROUND = [
  /^(with renewed as \( )?update indexer_leases set reading/,
  /from deposits where network_id = \$\d+ and state = 'seen'/,
  /^update sightings s set booked_at/,
  /^select c\.id from credits c join chain_tips/,
  /^select network_id, height, hash, block_time, .* from chain_tips where network_id = \$\d+$/,
];
const PERIODIC = 'sluice-periodic';

/**
 * Reads what `log_min_duration_statement = 0` wrote with that prefix, most frequent first. A transaction in which anything belongs to a block does as a whole;
 * one that began before the log was read, or goes on after it, is counted statement by statement.
 */
export function readStatements(log: string): AskedOften[] {
  const kinds = new Map<string, AskedOften>();
  const add = ({ part, text, milliseconds }: Single, byBlock: boolean): void => {
    const key = `${part} ${byBlock} ${text}`;
    const known = kinds.get(key) ?? { part, text, byBlock, count: 0, milliseconds: 0 };
    kinds.set(key, { ...known, count: known.count + 1, milliseconds: known.milliseconds + milliseconds });
  };
  const open = new Map<string, Single[]>();
  for (const [, session = '', name = '', took = '', statement = ''] of log.matchAll(STATEMENT)) {
    const one = { part: partOf(name), text: oneLine(statement), milliseconds: Number(took) };
    if (one.text.startsWith('begin')) open.set(session, []);
    const transaction = open.get(session);
    if (transaction === undefined) {
      add(one, one.part !== PERIODIC && AROUND.some((pattern) => pattern.test(one.text)));
      continue;
    }
    transaction.push(one);
    if (one.text !== 'commit' && one.text !== 'rollback') continue;
    open.delete(session);
    const byBlock = transaction.some(({ text }) => APPLIES.test(text));
    for (const each of transaction) add(each, byBlock);
  }
  for (const transaction of open.values()) for (const each of transaction) add(each, false);
  return [...kinds.values()].sort((one, other) => other.count - one.count || one.text.localeCompare(other.text));
}

interface Single {
  part: string;
  text: string;
  milliseconds: number;
}

/** `sluice-api worker 1a2b3c4d 2026-…` without what tells this process from the one before it. */
function partOf(name: string): string {
  return name.replace(/ [0-9a-f]{8} \d{4}-\S+$/, '');
}

function oneLine(statement: string): string {
  return statement
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/\(\$\d+(?:, ?\$\d+)*\)(?:, ?\(\$\d+(?:, ?\$\d+)*\))*/g, '($…)');
}
