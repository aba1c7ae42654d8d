import {
  addToBalances,
  type AccountKey,
  type AccountRow,
  findAccounts,
  insertEntries,
  insertEntriesOf,
  insertEntriesOfMany,
  insertLedgerTransaction,
  insertLedgerTransactions,
  insertZeroAccounts,
  lockAccounts,
} from '#api/store/ledger.ts';
import { allEnded } from '#shared/core/both-ended.ts';
import { Invariant } from '#shared/core/errors.ts';
import { formatAmount } from '#shared/core/money.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import type { Posting } from '#state-machines/ledger/accounts.ts';

/** System accounts, and `owed`, that may be below zero. The CHECK on ledger_accounts lists the same. */
const OVERDRAWABLE = ['networkFee', 'commission', 'gas', 'capital', 'platformExpense', 'loss', 'chain', 'cold', 'owed'];

/** A posting would have taken an account below zero. Nothing of it was written, and the caller must roll the transaction back. */
export class Overdraw extends Error {
  readonly account: AccountKey;
  constructor(account: AccountKey, amount: bigint) {
    super(`${account.kind} of asset ${account.assetId} does not cover ${formatAmount(-amount)}`);
    this.name = 'Overdraw';
    this.account = account;
  }
}

export interface LedgerTransaction {
  /** Name of the cause, such as `deposit:<id>` or `settlement:<id>:reserve`. Each cause is posted at most once. */
  sourceKey: string;
  /** Name of the posting that made it, such as credit, mature, reserve or settle. */
  kind: string;
  /** Signed amounts that sum to zero per asset. Several on one account are added up first. */
  postings: readonly Posting[];
}

/**
 * Posts one balanced ledger transaction inside `tx` and returns true; returns false, having written nothing, when its source key exists already.
 * Locks the accounts in id order until commit (architecture 2, Ledger; reliability D3).
 * @throws Overdraw when an account that may not go negative would
 */
export async function post(tx: Tx, { sourceKey, kind, postings }: LedgerTransaction): Promise<boolean> {
  const changes = merge(postings);
  const keys = [...changes.values()].map((change) => change.key);
  const [transactionId, found] = await Promise.all([insertLedgerTransaction(tx, sourceKey, kind), findAccounts(tx, keys)]);
  if (transactionId === undefined) return false;
  if (changes.size === 0) return true;
  const lines = linesOf(changes, await accountIds(tx, keys, found));
  await writeLines(tx, lines, () => insertEntries(tx, transactionId, entriesOf(lines)));
  return true;
}

/**
 * Posts one balanced ledger transaction of a cause that the caller has locked, and that cannot have been posted. Of its accounts `known` were found ahead (findAccounts): where those are all, every statement is
 * sent at once, so that the caller's next ones follow without waiting for an answer. Locks as `post` does.
 * @throws Invariant when the source key exists already, and Overdraw as `post` does: the caller must roll the transaction back
 */
export async function postNew(tx: Tx, { sourceKey, kind, postings }: LedgerTransaction, known: readonly AccountRow[]): Promise<void> {
  const changes = merge(postings);
  const keys = [...changes.values()].map((change) => change.key);
  const insert = async (): Promise<void> => {
    if ((await insertLedgerTransaction(tx, sourceKey, kind)) === undefined) throw new Invariant(`${sourceKey} is posted already`);
  };
  const write = async (ids: ReadonlyMap<string, number>): Promise<void> => {
    const lines = linesOf(changes, ids);
    if (lines.length > 0) await writeLines(tx, lines, () => insertEntriesOf(tx, sourceKey, entriesOf(lines)));
  };
  const ids = idsByName(known);
  const areKnown = keys.every((key) => ids.has(nameOf(key)));
  await allEnded([insert(), areKnown ? write(ids) : accountIds(tx, keys, known).then(write)]);
}

function linesOf(changes: ReadonlyMap<string, { key: AccountKey; amount: bigint }>, ids: ReadonlyMap<string, number>): Line[] {
  return [...changes].map(([name, change]) => ({ id: ids.get(name) as number, ...change })).sort((a, b) => a.id - b.id);
}

function entriesOf(lines: readonly Line[]): { accountId: number; assetId: string; amount: bigint }[] {
  return lines.map((line) => ({ accountId: line.id, assetId: line.key.assetId, amount: line.amount }));
}

/** Changes balances under their locks and appends what `insert` sends, in one round trip. @throws Overdraw when an account that may not go negative would */
async function writeLines(tx: Tx, lines: readonly Line[], insert: () => Promise<void>, ids = lines.map((line) => line.id)): Promise<void> {
  const [, changed] = await Promise.all([lockAccounts(tx, ids), addToBalances(tx, lines, OVERDRAWABLE), insert()]);
  const known = new Set(changed);
  const refused = lines.find((line) => !known.has(line.id));
  if (refused !== undefined) throw new Overdraw(refused.key, refused.amount);
}

/** What one account changes by. */
interface Line {
  id: number;
  key: AccountKey;
  amount: bigint;
}

/**
 * Posts many ledger transactions as `post` does, but in no more statements than one takes; returns the source keys that were posted now.
 * All accounts are locked together, and a balance may not fall below its limit by all transactions together.
 * @throws Overdraw when an account that may not go negative would
 */
export async function postEach(tx: Tx, transactions: readonly LedgerTransaction[]): Promise<Set<string>> {
  if (transactions.length === 0) return new Set();
  const ids = await insertLedgerTransactions(tx, transactions);
  const posted = transactions.flatMap(({ sourceKey, postings }) => {
    const id = ids.get(sourceKey);
    return id === undefined ? [] : [{ id, changes: merge(postings) }];
  });
  const total = merge(transactions.flatMap(({ sourceKey, postings }) => (ids.has(sourceKey) ? postings : [])));
  const keys = new Map(posted.flatMap(({ changes }) => [...changes].map(([name, { key }]) => [name, key] as const)));
  if (keys.size === 0) return new Set(ids.keys());
  const accounts = await accountIds(tx, [...keys.values()], await findAccounts(tx, [...keys.values()]));
  const lines = linesOf(total, accounts);
  const entries = posted.flatMap(({ id, changes }) =>
    [...changes].map(([name, { key, amount }]) => ({ transactionId: id, accountId: accounts.get(name) as number, assetId: key.assetId, amount })),
  );
  await writeLines(tx, lines, () => insertEntriesOfMany(tx, entries), [...accounts.values()]);
  return new Set(ids.keys());
}

/** Sums the postings of each account, leaving out zero sums. @throws Invariant when the postings do not sum to zero per asset */
function merge(postings: readonly Posting[]): Map<string, { key: AccountKey; amount: bigint }> {
  const merged = new Map<string, { key: AccountKey; amount: bigint }>();
  const sums = new Map<string, bigint>();
  for (const { account, assetId, amount } of postings) {
    const key: AccountKey = { kind: account.kind, gatewayId: account.gatewayId, settlementId: account.settlementId, assetId };
    const name = nameOf(key);
    merged.set(name, { key, amount: (merged.get(name)?.amount ?? 0n) + amount });
    sums.set(assetId, (sums.get(assetId) ?? 0n) + amount);
  }
  for (const [assetId, sum] of sums) if (sum !== 0n) throw new Invariant(`postings of asset ${assetId} sum to ${formatAmount(sum)}, not to zero`);
  for (const [name, change] of merged) if (change.amount === 0n) merged.delete(name);
  return merged;
}

/**
 * Locks accounts until commit, in id order, so that what the caller reads of them and of their credits stays true; other posts to them wait.
 * Name all accounts that will be posted to, because locking another one later may deadlock.
 */
export async function lockBalances(tx: Tx, keys: readonly AccountKey[]): Promise<void> {
  const ids = await accountIds(tx, [...keys], await findAccounts(tx, keys));
  await lockAccounts(tx, [...ids.values()]);
}

/** Ids by account name, of which `found` are known. Inserts a zero row for an account that is new. */
async function accountIds(tx: Tx, keys: AccountKey[], found: readonly AccountRow[]): Promise<Map<string, number>> {
  const ids = idsByName(found);
  const missing = keys.filter((key) => !ids.has(nameOf(key))).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  if (missing.length > 0) {
    await insertZeroAccounts(tx, missing);
    for (const row of await findAccounts(tx, missing)) ids.set(nameOf(row), row.id);
  }
  return ids;
}

function idsByName(found: readonly AccountRow[]): Map<string, number> {
  return new Map(found.map((row) => [nameOf(row), row.id]));
}

function nameOf(key: AccountKey): string {
  return `${key.assetId} ${key.kind} ${key.gatewayId ?? '-'} ${key.settlementId ?? '-'}`;
}
