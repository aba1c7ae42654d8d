import { expect, it } from 'vitest';
import { FULL } from '#test/harness/counts.ts';
import { DELIVERY_STYLES, type DeliveryStyle } from './delivery.ts';
import { amountOf, twoOf } from './deposits.ts';
import type { Payee, Rig } from './rig.ts';

/**
 * Reorganisations of every depth that finality allows, under every delivery style: three payers at once, of whom one
 * loses the payment, one has it mined elsewhere and one replaces it by another.
 */
export function describeReorganisations(rig: () => Rig, notFinal: number): void {
  const depths = Array.from({ length: notFinal }, (_, index) => index + 1);

  it.each(DELIVERY_STYLES.map((style) => [style.name, style] as const))(
    'of every depth above finality, delivered %s: one credit each, exact to the unit',
    async (_name, style) => {
      for (const depth of depths) await reorganise(rig(), depth, style);
      await rig().assertSound();
    },
    FULL ? 1_800_000 : 120_000,
  );
}

async function reorganise(rig: Rig, depth: number, style: DeliveryStyle): Promise<void> {
  const { node, driver } = rig;
  const told = `depth ${depth}, ${style.name}`;
  // Coins and tokens take turns, so that each style meets both at some depth.
  const symbol = twoOf(driver)[depth % 2] as string;
  const payees = (await rig.payees(3, symbol)) as [Payee, Payee, Payee];
  const [lost, moved, replaced] = payees;
  const [first, second] = [amountOf(rig, { symbol }, depth), amountOf(rig, { symbol }, depth + 50)];
  await node.payFrom(0, symbol, { to: lost.address, rawAmount: first });
  const again = await node.payFrom(1, symbol, { to: moved.address, rawAmount: first });
  const old = await node.payFrom(2, symbol, { to: replaced.address, rawAmount: first });
  for (let mined = 0; mined < depth; mined++) await rig.mine(1, style);
  const before = await rig.depositsOf(payees);
  expect(
    before.map((one) => one.state),
    told,
  ).toEqual(['seen', 'seen', 'seen']);

  await node.reorganise(depth, {
    again: [{ txid: again, block: depth - 1 }],
    replaced: [{ txid: old, by: { to: replaced.address, rawAmount: second }, block: Math.floor((depth - 1) / 2) }],
  });
  await rig.lookOnce(style);
  await rig.mine(1, style);
  await rig.bury(style);

  const after = await rig.depositsOf(payees);
  const of = (payee: Payee) => after.filter((one) => one.address === payee.address);
  const height = before[0]?.height as number;
  expect(of(lost), told).toMatchObject([{ state: 'dropped' }]);
  expect(of(moved), told).toMatchObject([{ txid: again, state: 'credited', height: height + depth - 1, rawAmount: String(first) }]);
  expect(
    of(replaced).filter((one) => one.state !== 'dropped'),
    told,
  ).toMatchObject([{ state: 'credited', rawAmount: String(second) }]);
  expect(
    of(replaced)
      .map((one) => one.txid)
      .sort(),
    told,
  ).toEqual(expect.arrayContaining([old]));
  expect(await rig.creditedOf([lost]), told).toEqual({});
  expect(await rig.creditedOf([moved]), told).toEqual({ [symbol]: first });
  expect(await rig.creditedOf([replaced]), told).toEqual({ [symbol]: second });
  if (FULL) await rig.assertSound();
}
