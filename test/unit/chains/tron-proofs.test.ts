import fc from 'fast-check';
import { parse } from 'lossless-json';
import { utils } from 'tronweb';
import { describe, expect, it } from 'vitest';
import { readContract } from '#shared/chains/tron/contract.ts';
import { parseLossless } from '#shared/chains/tron/json.ts';
import { blockIdOf, fromHex, heightOf, merkleRootOf, type RawHeader, sha256 } from '#shared/chains/tron/proofs.ts';
import { readFields, writeFields } from '#shared/chains/tron/protobuf.ts';
import { readBlock, readHex } from '#shared/chains/tron/replies.ts';

const header = (fields: Partial<RawHeader>): RawHeader => ({
  timestamp: 0n,
  txTrieRoot: '0'.repeat(64),
  parentHash: '',
  number: 0n,
  witnessId: 0n,
  witnessAddress: '',
  version: 0n,
  accountStateRoot: '',
  ...fields,
});

/** Headers of public networks, as explorers and documentation show them. */
const REAL: [string, RawHeader, string][] = [
  [
    'mainnet 0',
    header({
      txTrieRoot: '8ef446bf3f395af929c218014f6101ec86576c5f61b2ae3236bf3a2ab5e2fecd',
      parentHash: 'e58f33f9baf9305dc6f82b9f1934ea8f0ade2defb951258d50167028c780351f',
      witnessAddress: Buffer.from(
        'A new system must allow existing systems to be linked together without requiring any central control or coordination',
      ).toString('hex'),
    }),
    '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc',
  ],
  [
    'mainnet 30864542',
    header({
      timestamp: 1_623_055_917_000n,
      txTrieRoot: '3739bc2a844d642506e8faf39d4012320ec1cf87899e1744e02b8d7f9ed2da3f',
      parentHash: '0000000001d6f49d0479eee63b80207fb66d24c1b7d50e2c89e0fd492861f508',
      number: 30_864_542n,
      witnessAddress: '41f29f57614a6b201729473c837e1d2879e9f90b8e',
      version: 21n,
    }),
    '0000000001d6f49ebf6a4ff33cc1c1607145c48dc701fbd7ce00f410131e14f8',
  ],
  [
    'Shasta 53868065, without transactions',
    header({
      timestamp: 1_745_423_034_000n,
      parentHash: '000000000335f620ef6509d67751753763be896f7ac569fc1d1cfa059cecf619',
      number: 53_868_065n,
      witnessAddress: '41711cf6683d28621ae12030fd541b288c61d682cd',
      version: 31n,
    }),
    '000000000335f6219b675cfb09a93b99a53729b80b188dcde464eb41625c3d0c',
  ],
];

/** Block 24902354 of the Shasta network, which holds one transfer of 1000 TRX. */
const SHASTA = {
  blockID: '00000000017bfad2869641e02e68563771b038e91fbe35df3fe4333df11d36b0',
  block_header: {
    raw_data: {
      number: 24902354,
      txTrieRoot: '610a475ae2c9cb27a4ea5f123c0310eb0f2c73370028934291cff8ed20698a33',
      witness_address: '41f16412b9a17ee9408646e2a21e16478f72ed1e95',
      parentHash: '00000000017bfad18ca0dd12811737d3585af5fe9af908ebf26df6d6568ffb51',
      version: 23,
      timestamp: 1654152273000,
    },
    witness_signature: '8f8b5cc9ece7b823d24c0360623b746a2c556b19134f44e0db643e6dd032e7a32834657dd5dc520224067fc31923cc40e0a2d287f1f04326c06b8feeea16344001',
  },
  transactions: [
    {
      ret: [{ contractRet: 'SUCCESS' }],
      signature: ['db40809beb78e8dbc43a54e260db04a726b129063d7c0c0501f585cee51fa4159f349916d4bec3aa796b812f386a07cac1cc4017145b5759c37f8fd8159919da01'],
      txID: 'c9a43a821eb5ac32d97eca073030e19bef866734e67152008c319be4e70c8c35',
      raw_data: {
        contract: [
          {
            parameter: {
              value: {
                amount: 1000000000,
                owner_address: '4130ba69b6b9746c2a15d6a7f9b9bea1f97ba3b023',
                to_address: '4108a8954b7862d07cf4ce6ac78c3a83d72bd917e4',
              },
              type_url: 'type.googleapis.com/protocol.TransferContract',
            },
            type: 'TransferContract',
          },
        ],
        ref_block_bytes: 'fabe',
        ref_block_hash: '6c357b3c30ce6d78',
        expiration: 1654152327000,
        timestamp: 1654152269917,
      },
      raw_data_hex:
        '0a02fabe22086c357b3c30ce6d7840d8dea59992305a69080112650a2d747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e5472616e73666572436f6e747261637412340a154130ba69b6b9746c2a15d6a7f9b9bea1f97ba3b02312154108a8954b7862d07cf4ce6ac78c3a83d72bd917e4188094ebdc0370dda0a2999230',
    },
  ],
};

describe('a block id', () => {
  it.each(REAL)('of %s is recomputed from its header', (_name, fields, id) => {
    expect(blockIdOf(fields)).toBe(id);
    expect(heightOf(id)).toBe(Number(fields.number));
  });

  it.each(['timestamp', 'number', 'version'] as const)('is another one when the %s is', (field) => {
    const [, fields, id] = REAL[1] as (typeof REAL)[1];
    expect(blockIdOf({ ...fields, [field]: fields[field] + 1n })).not.toBe(id);
  });
});

describe('a recorded block', () => {
  it('is read with its transaction proven by the merkle root, and its transfer read from bytes', () => {
    const block = readBlock(SHASTA);
    expect(block).toMatchObject({ height: 24_902_354, hash: SHASTA.blockID, timeMs: 1_654_152_273_000 });
    expect(block.transactions).toEqual([
      {
        txid: SHASTA.transactions[0]?.txID,
        contractRet: 'SUCCESS',
        type: 1,
        owner: '30ba69b6b9746c2a15d6a7f9b9bea1f97ba3b023',
        value: { recipient: '08a8954b7862d07cf4ce6ac78c3a83d72bd917e4', rawAmount: 1_000_000_000n },
      },
    ]);
  });

  const lies: [string, (block: typeof SHASTA) => void][] = [
    ['another signature', (b) => b.transactions[0]?.signature.splice(0, 1, 'ab'.repeat(65))],
    ['no signature', (b) => b.transactions[0]?.signature.pop()],
    ['another outcome', (b) => b.transactions[0]?.ret.splice(0, 1, { contractRet: 'REVERT' })],
    ['no transactions', (b) => b.transactions.pop()],
    ['the transaction twice', (b) => b.transactions.push(...structuredClone(b.transactions))],
    ['another transaction id', (b) => Object.assign(b.transactions[0] as object, { txID: 'ab'.repeat(32) })],
    ['other bytes', (b) => Object.assign(b.transactions[0] as object, { raw_data_hex: b.transactions[0]?.raw_data_hex.replace('9230', '9231') })],
    ['another amount in the JSON alone', (b) => Object.assign(b.transactions[0]?.raw_data.contract[0]?.parameter.value as object, { amount: 2 })],
    ['another recipient in the JSON alone', (b) => Object.assign(b.transactions[0]?.raw_data.contract[0]?.parameter.value as object, { to_address: '41' })],
    ['another witness', (b) => Object.assign(b.block_header.raw_data, { witness_address: `41${'ab'.repeat(20)}` })],
    ['a header field nobody knows of', (b) => Object.assign(b.block_header.raw_data, { accountStateRoot: 'ab'.repeat(32) })],
  ];
  it.each(lies)('with %s is refused', (_name, change) => {
    const block = structuredClone(SHASTA);
    change(block);
    expect(() => readBlock(block)).toThrow(/cannot be trusted/);
  });

  const SIGNATURE = SHASTA.transactions[0]?.signature[0] as string;
  const leafOf = (results: Uint8Array[]): Uint8Array =>
    writeFields([
      { number: 1, value: fromHex(SHASTA.transactions[0]?.raw_data_hex as string) },
      { number: 2, value: fromHex(SIGNATURE) },
      ...results.map((value) => ({ number: 5, value, always: true as const })),
    ]);
  const SUCCESS = writeFields([{ number: 3, value: 1n }]);
  /** The block with what a sender put beside the outcome, and the header that its producer made of it. */
  const withOutcomes = (ret: object[], results: Uint8Array[]): unknown => {
    const block = structuredClone(SHASTA);
    const { raw_data: head } = block.block_header;
    head.txTrieRoot = sha256(leafOf(results));
    const { txTrieRoot, parentHash, witness_address: witnessAddress } = head;
    const fields = { txTrieRoot, parentHash, witnessAddress, number: BigInt(head.number), version: BigInt(head.version), timestamp: BigInt(head.timestamp) };
    block.blockID = blockIdOf(header(fields));
    Object.assign(block.transactions[0] as object, { ret });
    return block;
  };
  it.each<[string, object[], Uint8Array[]]>([
    [
      'a fee below zero',
      [{ fee: -5, contractRet: 'SUCCESS' }],
      [
        writeFields([
          { number: 1, value: -5n },
          { number: 3, value: 1n },
        ]),
      ],
    ],
    [
      'a fee below what a double holds',
      [{ fee: -9_223_372_036_854_775_808n, contractRet: 'SUCCESS' }],
      [
        writeFields([
          { number: 1, value: -9_223_372_036_854_775_808n },
          { number: 3, value: 1n },
        ]),
      ],
    ],
    [
      'the word that it failed',
      [{ ret: 'FAILED', contractRet: 'SUCCESS' }],
      [
        writeFields([
          { number: 2, value: 1n },
          { number: 3, value: 1n },
        ]),
      ],
    ],
    [
      'a code nobody knows',
      [{ ret: 'UNKNOWN_ENUM_VALUE_code_5', contractRet: 'SUCCESS' }],
      [
        writeFields([
          { number: 2, value: 5n },
          { number: 3, value: 1n },
        ]),
      ],
    ],
    ['a second outcome that is empty', [{ contractRet: 'SUCCESS' }, {}], [SUCCESS, new Uint8Array()]],
    [
      'a second outcome with a field of another contract',
      [{ contractRet: 'SUCCESS' }, { unfreeze_amount: 1_000_000_000 }],
      [SUCCESS, writeFields([{ number: 16, value: 1n }])],
    ],
    [
      'a field nobody knows in it',
      [{ contractRet: 'SUCCESS', '4': [''] }],
      [
        writeFields([
          { number: 3, value: 1n },
          { number: 4, value: new Uint8Array(), always: true },
        ]),
      ],
    ],
  ])('whose sender put %s beside the outcome is read all the same', (_what, ret, results) => {
    expect(readBlock(withOutcomes(ret, results)).transactions).toMatchObject([{ contractRet: 'SUCCESS', value: { rawAmount: 1_000_000_000n } }]);
  });

  it('with bytes around a transaction that JSON does not show is read without its merkle root', () => {
    const block = structuredClone(SHASTA);
    Object.assign(block.transactions[0] as object, { '99': ['whatever'], signature: [] });
    expect(readBlock(block).transactions).toHaveLength(1);
  });
});

describe('the merkle root', () => {
  const leaf = (byte: number) => ({ rawData: Uint8Array.of(byte), signatures: [], outcomes: [] });
  const hashOf = (byte: number): string => sha256(writeFields([{ number: 1, value: Uint8Array.of(byte) }]));
  const join = (left: string, right: string): string => sha256(fromHex(left + right));

  it('pairs leaves and carries an odd one up as it is', () => {
    const [a, b, c, d, e] = [1, 2, 3, 4, 5].map(hashOf) as [string, string, string, string, string];
    expect(merkleRootOf([])).toBe('0'.repeat(64));
    expect(merkleRootOf([1].map(leaf))).toBe(a);
    expect(merkleRootOf([1, 2].map(leaf))).toBe(join(a, b));
    expect(merkleRootOf([1, 2, 3].map(leaf))).toBe(join(join(a, b), c));
    expect(merkleRootOf([1, 2, 3, 4, 5].map(leaf))).toBe(join(join(join(a, b), join(c, d)), e));
  });
});

describe('transaction bytes', () => {
  const OWNER = '4130ba69b6b9746c2a15d6a7f9b9bea1f97ba3b023';
  const OTHER = '4108a8954b7862d07cf4ce6ac78c3a83d72bd917e4';
  const bytesOf = (type: string, value: object): Uint8Array => {
    const contract = [{ parameter: { value, type_url: `type.googleapis.com/protocol.${type}` }, type }];
    const raw = { contract, ref_block_bytes: 'fabe', ref_block_hash: '6c357b3c30ce6d78', expiration: 1654152327000, timestamp: 1654152269917 };
    const pb = utils.transaction.txJsonToPb({ visible: false, txID: '', raw_data_hex: '', raw_data: raw } as never) as {
      getRawData(): { serializeBinary(): Uint8Array };
    };
    return pb.getRawData().serializeBinary();
  };
  const owner = OWNER.slice(2);
  const recipient = OTHER.slice(2);

  it('of a transfer, as tronweb writes them, say who paid whom how much', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (amount) => {
        const bytes = bytesOf('TransferContract', { owner_address: OWNER, to_address: OTHER, amount });
        expect(readContract(bytes)).toEqual({ type: 1, owner, value: { recipient, rawAmount: BigInt(amount) } });
      }),
      { numRuns: 50 },
    );
  });

  it('of a contract call say what TRX goes with it', () => {
    const call = { owner_address: OWNER, contract_address: OTHER, data: 'a9059cbb' };
    expect(readContract(bytesOf('TriggerSmartContract', { ...call, call_value: 7 }))).toEqual({ type: 31, owner, value: { recipient, rawAmount: 7n } });
    expect(readContract(bytesOf('TriggerSmartContract', call))).toEqual({ type: 31, owner, value: null });
  });

  it('of TRC-10 transfers move no TRX, and name their owner all the same', () => {
    const bytes = bytesOf('TransferAssetContract', { asset_name: '31303034303833', owner_address: OWNER, to_address: OTHER, amount: 468_000 });
    expect(readContract(bytes)).toEqual({ type: 2, owner, value: null });
  });

  const any = (name: string, fields: Parameters<typeof writeFields>[0]): Uint8Array =>
    writeFields([
      { number: 1, value: new TextEncoder().encode(`type.googleapis.com/protocol.${name}`) },
      { number: 2, value: writeFields(fields) },
    ]);
  const raw = (contracts: Uint8Array[]): Uint8Array => writeFields(contracts.map((value) => ({ number: 11, value })));
  const contract = (type: bigint, parameter: Uint8Array): Uint8Array =>
    writeFields([
      { number: 1, value: type },
      { number: 2, value: parameter },
    ]);
  const transfer = (amount: bigint) =>
    any('TransferContract', [
      { number: 1, value: fromHex(OWNER) },
      { number: 2, value: fromHex(OTHER) },
      { number: 3, value: amount },
    ]);

  it('keep an amount beyond what a double holds', () => {
    const rawAmount = 9_007_199_254_740_993n;
    expect(readContract(raw([contract(1n, transfer(rawAmount))]))?.value).toEqual({ recipient, rawAmount });
  });

  it.each([
    ['no contract', raw([])],
    ['two contracts', raw([contract(1n, transfer(1n)), contract(1n, transfer(1n))])],
    ['a negative amount', raw([contract(1n, transfer(-1n))])],
    ['a parameter of another type than the contract', raw([contract(1n, any('TransferAssetContract', []))])],
    ['an address of another prefix', raw([contract(1n, any('TransferContract', [{ number: 1, value: fromHex(`a0${owner}`) }]))])],
    ['no recipient', raw([contract(1n, any('TransferContract', [{ number: 1, value: fromHex(OWNER) }]))])],
    ['a field cut short', raw([contract(1n, transfer(1n))]).slice(0, -1)],
    ['a varint without end', Uint8Array.from([0x08, ...Array.from({ length: 11 }, () => 0xff)])],
  ])('with %s are refused', (_why, bytes) => {
    expect(readContract(bytes)).toBeUndefined();
  });

  // What stands in a parameter is the sender's own spelling, and java-tron takes all of these as the same transfer of 7.
  const plain = [
    ...writeFields([
      { number: 1, value: fromHex(OWNER) },
      { number: 2, value: fromHex(OTHER) },
      { number: 3, value: 7n },
    ]),
  ];
  const spelt = (bytes: number[]) =>
    raw([
      contract(
        1n,
        writeFields([
          { number: 1, value: Buffer.from('/protocol.TransferContract') },
          { number: 2, value: Uint8Array.from(bytes) },
        ]),
      ),
    ]);
  it.each([
    ['a field nobody knows', [...plain, 0x78, 1]],
    ['the amount once more, of another kind', [...plain, 0x1a, 1, 0xff]],
    ['the owner once more, as a number', [...plain, 0x08, 5]],
    ['the recipient once more, as eight fixed bytes', [...plain, 0x11, 1, 2, 3, 4, 5, 6, 7, 8]],
    ['the recipient once more, as four fixed bytes', [...plain, 0x15, 1, 2, 3, 4]],
    ['another amount before the last one', [0x18, 9, ...plain]],
    ['an amount padded to ten bytes', [...plain, 0x18, 0x87, ...Array.from({ length: 8 }, () => 0x80), 0x00]],
    ['an amount with bits above the 64th', [...plain, 0x18, 0x87, ...Array.from({ length: 8 }, () => 0x80), 0x02]],
    ['a field number with bits above the 32nd', [...plain.slice(0, -2), 0x98, 0x80, 0x80, 0x80, 0x10, 7]],
    ['a group with an amount of its own in it', [...plain, 0x2b, 0x18, 9, 0x33, 0x34, 0x2c]],
  ])('with %s are the transfer they are', (_why, bytes) => {
    expect(readContract(spelt(bytes))).toEqual({ type: 1, owner, value: { recipient, rawAmount: 7n } });
  });

  it.each([
    ['a group without end', [...plain, 0x2b, 0x18, 9]],
    ['the end of a group that never began', [...plain, 0x2c]],
    ['the end of another group', [...plain, 0x2b, 0x34]],
    ['a length below zero', [...plain, 0x22, 0xff, 0xff, 0xff, 0xff, 0x0f]],
  ])('with %s are no message', (_why, bytes) => {
    expect(readContract(spelt(bytes))).toBeUndefined();
  });

  it('of other types are read too when nobody can make out their owner', () => {
    expect(readContract(raw([contract(51n, any('ShieldedTransferContract', [{ number: 3, value: fromHex('ab') }]))]))).toEqual({
      type: 51,
      owner: null,
      value: null,
    });
  });

  it('are read back as they were written, whatever the fields', () => {
    const field = fc.record({
      number: fc.integer({ min: 1, max: 1_000 }),
      value: fc.oneof(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), fc.uint8Array({ minLength: 1, maxLength: 300 })),
    });
    fc.assert(
      fc.property(fc.array(field, { maxLength: 20 }), (fields) => {
        const plain = fields.map(({ number, value }) => ({ number, value: typeof value === 'bigint' ? value : Buffer.from(value).toString('hex') }));
        const read = readFields(writeFields(fields))?.map(({ number, value }) => ({
          number,
          value: typeof value === 'bigint' ? value : Buffer.from(value ?? []).toString('hex'),
        }));
        expect(read).toEqual(plain);
      }),
    );
  });
});

describe('JSON of a node', () => {
  it('keeps integers that a double would round', () => {
    expect(parseLossless('{"timestamp": 639035050123436598, "n": [9007199254740993, -9007199254740993], "small": 12}')).toEqual({
      timestamp: 639_035_050_123_436_598n,
      n: [9_007_199_254_740_993n, -9_007_199_254_740_993n],
      small: 12,
    });
  });

  it('is not JSON when it is a page', () => {
    expect(parseLossless('<html>rate limited</html>')).toBeUndefined();
    expect(parseLossless('')).toBeUndefined();
  });

  it('never loses a digit, whatever the integer', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }), (n) => {
        expect(BigInt((parseLossless(`{"a":${n}}`) as { a: number }).a)).toBe(n);
      }),
    );
  });

  it('is exact up to a hundred digits, whatever their sign, and what a double makes of it beyond', () => {
    for (const longest of [10n ** 99n, 10n ** 100n - 1n, -(10n ** 99n), 1n - 10n ** 100n]) expect(parseLossless(`[${longest}]`)).toEqual([longest]);
    for (const beyond of [10n ** 100n, -(10n ** 100n)]) expect(parseLossless(`[${beyond}]`)).toEqual([Number(beyond)]);
  });

  /** What stands in JSON, as text, in every way in which it may be written. */
  const told = fc.letrec((tie) => ({
    integer: fc
      .tuple(fc.constantFrom('', '-'), fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n }), fc.bigInt({ min: 0n, max: 10n ** 99n })))
      .map(([sign, n]) => `${sign}${n}`),
    number: fc
      .tuple(tie('integer'), fc.constantFrom('', '.0', '.5', '.9007199254740993', 'e5', 'E-3', 'e+400', '.25e1'))
      .map(([n, more]) => `${n as string}${more}`),
    text: fc
      .array(fc.constantFrom('12345678901234567890', '\\"', '\\\\', '\\u0031', ':', ',', '[', '{', ' ', '-', 'é', '1', 'e5', '.'), { maxLength: 6 })
      .map((parts) => `"${parts.join('')}"`),
    one: fc.oneof(
      { maxDepth: 4 },
      tie('number'),
      tie('text'),
      fc.constantFrom('true', 'null', '-0', '1e400', '9007199254740992', '9007199254740991', '-9007199254740993'),
      fc
        .tuple(fc.constantFrom('', ' ', '\n\t'), fc.array(tie('one'), { maxLength: 4 }))
        .map(([space, all]) => `[${space}${all.join(`${space},${space}`)}${space}]`),
      fc
        .tuple(fc.constantFrom('', ' ', '\n\t'), fc.array(fc.tuple(tie('text'), tie('one')), { maxLength: 4 }))
        .map(([space, all]) => `{${all.map(([key, value]) => `${space}${key as string}${space}:${space}${value as string}`).join(',')}${space}}`),
    ),
  })).one as fc.Arbitrary<string>;
  const INTEGER = /^-?\d+$/;

  it('is read as a lossless parser reads it, numbers between strings and in them, whatever stands around them', () => {
    fc.assert(
      fc.property(told, (text) => {
        const number = (digits: string): unknown => (INTEGER.test(digits) && !Number.isSafeInteger(Number(digits)) ? BigInt(digits) : Number(digits));
        expect(parseLossless(text)).toEqual(parse(text, undefined, { parseNumber: number, onDuplicateKey: ({ newValue }) => newValue }));
      }),
      { numRuns: 2_000 },
    );
  });

  it('costs in proportion to its length, whatever a node writes', () => {
    const million = 1_000_000;
    const hostile = [
      `[${'9'.repeat(4 * million)}]`,
      `[${'9'.repeat(million)}.5,${'1'.repeat(16)}]`,
      `[${`${'9'.repeat(99)},`.repeat(million / 50)}1]`,
      `["${'\\\\'.repeat(million)}",1234567890123456789]`,
      `["${'\\"'.repeat(million)}",1234567890123456789]`,
      `[${' '.repeat(million)}1234567890123456789]`,
      `[${'"",'.repeat(million)}1234567890123456789]`,
      `[1234567890123456789,${'-'.repeat(million)}]`,
      `[1234567890123456789,${','.repeat(million)}]`,
      `[1234567890123456789,"${'a'.repeat(million)}`,
    ];
    const began = process.cpuUsage();
    for (const text of hostile) parseLossless(text);
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(5_000);
    expect(parseLossless(hostile[0] as string)).toEqual([Number.POSITIVE_INFINITY]);
  });

  it('holds hex of any length, and refuses what is none', () => {
    expect(readHex('AB'.repeat(16_000_000), 'data')).toHaveLength(32_000_000);
    expect(() => readHex('abc', 'data')).toThrow(/malformed/);
    expect(() => readHex('zz', 'data')).toThrow(/malformed/);
  });
});
