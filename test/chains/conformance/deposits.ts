import { expect, it } from 'vitest';
import type { FamilyDriver, Payment, TransferWay } from './family.ts';
import type { Payee, Rig } from './rig.ts';

/** Every way money can arrive: what is booked is what arrived, once, under the transaction that brought it. */
export function describeDeposits(rig: () => Rig): void {
  it('is booked exactly, whichever way it came', async () => {
    const { node } = rig();
    for (const [index, way] of node.ways.entries()) {
      const [payee] = (await rig().payees(1, way.symbol)) as [Payee];
      const rawAmount = amountOf(rig(), way, index);
      const txid = await way.send([{ to: payee.address, rawAmount }]);
      await rig().mine(1);
      expect(await rig().depositsOf([payee]), way.name).toMatchObject([
        { txid, kind: way.kind, symbol: way.symbol, rawAmount: String(rawAmount), state: 'seen', address: payee.address },
      ]);
      await rig().bury();
      expect(await rig().depositsOf([payee]), way.name).toMatchObject([{ txid, state: 'credited' }]);
      expect(await rig().creditedOf([payee]), way.name).toEqual({ [way.symbol]: rawAmount });
    }
    await rig().assertSound();
  });

  it('of one transaction to one address is a deposit for each movement', async () => {
    for (const way of rig().node.ways.filter(({ several }) => several)) {
      const [payee] = (await rig().payees(1, way.symbol)) as [Payee];
      const rawAmounts = [3, 5, 3].map((index) => amountOf(rig(), way, index));
      const txid = await way.send(rawAmounts.map((rawAmount) => ({ to: payee.address, rawAmount })));
      await rig().mine(1);
      await rig().bury();
      const deposits = await rig().depositsOf([payee]);
      expect(
        deposits.map((one) => one.rawAmount),
        way.name,
      ).toEqual(rawAmounts.map(String));
      expect(new Set(deposits.map((one) => one.ordinal)).size, way.name).toBe(3);
      expect(
        deposits.every((one) => one.txid === txid && one.kind === way.kind && one.state === 'credited'),
        way.name,
      ).toBe(true);
      expect(await rig().creditedOf([payee]), way.name).toEqual({ [way.symbol]: rawAmounts.reduce((sum, one) => sum + one, 0n) });
    }
    await rig().assertSound();
  });

  it('in a batch to several addresses goes to each its own', async () => {
    for (const way of rig().node.ways.filter(({ several }) => several)) {
      const payees = await rig().payees(3, way.symbol);
      const payments: Payment[] = payees.map(({ address }, index) => ({ to: address, rawAmount: amountOf(rig(), way, index) }));
      await way.send(payments);
      await rig().mine(1);
      await rig().bury();
      for (const [index, payee] of payees.entries()) {
        expect(await rig().depositsOf([payee]), way.name).toHaveLength(1);
        expect(await rig().creditedOf([payee]), way.name).toEqual({ [way.symbol]: payments[index]?.rawAmount });
      }
    }
    await rig().assertSound();
  });

  it('is booked to the unit when every way comes at once', async () => {
    const { ways } = rig().node;
    const meetings: [TransferWay, Payee][] = [];
    for (const way of ways) meetings.push([way, ((await rig().payees(1, way.symbol)) as [Payee])[0]]);
    for (const [index, [way, payee]] of meetings.entries()) await way.send([{ to: payee.address, rawAmount: amountOf(rig(), way, index) }]);
    await rig().mine(1);
    await rig().bury();
    for (const [index, [way, payee]] of meetings.entries())
      expect(await rig().creditedOf([payee]), way.name).toEqual({ [way.symbol]: amountOf(rig(), way, index) });
    await rig().assertSound();
  });
}

/** Another one for each index, with a digit in the last place so that nothing can be rounded unseen. */
export function amountOf({ driver }: Rig, { symbol }: Pick<TransferWay, 'symbol'>, index: number): bigint {
  const usual = driver.payments[symbol];
  if (usual === undefined) throw new Error(`nobody pays in ${symbol}`);
  return usual + (BigInt(index) * usual) / 200n + 1n + BigInt(index);
}

/** The coin and the token of a family, or its coin twice. */
export function twoOf({ payments }: FamilyDriver): [string, string] {
  const [coin = '', token = coin] = Object.keys(payments);
  return [coin, token];
}
