import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { followReplacements, type KnownTransaction, type ToldTransaction } from '#shared/core/replacements.ts';

const told = (txid: string, firstSeenAt: number, spends: string[], ...coins: [to: string, rawAmount: bigint][]): ToldTransaction => ({
  txid,
  firstSeenAt,
  spends,
  coins: coins.map(([to, rawAmount], index) => ({ key: `native ${index}`, to, rawAmount })),
});
/** Applies snapshots in order, remembering everything as the database does. */
function follow(...snapshots: ToldTransaction[][]): Map<string, KnownTransaction & { replacedBy?: string | null }> {
  const rows = new Map<string, KnownTransaction & { replacedBy?: string | null }>();
  for (const snapshot of snapshots) {
    const { waiting, ended } = followReplacements([...rows.values()], snapshot);
    for (const one of waiting) rows.set(one.txid, one);
    for (const { txid, replacedBy } of ended) {
      const row = rows.get(txid) as KnownTransaction;
      rows.set(txid, { ...row, state: replacedBy === null ? 'gone' : 'replaced', replacedBy });
    }
  }
  return rows;
}
const seen = (rows: ReturnType<typeof follow>, txid: string) => rows.get(txid)?.coins.map((coin) => coin.firstSeenAt);

describe('what waits to be mined', () => {
  it('counts from when it was first seen, however often it is told', () => {
    const rows = follow([told('a', 10, ['o:0'], ['x', 5n])], [told('a', 30, ['o:0'], ['x', 5n])]);
    expect([seen(rows, 'a'), rows.get('a')?.state]).toEqual([[10], 'waiting']);
  });

  it('is replaced by what spends one of its outputs, and hands its time on to as many coins of the same address', () => {
    const rows = follow([told('a', 10, ['o:0', 'p:1'], ['x', 5n])], [told('b', 30, ['p:1', 'q:0'], ['x', 5n], ['y', 9n])]);
    expect(rows.get('a')).toMatchObject({ state: 'replaced', replacedBy: 'b' });
    expect(seen(rows, 'b')).toEqual([10, 30]);
  });

  it('hands it on through a second replacement that shares nothing with the first', () => {
    const rows = follow([told('a', 10, ['o:0'], ['x', 5n])], [told('b', 20, ['o:0', 'p:0'], ['x', 5n])], [told('c', 30, ['p:0'], ['x', 4n])]);
    expect(seen(rows, 'c')).toEqual([10]);
  });

  it('hands nothing on to more coins, to another address, or to what spends other outputs', () => {
    const first = [told('a', 10, ['o:0'], ['x', 5n])];
    expect(seen(follow(first, [told('b', 30, ['o:0'], ['x', 6n])]), 'b')).toEqual([30]);
    expect(seen(follow(first, [told('b', 30, ['o:0'], ['x', 3n], ['x', 3n])]), 'b')).toEqual([30, 30]);
    expect(seen(follow(first, [told('b', 30, ['o:0'], ['y', 5n])]), 'b')).toEqual([30]);
    expect(seen(follow(first, [told('b', 30, ['p:0'], ['x', 5n])]), 'b')).toEqual([30]);
  });

  it('hands its time on also when it had vanished before the replacement was told of', () => {
    const rows = follow([told('a', 10, ['o:0'], ['x', 5n])], [], [told('b', 30, ['o:0'], ['x', 5n])]);
    expect(seen(rows, 'b')).toEqual([10]);
    expect(rows.get('a')).toMatchObject({ state: 'replaced', replacedBy: 'b' });
  });

  it('is gone when nobody tells of it any more, and waits again with its own time when somebody does', () => {
    const once = follow([told('a', 10, ['o:0'], ['x', 5n])], []);
    expect(once.get('a')).toMatchObject({ state: 'gone', replacedBy: null });
    const again = follow([told('a', 10, ['o:0'], ['x', 5n])], [], [told('a', 40, ['o:0'], ['x', 5n])]);
    expect([seen(again, 'a'), again.get('a')?.state]).toEqual([[10], 'waiting']);
  });

  it('leaves what was mined as it is, and takes nothing from it', () => {
    const mined: KnownTransaction = { ...told('a', 10, ['o:0']), state: 'mined', coins: [{ key: 'native 0', to: 'x', rawAmount: 5n, firstSeenAt: 10 }] };
    const { waiting, ended } = followReplacements([mined], [told('b', 30, ['o:0'], ['x', 5n])]);
    expect([waiting[0]?.coins[0]?.firstSeenAt, ended]).toEqual([30, []]);
  });
});

describe('whatever a node tells', () => {
  /** A mempool never holds two transactions with an output in common. */
  const snapshot = fc
    .uniqueArray(fc.record({ txid: fc.constantFrom('a', 'b', 'c', 'd', 'e'), at: fc.integer({ min: 0, max: 99 }), units: fc.bigInt(1n, 3n) }), {
      selector: (one) => one.txid,
    })
    .chain((transactions) =>
      fc.tuple(fc.constant(transactions), fc.array(fc.integer({ min: 0, max: Math.max(0, transactions.length - 1) }), { minLength: 6, maxLength: 6 })),
    )
    .map(([transactions, owners]) =>
      transactions.map(({ txid, at, units }, index) =>
        told(txid, at, [`own:${txid}`, ...owners.flatMap((owner, output) => (owner === index ? [`o:${output}`] : []))], ['x', units]),
      ),
    );

  it('exactly what it told last waits, told again changes nothing, and the order within a telling is nothing', () => {
    fc.assert(
      fc.property(fc.array(snapshot, { minLength: 1, maxLength: 6 }), (snapshots) => {
        const rows = follow(...snapshots);
        const last = snapshots.at(-1) ?? [];
        const waiting = [...rows.values()].filter((one) => one.state === 'waiting').map((one) => one.txid);
        expect(waiting.sort()).toEqual(last.map((one) => one.txid).sort());
        const byId = (of: ReturnType<typeof follow>) => new Map([...of].sort(([a], [b]) => (a < b ? -1 : 1)));
        expect(byId(follow(...snapshots, last))).toEqual(byId(rows));
        expect(byId(follow(...snapshots.slice(0, -1), last.toReversed()))).toEqual(byId(rows));
      }),
    );
  });

  it('nothing is ever seen later than it was told, nor earlier than anything was', () => {
    fc.assert(
      fc.property(fc.array(snapshot, { minLength: 1, maxLength: 6 }), (snapshots) => {
        const times = snapshots.flat().map((one) => one.firstSeenAt);
        const first = new Map<string, number>();
        for (const one of snapshots.flat()) first.set(one.txid, Math.min(one.firstSeenAt, first.get(one.txid) ?? Number.POSITIVE_INFINITY));
        for (const row of follow(...snapshots).values())
          for (const coin of row.coins) {
            expect(coin.firstSeenAt).toBeLessThanOrEqual(first.get(row.txid) ?? 0);
            expect(coin.firstSeenAt).toBeGreaterThanOrEqual(Math.min(...times));
          }
      }),
    );
  });
});
