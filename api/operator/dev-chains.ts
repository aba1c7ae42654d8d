import type { Logger } from '#shared/platform/logger.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import type { DevChains } from './deps.ts';

const TIMEOUT_MILLISECONDS = 5_000;

/**
 * The local chains among `networks`, moved through their nodes' own development calls. A network whose node knows no
 * such call is a real one: its time is its own, and it is left alone.
 */
export function localChains(networks: readonly NetworkConfig[], log: Logger, fetcher: typeof fetch = fetch): DevChains {
  const evm = networks.filter((network) => network.family === 'evm');
  return {
    async warp(seconds) {
      await Promise.all(
        evm.map(async (network) => {
          try {
            await call(fetcher, network, 'evm_increaseTime', [seconds]);
            await call(fetcher, network, 'evm_mine', []);
          } catch (error) {
            log.warn({ network: network.name, err: error }, 'this chain does not move its clock');
          }
        }),
      );
    },
  };
}

async function call(fetcher: typeof fetch, network: NetworkConfig, method: string, params: unknown[]): Promise<void> {
  const response = await fetcher(network.rpcUrls[0] as string, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
  });
  const answer = (await response.json()) as { error?: { message?: string } };
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message ?? 'refused'}`);
}
