import { beforeEach, describe, expect, it } from 'vitest';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { asked, at, beginAnew, changes, endpoints, fakes, fault, GENESIS, moveTo, open, payer, reader, settle, states } from './fake-endpoints.ts';

beforeEach(beginAnew);

describe('several endpoints', () => {
  it('asks the preferred endpoint alone while it is well', async () => {
    open('a', 'b');
    expect((await reader.blockAt(7)).hash).toBe('b7');
    expect((await reader.block('b8', { has: () => true })).block.height).toBe(8);
    expect(asked()).toEqual([['blockAt 7', 'block b8'], []]);
  });

  it('runs a whole call on one endpoint, and all of it again on the next when the first cannot be trusted', async () => {
    open('a', 'b');
    at(0).fault = fault('untrusted');
    expect((await reader.range(5, 9, { has: () => true })).last.hash).toBe('b9');
    expect(asked()).toEqual([[], ['range 5..9']]);
  });

  it('gives no answer when nobody has one, and says what each of them said', async () => {
    open('a', 'b');
    await reader.blockAt(1);
    at(0).fault = fault('down');
    at(1).fault = fault('slow');
    await expect(reader.blockAt(2)).rejects.toThrow(/ethereum: no endpoint.*\(down\).*\(slow\)/);
    await expect(reader.blockAt(2)).rejects.toBeInstanceOf(ChainUnavailable);
  });

  it('lets an error that is about the program through at once', async () => {
    open('a', 'b');
    await expect(reader.range(5, 4, { has: () => true }).then(() => endpoints.first(() => Promise.reject(new Error('mine'))))).rejects.toThrow(/^mine$/);
    expect(at(1).asked).toEqual([]);
  });

  it('leaves an endpoint alone after three failures, and comes back to it when it is well again', async () => {
    open('a', 'b');
    await reader.blockAt(1);
    at(0).fault = fault('down');
    for (let i = 0; i < 3; i++) await reader.blockAt(1);
    asked();
    await reader.blockAt(1);
    expect(asked()).toEqual([[], ['blockAt 1']]);
    at(0).fault = null;
    moveTo(1_000);
    await reader.blockAt(1);
    expect(asked()).toEqual([['blockAt 1'], []]);
    expect(changes).toEqual(['a well → failing', 'a failing → well']);
  });

  it('does not hold a question against an endpoint that it rightly refuses', async () => {
    open('a', 'b');
    at(0).fault = fault('refused');
    await reader.genesisHash();
    at(0).fault = null;
    await reader.blockAt(1);
    at(0).fault = fault('refused');
    for (let i = 0; i < 9; i++) expect(await reader.balance('x', null, 3)).toBe(100n);
    expect(endpoints.report()[0]).toMatchObject({ state: 'well', failures: 0, lastTrouble: 'refused' });
  });

  it('asks nobody before the time it was told to come back at', async () => {
    open('a');
    await reader.blockAt(1);
    at(0).fault = fault('busy', 5_000);
    await expect(reader.blockAt(1)).rejects.toBeInstanceOf(ChainUnavailable);
    at(0).fault = null;
    asked();
    await expect(reader.blockAt(1)).rejects.toMatchObject({ trouble: 'busy', retryAfterMs: 5_000 });
    expect(asked()).toEqual([[]]);
    moveTo(5_000);
    expect((await reader.blockAt(1)).hash).toBe('b1');
  });

  it('still asks a single endpoint whose circuit is open, because a question must not stay unasked', async () => {
    open('a');
    at(0).fault = fault('down');
    for (let i = 0; i < 9; i++) await expect(reader.blockAt(1)).rejects.toBeInstanceOf(ChainUnavailable);
    at(0).fault = null;
    expect((await reader.blockAt(1)).hash).toBe('b1');
  });
});

describe('a block that a node announced', () => {
  it('is foreseen by the endpoint that would be asked for it, and by no other', async () => {
    open('a', 'b');
    at(0).sighted = false;
    await reader.head();
    await settle();
    asked();
    reader.foresee?.({ height: 101, hash: 'b101', parentHash: 'b100' });
    await settle();
    expect(asked()).toEqual([[], ['foresee b101']]);
  });

  it('is no question that an endpoint can fail', async () => {
    open('a');
    await reader.head();
    const before = endpoints.report();
    at(0).fault = fault('down');
    reader.foresee?.({ height: 101, hash: 'b101', parentHash: 'b100' });
    await settle();
    expect(endpoints.report()).toEqual(before);
  });
});

describe('what contracts pass on', () => {
  it('is read from an endpoint that shows it before one that does not', async () => {
    open('a', 'b');
    at(0).sighted = false;
    await reader.block('b8', { has: () => true });
    await reader.range(5, 9, { has: () => true });
    await reader.blockAt(7);
    expect(asked()).toEqual([['blockAt 7'], ['block b8', 'range 5..9']]);
    expect(await reader.seesInternal()).toBe(true);
  });

  it('is left unseen when nobody who shows it answers, for the rest of the block must not wait', async () => {
    open('a', 'b');
    at(0).sighted = false;
    at(1).fault = fault('down');
    expect((await reader.block('b8', { has: () => true })).block.height).toBe(8);
    expect(asked()[0]).toEqual(['block b8']);
    at(1).sighted = false;
    expect(await reader.seesInternal()).toBe(false);
  });
});

describe('an endpoint of another chain', () => {
  it('is found out before its first use, and never asked again', async () => {
    open('a', 'b');
    await reader.blockAt(1);
    at(1).genesis = 'another';
    at(0).fault = fault('down');
    await expect(reader.blockAt(1)).rejects.toBeInstanceOf(ChainUnavailable);
    expect(at(1).asked).toEqual(['genesis']);
    at(1).genesis = GENESIS;
    moveTo(3_600_000);
    await expect(reader.blockAt(1)).rejects.toBeInstanceOf(ChainUnavailable);
    expect(at(1).asked).toEqual(['genesis']);
    expect(endpoints.report()[1]).toMatchObject({ state: 'foreign', foreign: 'b serves another chain than ethereum: its first block is another, not genesis' });
    expect(changes).toContain('b well → foreign');
  });

  it('is never asked again either when it says itself that it is one', async () => {
    open('a', 'b');
    at(0).fault = fault('wrong-chain');
    expect((await reader.blockAt(1)).hash).toBe('b1');
    at(0).fault = null;
    moveTo(3_600_000);
    asked();
    await reader.blockAt(1);
    expect(asked()).toEqual([[], ['blockAt 1']]);
    expect(states()).toEqual(['foreign', 'well']);
  });

  it('is found out when it changes sides while it is in use', async () => {
    open('a', 'b');
    expect(await reader.genesisHash()).toBe(GENESIS);
    at(0).genesis = 'another';
    expect(await reader.genesisHash()).toBe(GENESIS);
    expect(states()).toEqual(['foreign', 'well']);
  });

  it('alone tells its new identity, which those who keep the books compare', async () => {
    open('a');
    expect(await reader.genesisHash()).toBe(GENESIS);
    at(0).genesis = 'another';
    expect(await reader.genesisHash()).toBe('another');
  });

  it('leaves nobody to ask when it is the only one', async () => {
    open('a');
    at(0).fault = fault('wrong-chain');
    await expect(reader.blockAt(1)).rejects.toMatchObject({ trouble: 'wrong-chain' });
    at(0).fault = null;
    await expect(reader.blockAt(1)).rejects.toMatchObject({ trouble: 'wrong-chain' });
    expect(await reader.genesisHash()).toBe(GENESIS);
    expect((await reader.blockAt(1)).hash).toBe('b1');
  });

  it('is not who happens to be configured first: what the books recorded decides', async () => {
    open('a', 'b', 'c');
    at(0).genesis = 'another';
    expect(await reader.genesisHash(GENESIS)).toBe(GENESIS);
    expect(states()).toEqual(['foreign', 'well', 'well']);
    expect((await reader.blockAt(1)).hash).toBe('b1');
    expect(at(0).asked).toEqual(['genesis']);
  });

  it('is corrected by the books when the wrong one was asked before they were', async () => {
    open('a', 'b');
    at(0).genesis = 'another';
    await reader.blockAt(1);
    at(0).fault = fault('down');
    await expect(reader.blockAt(1)).rejects.toBeInstanceOf(ChainUnavailable);
    expect(states()).toEqual(['well', 'foreign']);
    at(0).fault = null;
    expect(await reader.genesisHash(GENESIS)).toBe(GENESIS);
    expect(states()).toEqual(['foreign', 'well']);
  });

  it('cannot be told from the right one while nothing is recorded: then nobody decides', async () => {
    open('a', 'b');
    at(0).genesis = 'another';
    await expect(reader.genesisHash()).rejects.toThrow(/different chains, and none is recorded yet: a begins with another, b begins with genesis/);
    expect(states()).not.toContain('foreign');
    at(0).genesis = GENESIS;
    expect(await reader.genesisHash()).toBe(GENESIS);
  });

  it('that all endpoints serve is told, for those who keep the books to compare', async () => {
    open('a', 'b');
    for (const index of [0, 1]) at(index).genesis = 'another';
    expect(await reader.genesisHash(GENESIS)).toBe('another');
    at(1).fault = fault('down');
    await expect(reader.genesisHash(GENESIS)).rejects.toBeInstanceOf(ChainUnavailable);
  });

  it('is asked again after a minute which chain it serves, and nothing else before it is the right one', async () => {
    open('a', 'b');
    at(0).genesis = 'another';
    await reader.genesisHash(GENESIS);
    at(0).asked.length = 0;
    moveTo(59_000);
    await reader.head();
    await settle();
    expect(at(0).asked).toEqual([]);
    moveTo(60_000);
    await reader.head();
    await settle();
    expect(at(0).asked).toEqual(['genesis']);
    at(0).genesis = GENESIS;
    moveTo(130_000);
    await reader.head();
    await settle();
    expect(states()).toEqual(['well', 'well']);
    asked();
    await reader.blockAt(1);
    expect(asked()).toEqual([['blockAt 1'], []]);
  });
});

describe('a pool that pays', () => {
  const bytes = new Uint8Array([1, 2, 3]);

  it('asks one endpoint and then the next for everything but broadcasting', async () => {
    open('a', 'b');
    await reader.blockAt(1);
    at(0).fault = fault('down');
    at(1).height = 7;
    expect(await payer.nonce('x')).toBe(7);
    expect(await payer.balance('x', null)).toBe(7n);
    expect(await payer.quote({ sender: 'x', recipient: 'y', contract: null, rawAmount: 1n })).toMatchObject({ ok: true });
    expect(await payer.bump?.({})).toMatchObject({ rawFee: 1n });
  });

  it('hands bytes to every endpoint', async () => {
    open('a', 'b', 'c');
    expect(await payer.broadcast(bytes)).toEqual({ accepted: true, answer: 'taken by a' });
    await settle();
    expect(fakes.map((one) => one.took.length)).toEqual([1, 1, 1]);
  });

  it('has them accepted when any endpoint took them', async () => {
    open('a', 'b');
    at(0).fault = fault('down');
    expect(await payer.broadcast(bytes)).toEqual({ accepted: true, answer: 'taken by b' });
  });

  it('does not have them accepted when none did, and says what each of them said', async () => {
    open('a', 'b');
    at(0).fault = fault('down');
    at(1).fault = fault('slow');
    expect(await payer.broadcast(bytes)).toEqual({ accepted: false, answer: 'a: no answer (down); b: no answer (slow)' });
  });

  it('hands nothing to an endpoint of another chain', async () => {
    open('a', 'b');
    await reader.blockAt(1);
    at(1).genesis = 'another';
    await payer.broadcast(bytes);
    await settle();
    expect(fakes.map((one) => one.took.length)).toEqual([1, 0]);
  });
});
