import { describe, expect, it, vi } from 'vitest';
import { ChainUnavailable, type HeardLogs } from '#shared/chains/chain.ts';
import { evmReader } from '#shared/chains/evm/reader.ts';
import { logPlacesIn } from '#shared/chains/evm/walk-logs.ts';
import { frameReply, Unread } from '#shared/chains/unread.ts';
import { chanceOf } from '#test/fixtures/mutated-replies.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const USDT = `0x${'da'.repeat(20)}`;
const OURS = `0x${'0a'.repeat(20)}`;
const OTHER = `0x${'0b'.repeat(20)}`;
const word = (address: string): string => `0x${address.slice(2).padStart(64, '0')}`;
const hash = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;

interface Log {
  address: string;
  topics: string[];
  data: string;
  blockNumber: string;
  blockHash: string;
  transactionHash: string;
  logIndex: string;
  removed: boolean;
}
const aLog = (height: number, from: string, to: string, over: Partial<Log> = {}): Log => ({
  address: USDT,
  topics: [TRANSFER, word(from), word(to)],
  data: hash(5),
  blockNumber: `0x${height.toString(16)}`,
  blockHash: hash(height),
  transactionHash: hash(height + 1_000),
  logIndex: '0x1',
  removed: false,
  ...over,
});
const asked = { from: 10, to: 20, contracts: new Set([USDT]), watched: { has: (address: string) => address === OURS } };
const placesIn = (logs: unknown) => logPlacesIn(new Unread(Buffer.from(JSON.stringify(logs))), asked);
/** What is believed: where, or that it is not to be trusted. */
const believed = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (error) {
    if (error instanceof ChainUnavailable) return 'untrusted';
    throw error;
  }
};

describe('logs of tokens', () => {
  it('are where a watched address is named, on either end', () => {
    expect(placesIn([aLog(11, OTHER, OURS), aLog(12, OTHER, OTHER), aLog(13, OURS, OTHER)])).toEqual(
      [11, 13].map((height) => ({ height, blockHash: hash(height), txid: hash(height + 1_000), index: 1 })),
    );
    expect(placesIn([])).toEqual([]);
  });

  it.each<[string, Log]>([
    ['that move nothing', aLog(11, OTHER, OURS, { data: hash(0) })],
    ['of four topics, which are no coins', aLog(11, OTHER, OURS, { topics: [TRANSFER, word(OTHER), word(OURS), hash(7)] })],
    ['of another event', aLog(11, OTHER, OURS, { topics: [hash(1), word(OTHER), word(OURS)] })],
    ['whose ends are no addresses', aLog(11, OTHER, OURS, { topics: [TRANSFER, hash(1), `0x01${word(OURS).slice(4)}`] })],
  ])('%s are none', (_what, log) => {
    expect(placesIn([aLog(12, OTHER, OURS), log])).toMatchObject([{ height: 12 }]);
  });

  it.each<[string, unknown]>([
    ['of a block that was not asked for', [aLog(21, OTHER, OURS)]],
    ['of a token that was not asked for', [aLog(11, OTHER, OURS, { address: OTHER })]],
    ['that was taken back', [aLog(11, OTHER, OURS, { removed: true })]],
    ['without a block', [{ ...aLog(11, OTHER, OURS), blockHash: null }]],
    ['that is no object', [7]],
    ['in no list', { logs: [] }],
  ])('one %s makes the answer untrusted', (_what, logs) => {
    expect(() => placesIn(logs)).toThrow(ChainUnavailable);
  });

  it('are each read once, though one object pretends to be thousands of them, so that no node keeps an indexer busy', () => {
    const { topics } = aLog(11, OTHER, OURS);
    const many = `[{"data":"0x"${`,"topics":${JSON.stringify(topics)}`.repeat(1_000)}}]`;
    const answer = new Unread(Buffer.from(many));
    const read = vi.spyOn(answer, 'read');
    expect(believed(() => logPlacesIn(answer, asked))).toBe('untrusted');
    // The first of them by itself, and then the whole answer with care.
    expect(read.mock.calls.length).toBeLessThanOrEqual(2);
  });

  it('that are no JSON make it untrusted, and nothing else', () => {
    for (const text of ['[{]', '[{"topics":["', `[{"topics":["${TRANSFER}","${word(OTHER)}","${word(OURS)}"]`, ''])
      expect(() => logPlacesIn(new Unread(Buffer.from(text)), asked)).toThrow(ChainUnavailable);
  });

  it('are found alike in letters of any size, with space between things, and in any order of keys', () => {
    const logs = [aLog(11, OTHER, OURS), aLog(12, OTHER, OTHER)];
    const expected = placesIn(logs);
    const upper = JSON.stringify(logs).replace(/0x[0-9a-f]{40,}/g, (hex) => `0x${hex.slice(2).toUpperCase()}`);
    const turned = logs.map((log) => Object.fromEntries(Object.entries(log).reverse()));
    for (const text of [upper, JSON.stringify(logs, null, 2), JSON.stringify(turned), JSON.stringify(logs).replace('"topics"', '"t\\u006fpics"')])
      expect(logPlacesIn(new Unread(Buffer.from(text)), asked)).toEqual(expected);
  });

  it('are never missed by looking through bytes: 5,000 changed answers say what reading every log of them says, or are not trusted', () => {
    const random = chanceOf(53);
    const pick = (most: number): number => Math.floor(random() * most);
    const text = JSON.stringify(Array.from({ length: 6 }, (_, i) => aLog(10 + i, i % 2 === 0 ? OTHER : OURS, i % 3 === 0 ? OURS : OTHER)));
    const pieces = ['{', '}', '[', ']', '"', ',', '\\', ' ', '0', 'f', '{"topics":[', `"${TRANSFER}",`, '"removed":true,', 'null'];
    for (let round = 0; round < 5_000; round++) {
      let changed = text;
      for (let n = 0; n <= pick(3); n++) {
        const at = pick(changed.length);
        changed = changed.slice(0, at) + (pieces[pick(pieces.length)] as string) + changed.slice(at + pick(8));
      }
      const quick = believed(() => logPlacesIn(new Unread(Buffer.from(changed)), asked));
      const careful = believed(() => {
        try {
          return logPlacesIn(JSON.parse(changed), asked);
        } catch (error) {
          if (error instanceof SyntaxError) throw new ChainUnavailable('no JSON');
          throw error;
        }
      });
      if (careful !== 'untrusted' && quick !== 'untrusted') expect(quick, changed).toEqual(careful);
    }
  });
});

describe('logs that several endpoints were asked for', () => {
  const answers = (text: string) => {
    const answer = new Unread(Buffer.from(text));
    return { read: vi.spyOn(answer, 'read'), reader: evmReader({ name: 'test', chainId: '1' }, () => Promise.resolve(answer)) };
  };
  const places = ({ reader }: ReturnType<typeof answers>, heard: HeardLogs[]) => reader.tokenPlaces?.(10, 20, asked.watched, asked.contracts, heard);
  const text = JSON.stringify([aLog(11, OTHER, OURS)]);

  it('are looked through once where both answer the same, and each by itself where one byte is another', async () => {
    const [one, same, other] = [answers(text), answers(text), answers(text.replace(hash(1_011), hash(1_012)))];
    const heard: HeardLogs[] = [];
    const first = await places(one, heard);
    expect(first).toMatchObject([{ height: 11, txid: hash(1_011) }]);
    expect(await places(same, heard)).toEqual(first);
    expect(same.read).not.toHaveBeenCalled();
    expect(await places(other, heard)).toMatchObject([{ height: 11, txid: hash(1_012) }]);
  });
});

describe('the frame of a reply', () => {
  const framed = (text: string): unknown => {
    const frame = frameReply(Buffer.from(text));
    return frame === null ? null : [frame].flat().map(({ id, result }) => [id, result.bytes.toString()]);
  };
  it.each([
    ['{"jsonrpc":"2.0","id":7,"result":[{"a":[1]}]}', '[{"a":[1]}]'],
    ['[{"jsonrpc":"2.0","id":7,"result":[]}]\n', '[]'],
    ['{"result":[{"id":9}],"id":7,"jsonrpc":"2.0"}', '[{"id":9}]'],
  ])('of %s is known', (text, list) => {
    expect(framed(text)).toEqual([[7, list]]);
  });
  it.each([
    '{"jsonrpc":"2.0","result":[]}',
    '{"id":7,"id":8,"result":[]}',
    '{"id":7,"result":null}',
    '{"id":7,"result":[]}]',
    '[{"id":7,"result":[]}',
    '{"id":7,"error":{},"result":[]}',
    '{"id":"7","result":[]}',
    '',
  ])('of %s is left to whoever reads with care', (text) => {
    expect(framed(text)).toBeNull();
  });
});
