import { ChainUnavailable, type NodeAbility } from '../chain.ts';
import { type Rpc, RpcRefused } from '../rpc.ts';
import { isNotOffered } from './not-offered.ts';
import { readPlace } from './replies.ts';
import { PROBED, takesOverrides } from './state-overrides.ts';
import type { Tracing } from './tracing.ts';

/** What an EVM endpoint was found to lack. */
export interface Abilities {
  /** Asks for what was not found yet; `anew`: for all of it. @throws ChainUnavailable when the endpoint does not answer */
  lacks(anew: boolean): Promise<NodeAbility[]>;
  /** The endpoint failed: it may come back as another one. */
  forget(): void;
}

/**
 * Finds out what an endpoint does not offer beside the plain methods, by asking for it. What is there is asked for once, what is missing
 * each time, because whoever runs the node may switch it on. `tracing` is null where coins are read from logs.
 */
export function openAbilities(rpc: Rpc, tracing: Tracing | null, found: (ability: NodeAbility) => void): Abilities {
  const there = new Set<NodeAbility>();
  /** An answer, or a refusal of just this question, shows that the method is there. */
  const offers = async (question: () => Promise<unknown>): Promise<boolean> => {
    try {
      return (await question()) !== false;
    } catch (error) {
      if (!(error instanceof RpcRefused)) throw error;
      return !isNotOffered(error);
    }
  };
  const probes: Record<NodeAbility, () => Promise<boolean>> = {
    'block receipts': () =>
      offers(async () => {
        const latest = await rpc('eth_getBlockByNumber', ['latest', false]);
        await rpc('eth_getBlockReceipts', [readPlace(latest).hash]);
      }),
    'access lists': () => offers(() => rpc('eth_createAccessList', [{ from: PROBED, to: PROBED, data: '0x' }, 'latest'])),
    // A third parameter is refused in as many words as there are nodes.
    'state overrides': () =>
      takesOverrides(rpc).catch((error: unknown) => {
        if (error instanceof RpcRefused) return false;
        throw error;
      }),
    // One that fails at this very block offers them all the same.
    traces: async () =>
      tracing === null ||
      !(await tracing.neverOffered().catch((error: unknown) => {
        if (error instanceof ChainUnavailable && (error.trouble === 'refused' || error.trouble === 'untrusted')) return false;
        throw error;
      })),
  };
  return {
    async lacks(anew) {
      if (anew) there.clear();
      const missing: NodeAbility[] = [];
      for (const [ability, probe] of Object.entries(probes) as [NodeAbility, () => Promise<boolean>][]) {
        if (there.has(ability)) continue;
        if (await probe()) {
          there.add(ability);
          found(ability);
        } else missing.push(ability);
      }
      return missing;
    },
    forget() {
      there.clear();
    },
  };
}
