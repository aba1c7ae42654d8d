import { beforeEach, describe, expect, it } from 'vitest';
import { ChainUnavailable, type TransactionFacts } from '#shared/chains/chain.ts';
import type { SecondOpinion, SoughtTransfer } from '#shared/chains/endpoint-votes.ts';
import type { Transfer } from '#shared/core/chain-events.ts';
import { asked, at, beginAnew, fault, open, reader, settle, states } from './fake-endpoints.ts';

beforeEach(beginAnew);

describe('what waits to spend our outputs', () => {
  const outputs = [
    { txid: 'x', vout: 0 },
    { txid: 'y', vout: 1 },
  ];

  it('is known when any endpoint has it, for what one has forgotten another may still mine', async () => {
    open('a', 'b');
    at(1).known.add('y');
    expect(await reader.waitingSpenders?.(outputs)).toEqual([null, 'spends y']);
  });

  it('stays unknown while one of them does not answer', async () => {
    open('a', 'b');
    at(1).fault = fault('down');
    await expect(reader.waitingSpenders?.(outputs)).rejects.toThrow(ChainUnavailable);
  });
});

describe('a transaction that is not found', () => {
  it('is missing once a second provider says so', async () => {
    open('a', 'b');
    expect(await reader.transaction('t')).toBeNull();
    expect(asked()).toEqual([['transaction t'], ['transaction t']]);
  });

  it('is found when the second provider has it', async () => {
    open('a', 'b');
    at(1).known.add('t');
    expect(await reader.transaction('t')).toMatchObject({ txid: 't' });
  });

  it('needs nobody else when it was found', async () => {
    open('a', 'b');
    at(0).known.add('t');
    expect(await reader.transaction('t')).toMatchObject({ txid: 't' });
    expect(asked()).toEqual([['transaction t'], []]);
  });

  it('is missing by one word when there is only one provider', async () => {
    open('a');
    expect(await reader.transaction('t')).toBeNull();
    open('a', 'a');
    expect(await reader.transaction('t')).toBeNull();
  });

  it('stays unknown while nobody confirms it', async () => {
    open('a', 'b');
    at(1).fault = fault('down');
    await expect(reader.transaction('t')).rejects.toThrow(/only a says/);
  });

  it('stays unknown while whoever confirms it lags', async () => {
    open('a', 'b');
    at(1).height = 50;
    await reader.head();
    await settle();
    await expect(reader.transaction('t')).rejects.toThrow(/only a says/);
  });
});

describe('a second opinion', () => {
  const CLAIM: SoughtTransfer = { txid: 't', kind: 'token', ordinal: 3, height: 50, blockHash: 'b50', recipient: 'alice', contract: 'usdt', rawAmount: '900' };
  const transfer = (over: Partial<Transfer> = {}): Transfer => ({ ...CLAIM, sender: 'payer', position: 0, time: 50, ...over });
  const factsOf = (transfers: Transfer[], over: Partial<TransactionFacts> = {}): TransactionFacts => {
    return { txid: 't', height: 50, blockHash: 'b50', succeeded: true, transfers, ...over };
  };
  const tell = (index: number, facts: TransactionFacts = factsOf([transfer()])): unknown => at(index).facts.set('t', facts);
  const twoOfThem = (): void => {
    open('a', 'b');
    tell(0);
    tell(1);
  };
  const opinion = (...sought: SoughtTransfer[]): Promise<SecondOpinion> =>
    reader.agrees(sought.length === 0 ? [CLAIM] : sought, ({ latest }) => latest.height >= 60);

  it('is the transfer that two providers tell of', async () => {
    open('a', 'b', 'c');
    for (const index of [0, 1, 2]) tell(index);
    expect(await opinion()).toBe('agreed');
    expect(asked()).toEqual([['head', 'transaction t'], ['head', 'transaction t'], []]);
  });

  it('is asked of a third one when one of two tells otherwise or nothing', async () => {
    open('a', 'b', 'c');
    for (const index of [0, 2]) tell(index);
    expect(await opinion()).toBe('agreed');
    at(1).fault = fault('down');
    expect(await opinion()).toBe('agreed');
  });

  it.each<[string, TransactionFacts | null]>([
    ['another amount', factsOf([transfer({ rawAmount: '9' })])],
    ['another recipient', factsOf([transfer({ recipient: 'bob' })])],
    ['another token', factsOf([transfer({ contract: 'fake' })])],
    ['the native coin', factsOf([transfer({ contract: null })])],
    ['another kind', factsOf([transfer({ kind: 'internal' })])],
    ['another place', factsOf([transfer({ ordinal: 2 })])],
    ['it twice', factsOf([transfer(), transfer()])],
    ['no transfer', factsOf([])],
    ['no transfer, and does not show what contracts pass on', factsOf([], { internalUnseen: true })],
    ['another block', factsOf([transfer()], { blockHash: 'fork' })],
    ['another height', factsOf([transfer()], { height: 51 })],
    ['a failure', factsOf([transfer()], { succeeded: false })],
    ['a transaction that waits', factsOf([], { height: null, blockHash: null, succeeded: null })],
    ['no such transaction', null],
  ])('is a dispute when the other provider tells of %s', async (_what, facts) => {
    twoOfThem();
    if (facts === null) at(1).facts.clear();
    else tell(1, facts);
    expect(await opinion()).toBe('disputed');
  });

  it('is a dispute whichever of the two is asked first, the one that is lying or the one that is not', async () => {
    twoOfThem();
    tell(0, factsOf([transfer({ rawAmount: '9' })]));
    expect(await opinion()).toBe('disputed');
  });

  it('must be of every transfer of a batch', async () => {
    twoOfThem();
    const second = { ...CLAIM, ordinal: 4, rawAmount: '1' };
    expect(await opinion(CLAIM, second)).toBe('disputed');
    for (const index of [0, 1]) tell(index, factsOf([transfer(), transfer(second)]));
    expect(await opinion(CLAIM, second)).toBe('agreed');
    expect(await opinion(CLAIM, { ...CLAIM, txid: 'never' })).toBe('disputed');
  });

  it('of an internal transfer is not known where the other provider does not show any: it neither agrees nor disputes', async () => {
    const passed = { ...CLAIM, kind: 'internal', contract: null } as const;
    open('a', 'b', 'c');
    tell(0, factsOf([transfer(passed)]));
    for (const index of [1, 2]) tell(index, factsOf([], { internalUnseen: true }));
    expect(await opinion(passed)).toBe('unseen');
    tell(2, factsOf([transfer(passed)]));
    expect(await opinion(passed)).toBe('agreed');
    tell(2, factsOf([]));
    expect(await opinion(passed)).toBe('disputed');
  });

  it.each([49, 59])('is none while the other provider is at block %i: it does not have the block, or not as final', async (height) => {
    twoOfThem();
    at(1).height = height;
    await expect(opinion()).rejects.toBeInstanceOf(ChainUnavailable);
  });

  it('is none when the others cannot be asked', async () => {
    twoOfThem();
    at(1).fault = fault('slow');
    await expect(opinion()).rejects.toBeInstanceOf(ChainUnavailable);
  });

  it('needs two providers: one provider with two keys is alone, and so is one without a second', async () => {
    open('a');
    expect(await opinion()).toBe('alone');
    open('a', 'a');
    expect(await opinion()).toBe('alone');
  });

  it('is not given by two keys of one provider, of which the second serves when the first is away', async () => {
    open('a', 'b', 'b');
    for (const index of [0, 1, 2]) tell(index);
    at(0).fault = fault('down');
    await expect(opinion()).rejects.toBeInstanceOf(ChainUnavailable);
    at(0).fault = null;
    at(1).fault = fault('down');
    expect(await opinion()).toBe('agreed');
  });

  it('is not that of an endpoint of another chain, whose absence makes nobody believed alone', async () => {
    twoOfThem();
    await reader.blockAt(1);
    at(1).genesis = 'another';
    await expect(opinion()).rejects.toBeInstanceOf(ChainUnavailable);
    expect(states()).toEqual(['well', 'foreign']);
    await expect(opinion()).rejects.toBeInstanceOf(ChainUnavailable);
  });
});

describe('a second opinion on a block', () => {
  const opinion = (hash = 'b50', rule = 'deep', final = 60): Promise<SecondOpinion> =>
    reader.agreesOnBlock({ height: 50, hash }, ({ latest }) => latest.height >= final, rule);

  it('is the hash that two providers tell, and is asked for once', async () => {
    open('a', 'b', 'c');
    expect(await opinion()).toBe('agreed');
    expect(asked()).toEqual([['head', 'blockAt 50'], ['head', 'blockAt 50'], []]);
    expect(await opinion()).toBe('agreed');
    expect(asked()).toEqual([[], [], []]);
  });

  it('holds for the rule it was asked under, and no other', async () => {
    open('a', 'b');
    expect(await opinion()).toBe('agreed');
    await expect(opinion('b50', 'deeper', 200)).rejects.toBeInstanceOf(ChainUnavailable);
  });

  it('is a dispute when the other one has another block there, and is never remembered', async () => {
    open('a', 'b');
    at(1).other.set(50, 'fork');
    expect([await opinion(), await opinion('fork')]).toEqual(['disputed', 'disputed']);
    at(1).other.delete(50);
    expect(await opinion()).toBe('agreed');
    expect(await opinion('fork')).toBe('disputed');
  });

  it('takes a third one when one of two tells otherwise or nothing', async () => {
    open('a', 'b', 'c');
    at(1).other.set(50, 'fork');
    expect(await opinion()).toBe('agreed');
    expect(await opinion('fork')).toBe('disputed');
  });

  it('is none while the other one is behind or away, and nobody gives it alone', async () => {
    open('a', 'b');
    at(1).height = 55;
    await expect(opinion()).rejects.toBeInstanceOf(ChainUnavailable);
    at(1).height = 100;
    at(1).fault = fault('slow');
    await expect(opinion()).rejects.toBeInstanceOf(ChainUnavailable);
    open('a', 'a');
    expect(await opinion()).toBe('alone');
  });
});
