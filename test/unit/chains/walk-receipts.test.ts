import { describe, expect, it } from 'vitest';
import type { WatchSet } from '#shared/chains/chain.ts';
import { crossCheck } from '#shared/chains/evm/content.ts';
import { readHeader, readReceipts } from '#shared/chains/evm/replies.ts';
import { walkReceipts } from '#shared/chains/evm/walk-receipts.ts';
import { Unread } from '#shared/chains/unread.ts';
import { atOnce } from '#shared/core/turns.ts';
import { madeBlock, type Made, type MadeBlock } from '#test/fixtures/made-evm-block.ts';
import { RECORDED, recordedBlock } from '#test/fixtures/recorded-mainnet.ts';
import { fuzzReceipts } from '#test/fixtures/walked-blocks.ts';

const EVERYONE: WatchSet = { has: () => true };
const NO_ONE: WatchSet = { has: () => false };

describe.each(RECORDED)('the receipts of the recorded block %s', (name) => {
  it('are walked over and say what reading each of them says', () => {
    const { block, receipts, chainId } = recordedBlock(name);
    const header = readHeader({ ...block, transactions: block.transactions.map(({ hash }) => hash) });
    const walked = walkReceipts(new Unread(Buffer.from(JSON.stringify(receipts))), header, EVERYONE);
    const read = readReceipts(receipts);
    expect(atOnce(crossCheck(header, read, { chainId, stateSyncs: false }))).toBe(read.length);
    expect(walked?.named(() => false)).toEqual(read);
    expect(walked?.logs).toBe(read.reduce((sum, { logs }) => sum + logs.length, 0));
    expect(walked?.outcomes()).toEqual(
      read.map(({ txid, succeeded, from, to, created, gasUsed, logs }) => ({ txid, succeeded, from, to, created, gasUsed, logs: { length: logs.length } })),
    );
  });
});

const SENDER = `0x${'12'.repeat(20)}`;
const TOKEN = `0x${'34'.repeat(20)}`;
const ALICE = `0x${'56'.repeat(20)}`;
const padded = (address: string): string => `0x${'00'.repeat(12)}${address.slice(2)}`;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const paid = (to: string): Made => ({
  tx: { type: '0x2', from: SENDER, to: TOKEN },
  receipt: { logs: [{ address: TOKEN, topics: [TRANSFER, padded(SENDER), padded(to)], data: `0x${'00'.repeat(31)}07`, removed: false }] },
});

function walk(
  { block, receipts }: MadeBlock,
  change: (text: string) => string = (text) => text,
  watched: WatchSet = EVERYONE,
): ReturnType<typeof walkReceipts> {
  const header = readHeader({ ...block, transactions: block.transactions.map(({ hash }) => hash) });
  return walkReceipts(new Unread(Buffer.from(change(JSON.stringify(receipts)))), header, watched);
}

describe('a header', () => {
  it.each([
    ['253402300799', 253_402_300_799],
    ['253402300800', null],
    [String(Number.MAX_SAFE_INTEGER), null],
  ])('is not believed behind the year 9999, which no column holds: %s', (seconds, time) => {
    const { block } = madeBlock([], { timestamp: `0x${BigInt(seconds).toString(16)}` });
    const read = () => readHeader(block);
    if (time === null) expect(read).toThrow('the block time is too large');
    else expect(read().time).toBe(time);
  });
});

describe('a walk over receipts', () => {
  it.each([1, 2, 3, 15, 16, 17, 127, 128, 129, 130, 255, 256, 257, 300])('proves a block of %i', (count) => {
    const made = madeBlock(Array.from({ length: count }, () => paid(ALICE)));
    expect(walk(made)?.outcomes()).toHaveLength(count);
  });

  it('proves logs of any length: no contract can have a block read in the slow way', () => {
    const data = ['00', '01', '7f', '80', 'ff', ...Array.from({ length: 70 }, (_, bytes) => 'ab'.repeat(bytes))];
    for (const digits of data) {
      const log = { data: `0x${digits}`, address: TOKEN, topics: [], blockNumber: '0x1312d00', removed: false };
      expect(walk(madeBlock([{ tx: { type: '0x2', from: SENDER, to: TOKEN }, receipt: { logs: [log] } }]))?.logs, digits).toBe(1);
    }
  });

  it.each([
    ['0x0', '0x1', '0x2', '0x3', '0x4'],
    ['0x64', '0x65', '0x66', '0x68', '0x69', '0x6a'],
    ['0x7e', '0x7f', '0x2'],
  ])('proves receipts of the types %s, %s, %s and more', (...types) => {
    const fields = { depositNonce: '0x8f', depositReceiptVersion: '0x1', logs: paid(ALICE).receipt?.logs };
    expect(walk(madeBlock(types.map((type) => ({ tx: { type, from: SENDER, to: TOKEN }, receipt: fields }))))?.outcomes()).toHaveLength(types.length);
  });

  it('names exactly the receipts of senders, recipients, created contracts and ends of token transfers that are watched, and those it is asked for', () => {
    const others = Array.from({ length: 6 }, () => paid(`0x${'99'.repeat(20)}`));
    const made = madeBlock([
      ...others,
      paid(ALICE),
      { tx: { type: '0x2', from: ALICE, to: TOKEN } },
      { tx: { type: '0x2', from: SENDER, to: ALICE } },
      { tx: { type: '0x2', from: SENDER, to: null }, receipt: { contractAddress: ALICE } },
      ...others,
    ]);
    const watched = { has: (address: string) => address === ALICE };
    const third = made.receipts[2]?.transactionHash;
    const positions = (walked: ReturnType<typeof walkReceipts>): unknown => walked?.named((txid) => txid === third).map(({ position }) => position);
    expect(positions(walk(made, undefined, watched))).toEqual([2, 6, 7, 8, 9]);
    expect(positions(walk(made, undefined, NO_ONE))).toEqual([2]);
  });

  const receipt = madeBlock([paid(ALICE), paid(SENDER)]);
  /** Each is told from what is proven by something that two readers may see otherwise. */
  const DOUBTS: [string, (text: string) => string][] = [
    ['a status told twice', (text) => text.replace('"status":"0x1"', '"status":"0x1","status":"0x1"')],
    ['a sender told twice', (text) => text.replace('"from":', `"from":"${ALICE}","from":`)],
    ['the data of a log told twice', (text) => text.replace('"data":', '"data":"0x","data":')],
    ['logs told twice', (text) => text.replace('"logs":', '"logs":[],"logs":')],
    ['two receipts in each other’s place', (text) => JSON.stringify((JSON.parse(text) as unknown[]).toReversed())],
    ['an address in capital letters', (text) => text.replace(TOKEN, TOKEN.replace('0x34', '0xAB'))],
    ['a number in capital letters', (text) => text.replace('"cumulativeGasUsed":"0x5208"', '"cumulativeGasUsed":"0X5208"')],
    ['a number with a leading zero', (text) => text.replace('"cumulativeGasUsed":"0x5208"', '"cumulativeGasUsed":"0x05208"')],
    ['a number without digits', (text) => text.replace('"gasUsed":"0x5208"', '"gasUsed":"0x"')],
    ['a number that is none', (text) => text.replace('"gasUsed":"0x5208"', '"gasUsed":21000')],
    ['a price of more than there is', (text) => text.replace('"effectiveGasPrice":"0x1"', `"effectiveGasPrice":"0x${'f'.repeat(32)}"`)],
    ['a price and gas of more than there is', (text) => text.replace('"gasUsed":"0x5208"', `"gasUsed":"0x${'f'.repeat(31)}"`)],
    ['a publishing fee of more than there is', (text) => text.replace('"status":', `"l1Fee":"0x1${'0'.repeat(32)}","status":`)],
    ['a number that no word holds', (text) => text.replace('"status":', `"depositNonce":"0x1${'0'.repeat(64)}","status":`)],
    ['an odd number of digits in data', (text) => text.replace('07","removed"', '7","removed"')],
    ['one digit of data changed', (text) => text.replace('07","removed"', '08","removed"')],
    ['a log that was removed', (text) => text.replace('"removed":false', '"removed":true')],
    ['a log of another transaction', (text) => text.replace(/("transactionHash":"0x)(.)([\s\S]*?"logs":\[\{[\s\S]*?)\1\2/, '$1$2$3$1g')],
    ['a log under another number', (text) => text.replace('"logIndex":"0x1"', '"logIndex":"0x2"')],
    ['a topic in a list of its own', (text) => text.replace(`"${TRANSFER}"`, `["${TRANSFER}"]`)],
    ['a list where a text belongs', (text) => text.replace('"status":"0x1"', '"status":["0x1"]')],
    ['no list of logs', (text) => text.replace('"logs":[', '"logz":[')],
    ['one receipt too many', (text) => text.replace(/\}\]$/, '},{}]')],
    ['one receipt too few', (text) => JSON.stringify((JSON.parse(text) as unknown[]).slice(1))],
    ['nothing', () => '[]'],
    ['another type', (text) => text.replace('"type":"0x2"', '"type":"0x1"')],
    ['a type nobody knows', (text) => text.replace('"type":"0x2"', '"type":"0x5"')],
    ['a failure that logs', (text) => text.replace('"status":"0x1"', '"status":"0x0"')],
    ['a list that goes on after its end', (text) => `${text},[]`],
  ];
  it.each(DOUBTS)('knows nothing of %s', (_what, change) => {
    const before = JSON.stringify(receipt.receipts);
    expect(walk(receipt)?.outcomes()).toHaveLength(2);
    expect(change(before)).not.toBe(before);
    expect(walk(receipt, change)).toBeUndefined();
  });

  it('knows nothing of a failure that logs, whatever the root says, unless it is the fee that Polygon logs of every transaction', () => {
    const failed = (address: string): MadeBlock =>
      madeBlock([{ ...paid(ALICE), receipt: { status: '0x0', logs: [{ address, topics: [TRANSFER], data: '0x' }] } }]);
    expect(walk(failed(TOKEN))).toBeUndefined();
    expect(walk(failed('0x0000000000000000000000000000000000001010'))?.outcomes()).toMatchObject([{ succeeded: false, logs: { length: 1 } }]);
  });

  it('knows nothing of a header whose roots nobody proved', () => {
    const header = readHeader({ ...receipt.block, transactions: receipt.block.transactions.map(({ hash }) => hash) });
    const answer = new Unread(Buffer.from(JSON.stringify(receipt.receipts)));
    expect(walkReceipts(answer, header, EVERYONE)).toBeDefined();
    expect(walkReceipts(answer, { ...header, rootless: true }, EVERYONE)).toBeUndefined();
  });

  it('believes what reading each receipt believes, whatever is told: 1,000 changed replies', { timeout: 120_000 }, () => {
    const { parsed, read, walked, harmlessWalked } = fuzzReceipts(20_261_123, 1_000);
    // Else the changes would meet nothing: each way has to be taken by many.
    expect(Math.min(parsed, read, walked, harmlessWalked)).toBeGreaterThan(66);
  });
});
