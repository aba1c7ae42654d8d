import { describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { localChains } from '#api/operator/dev-chains.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';

const network = (name: string, family: string, url: string) => ({ name, family, rpcUrls: [url, 'http://second'] }) as unknown as NetworkConfig;
const NETWORKS = [
  network('ethereum', 'evm', 'http://anvil'),
  network('tron', 'tron', 'http://tron/'),
  network('bitcoin', 'bitcoin', 'http://user:pass@bitcoin:18443'),
];

type Asked = { url: string; method: string | undefined; params: unknown[]; headers: Record<string, string> };

/** Where the service clock is once it has moved. */
const LATER = new Date(Date.now() + 60_000);
const THEN = Math.floor(LATER.getTime() / 1_000);

/** Answers as `reply` says and remembers what was asked. */
function aFetcher(reply: (asked: Asked) => Response): { fetcher: typeof fetch; asked: string[] } {
  const asked: string[] = [];
  const fetcher = (async (url: string, init: { body: string; headers: Record<string, string> }) => {
    const { method, params, ...plain } = JSON.parse(init.body) as { method?: string; params: unknown[] };
    asked.push(`${url} ${method === undefined ? JSON.stringify(plain) : `${method} ${JSON.stringify(params)}`}`);
    return reply({ url, method, params, headers: init.headers });
  }) as unknown as typeof fetch;
  return { fetcher, asked };
}

/** A bitcoind on `chain`, whose clock somebody else sets back after it was set for the first `stolen` times. */
function aBitcoind(chain: string, stolen = 0) {
  const state = { clock: 0, tip: Math.floor(Date.now() / 1_000), tries: 0, authorization: '' };
  const answer = ({ method, params, headers }: Asked): Response => {
    state.authorization = headers.authorization ?? '';
    if (method === 'setmocktime') state.clock = Number(params[0]);
    if (method === 'generatetoaddress') {
      state.tries += 1;
      if (state.tries > stolen) state.tip = state.clock;
    }
    return Response.json({ result: method === 'getblockchaininfo' ? { chain, time: state.tip } : null, error: null });
  };
  return { state, answer };
}

describe('moving the clocks of local chains', () => {
  it('tells each family’s own node, and mines a block there', async () => {
    const { answer, state } = aBitcoind('regtest');
    const { fetcher, asked } = aFetcher(answer);
    await localChains(NETWORKS, pino({ level: 'silent' }), fetcher).warp(60, LATER);
    expect(asked.filter((one) => one.startsWith('http://anvil'))).toEqual(['http://anvil evm_increaseTime [60]', 'http://anvil evm_mine []']);
    expect(asked.filter((one) => one.startsWith('http://tron'))).toEqual(['http://tron/dev/warp {"seconds":60}', 'http://tron/dev/mine {"count":1}']);
    expect(state).toMatchObject({ tip: THEN, tries: 1, authorization: `Basic ${Buffer.from('user:pass').toString('base64')}` });
    expect(asked.filter((one) => one.startsWith('http://bitcoin:18443/'))).toHaveLength(4);
    expect(asked).toHaveLength(8);
  });

  it('moves a Bitcoin chain again when somebody set its clock back in between', async () => {
    const { answer, state } = aBitcoind('regtest', 2);
    await localChains(NETWORKS, pino({ level: 'silent' }), aFetcher(answer).fetcher).warp(60, LATER);
    expect(state).toMatchObject({ tip: THEN, tries: 3 });
  });

  it('mines nothing on a Bitcoin network that is not regtest', async () => {
    const { answer, state } = aBitcoind('main');
    await localChains(NETWORKS, pino({ level: 'silent' }), aFetcher(answer).fetcher).warp(60, LATER);
    expect(state).toMatchObject({ clock: 0, tries: 0 });
  });

  it('leaves a real node alone, whatever it answers, and does not fail', async () => {
    const answers: (() => Response)[] = [
      () => new Response('not found', { status: 404 }),
      () => new Response('<html>', { status: 200 }),
      () => Response.json({ error: { message: 'no such method' } }),
      () => {
        throw new TypeError('fetch failed');
      },
    ];
    for (const answer of answers) {
      const { fetcher, asked } = aFetcher(answer);
      await localChains(NETWORKS, pino({ level: 'silent' }), fetcher).warp(60, LATER);
      // The first refusal is enough: it is not asked to mine.
      expect(asked.filter((one) => one.startsWith('http://anvil'))).toHaveLength(1);
    }
  });
});
