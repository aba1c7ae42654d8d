import type { Logger } from '#shared/platform/logger.ts';
import type { Family, NetworkConfig } from '#shared/core/assets.ts';
import type { DevChains } from './deps.ts';

const TIMEOUT_MILLISECONDS = 5_000;

/** Sends JSON to a node's development side and answers what came back. @throws when it is no success */
type Send = (url: string, body: unknown) => Promise<{ error?: { message?: string } }>;

/** How the local node of a family is told that time has passed and that it shall mine a block. */
const WARP: Partial<Record<Family, (send: Send, url: string, seconds: number) => Promise<void>>> = {
  async evm(send, url, seconds) {
    for (const [method, params] of [
      ['evm_increaseTime', [seconds]],
      ['evm_mine', []],
    ]) {
      const { error } = await send(url, { jsonrpc: '2.0', id: 1, method, params });
      if (error !== undefined) throw new Error(`${String(method)}: ${error.message ?? 'refused'}`);
    }
  },
  async tron(send, url, seconds) {
    const base = url.replace(/\/+$/, '');
    await send(`${base}/dev/warp`, { seconds });
    await send(`${base}/dev/mine`, { count: 1 });
  },
};

/**
 * The local chains among `networks`, moved through their nodes' own development calls. A network whose node knows no
 * such call is a real one: its time is its own, and it is left alone.
 */
export function localChains(networks: readonly NetworkConfig[], log: Logger, fetcher: typeof fetch = fetch): DevChains {
  const send: Send = async (url, body) => {
    const response = await fetcher(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return (await response.json()) as { error?: { message?: string } };
  };
  return {
    async warp(seconds) {
      await Promise.all(
        networks.map(async (network) => {
          try {
            await WARP[network.family]?.(send, network.rpcUrls[0] as string, seconds);
          } catch (error) {
            log.warn({ network: network.name, err: error }, 'this chain does not move its clock');
          }
        }),
      );
    },
  };
}
