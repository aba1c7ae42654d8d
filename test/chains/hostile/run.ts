import { expect, it } from 'vitest';
import type { Payee, Rig } from '../conformance/rig.ts';
import type { Row } from './row.ts';

/** What became of each row's making, by name. */
const looked = new WeakMap<Rig, Map<string, string | undefined>>();

/** Makes every row happen to a payment of its own, and lets `follow` bring it all to the books. */
export async function happen<Bench>(rig: Rig, rows: readonly Row<Bench>[], bench: Bench, follow: () => Promise<void>): Promise<Payee[]> {
  const payees = await rig.payees(rows.length, rig.driver.main);
  const txids = new Map<string, string | undefined>();
  for (const [i, row] of rows.entries()) txids.set(row.name, await row.make(bench, payees[i]?.address as string));
  looked.set(rig, txids);
  await follow();
  return payees;
}

/** One test for each row: exactly the deposits it says, credited with exactly their amounts, and the same looked up alone. */
export function describeRows<Bench>(rows: readonly Row<Bench>[], rig: () => Rig, payees: () => readonly Payee[]): void {
  it.each(rows.map((row, i) => [row.name, row.reason, row, i] as const))('%s: %s', async (name, _reason, { gets = [], dust, early }, i) => {
    const payee = payees()[i] as Payee;
    const expected = gets.map(({ symbol, kind, ordinal, rawAmount }) => ({ symbol, kind, ordinal, rawAmount: String(rawAmount) })).sort(byKind);
    const deposits = await rig().depositsOf([payee]);
    expect(deposits.map(({ symbol, kind, ordinal, rawAmount }) => ({ symbol, kind, ordinal, rawAmount })).sort(byKind)).toEqual(expected);
    const sums: Record<string, bigint> = {};
    for (const { symbol, rawAmount } of dust || early ? [] : gets) sums[symbol] = (sums[symbol] ?? 0n) + rawAmount;
    expect(await rig().creditedOf([payee])).toEqual(sums);
    const txid = looked.get(rig())?.get(name);
    if (txid === undefined) return;
    // Whatever is looked up alone (an inquiry, a payout's outcome) says the same of configured assets.
    const contracts = new Map(Object.entries(rig().node.chain.tokens).map(([symbol, contract]) => [contract, symbol]));
    const alone = await rig().deps.chains.get(rig().node.network.name)?.reader.transaction(txid);
    const told = (alone?.transfers ?? []).flatMap(({ kind, ordinal, rawAmount, recipient, contract }) => {
      const symbol = contract === null ? rig().node.network.nativeSymbol : contracts.get(contract);
      return recipient === payee.address && symbol !== undefined ? [{ symbol, kind, ordinal, rawAmount }] : [];
    });
    expect(told.sort(byKind)).toEqual(expected);
  });
}

function byKind(a: { kind: string; ordinal: number }, b: { kind: string; ordinal: number }): number {
  return a.kind.localeCompare(b.kind) || a.ordinal - b.ordinal;
}
