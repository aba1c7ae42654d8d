import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Logger } from './logger.ts';

const HTTP = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 6, 10];
const FAST = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 15, 30, 60];
const FLOW = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600];
const LONG = [15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];
const REORG = [1, 2, 3, 6, 12, 24, 64];

/** How the socket of a checkout page may end. */
const WS_ENDS = ['client', 'lost', 'dead', 'slow', 'protocol', 'shutdown'] as const;

/** Node's own gauges that end in `_total`, which a counter's name must and a gauge's must not. */
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];

/** What a metrics endpoint serves. */
export interface Scrape {
  contentType: string;
  body: string;
}

function createRegistry(component: string, version: string) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name, help, labelNames, registers: [registry] });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) => new Gauge({ name, help, labelNames, registers: [registry] });
  const histogram = <L extends string>(name: string, help: string, buckets: number[], labelNames: readonly L[] = []) =>
    new Histogram({ name, help, buckets, labelNames, registers: [registry] });
  gauge('sluice_build_info', 'Always 1; the labels say what is running.', ['version', 'component']).set({ version, component }, 1);
  const scrape = async (): Promise<Scrape> => ({ contentType: registry.contentType, body: await registry.metrics() });
  return { counter, gauge, histogram, scrape };
}

/** Requests to a chain's endpoints and how those are doing; both processes talk to nodes. */
function rpcMetrics({ counter, gauge, histogram }: ReturnType<typeof createRegistry>) {
  return {
    rpcRequests: counter('sluice_rpc_requests_total', 'JSON-RPC requests by outcome.', ['chain', 'provider', 'method', 'result']),
    rpcDuration: histogram('sluice_rpc_request_duration_seconds', 'JSON-RPC request time.', FAST, ['chain', 'provider', 'method']),
    rpcHeadBlock: gauge('sluice_rpc_head_block', 'Head of the chain as an endpoint last told it.', ['chain', 'provider']),
    rpcEndpointState: gauge('sluice_rpc_endpoint_state', '1 for the state an endpoint is in: well, lagging, failing, quiet, foreign.', [
      'chain',
      'provider',
      'state',
    ]),
  };
}

/** Starts a counter at 0 for labels that an alert watches, so that the first increment is one. */
function fromZero<L extends string>(counter: Counter<L>, labels: readonly Record<L, string>[]): Counter<L> {
  for (const each of labels) counter.inc(each, 0);
  return counter;
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

/** Counts the requests to one chain's endpoints, shows how those are doing, and logs when one comes into or out of trouble. */
export function countRpc({ rpcRequests, rpcDuration, rpcHeadBlock, rpcEndpointState }: ReturnType<typeof rpcMetrics>, chain: string, log: Logger) {
  return {
    request({ method, provider, result, seconds }: { method: string; provider: string; result: string; seconds: number }): void {
      rpcRequests.inc({ chain, provider, method, result });
      rpcDuration.observe({ chain, provider, method }, seconds);
    },
    endpoint({ provider, state, height }: Endpoint): void {
      if (height !== null) rpcHeadBlock.set({ chain, provider }, height);
      for (const one of ENDPOINT_STATES) rpcEndpointState.set({ chain, provider, state: one }, one === state ? 1 : 0);
    },
    changed({ provider, state, lastTrouble, foreign }: Endpoint, before: string): void {
      const level = state === 'foreign' ? 'error' : state === 'well' ? 'info' : 'warn';
      log[level]({ network: chain, provider, state, before, trouble: lastTrouble, ...(foreign === null ? {} : { problem: foreign }) }, 'endpoint');
    },
  };
}

/** Every metric of the api process; labels never hold a gateway, payment, address or client IP. */
export function createApiMetrics(version: string) {
  const registry = createRegistry('api', version);
  const { counter, gauge, histogram, scrape } = registry;
  return {
    scrape,
    ...rpcMetrics(registry),
    httpDuration: histogram('sluice_http_request_duration_seconds', 'Request time by route template.', HTTP, ['method', 'route', 'status']),
    httpInFlight: gauge('sluice_http_requests_in_flight', 'Requests being answered.'),
    apiErrors: counter('sluice_api_errors_total', 'Error answers by slug.', ['route', 'code']),
    rateLimited: counter('sluice_rate_limited_total', 'Requests refused because their caller sent too many.', ['route']),
    authFailures: counter('sluice_auth_failures_total', 'Refused credentials: key, operator, signature, stale, ip.', ['reason']),
    wsConnections: gauge('sluice_ws_connections', 'Sockets of hosted checkout pages that are open.'),
    wsClosed: fromZero(
      counter(
        'sluice_ws_closed_total',
        'Sockets of checkout pages that ended: client (it left), lost, dead (it answered no ping), slow (it did not read), protocol, shutdown.',
        ['reason'],
      ),
      WS_ENDS.map((reason) => ({ reason })),
    ),
    checkoutFallbackPolls: counter('sluice_checkout_fallback_polls_total', 'Snapshots asked for over HTTP by pages whose socket is away.'),
    idempotency: counter('sluice_idempotency_total', 'Calls with an Idempotency-Key: new, replay, conflict.', ['endpoint', 'result']),
    addressAssignDuration: histogram('sluice_address_assign_duration_seconds', 'Time until select answered: assigned, pending.', HTTP, ['chain', 'result']),
    paymentsCreated: counter('sluice_payments_created_total', 'Payments created.', ['mode', 'kind', 'sandbox']),
    paymentsResolved: counter('sluice_payments_resolved_total', 'Payments that reached a resting status.', ['status', 'deposit_path', 'sandbox']),
    paymentsOverdue: gauge('sluice_payments_overdue', 'Unpaid payments more than 60 s past their deadline.'),
    confirmedToResolved: histogram('sluice_payment_confirmed_to_resolved_seconds', 'From a final deposit to the status.', FLOW, ['chain']),
    seenToResolved: histogram('sluice_payment_seen_to_resolved_seconds', 'From the first sighting to the status.', FLOW, ['chain']),
    // Named after where deposits come from; only the api knows what they were for.
    deposits: counter('sluice_indexer_deposits_total', 'Final deposits by how they fitted: matched, wrong_asset, late, unmatched, dust.', ['chain', 'match']),
    secondOpinions: counter(
      'sluice_second_opinions_total',
      'Answers of other providers about a large deposit before its credit: agreed, alone, disputed, unseen (they do not show internal transfers), unreachable.',
      ['chain', 'result'],
    ),
    webhookAttempts: counter('sluice_webhook_attempts_total', 'Finished webhook attempts: 2xx, 3xx, 4xx, 5xx, timeout, dns, tls, refused, blocked.', [
      'result',
      'attempt',
    ]),
    webhookFirstAttemptDelay: histogram('sluice_webhook_first_attempt_delay_seconds', 'From the status to the first attempt.', FLOW),
    webhookDeliveredAfter: histogram('sluice_webhook_delivered_after_seconds', 'From the status to the delivery.', LONG),
    webhookExhausted: counter('sluice_webhook_exhausted_total', 'Webhooks given up after the last attempt.'),
    settlementTransitions: counter('sluice_settlement_transitions_total', 'Settlement status changes.', ['from', 'to', 'route']),
    settlementsOpen: gauge('sluice_settlements_open', 'Settlements that are not terminal.', ['status']),
    settlementOldestAge: gauge('sluice_settlement_oldest_age_seconds', 'Age of the oldest open settlement.', ['chain', 'status']),
    settlementDispatchOverdue: gauge('sluice_settlement_dispatch_overdue_seconds', 'How long the oldest due dispatch has waited.', ['chain']),
    broadcastToSettled: histogram('sluice_settlement_broadcast_to_settled_seconds', 'From the broadcast to SETTLED.', LONG, ['chain']),
    totpChecks: fromZero(
      counter('sluice_totp_checks_total', 'Authenticator codes looked at: accepted, wrong, reused, locked.', ['result']),
      ['accepted', 'wrong', 'reused', 'locked'].map((result) => ({ result })),
    ),
    signaturesReused: counter('sluice_signatures_reused_total', 'Request signatures used a second time, by what became of the request: served, refused.', [
      'result',
    ]),
    jobs: gauge('sluice_jobs', 'Outbox rows: due, scheduled, running, dead.', ['queue', 'state']),
    jobOldestDueAge: gauge('sluice_job_oldest_due_age_seconds', 'How long the oldest due job has waited.', ['queue']),
    jobsProcessed: counter('sluice_jobs_processed_total', 'Finished job runs.', ['queue', 'result']),
    jobDuration: histogram('sluice_job_duration_seconds', 'Job run time.', FAST, ['queue']),
    priceTimestamp: gauge('sluice_price_timestamp_seconds', 'Time of the latest price its sources agreed on, Unix seconds.', ['asset']),
    priceFetchErrors: counter('sluice_price_fetch_errors_total', 'Price sources that gave no usable answer.', ['source']),
    amlScreens: counter('sluice_aml_screens_total', 'Questions to screening by outcome: verdict, sanctioned, pending, no_credit, error.', [
      'provider',
      'result',
    ]),
    amlScreenDuration: histogram('sluice_aml_screen_duration_seconds', 'Time until screening answered.', FAST, ['provider']),
    amlGatewaysWithoutCredit: gauge('sluice_aml_gateways_without_credit', 'Gateways that screen and have no credit left.'),
    fundingSweepsLeft: gauge('sluice_funding_sweeps_left', 'Sweeps the funding wallet still brings gas for, at present fees; at most a million.', ['chain']),
    unexplainedBalances: gauge('sluice_unexplained_balances', 'Addresses of ours that hold native coins which nothing seen of them explains.', ['chain']),
    ledgerImbalance: gauge('sluice_ledger_imbalance', 'Sum of all entries per asset; anything but 0 is an incident.', ['asset']),
    ledgerCheckTimestamp: gauge('sluice_ledger_check_timestamp_seconds', 'When the audit last ran, Unix seconds.'),
    treasuryOnchainBalance: gauge('sluice_treasury_onchain_balance', 'Whole coins our addresses hold on the chain, by role of the wallet.', [
      'chain',
      'asset',
      'wallet',
    ]),
    liabilities: gauge('sluice_liabilities', 'Whole coins owed to gateways, by pool, and those kept for nobody yet: unallocated.', ['chain', 'asset', 'pool']),
    reconciliationTimestamp: gauge('sluice_reconciliation_timestamp_seconds', 'When the books were last compared with a chain, Unix seconds.', ['chain']),
    reconciliationDifference: gauge('sluice_reconciliation_difference', 'What our addresses hold minus what the books say, in whole coins.', [
      'chain',
      'asset',
    ]),
    mempoolApplied: counter('sluice_mempool_messages_applied_total', 'Messages about unmined transactions by outcome: applied, dropped, parked, failed.', [
      'chain',
      'result',
    ]),
    messagesApplied: counter('sluice_messages_applied_total', 'Stream messages by outcome: applied, duplicate, stale, rewind, forged.', ['chain', 'result']),
  };
}

/** Every metric of an indexer process. */
export function createIndexerMetrics(version: string) {
  const registry = createRegistry('indexer', version);
  const { counter, gauge, histogram, scrape } = registry;
  return {
    scrape,
    ...rpcMetrics(registry),
    headBlock: gauge('sluice_indexer_head_block', 'Latest block of the chain.', ['chain']),
    processedBlock: gauge('sluice_indexer_processed_block', 'Latest block published.', ['chain']),
    processedBlockTimestamp: gauge('sluice_indexer_processed_block_timestamp_seconds', 'Block time of the latest block published, Unix seconds.', ['chain']),
    blockProcessing: histogram('sluice_indexer_block_processing_seconds', 'Time to read, match and publish one message.', FAST, ['chain']),
    blockArrival: histogram('sluice_indexer_block_arrival_seconds', "From a block's own time to its publication near the head.", FLOW, ['chain']),
    reorgDepth: histogram('sluice_indexer_reorg_depth_blocks', 'Blocks replaced by a reorganisation.', REORG, ['chain']),
    sightings: counter('sluice_indexer_sightings_total', 'Matched movements by kind: native, internal, token, sent.', ['chain', 'kind']),
    blindBlocks: counter('sluice_indexer_blind_blocks_total', 'Blocks published that were read from an endpoint which does not show internal transfers.', [
      'chain',
    ]),
    mempoolTransactions: gauge('sluice_indexer_mempool_transactions', 'Unmined transactions at the node that concern watched addresses.', ['chain']),
    mempoolPolls: counter('sluice_indexer_mempool_polls_total', 'Times the node was asked what waits: ok, failed.', ['chain', 'result']),
    state: gauge('sluice_indexer_state', '1 for the state the chain machine is in.', ['chain', 'state']),
    leader: gauge('sluice_indexer_leader', "1 while this process holds the network's lease.", ['chain']),
    watchedAddresses: gauge('sluice_indexer_watched_addresses', 'Addresses in the watch set.', ['chain']),
    backfillRemaining: gauge('sluice_indexer_backfill_remaining_blocks', 'Blocks between the latest published and the head.', ['chain']),
    rewinds: counter('sluice_indexer_rewinds_total', "Starts from the consumer's tip under a new epoch.", ['chain']),
    stallThreshold: gauge('sluice_chain_stall_threshold_seconds', 'Seconds without a new head after which the chain counts as stalled.', ['chain']),
  };
}

export type ApiMetrics = ReturnType<typeof createApiMetrics>;
export type IndexerMetrics = ReturnType<typeof createIndexerMetrics>;
