import { expect, it } from 'vitest';
import { amountOf } from './deposits.ts';
import type { BookedDeposit, Payee, Rig } from './rig.ts';

const BLOCKS = 500;
/** Blocks between two payments: 500 is no multiple of it, so that they meet every edge of a range. */
const EVERY = 13;

/** An indexer that was away for long: nothing is missing afterwards, and nothing is out of order. */
export function describeGaps(rig: () => Rig): void {
  it(`of ${BLOCKS} blocks with payments all over it is caught up: the number, the sum and the order are exact`, async () => {
    const { node, driver } = rig();
    const symbols = Object.keys(driver.payments);
    const payees: Record<string, Payee[]> = {};
    for (const symbol of symbols) payees[symbol] = await rig().payees(4, symbol);
    const start = (await rig().tip())?.height ?? 0;
    const sent: { txid: string; symbol: string; rawAmount: bigint; to: Payee }[] = [];
    for (let block = 1; block <= BLOCKS; ) {
      const index = sent.length;
      const symbol = symbols[index % symbols.length] as string;
      const to = payees[symbol]?.[Math.floor(index / symbols.length) % 4] as Payee;
      const rawAmount = amountOf(rig(), { symbol }, index);
      sent.push({ txid: await node.payFrom((index % 3) as 0 | 1 | 2, symbol, { to: to.address, rawAmount }), symbol, rawAmount, to });
      const quiet = Math.min(EVERY, BLOCKS - block + 1);
      await node.chain.mine(quiet);
      block += quiet;
    }
    await rig().follow();
    await rig().bury();

    const deposits = (await Promise.all(symbols.map((symbol) => rig().depositsOf(payees[symbol] ?? [])))).flat();
    const ordered = deposits.sort((one: BookedDeposit, other: BookedDeposit) => one.height - other.height);
    expect(ordered.map((one) => one.txid)).toEqual(sent.map((one) => one.txid));
    expect(ordered.map((one) => one.height)).toEqual(sent.map((_, index) => start + 1 + index * EVERY));
    expect(ordered.every((one) => one.state === 'credited')).toBe(true);
    for (const symbol of symbols)
      for (const payee of payees[symbol] ?? []) {
        const sum = sent.filter((one) => one.to === payee && one.symbol === symbol).reduce((total, one) => total + one.rawAmount, 0n);
        expect(await rig().creditedOf([payee])).toEqual({ [symbol]: sum });
      }
    await rig().assertSound();
  });
}
