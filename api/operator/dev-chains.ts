import { endpointOf } from '#shared/chains/bitcoin/http.ts';
import type { Family, NetworkConfig } from '#shared/core/assets.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { DevChains } from './deps.ts';

const TIMEOUT_MILLISECONDS = 5_000;
/** Somebody else may set a Bitcoin node's clock in the same moment, to the time before. */
const CLOCK_TRIES = 5;
/** Where the block mined for a new time pays its fees: a regtest address of no key. */
const NOBODY = 'bcrt1qtjp2g8g9dcd6pdr92uelwsa8svhnff8fz26d0k';

interface Reply {
  result?: unknown;
  error?: { message?: string } | null;
}

/** Sends JSON to a node's development side and answers what came back. @throws when it is no success */
type Send = (url: string, body: unknown, headers?: Record<string, string>) => Promise<Reply>;

/** How the local node of a family is told that time has passed and that it shall mine a block. */
const WARP: Partial<Record<Family, (send: Send, url: string, seconds: number, serviceNow: Date) => Promise<void>>> = {
  async evm(send, url, seconds) {
    await callRpc(send, url, 'evm_increaseTime', [seconds]);
    await callRpc(send, url, 'evm_mine', []);
  },
  async tron(send, url, seconds) {
    const base = url.replace(/\/+$/, '');
    await send(`${base}/dev/warp`, { seconds });
    await send(`${base}/dev/mine`, { count: 1 });
  },
  async bitcoin(send, url, _seconds, serviceNow) {
    const { target, headers } = endpointOf(url);
    const call = <T>(method: string, ...params: unknown[]): Promise<T> => callRpc(send, target.href, method, params, headers) as Promise<T>;
    const { chain, time } = await call<{ chain: string; time: number }>('getblockchaininfo');
    if (chain !== 'regtest') throw new Error(`the time of ${chain} is its own`);
    const until = Math.max(time, Math.floor(serviceNow.getTime() / 1_000));
    for (let tried = 0, reached = 0; reached < until && tried < CLOCK_TRIES; tried++) {
      await call('setmocktime', until);
      await call('generatetoaddress', 1, NOBODY);
      ({ time: reached } = await call<{ time: number }>('getblockchaininfo'));
    }
  },
};

async function callRpc(send: Send, url: string, method: string, params: unknown[], headers: Record<string, string> = {}): Promise<unknown> {
  const { result, error } = await send(url, { jsonrpc: '2.0', id: 1, method, params }, headers);
  if (error !== undefined && error !== null) throw new Error(`${method}: ${error.message ?? 'refused'}`);
  return result;
}

/**
 * The local chains among `networks`, moved through their nodes' own development calls. A network whose node knows no
 * such call is a real one: its time is its own, and it is left alone.
 */
export function localChains(networks: readonly NetworkConfig[], log: Logger, fetcher: typeof fetch = fetch): DevChains {
  const send: Send = async (url, body, headers = {}) => {
    const response = await fetcher(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return (await response.json()) as Reply;
  };
  return {
    async warp(seconds, serviceNow) {
      await Promise.all(
        networks.map(async (network) => {
          try {
            await WARP[network.family]?.(send, network.rpcUrls[0] as string, seconds, serviceNow);
          } catch (error) {
            log.warn({ network: network.name, err: error }, 'this chain does not move its clock');
          }
        }),
      );
    },
  };
}
