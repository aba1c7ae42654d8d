import fc from 'fast-check';
import { TronWeb, utils } from 'tronweb';
import { describe, expect, it } from 'vitest';
import type { SigningRequest, TransferIntent } from '#shared/chains/chain.ts';
import { toBase58 } from '#shared/chains/tron/address.ts';
import { decodeTronTransfer } from '#shared/chains/tron/decode.ts';
import { compare, tronSigner } from '#shared/chains/tron/signer.ts';
import { bandwidthOf, encodeSigned, readFields, txidOf } from '#shared/chains/tron/transaction.ts';
import { Invariant } from '#shared/core/errors.ts';
import { FULL, times } from '#test/harness/counts.ts';

const SEED = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const HOT = "m/44'/195'/1'/0/0";
const USDT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const BOB = toBase58(`41${'0b0b'.padStart(40, '0')}`);
const FIELDS = { feeLimit: '0', refBlockBytes: '0a0b', refBlockHash: '0102030405060708', expirationMs: '1790000090000', timestampMs: '1790000000000' };

const signer = tronSigner({ chainId: 'local' }, SEED);
const hot = signer.addressAt(HOT);

const trx = (rawAmount: bigint, more: Partial<TransferIntent> = {}): SigningRequest => ({
  intent: { sender: hot, recipient: BOB, contract: null, rawAmount, ...more },
  nonce: null,
  fields: FIELDS,
});
const usdt = (rawAmount: bigint): SigningRequest => ({ ...trx(rawAmount, { contract: USDT }), fields: { ...FIELDS, feeLimit: '15634200' } });
const kinds: [string, SigningRequest][] = [
  ['TRX', trx(12_345_678n)],
  ['a token', usdt(12_345_678n)],
];

const addresses = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => toBase58(`41${Buffer.from(bytes).toString('hex')}`));
const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => Buffer.from(value).toString('hex'));
const largest = BigInt(Number.MAX_SAFE_INTEGER);
const requests = fc.boolean().chain((token) =>
  fc.record({
    intent: fc.record({
      sender: fc.constant(hot),
      recipient: addresses.filter((address) => address !== hot),
      contract: token ? addresses : fc.constant(null),
      rawAmount: fc.bigInt({ min: 1n, max: token ? (1n << 256n) - 1n : largest }),
    }),
    nonce: fc.constant(null),
    fields: fc.record({
      feeLimit: token ? fc.bigInt({ min: 1n, max: largest }).map(String) : fc.constant('0'),
      refBlockBytes: hex(2),
      refBlockHash: hex(8),
      expirationMs: fc.bigInt({ min: 1n, max: largest }).map(String),
      timestampMs: fc.bigInt({ min: 1n, max: largest }).map(String),
    }),
  }),
);

describe('signed bytes of TRON', () => {
  it('are read back, by a reader that shares nothing with their writer, to exactly the request', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const { txid, signedBytes, rawFeeLimit, expiresAtMs } = await signer.sign(HOT, request);
        expect(await decodeTronTransfer(signedBytes)).toEqual({
          ...request.intent,
          nonce: null,
          rawFeeLimit,
          expiresAtMs,
          txid,
          chainId: null,
          fields: request.fields,
        });
        expect(expiresAtMs).toBe(Number(request.fields.expirationMs));
        expect(rawFeeLimit).toBe(BigInt(request.fields.feeLimit));
      }),
      { numRuns: times(2_000) },
    );
  });

  it.each(kinds)('of %s are what tronweb makes of the same transfer, under the same id, and no longer than their price assumes', async (_name, request) => {
    const tronWeb = new TronWeb({ fullHost: 'http://127.0.0.1:1' });
    const { txid, signedBytes } = await signer.sign(HOT, request);
    const rawData = utils.deserializeTx.deserializeTransaction(
      request.intent.contract === null ? 'TransferContract' : 'TriggerSmartContract',
      rawHex(signedBytes),
    );
    const transaction = { visible: false, txID: txid, raw_data: rawData, raw_data_hex: rawHex(signedBytes) };
    expect(utils.transaction.txCheck(transaction as never)).toBe(true);
    const signature = Buffer.from(signedBytes.subarray(-65)).toString('hex');
    expect(tronWeb.trx.ecRecover({ ...transaction, signature: [signature] } as never)).toBe(hot);
    expect(rawData).toMatchObject({ ref_block_bytes: '0A0B', ref_block_hash: '0102030405060708', expiration: 1_790_000_090_000, timestamp: 1_790_000_000_000 });
    expect(bandwidthOf(request.intent, readFields(request.fields))).toBe(BigInt(signedBytes.length + 64));
  });

  it('take the bandwidth real ones take: 265 to 268 points for TRX, 345 for a token', async () => {
    const { signedBytes } = await signer.sign(HOT, usdt(12_345_678n));
    expect(signedBytes.length + 64).toBe(345);
    expect((await signer.sign(HOT, trx(1n))).signedBytes.length + 64).toBe(265);
    expect((await signer.sign(HOT, trx(100_000_000n))).signedBytes.length + 64).toBe(268);
  });

  it('move TRX exactly up to 2^53 sun, and beyond it there are none; tokens are exact up to 2^256', async () => {
    for (const rawAmount of [2n ** 53n - 1n, 2n ** 53n - 2n])
      expect((await decodeTronTransfer((await signer.sign(HOT, trx(rawAmount))).signedBytes)).rawAmount).toBe(rawAmount);
    for (const rawAmount of [2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, 0n, -1n])
      await expect(signer.sign(HOT, trx(rawAmount))).rejects.toThrow(Invariant);
    for (const rawAmount of [2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 256n - 1n])
      expect((await decodeTronTransfer((await signer.sign(HOT, usdt(rawAmount))).signedBytes)).rawAmount).toBe(rawAmount);
    for (const rawAmount of [2n ** 256n, 0n, -1n]) await expect(signer.sign(HOT, usdt(rawAmount))).rejects.toThrow(Invariant);
  });

  it.each(kinds)('of %s, with any one bit turned, are refused', async (_name, request) => {
    const { signedBytes } = await signer.sign(HOT, request);
    // Five and eight have no divisor in common: fewer bits are still of every place in a byte, and of all parts.
    for (let bit = 0; bit < signedBytes.length * 8; bit += FULL ? 1 : 5) {
      const turned = Uint8Array.from(signedBytes);
      turned[bit >> 3] = (turned[bit >> 3] as number) ^ (1 << (bit & 7));
      await expect(decodeTronTransfer(turned), `bit ${bit}`).rejects.toThrow(Invariant);
    }
  });

  it.each(kinds)('of %s, cut short anywhere or with anything behind them, are refused', async (_name, request) => {
    const { signedBytes } = await signer.sign(HOT, request);
    for (let length = 0; length < signedBytes.length; length++) await expect(decodeTronTransfer(signedBytes.subarray(0, length))).rejects.toThrow(Invariant);
    for (const more of ['00', '12', '1200', '2a00', '2a020801', '2801', 'f23f00'])
      await expect(decodeTronTransfer(Buffer.concat([signedBytes, Buffer.from(more, 'hex')]))).rejects.toThrow(Invariant);
  });

  it.each(kinds)('of %s, in any other spelling of the same signature, are refused', async (_name, request) => {
    const { signedBytes } = await signer.sign(HOT, request);
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const s = BigInt(`0x${Buffer.from(signedBytes.subarray(-33, -1)).toString('hex')}`);
    const high = Uint8Array.from(signedBytes);
    high.set(Buffer.from((order - s).toString(16).padStart(64, '0'), 'hex'), high.length - 33);
    high[high.length - 1] = (high.at(-1) as number) ^ 7;
    await expect(decodeTronTransfer(high)).rejects.toThrow('low form');
    const bare = Uint8Array.from(signedBytes);
    bare[bare.length - 1] = (bare.at(-1) as number) - 27;
    await expect(decodeTronTransfer(bare)).rejects.toThrow('malformed');
  });
});

/** The raw data inside signed bytes. */
function rawHex(signedBytes: Uint8Array): string {
  const at = (signedBytes[1] as number) < 128 ? 2 : 3;
  return Buffer.from(signedBytes.subarray(at, -67)).toString('hex');
}

describe('bytes that are anything but one transfer are refused though their key signed them:', () => {
  const key = '0000000000000000000000000000000000000000000000000000000000000001';
  const owner = TronWeb.address.fromPrivateKey(key) as string;
  const tronWeb = new TronWeb({ fullHost: 'http://127.0.0.1:1' });
  const blockHeader = { ref_block_bytes: '0a0b', ref_block_hash: '0102030405060708', expiration: 1_790_000_090_000, timestamp: 1_790_000_000_000 };
  const local = { txLocal: true, blockHeader };
  const transferArguments = [
    { type: 'address', value: BOB },
    { type: 'uint256', value: '5' },
  ];
  const trigger = async (selector: string, options: object, parameters: { type: string; value: unknown }[] = transferArguments): Promise<Json> =>
    (await tronWeb.transactionBuilder.triggerSmartContract(USDT, selector, { ...local, feeLimit: 1_000_000, callValue: 0, ...options }, parameters, owner))
      .transaction as unknown as Json;

  const changed = (make: () => Promise<Json>, change: (raw: Raw) => void) => async (): Promise<Json> => {
    const transaction = await make();
    change(transaction.raw_data);
    return transaction;
  };
  const plain = () => build(tronWeb.transactionBuilder.sendTrx(BOB, 5, owner, local));
  const token = () => trigger('transfer(address,uint256)', {});

  const odd: [string, () => Promise<Json>][] = [
    ['a memo', changed(plain, (raw) => void Object.assign(raw, { data: '6869' }))],
    ['a memo on a token transfer', changed(token, (raw) => void Object.assign(raw, { data: '6869' }))],
    ['another permission', () => build(tronWeb.transactionBuilder.sendTrx(BOB, 5, owner, { ...local, permissionId: 2 }))],
    ['a fee limit on plain TRX', changed(plain, (raw) => void Object.assign(raw, { fee_limit: 5 }))],
    ['no fee limit on a call', changed(token, (raw) => void delete raw.fee_limit)],
    ['a call that also moves TRX', () => trigger('transfer(address,uint256)', { callValue: 1 })],
    ['a call that also moves TRC-10', () => trigger('transfer(address,uint256)', { tokenValue: 1, tokenId: 1_000_001 })],
    ['another call', () => trigger('approve(address,uint256)', {})],
    ['a transfer from somebody else', () => trigger('transferFrom(address,address,uint256)', {}, [{ type: 'address', value: owner }, ...transferArguments])],
    [
      'a transfer with more behind it',
      changed(token, (raw) => void Object.assign(raw.contract[0].parameter.value, { data: `${raw.contract[0].parameter.value.data}00` })),
    ],
    [
      'dirty padding of the recipient',
      changed(
        token,
        (raw) =>
          void Object.assign(raw.contract[0].parameter.value, {
            data: (raw.contract[0].parameter.value.data as string).replace('a9059cbb000000000000000000000000', 'a9059cbb000000000000000000000041'),
          }),
      ),
    ],
    ['no call data', changed(token, (raw) => void Object.assign(raw.contract[0].parameter.value, { data: undefined }))],
    [
      'the zero address',
      () =>
        trigger('transfer(address,uint256)', {}, [{ type: 'address', value: `41${'0'.repeat(40)}` }, transferArguments[1] as { type: string; value: unknown }]),
    ],
    ['TRC-10', () => build(tronWeb.transactionBuilder.sendToken(BOB, 5, '1000001', owner, local))],
    ['staking', () => build(tronWeb.transactionBuilder.freezeBalanceV2(1_000_000, 'ENERGY', owner, local))],
    ['a new account', () => build(tronWeb.transactionBuilder.createAccount(BOB, owner, local))],
    [
      'an address of another length',
      changed(plain, (raw) => void Object.assign(raw.contract[0].parameter.value, { to_address: `${raw.contract[0].parameter.value.to_address}00` })),
    ],
    ['no reference block', changed(plain, (raw) => void Object.assign(raw, { ref_block_bytes: '', ref_block_hash: '' }))],
    ['no expiration', changed(plain, (raw) => void delete raw.expiration)],
  ];

  it.each(odd)('%s', async (_name, make) => {
    await expect(decodeTronTransfer(signAnything(await make(), key))).rejects.toThrow(Invariant);
  });

  it('(while the two that are one transfer are taken)', async () => {
    expect(await decodeTronTransfer(signAnything(await plain(), key))).toMatchObject({ sender: owner, recipient: BOB, contract: null, rawAmount: 5n });
    expect(await decodeTronTransfer(signAnything(await token(), key))).toMatchObject({ sender: owner, recipient: BOB, contract: USDT, rawAmount: 5n });
  });

  it('the very same transfer in any other spelling', async () => {
    const raw = rawHex(signAnything(await plain(), key));
    const expiration = '409097c7a28c34';
    expect(raw).toContain(expiration);
    expect(raw).toMatch(/1805[0-9a-f]+$/);
    const spellings: [string, string][] = [
      ['as it is', raw],
      ['its expiration last', raw.replace(expiration, '') + expiration],
      ['its amount padded', raw.replace('1805', '188500').replace('5a65', '5a66').replace('1261', '1262').replace('1230', '1231')],
      ['a fee limit of zero written out', `${raw}900100`],
    ];
    for (const [name, hex] of spellings) {
      const decoding = decodeTronTransfer(signRaw(Buffer.from(hex, 'hex'), key));
      if (name === 'as it is') expect(await decoding).toMatchObject({ rawAmount: 5n });
      else await expect(decoding, name).rejects.toThrow('not spelt canonically');
    }
    const bytes = Buffer.from(signRaw(Buffer.from(raw, 'hex'), key));
    const length = (bytes[1] as number) | ((bytes[2] as number) << 8);
    expect(length & 128).toBe(128);
    const padded = Buffer.concat([bytes.subarray(0, 2), Buffer.from([(bytes[2] as number) | 128, 0]), bytes.subarray(3)]);
    await expect(decodeTronTransfer(padded)).rejects.toThrow('not spelt canonically');
  });

  it('somebody else’s signature, none, and two', async () => {
    const transaction = await plain();
    await expect(decodeTronTransfer(signAnything(transaction, key.replace(/1$/, '2')))).rejects.toThrow('not the sender');
    const bytes = Buffer.from(signAnything(transaction, key));
    await expect(decodeTronTransfer(bytes.subarray(0, -67))).rejects.toThrow(Invariant);
    await expect(decodeTronTransfer(Buffer.concat([bytes, bytes.subarray(-67)]))).rejects.toThrow(Invariant);
  });
});

interface Raw {
  contract: [{ parameter: { value: Record<string, unknown> } }];
  fee_limit?: number;
  expiration?: number;
}
type Json = { raw_data: Raw };

/** What tronweb makes, as JSON that may be changed. */
function build(made: Promise<unknown>): Promise<Json> {
  return made as Promise<Json>;
}

/** Signs whatever the JSON says, as a careless signer would. */
function signAnything(transaction: Json, key: string): Uint8Array {
  return signRaw(Buffer.from(utils.transaction.txPbToRawDataHex(utils.transaction.txJsonToPb(transaction as never)), 'hex'), key);
}

function signRaw(rawData: Uint8Array, key: string): Uint8Array {
  const { signature } = utils.crypto.signTransaction(key, { txID: txidOf(rawData) } as never) as { signature: string[] };
  return encodeSigned(rawData, Buffer.from(signature[0] as string, 'hex'));
}

describe('the TRON signer', () => {
  it('signs for no sender but the key at the path, and for no nonce', async () => {
    await expect(signer.sign(HOT, trx(1n, { sender: BOB, recipient: hot }))).rejects.toThrow(/differ from the request in their sender/);
    await expect(signer.sign("m/44'/195'/1'/0/1", trx(1n))).rejects.toThrow(/differ from the request in their sender/);
    await expect(signer.sign('m/44/../0', trx(1n))).rejects.toThrow(Invariant);
    await expect(signer.sign(HOT, { ...trx(1n), nonce: 0 })).rejects.toThrow('no nonce');
  });

  it('refuses what the chain would refuse: its own sender as recipient, a call without a fee limit', async () => {
    await expect(signer.sign(HOT, trx(1n, { recipient: hot }))).rejects.toThrow(Invariant);
    await expect(signer.sign(HOT, { ...usdt(1n), fields: FIELDS })).rejects.toThrow(Invariant);
    await expect(signer.sign(HOT, { ...trx(1n), fields: usdt(1n).fields })).rejects.toThrow(Invariant);
  });

  const unusable: [string, string[]][] = [
    ['feeLimit', ['', '-1', '1e9', '0x10', '01', '9007199254740992', '1.0']],
    ['refBlockBytes', ['', 'ab', 'ABCD', '0x12', 'zzzz', '0a0b0c']],
    ['refBlockHash', ['', '01', 'g102030405060708']],
    ['expirationMs', ['', '-5', '9007199254740993', '1790000000000.5']],
    ['timestampMs', ['', 'now', '639035050123436598']],
  ];
  it.each(unusable)('refuses a plan without a usable %s', async (name, values) => {
    for (const value of values)
      await expect(signer.sign(HOT, { ...usdt(1n), fields: { ...usdt(1n).fields, [name]: value } })).rejects.toThrow(`no usable ${name}`);
    const { [name]: _, ...fields } = usdt(1n).fields as Record<string, string>;
    await expect(signer.sign(HOT, { ...usdt(1n), fields })).rejects.toThrow(`no usable ${name}`);
  });

  const changes: [string, (request: SigningRequest) => SigningRequest][] = [
    ['sender', (r) => ({ ...r, intent: { ...r.intent, sender: BOB } })],
    ['recipient', (r) => ({ ...r, intent: { ...r.intent, recipient: USDT } })],
    ['contract', (r) => ({ ...r, intent: { ...r.intent, contract: null } })],
    ['amount', (r) => ({ ...r, intent: { ...r.intent, rawAmount: r.intent.rawAmount + 1n } })],
    ['nonce', (r) => ({ ...r, nonce: 1 })],
    ...Object.keys(FIELDS).map((name): [string, (request: SigningRequest) => SigningRequest] => [
      name,
      (r) => ({ ...r, fields: { ...r.fields, [name]: '1' } }),
    ]),
  ];
  it.each(changes)('refuses bytes whose %s is not the one asked for', async (what, change) => {
    const decoded = await decodeTronTransfer((await signer.sign(HOT, usdt(5n))).signedBytes);
    expect(() => compare(usdt(5n), decoded)).not.toThrow();
    expect(() => compare(change(usdt(5n)), decoded)).toThrow(`differ from the request in their ${what}`);
  });

  it('derives the published addresses of a seed, and the keys behind an account’s xpub', () => {
    expect(
      tronSigner({ chainId: 'mainnet' }, 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about').addressAt(
        "m/44'/195'/0'/0/0",
      ),
    ).toBe('TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH');
    expect(signer.xpubAt("m/44'/195'/0'")).toMatch(/^xpub/);
  });

  it('refuses a seed that is no mnemonic, without repeating it', () => {
    expect(() => tronSigner({ chainId: 'local' }, 'correct horse battery staple')).toThrow(/^the signer seed is not a valid BIP-39 mnemonic$/);
  });
});
