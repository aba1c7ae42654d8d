import type { Logger } from './logger.ts';
import { FAST, type MetricRegistry } from './metric-registry.ts';

type Common = ReturnType<typeof commonMetrics>;

/** What both processes measure: nodes and the database they talk to, and what their networks are configured as. */
export function commonMetrics({ counter, gauge, histogram, scrape, onScrape }: MetricRegistry) {
  return {
    scrape,
    onScrape,
    rpcRequests: counter('sluice_rpc_requests_total', 'JSON-RPC requests by outcome.', ['chain', 'provider', 'method', 'result']),
    rpcDuration: histogram('sluice_rpc_request_duration_seconds', 'JSON-RPC request time.', FAST, ['chain', 'provider', 'method']),
    rpcHeadBlock: gauge('sluice_rpc_head_block', 'Head of the chain as an endpoint last told it.', ['chain', 'provider']),
    rpcEndpointState: gauge('sluice_rpc_endpoint_state', '1 for the state an endpoint is in: well, lagging, failing, quiet, foreign.', [
      'chain',
      'provider',
      'state',
    ]),
    dbConnections: gauge('sluice_db_pool_connections', 'Connections to Postgres that are active or idle, and callers waiting for one.', ['state']),
    redisUp: gauge('sluice_redis_up', '1 while Redis answers this process, else 0.'),
    dbDuration: histogram('sluice_db_query_duration_seconds', 'Time of one statement, the wait for a connection included, or of a whole transaction.', FAST, [
      'op',
    ]),
    chainStallThreshold: gauge('sluice_chain_stall_threshold_seconds', 'Seconds without a new head after which the chain counts as stalled.', ['chain']),
    chainConfirmations: gauge('sluice_chain_confirmations_required', 'Blocks that the largest payment waits for.', ['chain']),
    chainExpectedConfirmation: gauge('sluice_chain_expected_confirmation_seconds', 'From the block of a transaction until the books call it final.', ['chain']),
  };
}

const ENDPOINT_STATES = ['well', 'lagging', 'failing', 'quiet', 'foreign'] as const;

/** How an endpoint is doing, as far as it is counted and logged. `provider` is a host: the rest of a URL may be a key. */
interface Endpoint {
  provider: string;
  state: string;
  height: number | null;
  lastTrouble: string | null;
  foreign: string | null;
}

/** How long what was seen of an endpoint is shown by a process that asks it no more, such as a signer with nothing to sign. */
const SHOWN_MS = 300_000;

/** Counts the requests to one chain's endpoints, shows how those are doing, and logs when one comes into or out of trouble. */
export function countRpc({ rpcRequests, rpcDuration, rpcHeadBlock, rpcEndpointState, onScrape }: Common, chain: string, log: Logger) {
  const shownUntilMs = new Map<string, number>();
  onScrape(() => {
    for (const [provider, until] of shownUntilMs) {
      if (performance.now() < until) continue;
      shownUntilMs.delete(provider);
      for (const state of ENDPOINT_STATES) rpcEndpointState.remove({ chain, provider, state });
    }
  });
  return {
    request({ method, provider, result, seconds }: { method: string; provider: string; result: string; seconds: number }): void {
      rpcRequests.inc({ chain, provider, method, result });
      rpcDuration.observe({ chain, provider, method }, seconds);
    },
    endpoint({ provider, state, height }: Endpoint): void {
      if (height !== null) rpcHeadBlock.set({ chain, provider }, height);
      // One of another chain is asked no more for that very reason.
      shownUntilMs.set(provider, state === 'foreign' ? Number.POSITIVE_INFINITY : performance.now() + SHOWN_MS);
      for (const one of ENDPOINT_STATES) rpcEndpointState.set({ chain, provider, state: one }, one === state ? 1 : 0);
    },
    changed({ provider, state, lastTrouble, foreign }: Endpoint, before: string): void {
      const level = state === 'foreign' ? 'error' : state === 'well' ? 'info' : 'warn';
      log[level]({ network: chain, provider, state, before, trouble: lastTrouble, ...(foreign === null ? {} : { problem: foreign }) }, 'endpoint');
    },
  };
}

/** Times statements and transactions by their kind; for `connect` to call. */
export function timeDatabase({ dbDuration }: Common): (op: string, seconds: number) => void {
  return (op, seconds) => dbDuration.observe({ op }, seconds);
}

/** Shows how a process's connections are used, freshly read at every scrape. */
export function gaugeConnections({ dbConnections, onScrape }: Common, read: () => { active: number; idle: number; waiting: number }): void {
  onScrape(() => {
    for (const [state, count] of Object.entries(read())) dbConnections.set({ state }, count);
  });
}

/** Shows whether Redis answers this process, freshly at every scrape. */
export function gaugeRedis({ redisUp, onScrape }: Common, problem: () => string | null): void {
  onScrape(() => redisUp.set(problem() === null ? 1 : 0));
}

/** Shows what networks are configured as, so that alerts need no numbers of their own. */
export function gaugeChains(
  { chainStallThreshold, chainConfirmations, chainExpectedConfirmation }: Common,
  chains: Iterable<{ chain: string; stallSeconds: number; confirmationsRequired: number; expectedSeconds: number }>,
): void {
  for (const { chain, stallSeconds, confirmationsRequired, expectedSeconds } of chains) {
    chainStallThreshold.set({ chain }, stallSeconds);
    chainConfirmations.set({ chain }, confirmationsRequired);
    chainExpectedConfirmation.set({ chain }, expectedSeconds);
  }
}
