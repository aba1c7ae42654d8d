import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeBlockMessage, decodingBlockMessage, encodeBlockMessage, encodingBlockMessage } from '#shared/core/block-codec.ts';
import { POLICY } from '#shared/core/policy.ts';
import { createBreath, inTurns } from '#shared/core/turns.ts';
import { MAX_MESSAGE_LENGTH } from '#shared/core/message-shape.ts';
import type { BlockMessage, SentTransaction, Sighting, Transfer } from '#shared/core/chain-events.ts';
import './arbitraries.ts';

const hex = (digits: number) => fc.bigInt({ min: 0n, max: 16n ** BigInt(digits) - 1n }).map((n) => n.toString(16).padStart(digits, '0'));
const hash = hex(8).map((digits) => `0x${digits}`);
const height = fc.integer({ min: 1, max: 2 ** 40 });
const units = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String);

interface Place {
  height: number;
  blockHash: string;
  time: number;
}

const transfer = (at: fc.Arbitrary<Place>, index: number): fc.Arbitrary<Transfer> =>
  fc
    .record({ at, token: fc.boolean(), inner: fc.boolean(), txid: hash, position: fc.nat(), sender: hash, recipient: hash, contract: hash, rawAmount: units })
    .map(
      ({ at: place, token, inner, contract, ...rest }): Transfer => ({
        kind: token ? 'token' : inner ? 'internal' : 'native',
        ordinal: index,
        ...place,
        ...rest,
        contract: token ? contract : null,
      }),
    )
    .chain((plain) =>
      fc
        .record({
          coSenders: fc.option(
            fc.uniqueArray(
              hash.map((text) => `co${text}`),
              { minLength: 1, maxLength: 3 },
            ),
            { nil: undefined },
          ),
          coinbase: fc.constantFrom(undefined, true as const),
          unproven: fc.constantFrom(undefined, true as const),
        })
        .map(({ coSenders, coinbase }) => ({ ...plain, ...(coSenders && { coSenders }), ...(coinbase && { coinbase }) })),
    );

const sent = (at: fc.Arbitrary<Place>, index: number): fc.Arbitrary<SentTransaction> =>
  fc
    .record({ at, position: fc.nat(), sender: hash, nonce: fc.option(fc.nat()), succeeded: fc.boolean(), rawFee: units })
    .map(({ at: place, ...rest }): SentTransaction => ({ kind: 'sent', txid: `0xsent${index}`, ...place, ...rest }))
    .chain((plain) =>
      fc
        .option(
          fc.uniqueArray(
            fc.nat().map((vout) => ({ txid: '0xin', vout })),
            { minLength: 1, maxLength: 3, selector: (one) => one.vout },
          ),
          { nil: undefined },
        )
        .map((spends) => (spends === undefined ? plain : { ...plain, spends })),
    );

const message: fc.Arbitrary<BlockMessage> = fc
  .record({ from: height, more: fc.integer({ min: 0, max: 5 }), hash: fc.constant('0xhead'), parentHash: hash, count: fc.integer({ min: 0, max: 4 }) })
  .chain(({ from, more, count, ...hashes }) => {
    const to = from + more;
    const place = fc
      .record({ height: fc.integer({ min: from, max: to }), inner: hash, time: fc.nat() })
      .map(({ height: at, inner, time }) => ({ height: at, blockHash: at === to ? hashes.hash : inner, time }));
    const sightings: fc.Arbitrary<Sighting[]> = fc.tuple(...Array.from({ length: count }, (_, index) => fc.oneof(transfer(place, index), sent(place, index))));
    return fc.record(
      {
        network: fc.constantFrom('local', 'ethereum', 'tron'),
        epoch: fc.nat(),
        seq: fc.integer({ min: 1, max: 2 ** 40 }),
        from: fc.constant(from),
        to: fc.constant(to),
        parentHash: fc.constant(hashes.parentHash),
        hash: fc.constant(hashes.hash),
        safeNumber: fc.integer({ min: -1, max: to }),
        finalNumber: fc.integer({ min: -1, max: to }),
        headNumber: fc.integer({ min: to, max: to + 100 }),
        time: fc.nat(),
        sightings,
        acks: fc.array(fc.record({ address: hash, watchedFrom: fc.nat() }), { maxLength: 3 }),
        internalUnseen: fc.constant(true as const),
        traceparent: fc.tuple(hex(32), hex(16)).map(([trace, span]) => `00-${trace}-${span}-01`),
      },
      { requiredKeys: ['network', 'epoch', 'seq', 'from', 'to', 'parentHash', 'hash', 'safeNumber', 'finalNumber', 'headNumber', 'time', 'sightings', 'acks'] },
    );
  });

const example: BlockMessage = {
  network: 'local',
  epoch: 1,
  seq: 4,
  from: 10,
  to: 10,
  parentHash: '0xaa',
  hash: '0xbb',
  safeNumber: 9,
  finalNumber: 8,
  headNumber: 10,
  time: 1_700_000_000,
  sightings: [
    {
      kind: 'native',
      txid: '0x01',
      ordinal: 0,
      height: 10,
      blockHash: '0xbb',
      position: 0,
      time: 1_700_000_000,
      sender: '0xs',
      recipient: '0xr',
      contract: null,
      rawAmount: '5',
    },
    {
      kind: 'token',
      txid: '0x02',
      ordinal: 3,
      height: 10,
      blockHash: '0xbb',
      position: 1,
      time: 1_700_000_000,
      sender: '0xs',
      recipient: '0xr',
      contract: '0xc',
      rawAmount: '7',
    },
    { kind: 'sent', txid: '0x02', height: 10, blockHash: '0xbb', position: 1, time: 1_700_000_000, sender: '0xs', nonce: 7, succeeded: true, rawFee: '21000' },
  ],
  acks: [{ address: '0xr', watchedFrom: 10 }],
};

/** Writes a value the way nobody checked it. */
const forge = (change: (message: { sightings: object[] }) => void): string => {
  const copy: { sightings: object[] } = JSON.parse(encodeBlockMessage(example));
  change(copy);
  return JSON.stringify(copy);
};

describe('a message', () => {
  test('is read back as it was written', () => {
    fc.assert(
      fc.property(message, (m) => {
        expect(decodeBlockMessage(encodeBlockMessage(m))).toEqual({ ok: true, message: m });
      }),
    );
  });

  test('has one spelling: the order in which its fields were set does not show', () => {
    fc.assert(
      fc.property(message, (m) => {
        const reversed = Object.fromEntries(Object.entries(m).reverse()) as unknown as BlockMessage;
        expect(encodeBlockMessage(reversed)).toBe(encodeBlockMessage(m));
      }),
    );
  });

  test('that acknowledges at the tip and covers no block is accepted', () => {
    const { message: read } = decodeBlockMessage(encodeBlockMessage({ ...example, from: 11, to: 10, parentHash: '0xbb', sightings: [] })) as {
      message: BlockMessage;
    };
    expect(read.to).toBe(10);
  });

  test('of the first block of a chain is accepted, before anything is final', () => {
    const first = { ...example, from: 0, to: 0, safeNumber: -1, finalNumber: -1, headNumber: 0, sightings: [] };
    expect(decodeBlockMessage(encodeBlockMessage(first)).ok).toBe(true);
  });

  test('is never accepted in any spelling but its own: whatever one changes is refused or is another canonical message', () => {
    fc.assert(
      fc.property(message, fc.nat(), fc.constantFrom('', ' ', '0', '9', '"', ',', '-', '.', 'e', '{', 'null', '\u0000', 'é'), (m, at, insert) => {
        const text = encodeBlockMessage(m);
        const i = at % text.length;
        for (const changed of [text.slice(0, i) + insert + text.slice(i + 1), text.slice(0, i) + insert + text.slice(i)]) {
          const decoded = decodeBlockMessage(changed);
          if (decoded.ok) expect(encodeBlockMessage(decoded.message)).toBe(changed);
        }
      }),
    );
  });

  test('cut off anywhere is refused', () => {
    const text = encodeBlockMessage(example);
    for (let length = 0; length < text.length; length += 1) expect(decodeBlockMessage(text.slice(0, length)).ok).toBe(false);
  });
});

describe('refused:', () => {
  test.each(Object.keys(example))('a message without %s', (field) => {
    expect(decodeBlockMessage(forge((m) => Reflect.deleteProperty(m, field))).ok).toBe(false);
  });

  test.each(['kind', 'txid', 'ordinal', 'height', 'blockHash', 'position', 'time', 'sender', 'recipient', 'contract', 'rawAmount'])(
    'a transfer without %s',
    (field) => {
      expect(decodeBlockMessage(forge((m) => Reflect.deleteProperty(m.sightings[1] as object, field))).ok).toBe(false);
    },
  );

  test.each(['kind', 'txid', 'height', 'blockHash', 'position', 'time', 'sender', 'nonce', 'succeeded', 'rawFee'])('a sent transaction without %s', (field) => {
    expect(decodeBlockMessage(forge((m) => Reflect.deleteProperty(m.sightings[2] as object, field))).ok).toBe(false);
  });

  test.each<[string, number, Record<string, unknown>]>([
    ['other senders that are nobody', 0, { coSenders: [] }],
    ['a place in its transaction that no column holds', 0, { ordinal: 2 ** 31 }],
    ['a place in its block that no column holds', 0, { position: 2 ** 31 }],
    ['a time behind the year 9999', 0, { time: 253_402_300_800 }],
    ['a sender that is named twice', 0, { coSenders: ['0xs'] }],
    ['another sender that is named twice', 0, { coSenders: ['0xt', '0xt'] }],
    ['another sender that is no word', 0, { coSenders: ['0x t'] }],
    ['other senders that are none', 0, { coSenders: null }],
    ['a coinbase that is denied', 0, { coinbase: false }],
    ['no output at all that is spent', 2, { spends: [] }],
    [
      'an output that is spent twice',
      2,
      {
        spends: [
          { txid: '0xa', vout: 1 },
          { txid: '0xa', vout: 1 },
        ],
      },
    ],
    ['an output without a place', 2, { spends: [{ txid: '0xa' }] }],
    ['an output that says more', 2, { spends: [{ txid: '0xa', vout: 1, amount: '1' }] }],
    ['outputs that a transfer spends', 0, { spends: [{ txid: '0xa', vout: 1 }] }],
  ])('%s', (_what, at, fields) => {
    const sent = (text: string) => text.replace('"succeeded"', `"spends":${JSON.stringify(fields.spends)},"succeeded"`);
    // In its place, so that nothing but what it says can be wrong.
    const whole = forge((m) => void (at === 0 && Object.assign(m.sightings[0] as object, fields)));
    expect(decodeBlockMessage(at === 0 ? whole : sent(whole)).ok).toBe(false);
  });

  test('an optional field is taken in its place only', () => {
    const text = encodeBlockMessage({ ...example, sightings: [{ ...(example.sightings[0] as Transfer), coSenders: ['0xt'], coinbase: true }] });
    expect(text).toContain('"sender":"0xs","coSenders":["0xt"],"recipient":"0xr","coinbase":true,"contract"');
    expect(decodeBlockMessage(text.replace('"coinbase":true,"contract":null', '"contract":null,"coinbase":true')).ok).toBe(false);
  });

  test.each<[string, Record<string, unknown>]>([
    ['a seq of zero', { seq: 0 }],
    ['a height that is a string', { from: '10' }],
    ['a height with a fraction', { to: 10.5 }],
    ['a height below zero', { from: -1 }],
    ['a height beyond what a number can count', { headNumber: 2 ** 53 }],
    ['a time behind the year 9999', { time: 253_402_300_800 }],
    ['a hash with a space', { hash: '0x bb' }],
    ['a hash of 129 characters', { hash: 'a'.repeat(129) }],
    ['an empty network', { network: '' }],
    ['sightings that are no list', { sightings: {} }],
    ['a sighting that is null', { sightings: [null] }],
    ['an acknowledgement that is a string', { acks: ['0xr'] }],
    ['an acknowledgement without a block', { acks: [{ address: '0xr' }] }],
    ['a malformed trace', { traceparent: '00-zz-00-01' }],
    ['a trace that is null', { traceparent: null }],
    ['blindness that is denied', { internalUnseen: false }],
    ['blindness without blocks', { from: 11, parentHash: '0xbb', sightings: [], internalUnseen: true }],
    ['a last block before the first', { from: 12, to: 10 }],
    ['a block that is its own parent', { hash: '0xaa', sightings: [] }],
    ['acknowledgements at two hashes', { from: 11, sightings: [] }],
    ['acknowledgements with sightings', { from: 11, parentHash: '0xbb' }],
    ['a final block above the head', { finalNumber: 11 }],
    ['a safe block above the head', { safeNumber: 11 }],
    ['a head below the block itself', { headNumber: 9 }],
    ['a field nobody knows', { extra: 1 }],
  ])('%s', (_, changes) => {
    expect(decodeBlockMessage(forge((m) => Object.assign(m, changes))).ok).toBe(false);
  });

  test.each<[string, number, Record<string, unknown>]>([
    ['a transfer outside the blocks covered', 0, { height: 11 }],
    ['a transfer that names another block', 0, { blockHash: '0xcc' }],
    ['a native transfer with a contract', 0, { contract: '0xc' }],
    ['a token without a contract', 1, { contract: null }],
    ['a kind nobody knows', 0, { kind: 'gift' }],
    ['an amount that is a number', 0, { rawAmount: 5 }],
    ['an amount with a sign', 0, { rawAmount: '-5' }],
    ['an amount with an exponent', 0, { rawAmount: '1e+21' }],
    ['an amount with a leading zero', 0, { rawAmount: '05' }],
    ['an amount above a uint256', 0, { rawAmount: (2n ** 256n).toString() }],
    ['an amount of a million digits', 0, { rawAmount: '9'.repeat(1_000_000) }],
    ['a nonce that is a string', 2, { nonce: '7' }],
    ['an outcome that is not said', 2, { succeeded: null }],
    ['a transfer field nobody knows', 1, { symbol: 'USDT' }],
    ['the same transfer twice', 1, { kind: 'native', contract: null, txid: '0x01', ordinal: 0 }],
  ])('%s', (_, index, changes) => {
    expect(decodeBlockMessage(forge((m) => Object.assign(m.sightings[index] as object, changes))).ok).toBe(false);
  });

  test.each([
    ['a repeated key', (text: string) => text.replace('"seq":4', '"seq":9,"seq":4')],
    ['a prototype', (text: string) => text.replace('"seq":4', '"__proto__":{"seq":4},"seq":4')],
    ['a number in another spelling', (text: string) => text.replace('"seq":4', '"seq":4.0')],
    ['a number with an exponent', (text: string) => text.replace('"time":1700000000', '"time":17e8')],
    ['a minus zero', (text: string) => text.replace('"ordinal":0', '"ordinal":-0')],
    ['an escaped spelling of a plain character', (text: string) => text.replace('"local"', '"loc\\u0061l"')],
    ['white space', (text: string) => text.replace('{', '{ ')],
    ['a byte order mark', (text: string) => `\ufeff${text}`],
    ['another order of fields', (text: string) => text.replace('"epoch":1,"seq":4', '"seq":4,"epoch":1')],
    ['something after the end', (text: string) => `${text}\n`],
  ])('%s, which JSON itself would let pass', (_, change) => {
    const text = encodeBlockMessage(example);
    expect(change(text)).not.toBe(text);
    expect(decodeBlockMessage(change(text)).ok).toBe(false);
  });

  test.each(['', 'null', '[]', '1', '"x"', 'undefined', '{'])('%s', (text) => {
    expect(decodeBlockMessage(text).ok).toBe(false);
  });

  test('a text longer than any honest message, before it is parsed', () => {
    expect(decodeBlockMessage(' '.repeat(MAX_MESSAGE_LENGTH + 1))).toEqual({ ok: false, problem: 'the message is too long' });
  });

  test('the writer is told at once when the reader would refuse what it writes', () => {
    expect(() => encodeBlockMessage({ ...example, seq: 0 })).toThrow(/message\.seq/);
    expect(() => encodeBlockMessage({ ...example, headNumber: 9 })).toThrow(/headNumber/);
    const payers = Array.from({ length: MAX_MESSAGE_LENGTH / 128 }, (_, i) => String(i).padStart(128, 'a'));
    expect(() => encodeBlockMessage({ ...example, sightings: [{ ...(example.sightings[0] as Transfer), coSenders: payers }] })).toThrow(/characters long/);
  });
});

describe('a message with very many transfers to one address', () => {
  const at = { height: 5, blockHash: '0xb5', time: 50 };
  const crowd = Array.from(
    { length: POLICY.transfersUnpacked + 1 },
    (_, i): Transfer => ({
      kind: 'token',
      txid: `0xt${Math.floor(i / 7)}`,
      ordinal: i % 7,
      ...at,
      position: Math.floor(i / 7),
      sender: i % 2 === 0 ? '0xa' : '0xb',
      recipient: '0xours',
      contract: '0xc',
      rawAmount: String(i + 1),
    }),
  );
  const other: Transfer = { ...(crowd[0] as Transfer), recipient: '0xother', txid: '0xx' };
  const message = (sightings: Sighting[]): BlockMessage => ({
    ...{ network: 'local', epoch: 1, seq: 1, from: 5, to: 5, parentHash: '0xb4', hash: '0xb5', safeNumber: 4, finalNumber: 4, headNumber: 5, time: 50 },
    sightings,
    acks: [],
  });
  const read = (text: string): BlockMessage => {
    const decoded = decodeBlockMessage(text);
    if (!decoded.ok) throw new Error(decoded.problem);
    return decoded.message;
  };
  const names = (sightings: readonly Sighting[]) => sightings.map((one) => JSON.stringify(one, Object.keys(one).sort())).sort();

  test('says once what they have in common, and tells all of each', () => {
    const text = encodeBlockMessage(message([...crowd, other]));
    expect(text.length).toBeLessThan(encodeBlockMessage(message(crowd.slice(1))).length / 3);
    expect(names(read(text).sightings)).toEqual(names([...crowd, other]));
    expect(Object.keys(read(text))).not.toContain('packs');
  });

  test('is short enough for its reader also where a flood goes to so many addresses that each gets few', () => {
    const word = (i: number, digits: number): string => `0x${i.toString(16).padStart(digits, '0')}`;
    const flood = Array.from(
      { length: 90_000 },
      (_, i): Transfer => ({
        ...(crowd[0] as Transfer),
        ...{ txid: word(i % 30, 64), ordinal: i, position: i % 30, sender: word(1, 40), recipient: word(i % 450, 40), contract: word(2, 40) },
        ...{ blockHash: word(3, 64), time: 1_700_000_000, rawAmount: '1000000' },
      }),
    );
    const text = encodeBlockMessage({ ...message(flood), hash: word(3, 64) });
    expect(text.length).toBeLessThan(MAX_MESSAGE_LENGTH / 4);
    expect(read(text).sightings).toHaveLength(flood.length);
  });

  test('is what the release before can read as long as they are no more than a message lists', () => {
    const few = [...crowd.slice(1), other];
    expect(JSON.parse(encodeBlockMessage(message(few)))).toEqual(message(few));
  });

  test.each([
    ['packs nothing', (packs: Record<string, unknown>[]) => packs.splice(0)],
    ['misses an amount', (packs: Packs) => packs[0]?.transactions[0]?.rawAmounts.pop()],
    ['tells a transfer twice', (packs: Packs) => packs.push(structuredClone(packs[0] as Packs[0]))],
    ['tells of a block that it does not cover', (packs: Packs) => Object.assign(packs[0] as object, { height: 6 })],
    ['has a field nobody knows', (packs: Packs) => Object.assign(packs[0] as object, { more: 1 })],
    ['has a token without a contract', (packs: Packs) => Object.assign(packs[0] as object, { contract: null })],
  ] as [string, (packs: Packs) => unknown][])('is refused when it %s', (_what, change) => {
    const written = JSON.parse(encodeBlockMessage(message(crowd))) as { packs: Packs };
    change(written.packs);
    expect(decodeBlockMessage(JSON.stringify(written)).ok).toBe(false);
  });

  test('lets others have their turn while it is written and read', async () => {
    let [turns, now] = [0, 0];
    const tick = () => {
      now += 10;
      return now;
    };
    const breathe = createBreath(tick, async () => {
      turns += 1;
    });
    const text = await inTurns(encodingBlockMessage(message(crowd)), breathe);
    await inTurns(decodingBlockMessage(text), breathe);
    expect(turns).toBeGreaterThan(crowd.length);
  });
});

type Packs = { transactions: { rawAmounts: string[] }[] }[];
