import { describe, expect, it } from 'vitest';
import { amountOf, twoOf } from './deposits.ts';
import type { FamilyDriver, Fault } from './family.ts';
import type { Payee, Rig } from './rig.ts';

/** Endpoints that answer with less than there is: nothing advances on their word, and nothing is lost once they recover. */
export function describeFaults(driver: FamilyDriver, rig: () => Rig): void {
  describe('a node that answers', () => {
    it.each(driver.faults.map((fault) => [fault.name, fault] as const))(
      '%s does not move the tip, and what it hid is booked once it recovers',
      async (_name, fault) => {
        await hide(rig(), async () => fault);
      },
    );
  });

  it('a node that lags behind what it told before does not move the tip, and what it had not seen yet is booked later', async () => {
    await hide(rig(), async () => ({ name: 'lag', meddling: await driver.lag(rig().node, 2) }));
    await rig().assertSound();
  });

  it('a node that forgot several blocks takes nothing back', async () => {
    const {
      node,
      driver: { main },
    } = rig();
    const [payee] = (await rig().payees(1, main)) as [Payee];
    const txid = await node.payFrom(0, main, { to: payee.address, rawAmount: amountOf(rig(), { symbol: main }, 1) });
    await rig().mine(2);
    const before = await rig().tip();
    node.meddle(await driver.lag(node, 2));
    for (let looks = 0; looks < 3; looks++) await rig().lookOnce();
    expect(await rig().tip()).toEqual(before);
    expect(await rig().depositsOf([payee])).toMatchObject([{ txid, state: 'seen' }]);
    node.meddle(null);
    await rig().bury();
    expect(await rig().depositsOf([payee])).toMatchObject([{ txid, state: 'credited' }]);
  });
}

/** Pays in everything the family has while the fault hides it, looks three times, and lets the node recover. */
async function hide(rig: Rig, faultOf: () => Promise<Fault>): Promise<void> {
  const { node, driver } = rig;
  const symbols = twoOf(driver);
  const payees: Payee[] = [];
  for (const symbol of symbols) payees.push(...(await rig.payees(1, symbol)));
  const before = await rig.tip();
  const txids: string[] = [];
  for (const [index, symbol] of symbols.entries())
    txids.push(await node.payFrom(index as 0 | 1, symbol, { to: payees[index]?.address as string, rawAmount: amountOf(rig, { symbol }, index) }));
  // A second block, so that the first is found by its height and not by what the head says of itself.
  await node.chain.mine(2);
  const fault = await faultOf();
  node.meddle(fault.meddling);
  try {
    for (let looks = 0; looks < 3; looks++) await rig.lookOnce();
    expect(await rig.tip(), fault.name).toEqual(before);
    expect(await rig.depositsOf(payees), fault.name).toEqual([]);
  } finally {
    node.meddle(null);
  }
  await rig.follow();
  expect((await rig.depositsOf(payees)).map((one) => [one.txid, one.state]).sort(), fault.name).toEqual(txids.map((txid) => [txid, 'seen']).sort());
  await rig.bury();
  expect(
    (await rig.depositsOf(payees)).map((one) => one.state),
    fault.name,
  ).toEqual(['credited', 'credited']);
}
