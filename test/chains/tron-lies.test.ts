import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ChainUnavailable, type Reader, type WatchSet } from '#shared/chains/chain.ts';
import { toHex20 } from '#shared/chains/tron/address.ts';
import { openTronApi, type TronApi } from '#shared/chains/tron/http.ts';
import { blockIdOf, fromHex, merkleRootOf, sha256 } from '#shared/chains/tron/proofs.ts';
import { type Field, readFields, writeFields } from '#shared/chains/tron/protobuf.ts';
import { tronReader } from '#shared/chains/tron/reader.ts';
import { asBytes } from '#test/fixtures/walked-tron.ts';
import { aTronChain, type TronChain } from '#test/harness/tron-chain.ts';

const ALICE = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
const WATCHED: WatchSet = { has: (address) => address === ALICE };
const LOCAL = { name: 'tron', chainId: 'local' };
const OTHER_HASH = 'ab'.repeat(32);
const OTHER = `41${'22'.repeat(20)}`;
/** Of which no text can be made. */
const NO_WORDS = { toString: 1 };

let chain: TronChain;
let api: TronApi;
let hash: string;
let height: number;
/** Second of the three transactions in the block. */
let txid: string;

beforeAll(async () => {
  chain = await aTronChain({ blockSeconds: 0 });
  api = openTronApi(chain.url);
  await chain.mine(3);
  await chain.pay(ALICE, null, 5n);
  txid = await chain.pay(ALICE, chain.tokens.USDT, 6n);
  await chain.pay(ALICE, chain.tokens.USDT, 7n);
  await chain.mine();
  const reader = tronReader(LOCAL, api);
  ({ hash, height } = (await reader.head()).latest);
  await chain.mine(2);
  expect((await reader.block(hash, WATCHED)).transfers).toHaveLength(3);
});
afterAll(() => chain.stop());

type Change = (answer: unknown) => unknown;

/** Two readers of one node: one that reads all of it with care, and one that is answered with bytes, which it walks over. */
const bothOf = (told: TronApi): Reader[] => [tronReader(LOCAL, told), tronReader(LOCAL, asBytes(told))];

/** A node whose answers about the block are changed on the way, whichever path they are asked by. */
function lying(paths: readonly string[], change: Change): Reader[] {
  return bothOf(async (path, body) => {
    const answer = structuredClone(await api(path, body));
    if (!paths.includes(path)) return answer;
    if (path !== 'wallet/getblockbylimitnext') return change(answer);
    const { block } = answer as { block: unknown[] };
    return { block: block.map(change) };
  });
}
const INFOS = ['wallet/gettransactioninfobyblocknum'];
const BLOCKS = ['wallet/getblockbynum', 'wallet/getblockbylimitnext'];

/** Puts `value` at a path inside the answer; undefined takes what is there away. */
function put(path: (string | number)[], value: unknown): Change {
  return (answer) => {
    let target = answer as Record<string | number, unknown>;
    for (const step of path.slice(0, -1)) target = target[step] as Record<string | number, unknown>;
    if (value === undefined) delete target[path.at(-1) as string];
    else target[path.at(-1) as string] = value;
    return answer;
  };
}
const list =
  (change: (items: unknown[]) => unknown): Change =>
  (answer) =>
    change(answer as unknown[]);
const passing = (over: object): object => ({
  note: '63616c6c',
  callValueInfo: [{ callValue: 5 }],
  caller_address: OTHER,
  transferTo_address: OTHER,
  ...over,
});
const transactions =
  (change: (items: unknown[]) => unknown): Change =>
  (answer) => ({ ...(answer as object), transactions: change((answer as { transactions: unknown[] }).transactions) });

async function refuses(readers: Reader[], told = hash): Promise<void> {
  for (const reader of readers) {
    await expect(reader.block(told, WATCHED)).rejects.toThrow(ChainUnavailable);
    await expect(reader.range(height, height, WATCHED)).rejects.toThrow(ChainUnavailable);
    await expect(reader.transaction(txid)).rejects.toThrow(ChainUnavailable);
  }
}

describe('a lie in the outcomes of a block is refused, not published:', () => {
  const lies: [string, Change][] = [
    ['nothing', () => ({})],
    ['an empty list, as from a node that lags', () => []],
    ['one outcome too few', list((all) => all.slice(0, -1))],
    ['one outcome too many', list((all) => [...all, all[2]])],
    ['an outcome twice', list((all) => [all[0], all[1], all[1]])],
    ['an outcome of another transaction', put([1, 'id'], OTHER_HASH)],
    ['an outcome without an id', put([1, 'id'], undefined)],
    ['an outcome of another height', put([1, 'blockNumber'], 1)],
    ['an outcome of another time', put([1, 'blockTimeStamp'], 1_700_000_000_000)],
    ['an outcome without a time', put([1, 'blockTimeStamp'], undefined)],
    ['a contract call without a result', put([1, 'receipt', 'result'], undefined)],
    ['a result other than the block states', put([1, 'receipt', 'result'], 'REVERT')],
    ['a success that is a failure', put([1, 'result'], 'FAILED')],
    ['a result nobody knows of', put([1, 'result'], 'MAYBE')],
    ['a failed plain transfer', put([0, 'receipt', 'result'], 'OUT_OF_ENERGY')],
    ['logs that are no list', put([1, 'log'], 'none')],
    ['a log without an emitter', put([1, 'log', 0, 'address'], undefined)],
    ['a log whose emitter is no text', put([1, 'log', 0, 'address'], NO_WORDS)],
    ['a log whose emitter is a number of forty digits', put([1, 'log', 0, 'address'], 10n ** 39n)],
    ['a log whose emitter has a prefix', put([1, 'log', 0, 'address'], OTHER)],
    ['a topic cut short', put([1, 'log', 0, 'topics', 2], 'abcd')],
    ['an amount that is no number', put([1, 'log', 0, 'data'], 'zz')],
    ['a fee below nothing', put([1, 'fee'], -5)],
    ['a fee with a fraction', put([1, 'fee'], 0.5)],
    ['a fee of more than there can be', put([1, 'fee'], 2n ** 63n)],
    ['an internal amount of more than there can be', put([1, 'internal_transactions'], [passing({ callValueInfo: [{ callValue: 10n ** 100n }] })])],
    ['an internal transaction neither rejected nor not', put([1, 'internal_transactions'], [{ rejected: 'no' }])],
    ['an internal amount with a fraction', put([1, 'internal_transactions'], [{ note: '63616c6c', callValueInfo: [{ callValue: 1.5 }] }])],
    ['an internal transfer to text', put([1, 'internal_transactions'], [passing({ transferTo_address: ALICE })])],
    ['an internal transfer to an address without its prefix', put([1, 'internal_transactions'], [passing({ transferTo_address: OTHER.slice(2) })])],
    ['an internal transfer by an address that is too long', put([1, 'internal_transactions'], [passing({ caller_address: `${OTHER}00` })])],
    ['an internal transfer to nobody', put([1, 'internal_transactions'], [{ note: '63616c6c', callValueInfo: [{ callValue: 5 }], caller_address: OTHER }])],
  ];
  it.each(lies)('%s', (_name, change) => refuses(lying(INFOS, change)));

  it('and their order means nothing', async () => {
    const readers = lying(
      INFOS,
      list((all) => all.toReversed()),
    );
    for (const reader of readers) expect(await reader.block(hash, WATCHED)).toEqual(await tronReader(LOCAL, api).block(hash, WATCHED));
  });
});

describe('a lie in a block is refused, not published:', () => {
  const raw = ['block_header', 'raw_data'];
  const first = ['transactions', 0];
  const value = [...first, 'raw_data', 'contract', 0, 'parameter', 'value'];
  const lies: [string, Change][] = [
    ['no such block', () => ({})],
    ['another id', put(['blockID'], OTHER_HASH)],
    ['another parent', put([...raw, 'parentHash'], OTHER_HASH)],
    ['another time', put([...raw, 'timestamp'], 1_700_000_000_000)],
    ['another height', put([...raw, 'number'], 1)],
    ['another witness', put([...raw, 'witness_address'], OTHER)],
    ['another merkle root', put([...raw, 'txTrieRoot'], OTHER_HASH)],
    ['no header', put(['block_header'], undefined)],
    ['a transaction left out', transactions((all) => all.slice(1))],
    ['a transaction twice', transactions((all) => [all[0], all[1], all[1]])],
    ['transactions in another order', transactions((all) => all.toReversed())],
    ['no transactions', put(['transactions'], undefined)],
    ['another transaction id', put([...first, 'txID'], OTHER_HASH)],
    ['no bytes', put([...first, 'raw_data_hex'], undefined)],
    ['other bytes', put([...first, 'raw_data_hex'], 'abcd')],
    ['another signature', put([...first, 'signature'], ['ab'.repeat(65)])],
    ['another outcome', put([...first, 'ret', 0, 'contractRet'], 'REVERT')],
    ['an outcome that is no text', put([...first, 'ret', 0, 'contractRet'], NO_WORDS)],
    ['no outcome', put([...first, 'ret'], undefined)],
    ['more than was paid', put([...value, 'amount'], 5_000_000)],
    ['an amount beyond counting', put([...value, 'amount'], 2n ** 70n)],
    ['another recipient', put([...value, 'to_address'], OTHER)],
    ['another sender', put([...value, 'owner_address'], OTHER)],
    ['another type of contract', put([...first, 'raw_data', 'contract', 0, 'type'], 'TransferAssetContract')],
  ];
  it.each(lies)('%s', (_name, change) => refuses(lying(BLOCKS, change)));

  it('the transfer of somebody else told as one to a watched address', async () => {
    const readers = lying(BLOCKS, put([...value, 'to_address'], `41${toHex20(ALICE)}`));
    await chain.payAndMine(chain.outsider, null, 9n);
    for (const reader of readers) await expect(reader.block((await reader.head()).latest.hash, WATCHED)).rejects.toThrow(ChainUnavailable);
  });

  it('blocks of a range that do not follow one another', async () => {
    const other = await api('wallet/getblockbynum', { num: height });
    const readers = bothOf(async (path, body) => {
      const answer = await api(path, body);
      return path === 'wallet/getblockbylimitnext' ? { block: [other, (answer as { block: unknown[] }).block[1]] } : answer;
    });
    for (const reader of readers) await expect(reader.range(height + 1, height + 2, WATCHED)).rejects.toThrow(ChainUnavailable);
  });

  it('a list of blocks where one was asked for, and one where a list was', () =>
    refuses(
      bothOf(async (path, body) => {
        const answer = await api(path, body);
        if (path === 'wallet/getblockbynum') return { block: [answer] };
        return path === 'wallet/getblockbylimitnext' ? (answer as { block: unknown[] }).block[0] : answer;
      }),
    ));

  it('a single transaction said to be in a block that does not hold it', async () => {
    for (const reader of lying(['wallet/gettransactioninfobyid'], put(['blockNumber'], 1)))
      await expect(reader.transaction(txid)).rejects.toThrow(/does not hold/);
    for (const reader of lying(['wallet/gettransactioninfobyid'], put(['id'], OTHER_HASH)))
      await expect(reader.transaction(txid)).rejects.toThrow(ChainUnavailable);
  });
});

describe('a lie in agreement with every hash is refused all the same:', () => {
  type Fields = Record<string, unknown>;
  type Sealed = Fields & { blockID: string; transactions: (Fields & { txID: string; raw_data_hex: string; signature: string[] })[] };
  const raw = (block: Fields): Fields => (block.block_header as { raw_data: Fields }).raw_data;

  /** Gives a block the merkle root and the id that go with what it says. */
  const seal = (block: Sealed): Sealed => {
    const fields = raw(block);
    const parts = block.transactions.map((tx) => ({
      rawData: fromHex(tx.raw_data_hex),
      signatures: tx.signature,
      outcomes: [{ fee: 0n, failed: false, contractRet: 1 }],
    }));
    fields.txTrieRoot = merkleRootOf(parts);
    const [timestamp, number, version] = [fields.timestamp, fields.number, fields.version].map((value) => BigInt(value as number)) as [bigint, bigint, bigint];
    block.blockID = blockIdOf({
      timestamp,
      number,
      version,
      txTrieRoot: fields.txTrieRoot as string,
      parentHash: String(fields.parentHash),
      witnessId: 0n,
      witnessAddress: String(fields.witness_address),
      accountStateRoot: '',
    });
    return block;
  };

  /** A node whose block at `height` and its outcomes are what `change` makes of them, sealed again. */
  const agreeing = async (change: (block: Sealed, infos: Fields[]) => void): Promise<{ readers: Reader[]; told: string }> => {
    const block = (await api('wallet/getblockbynum', { num: height })) as Sealed;
    const infos = (await api('wallet/gettransactioninfobyblocknum', { num: height })) as Fields[];
    change(block, infos);
    const told = seal(block);
    const readers = bothOf(async (path, body) => {
      const answer = await api(path, body);
      if (path === 'wallet/getblockbynum' && body.num === height) return told;
      if (path === 'wallet/gettransactioninfobyblocknum' && body.num === height) return infos;
      if (path !== 'wallet/getblockbylimitnext') return answer;
      return { block: (answer as { block: Sealed[] }).block.map((one) => (raw(one).number === height ? told : one)) };
    });
    return { readers, told: told.blockID };
  };

  /** Puts other bytes in the place of the first transaction, with the id they have. */
  const rewritten =
    (write: (message: Field[], contract: Field[], whole: Field[]) => void) =>
    (block: Sealed, infos: Fields[]): void => {
      const [tx] = block.transactions as [Sealed['transactions'][number]];
      const info = infos.find(({ id }) => id === tx.txID) as Fields;
      const part = (fields: Field[], number: number): Field => fields.find((field) => field.number === number) as Field;
      const inner = (field: Field): Field[] => readFields(field.value as Uint8Array) as Field[];
      const whole = readFields(fromHex(tx.raw_data_hex)) as Field[];
      const contract = inner(part(whole, 11));
      const parameter = inner(part(contract, 2));
      const message = inner(part(parameter, 2));
      write(message, parameter, whole);
      part(parameter, 2).value = writeFields(message);
      part(contract, 2).value = writeFields(parameter);
      part(whole, 11).value = writeFields(contract);
      tx.raw_data_hex = Buffer.from(writeFields(whole)).toString('hex');
      tx.txID = sha256(fromHex(tx.raw_data_hex));
      info.id = tx.txID;
    };
  /** Other bytes for one field, and the decoded JSON beside them saying the same. */
  const setting =
    (number: number, value: Field['value'], retold: Fields) =>
    (block: Sealed, infos: Fields[]): void => {
      put(['transactions', 0, 'raw_data', 'contract', 0, 'parameter', 'value'], {
        ...(block.transactions[0] as unknown as { raw_data: { contract: [{ parameter: { value: Fields } }] } }).raw_data.contract[0].parameter.value,
        ...retold,
      })(block);
      rewritten((message) => {
        (message.find((field) => field.number === number) as Field).value = value;
      })(block, infos);
    };

  it('and the telling itself is believed when it lies about nothing', async () => {
    const { readers, told } = await agreeing(() => undefined);
    for (const reader of readers) expect((await reader.block(told, WATCHED)).transfers).toHaveLength(3);
    const same = await agreeing(rewritten(() => undefined));
    for (const reader of same.readers) expect((await reader.block(same.told, WATCHED)).transfers).toHaveLength(3);
  });

  it.each<[string, (block: Sealed, infos: Fields[]) => void]>([
    ['a parent of another height', (block) => Object.assign(raw(block), { parentHash: `${'0'.repeat(16)}${'ab'.repeat(24)}` })],
    [
      'a transaction twice, with bytes that JSON does not show',
      (block, infos) => {
        block.transactions = [block.transactions[0], block.transactions[1], { ...block.transactions[1], more: '' }] as Sealed['transactions'];
        infos.pop();
        infos.push(infos[1] as Fields);
      },
    ],
    [
      'an id that is not the one of the bytes, with an outcome of its own',
      (block, infos) => {
        const tx = block.transactions[0] as Fields;
        (infos.find(({ id }) => id === tx.txID) as Fields).id = OTHER_HASH;
        tx.txID = OTHER_HASH;
      },
    ],
    ['two contracts in one transaction', rewritten((_message, _parameter, whole) => whole.push(whole.find(({ number }) => number === 11) as Field))],
    [
      'a transfer whose parameter is of another type',
      rewritten((_message, parameter) => {
        (parameter.find(({ number }) => number === 1) as Field).value = Buffer.from('type.googleapis.com/protocol.TransferAssetContract');
      }),
    ],
    ['an amount below nothing', setting(3, 2n ** 64n - 5n, { amount: 2n ** 64n - 5n })],
    ['a recipient without its prefix', setting(2, fromHex(toHex20(ALICE)), { to_address: toHex20(ALICE) })],
    ['a recipient of another family', setting(2, fromHex(`a0${toHex20(ALICE)}`), { to_address: `41${toHex20(ALICE)}` })],
    ['an owner that is too long', setting(1, fromHex(`${OTHER}00`), { owner_address: `${OTHER}00` })],
  ])('%s', async (_name, change) => {
    const { readers, told } = await agreeing(change);
    await refuses(readers, told);
  });

  it('a block of a range that follows another one', async () => {
    const { readers } = await agreeing((block) =>
      Object.assign(raw(block), { parentHash: `${(height - 1).toString(16).padStart(16, '0')}${'ab'.repeat(24)}` }),
    );
    for (const reader of readers) await expect(reader.range(height - 1, height, WATCHED)).rejects.toThrow(/does not follow/);
  });

  it('blocks of other heights than asked for, empty and one after the other', async () => {
    const readers = bothOf((path, body) =>
      api(path, path === 'wallet/getblockbylimitnext' ? { startNum: (body.startNum as number) - 1, endNum: (body.endNum as number) - 1 } : body),
    );
    for (const reader of readers) await expect(reader.range(2, 3, WATCHED)).rejects.toThrow(ChainUnavailable);
    const other = tronReader(LOCAL, (path, body) => api(path, path === 'wallet/getblock' && body.id_or_num !== undefined ? { ...body, id_or_num: '1' } : body));
    await expect(other.blockAt(2)).rejects.toThrow(ChainUnavailable);
  });

  it('another transaction that waits than the one asked for', async () => {
    const waiting = await chain.pay(ALICE, null, 9n);
    expect(await tronReader(LOCAL, api).transaction(waiting)).toMatchObject({ height: null });
    for (const told of [OTHER_HASH, NO_WORDS])
      for (const reader of lying(['wallet/gettransactionfrompending'], put(['txID'], told)))
        await expect(reader.transaction(waiting)).rejects.toThrow(ChainUnavailable);
  });
});

describe('a lie about the head is refused:', () => {
  const lies: [string, (path: string, body: Record<string, unknown>) => boolean, Change][] = [
    ['no head', (path) => path === 'wallet/getblock', () => ({})],
    ['no solid block', (path) => path === 'walletsolidity/getblock', () => ({})],
    ['a solid block of another chain', (path) => path === 'walletsolidity/getblock', put(['block_header', 'raw_data', 'parentHash'], OTHER_HASH)],
    [
      'a head below the solid block',
      (path, body) => path === 'wallet/getblock' && body.id_or_num === undefined,
      () => api('wallet/getblock', { id_or_num: '1' }),
    ],
    ['another block at the solid height', (_path, body) => body.id_or_num !== undefined, () => api('wallet/getblock', { id_or_num: '1' })],
  ];
  it.each(lies)('%s', async (_name, when, change) => {
    const reader = tronReader(LOCAL, async (path, body) => {
      const answer = structuredClone(await api(path, body));
      return when(path, body) ? change(answer) : answer;
    });
    await expect(reader.head()).rejects.toThrow(ChainUnavailable);
  });
});
