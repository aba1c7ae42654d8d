import { describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { localChains } from '#api/operator/dev-chains.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';

const network = (name: string, family: string, url: string) => ({ name, family, rpcUrls: [url, 'http://second'] }) as unknown as NetworkConfig;
const NETWORKS = [network('ethereum', 'evm', 'http://anvil'), network('tron', 'tron', 'http://tron/'), network('bitcoin', 'bitcoin', 'http://bitcoin')];

/** Answers as `reply` says and remembers what was asked. */
function aFetcher(reply: (url: string) => Response): { fetcher: typeof fetch; asked: string[] } {
  const asked: string[] = [];
  const fetcher = (async (url: string, init: { body: string }) => {
    const { method, params, ...plain } = JSON.parse(init.body) as Record<string, unknown>;
    asked.push(`${url} ${method === undefined ? JSON.stringify(plain) : `${String(method)} ${JSON.stringify(params)}`}`);
    return reply(url);
  }) as unknown as typeof fetch;
  return { fetcher, asked };
}

describe('moving the clocks of local chains', () => {
  it('tells each family’s own node, and mines a block there', async () => {
    const { fetcher, asked } = aFetcher(() => Response.json({ result: null }));
    await localChains(NETWORKS, pino({ level: 'silent' }), fetcher).warp(60);
    expect(asked.filter((one) => one.startsWith('http://anvil'))).toEqual(['http://anvil evm_increaseTime [60]', 'http://anvil evm_mine []']);
    expect(asked.filter((one) => one.startsWith('http://tron'))).toEqual(['http://tron/dev/warp {"seconds":60}', 'http://tron/dev/mine {"count":1}']);
    expect(asked).toHaveLength(4);
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
      await localChains(NETWORKS, pino({ level: 'silent' }), fetcher).warp(60);
      // The first refusal is enough: it is not asked to mine.
      expect(asked.filter((one) => one.startsWith('http://anvil'))).toHaveLength(1);
    }
  });
});
