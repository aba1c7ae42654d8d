import { beforeAll, describe, expect, it } from 'vitest';
import type { WatchSet } from '#shared/chains/chain.ts';
import { walkContract } from '#shared/chains/kernel.ts';
import { readContract } from '#shared/chains/tron/contract.ts';
import { parseLossless } from '#shared/chains/tron/json.ts';
import { fromHex } from '#shared/chains/tron/proofs.ts';
import { writeFields } from '#shared/chains/tron/protobuf.ts';
import { UnreadReply } from '#shared/chains/tron/unread-reply.ts';
import { walkBlocks } from '#shared/chains/tron/walk-block.ts';
import { atOnce } from '#shared/core/turns.ts';
import {
  compareTron,
  fuzzContracts,
  fuzzTron,
  infosOf,
  recordedTron,
  sealed,
  textOf,
  type ToldBlock,
  type Walkable,
  walkableTron,
} from '#test/fixtures/walked-tron.ts';

type Fields = Record<string, unknown>;
const NO_ONE: WatchSet = { has: () => false };
const unread = (text: string): UnreadReply => new UnreadReply(Buffer.from(text), () => parseLossless(text));

describe('a recorded block of mainnet', () => {
  it('is walked over and says what reading all of it says; of those who concern nobody only the one with a field nobody knows is read', async () => {
    const block = recordedTron();
    const infos = infosOf(block);
    for (const { watched } of walkableTron().slice(0, 4)) expect(await compareTron(textOf(block), textOf(infos), watched)).toBe('walked');
    const [proven] = atOnce(walkBlocks(unread(textOf(block)), [unread(textOf(infos))], NO_ONE)) ?? [];
    expect(proven?.found.map(({ position }) => position)).toEqual([187]);
    expect(proven).toMatchObject({ header: { height: 79_072_107 }, runs: 158, recordsInternals: true });
  });

  it('lets everybody have a turn between some transactions and between some outcomes, however many there are', () => {
    const block = recordedTron();
    const steps = walkBlocks(unread(textOf(block)), [unread(textOf(infosOf(block)))], NO_ONE);
    let turns = 0;
    for (let step = steps.next(); step.done !== true; step = steps.next()) turns += 1;
    // Of 618 transactions and as many outcomes, 256 are walked over in one go, in at most 128 KiB.
    expect(turns).toBeGreaterThanOrEqual(6);
  });
});

describe('a walk over a block', () => {
  let whole: Walkable;
  beforeAll(() => {
    whole = walkableTron()[0] as Walkable;
  });
  /** A copy of a block and its outcomes, changed, and sealed again. */
  const changed = (change: (block: ToldBlock, infos: Fields[]) => void): [string, string, WatchSet] => {
    const block = structuredClone(whole.block);
    const infos = structuredClone(whole.infos);
    change(block, infos);
    return [textOf(block), textOf(infos), whole.watched];
  };
  /** The first transaction of the block is read in any case, for its field that nobody knows. */
  const last = (infos: Fields[], list: string): Fields => infos.findLast((info) => info[list] !== undefined) as Fields;

  it.each<[string, (block: ToldBlock, infos: Fields[]) => void]>([
    ['fields in another order', (_block, infos) => infos.splice(0, 1, Object.fromEntries(Object.entries(infos[0] as Fields).toReversed()))],
    ['a field nobody reads in a transaction', (block) => Object.assign(block.transactions[2] as Fields, { visible: false })],
    ['a field nobody reads in an outcome', (_block, infos) => Object.assign(infos[2] as Fields, { packingFee: 5 })],
    ['a field nobody knows in a transaction, which is in its leaf', (block) => Object.assign(block.transactions[2] as Fields, { 1002: ['c83e'] })],
    ['a log in capital letters', (_block, infos) => setLog(last(infos, 'log'), 'data', 'AB'.repeat(32))],
    ['an internal transaction that is said not to be rejected', (_block, infos) => setInternal(last(infos, 'internal_transactions'), 'rejected', false)],
    ['a signature of another length', (block) => Object.assign(block.transactions[2] as Fields, { signature: ['ab', ''] })],
    ['no signature', (block) => Reflect.deleteProperty(block.transactions[2] as Fields, 'signature')],
    ['a fee in the outcome that the block states', (block) => Object.assign(block.transactions[2]?.ret[0] as Fields, { fee: 5 })],
    ['no transactions', (block, infos) => void [block.transactions, infos].map((list) => list.splice(0))],
  ])('with %s knows what reading all of it knows', async (_what, change) => {
    const told = changed((block, infos) => {
      change(block, infos);
      sealed(block);
      if (block.transactions.length === 0) Reflect.deleteProperty(block, 'transactions');
    });
    expect(await compareTron(...told)).toBe('walked');
  });

  it.each<[string, (block: ToldBlock, infos: Fields[]) => void]>([
    [
      'an id that is not the one of its bytes, with an outcome of its own',
      (block, infos) => {
        Object.assign(block.transactions[3] as Fields, { txID: 'ab'.repeat(32) });
        Object.assign(infos[3] as Fields, { id: 'ab'.repeat(32) });
      },
    ],
    [
      'a transaction told twice, with an outcome each',
      (block, infos) => {
        block.transactions.push(structuredClone(block.transactions[3] as ToldBlock['transactions'][number]));
        infos.push(structuredClone(infos[3] as Fields));
        sealed(block);
      },
    ],
    ['another root', (block) => Object.assign(block.transactions[3]?.ret[0] as Fields, { contractRet: 'REVERT' })],
    ['another id of the block', (block) => Object.assign(block, { blockID: `${block.blockID.slice(0, -1)}x` })],
    ['a success that is a failure', (_block, infos) => Object.assign(infos[3] as Fields, { result: 'FAILED' })],
    ['a result nobody knows of', (_block, infos) => Object.assign(infos[3] as Fields, { result: 'SUCESS' })],
    ['a call without a result', (_block, infos) => Object.assign(last(infos, 'log'), { receipt: {} })],
    ['a result other than the block states', (_block, infos) => Object.assign(last(infos, 'log'), { receipt: { result: 'REVERT' } })],
    ['no receipt where one is told', (_block, infos) => Object.assign(last(infos, 'log'), { receipt: 'none' })],
    ['a fee below nothing', (_block, infos) => Object.assign(infos[3] as Fields, { fee: -5 })],
    ['a fee with a fraction', (_block, infos) => Object.assign(infos[3] as Fields, { fee: 0.5 })],
    ['an outcome of another height', (_block, infos) => Object.assign(infos[3] as Fields, { blockNumber: 79_072_108 })],
    ['an outcome of another time', (_block, infos) => Object.assign(infos[3] as Fields, { blockTimeStamp: 1 })],
    ['an outcome of no time', (_block, infos) => Reflect.deleteProperty(infos[3] as Fields, 'blockTimeStamp')],
    ['an outcome too few', (_block, infos) => void infos.pop()],
    ['an outcome too many', (_block, infos) => void infos.push(infos[3] as Fields)],
    ['logs that are no list', (_block, infos) => Object.assign(infos[3] as Fields, { log: {} })],
    ['a log that is none', (_block, infos) => Object.assign(last(infos, 'log'), { log: ['none'] })],
    ['a log without an emitter', (_block, infos) => setLog(last(infos, 'log'), 'address', undefined)],
    ['a topic cut short', (_block, infos) => setLog(last(infos, 'log'), 'topics', ['ab'.repeat(31)])],
    ['a topic that is no text', (_block, infos) => setLog(last(infos, 'log'), 'topics', [1])],
    ['topics that are no list', (_block, infos) => setLog(last(infos, 'log'), 'topics', 'none')],
    ['data that is no hex', (_block, infos) => setLog(last(infos, 'log'), 'data', 'abc')],
    ['an internal transaction neither rejected nor not', (_block, infos) => setInternal(last(infos, 'internal_transactions'), 'rejected', 'no')],
    ['a note that is no hex', (_block, infos) => setInternal(last(infos, 'internal_transactions'), 'note', 'call')],
    ['an internal amount with a fraction', (_block, infos) => setInternal(last(infos, 'internal_transactions'), 'callValueInfo', [{ callValue: 1.5 }])],
    ['an internal transfer to nobody', (_block, infos) => setInternal(last(infos, 'internal_transactions'), 'transferTo_address', undefined)],
    [
      'an internal transfer to an address without its prefix',
      (_block, infos) => setInternal(last(infos, 'internal_transactions'), 'transferTo_address', 'ab'.repeat(20)),
    ],
    ['values that are no list', (_block, infos) => setInternal(last(infos, 'internal_transactions'), 'callValueInfo', 'none')],
  ])('with %s believes nothing', async (_what, change) => {
    expect(await compareTron(...changed(() => undefined))).toBe('walked');
    const [block, infos, watched] = changed(change);
    expect(await compareTron(block, infos, watched)).not.toBe('walked');
    expect(await compareTron(block, infos, NO_ONE)).not.toBe('walked');
  });

  it.each<[string, (block: string) => string]>([
    ['a key told twice', (block) => block.replace('"blockID":', '"blockID":"ab","blockID":')],
    ['transactions told twice', (block) => block.replace('"transactions":', '"transactions":[],"transactions":')],
    ['an error beside it', (block) => block.replace('"blockID":', '"Error":"no","blockID":')],
    ['a space', (block) => block.replace('"txID":', '"txID": ')],
    ['a letter written as its code', (block) => block.replace('"txID":', '"tx\\u0049D":')],
    ['something after its end', (block) => `${block}{}`],
    ['no end', (block) => block.slice(0, -1)],
  ])('with %s knows nothing', (_what, change) => {
    const [block, infos] = [textOf(whole.block), textOf(whole.infos)];
    const told = change(block);
    expect(told).not.toBe(block);
    expect(atOnce(walkBlocks(unread(block), [unread(infos)], NO_ONE))).toHaveLength(1);
    expect(atOnce(walkBlocks(unread(told), [unread(infos)], NO_ONE))).toBeUndefined();
  });

  it('goes over all blocks of a reply, or knows nothing', () => {
    const [one, infos] = [textOf(whole.block), unread(textOf(whole.infos))];
    const walk = (told: string, outcomes: UnreadReply[]): number | undefined => atOnce(walkBlocks(unread(told), outcomes, NO_ONE))?.length;
    expect(walk(`{"block":[${one},${one}]}`, [infos, infos])).toBe(2);
    expect(walk(`{"block":[${one},${one}]}`, [infos])).toBeUndefined();
    expect(walk(`{"block":[${one}]}`, [infos, infos])).toBeUndefined();
    expect(walk(`${one},${one}`, [infos, infos])).toBeUndefined();
    expect(walk(`{"block":[${one}],"more":1}`, [infos])).toBeUndefined();
    // One that is unusual is read by itself, and says why it cannot be.
    expect(walk(`{"block":[${one},${one.replace('"txID":', '"txID":"ab","txID":')}]}`, [infos, infos])).toBe(2);
    expect(() => walk(`{"block":[${one},${one.replace('"txID":"', '"txID":"a')}]}`, [infos, infos])).toThrow(/transaction id/);
  });

  it('believes what reading all of it believes, whatever is told: 1,500 changed replies', { timeout: 120_000 }, async () => {
    const { parsed, read, walked, harmlessWalked } = await fuzzTron(20_261_125, 1_500);
    // Else the changes would meet nothing: each way has to be taken by many.
    expect(Math.min(parsed, read, walked, harmlessWalked)).toBeGreaterThan(75);
  });
});

function setLog(info: Fields, name: string, value: unknown): void {
  Object.assign((info.log as Fields[])[0] as Fields, { [name]: value });
}

/** Changes the one of the internal transactions that takes effect. */
function setInternal(info: Fields, name: string, value: unknown): void {
  Object.assign((info.internal_transactions as Fields[])[1] as Fields, { [name]: value });
}

describe('a walk over the bytes of a contract', () => {
  const OWNER = fromHex(`41${'12'.repeat(20)}`);
  const OTHER = fromHex(`41${'34'.repeat(20)}`);
  const nested = (number: number, value: Uint8Array): Uint8Array => writeFields([{ number, value, always: true }]);
  const plain = [...nested(1, OWNER), ...nested(2, OTHER), ...writeFields([{ number: 3, value: 7n }])];
  const url = nested(1, Buffer.from('type.googleapis.com/protocol.TransferContract'));
  const one = (message: readonly number[], type = 1, name: Uint8Array = url): Uint8Array =>
    Buffer.concat([writeFields([{ number: 1, value: BigInt(type) }]), nested(2, Buffer.concat([name, nested(2, Uint8Array.from(message))]))]);
  const knows = (bytes: Uint8Array): unknown => {
    const found = walkContract(bytes);
    return found === undefined ? 'nothing' : [found.type, found.owner, found.rawAmount];
  };

  it('knows a plain transfer', () => {
    expect(knows(nested(11, one(plain)))).toEqual([1, '12'.repeat(20), 7]);
    expect(readContract(nested(11, one(plain)))).toMatchObject({ type: 1, owner: '12'.repeat(20), value: { rawAmount: 7n } });
  });

  it.each<[string, Uint8Array]>([
    ['nothing', new Uint8Array()],
    ['no contract', writeFields([{ number: 1, value: 5n }])],
    ['two contracts', Buffer.concat([nested(11, one(plain)), nested(11, one(plain))])],
    ['a contract that is a number', writeFields([{ number: 11, value: 5n }])],
    ['two types', nested(11, Buffer.concat([writeFields([{ number: 1, value: 31n }]), one(plain)]))],
    ['two parameters', nested(11, Buffer.concat([nested(2, url), one(plain)]))],
    ['another type than it says', nested(11, one(plain, 31))],
    ['a type it does not say wholly', nested(11, one(plain, 1, nested(1, Buffer.from('/protocol.TransferContract'))))],
    ['the owner twice', nested(11, one([...nested(1, OTHER), ...plain]))],
    ['the recipient twice', nested(11, one([...plain, ...nested(2, OWNER)]))],
    ['the amount twice', nested(11, one([...plain, 0x18, 9]))],
    ['an amount that is bytes', nested(11, one([...plain.slice(0, -2), 0x1a, 1, 9]))],
    ['an amount below nothing', nested(11, one([...plain.slice(0, -2), ...writeFields([{ number: 3, value: -1n }])]))],
    ['an owner that is a number', nested(11, one([8, 5, ...plain.slice(23)]))],
    ['an owner of another prefix', nested(11, one([...nested(1, fromHex(`a0${'12'.repeat(20)}`)), ...plain.slice(23)]))],
    ['no recipient', nested(11, one(plain.slice(0, 23)))],
    ['a group', nested(11, one([...plain, 0x2b, 0x18, 9, 0x2c]))],
    ['a field of eight bytes', nested(11, one([...plain, 0x29, 1, 2, 3, 4, 5, 6, 7, 8]))],
    ['a field number zero', nested(11, one([...plain, 0, 5]))],
    ['a length that goes on after the end', nested(11, one([...plain, 0x22, 9]))],
    ['a field cut short', nested(11, one([...plain, 0x28]))],
    ['an owner of another type that is told twice', nested(11, one([...nested(1, OTHER), ...nested(1, OWNER)], 57, nested(1, Buffer.from('x'))))],
  ])('with %s leaves it to whoever reads all of it', (_what, bytes) => {
    expect(knows(bytes)).toBe('nothing');
  });

  it('says what reading them says, whatever they are: 20,000 changed ones', { timeout: 60_000 }, () => {
    expect(fuzzContracts(20_261_125, 20_000)).toBeGreaterThan(4_000);
  });
});
