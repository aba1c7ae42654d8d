import { commonMetrics } from './common-metrics.ts';
import { combinations, createRegistry, FAST, FLOW, fromZero, HTTP, LONG, REORG, shownFromZero, zeroed } from './metric-registry.ts';

/** How the socket of a checkout page may end. */
const WS_ENDS = ['client', 'lost', 'dead', 'slow', 'protocol', 'shutdown'];
const AUTH_FAILURES = ['key', 'operator', 'signature', 'stale', 'ip'];
const FIRST_ATTEMPTS = ['2xx', '3xx', '4xx', '5xx', 'timeout', 'dns', 'tls', 'refused', 'blocked'];
const DEPOSIT_MATCHES = ['matched', 'wrong_asset', 'late', 'unmatched', 'dust'];

/** What else is known when a process starts. */
interface Start {
  /** Of the sources it was built from. */
  commit?: string;
  /** Chains for which the counters and histograms that alerts watch begin at 0. */
  chains?: readonly string[];
}

/** Every metric of the api process; labels never hold a gateway, payment, address or client IP. */
export function createApiMetrics(version: string, { commit = 'unknown', chains = [] }: Start = {}) {
  const registry = createRegistry({ component: 'api', version, commit });
  const { counter, gauge, absentGauge, histogram } = registry;
  const each = chains.map((chain) => ({ chain }));
  return {
    ...commonMetrics(registry),
    httpDuration: histogram('sluice_http_request_duration_seconds', 'Request time by route template.', HTTP, ['method', 'route', 'status']),
    httpInFlight: gauge('sluice_http_requests_in_flight', 'Requests being answered.'),
    apiErrors: counter('sluice_api_errors_total', 'Error answers by slug.', ['route', 'code']),
    rateLimited: counter('sluice_rate_limited_total', 'Requests refused because their caller sent too many.', ['route']),
    authFailures: fromZero(
      counter('sluice_auth_failures_total', 'Refused credentials: key, operator, signature, stale, ip.', ['reason']),
      combinations({ reason: AUTH_FAILURES }),
    ),
    wsConnections: gauge('sluice_ws_connections', 'Sockets of hosted checkout pages that are open.'),
    wsClosed: fromZero(
      counter(
        'sluice_ws_closed_total',
        'Sockets of checkout pages that ended: client (it left), lost, dead (it answered no ping), slow (it did not read), protocol, shutdown.',
        ['reason'],
      ),
      combinations({ reason: WS_ENDS }),
    ),
    checkoutFallbackPolls: counter('sluice_checkout_fallback_polls_total', 'Snapshots asked for over HTTP by pages whose socket is away.'),
    idempotency: counter('sluice_idempotency_total', 'Calls with an Idempotency-Key: new, replay, conflict.', ['endpoint', 'result']),
    addressAssignDuration: histogram('sluice_address_assign_duration_seconds', 'Time until select answered: assigned, pending, error.', HTTP, [
      'chain',
      'result',
    ]),
    paymentsCreated: counter('sluice_payments_created_total', 'Payments created.', ['mode', 'kind', 'sandbox']),
    paymentsResolved: counter('sluice_payments_resolved_total', 'Payments that reached a resting status.', ['status', 'deposit_path', 'sandbox']),
    paymentsOverdue: gauge('sluice_payments_overdue', 'Unpaid payments more than 60 s past their deadline.'),
    confirmedToResolved: zeroed(histogram('sluice_payment_confirmed_to_resolved_seconds', 'From a final deposit to the status.', FLOW, ['chain']), each),
    seenToResolved: zeroed(histogram('sluice_payment_seen_to_resolved_seconds', 'From the first sighting to the status.', FLOW, ['chain']), each),
    deposits: fromZero(
      counter('sluice_deposits_total', 'Final deposits by how they fitted: matched, wrong_asset, late, unmatched, dust.', ['chain', 'match']),
      combinations({ chain: chains, match: DEPOSIT_MATCHES }),
    ),
    secondOpinions: fromZero(
      counter(
        'sluice_second_opinions_total',
        'Answers of other providers about a large deposit before its credit: agreed, alone, disputed, unseen (they do not show internal transfers), unreachable.',
        ['chain', 'result'],
      ),
      combinations({ chain: chains, result: ['disputed'] }),
    ),
    webhookAttempts: fromZero(
      counter('sluice_webhook_attempts_total', 'Finished webhook attempts: 2xx, 3xx, 4xx, 5xx, timeout, dns, tls, refused, blocked.', ['result', 'attempt']),
      combinations({ result: FIRST_ATTEMPTS, attempt: ['1'] }),
    ),
    webhookFirstAttemptDelay: histogram(
      'sluice_webhook_first_attempt_delay_seconds',
      'From the status, or from when its receiver had room for it, to the first attempt.',
      FLOW,
    ),
    webhookDeliveredAfter: histogram('sluice_webhook_delivered_after_seconds', 'From the status to the delivery.', LONG),
    webhookExhausted: counter('sluice_webhook_exhausted_total', 'Webhooks given up after the last attempt.'),
    settlementTransitions: counter('sluice_settlement_transitions_total', 'Settlement status changes.', ['from', 'to', 'route']),
    settlementsOpen: gauge('sluice_settlements_open', 'Settlements that are not terminal.', ['status']),
    settlementOldestAge: gauge('sluice_settlement_oldest_age_seconds', 'Age of the oldest open settlement.', ['chain', 'status']),
    settlementDispatchOverdue: gauge('sluice_settlement_dispatch_overdue_seconds', 'How long the oldest due dispatch has waited.', ['chain']),
    settlementsHeldBack: gauge('sluice_settlement_held_back_seconds', 'The same of those that wait for what their own gateway or destination causes.', [
      'chain',
    ]),
    broadcastToSettled: zeroed(histogram('sluice_settlement_broadcast_to_settled_seconds', 'From the broadcast to SETTLED.', LONG, ['chain']), each),
    destinationCharges: fromZero(
      counter('sluice_destination_charges_total', 'Transactions whose destination cost more than was locked, charged to the gateway: units, failed.', [
        'chain',
        'cause',
      ]),
      combinations({ chain: chains, cause: ['units', 'failed'] }),
    ),
    totpChecks: fromZero(
      counter('sluice_totp_checks_total', 'Authenticator codes looked at: accepted, wrong, reused, locked.', ['result']),
      combinations({ result: ['accepted', 'wrong', 'reused', 'locked'] }),
    ),
    signaturesReused: counter('sluice_signatures_reused_total', 'Request signatures used a second time, by what became of the request: served, refused.', [
      'result',
    ]),
    jobs: gauge('sluice_jobs', 'Outbox rows: due, scheduled, running, dead.', ['queue', 'state']),
    jobOldestDueAge: gauge('sluice_job_oldest_due_age_seconds', 'How long the oldest due job has waited.', ['queue']),
    jobsProcessed: counter('sluice_jobs_processed_total', 'Finished job runs.', ['queue', 'result']),
    jobDuration: histogram('sluice_job_duration_seconds', 'Job run time.', FAST, ['queue']),
    priceTimestamp: gauge('sluice_price_timestamp_seconds', 'Time of the latest price its sources agreed on, Unix seconds; 0 for never.', ['asset']),
    priceFetchErrors: counter('sluice_price_fetch_errors_total', 'Price sources that gave no usable answer.', ['source']),
    amlScreens: counter('sluice_aml_screens_total', 'Questions to screening by outcome: verdict, sanctioned, pending, no_credit, error.', [
      'provider',
      'result',
    ]),
    amlScreenDuration: histogram('sluice_aml_screen_duration_seconds', 'Time until screening answered.', FAST, ['provider']),
    amlGatewaysWithoutCredit: gauge('sluice_aml_gateways_without_credit', 'Gateways that screen and have no credit left.'),
    gasRunway: gauge(
      'sluice_wallet_gas_runway_transfers',
      'Transfers a wallet still brings gas for, at present fees, counting the gas itself; at most a million. The funding wallet gives gas to all others.',
      ['chain', 'wallet'],
    ),
    poolOutputs: gauge(
      'sluice_pool_outputs',
      'Outputs that a pool may spend now and that are worth it, where coins are outputs. Many small ones make cashouts wait until they are joined.',
      ['chain', 'pool'],
    ),
    canaryLastSuccess: absentGauge(
      'sluice_canary_last_success_timestamp_seconds',
      'When a whole sandbox payment through the public API last succeeded, Unix seconds; 0 for never, absent without a canary.',
    ),
    unexplainedBalances: gauge('sluice_unexplained_balances', 'Addresses of ours that hold native coins which nothing seen of them explains.', ['chain']),
    ledgerImbalance: gauge('sluice_ledger_imbalance', 'Sum of all entries per asset; anything but 0 is an incident.', ['asset']),
    ledgerCheckTimestamp: gauge('sluice_ledger_check_timestamp_seconds', 'When the audit last ran, Unix seconds.'),
    ledgerWholeCheckTimestamp: gauge(
      'sluice_ledger_whole_check_timestamp_seconds',
      'When the audit last looked at everything and not at changes alone, with the check that did so longest ago, Unix seconds.',
    ),
    keptFiguresWrong: gauge(
      'sluice_kept_figures_wrong',
      'Totals, day figures and other sums that only inform and are not what their rows are, found at night.',
    ),
    treasuryOnchainBalance: gauge('sluice_treasury_onchain_balance', 'Whole coins our addresses hold on the chain, by role of the wallet.', [
      'chain',
      'asset',
      'wallet',
    ]),
    coldStorageCoins: gauge(
      'sluice_cold_storage_coins',
      'Whole coins of ours in cold storage by the books: stored, or moving there in a block that is not final.',
      ['chain', 'asset', 'state'],
    ),
    hotWalletCoins: gauge('sluice_hot_wallet_coins', 'Whole coins the hot wallet can pay cashouts with, of assets whose excess goes to cold storage.', [
      'chain',
      'asset',
    ]),
    hotWalletLimit: gauge('sluice_hot_wallet_limit_coins', 'Between which whole coins the hot wallet is kept: ceiling and floor.', ['chain', 'asset', 'limit']),
    liabilities: gauge('sluice_liabilities', 'Whole coins owed to gateways, by pool, and those kept for nobody yet: unallocated.', ['chain', 'asset', 'pool']),
    reconciliationTimestamp: shownFromZero(
      gauge('sluice_reconciliation_timestamp_seconds', 'When the books were last compared with a chain, Unix seconds; 0 for never.', ['chain']),
      each,
    ),
    reconciliationDifference: gauge('sluice_reconciliation_difference', 'What our addresses hold minus what the books say, in whole coins.', [
      'chain',
      'asset',
    ]),
    issuerRefusals: gauge(
      'sluice_issuer_refusals',
      'Addresses of ours that the issuer of a token does not let move it, by what they are: hot, held, deposit.',
      ['chain', 'asset', 'wallet'],
    ),
    journalState: gauge(
      'sluice_signer_journal_state',
      '1 for what the signer says of its journal: open, missing, corrupt, foreign, other, shorter, forked, locked, unreadable; 0 for the rest.',
      ['state'],
    ),
    journalSignatures: absentGauge('sluice_signer_journal_signatures', 'Signatures that the open journal of the signer holds.'),
    journalUnknown: absentGauge(
      'sluice_signer_journal_unknown_signatures',
      'Signatures that the journal holds and Postgres does not, of the last day; one may be left by a crash.',
    ),
    journalContradictions: fromZero(
      counter(
        'sluice_signer_journal_contradictions_total',
        'Bytes that were not signed because of what the journal remembers of their order: refused, waiting.',
        ['chain', 'answer'],
      ),
      combinations({ chain: chains, answer: ['refused', 'waiting'] }),
    ),
    dispatchStops: gauge('sluice_dispatch_stops', 'What keeps cashouts from being sent, by kind: freezes of all, network, asset, and halted wallets.', [
      'kind',
    ]),
    historyTrusted: gauge('sluice_history_trusted', '0 while dispatch waits for the books to match a chain again, after a restore or a failover.', ['chain']),
    appliedBlock: gauge('sluice_applied_block', 'Latest block the books have taken in.', ['chain']),
    appliedBlockTimestamp: gauge('sluice_applied_block_timestamp_seconds', 'Block time of the latest block the books have taken in, Unix seconds.', ['chain']),
    processRole: gauge('sluice_process_role', '1 for each role this process has: http, worker, signer.', ['role']),
    chainAttended: gauge('sluice_chain_attended', '1 while Postgres knows somebody in charge of a chain, by what it is: indexer, worker.', ['chain', 'by']),
    signerSilence: absentGauge('sluice_signer_silence_seconds', 'How long ago a signer last reported to Postgres; infinite while none ever did.'),
    postgresConnections: gauge('sluice_postgres_connections', 'Connections to the whole Postgres server: used, and the limit for logins without privilege.', [
      'state',
    ]),
    databaseRead: absentGauge('sluice_database_read_timestamp_seconds', 'When this worker last read from Postgres what its gauges show, Unix seconds.'),
    mempoolApplied: counter('sluice_mempool_messages_applied_total', 'Messages about unmined transactions by outcome: applied, dropped, parked, failed.', [
      'chain',
      'result',
    ]),
    messagesApplied: fromZero(
      counter(
        'sluice_messages_applied_total',
        'Stream messages by outcome: applied, acknowledged, duplicate, dropped, rewind, frozen, fenced, forged, parked (malformed), failed.',
        ['chain', 'result'],
      ),
      combinations({ chain: chains, result: ['applied', 'rewind', 'frozen', 'forged', 'parked', 'failed'] }),
    ),
  };
}

/** Every metric of an indexer process. */
export function createIndexerMetrics(version: string, { commit = 'unknown', chains = [] }: Start = {}) {
  const registry = createRegistry({ component: 'indexer', version, commit });
  const { counter, gauge, histogram } = registry;
  const each = chains.map((chain) => ({ chain }));
  return {
    ...commonMetrics(registry),
    headBlock: gauge('sluice_indexer_head_block', 'Latest block of the chain.', ['chain']),
    processedBlock: gauge('sluice_indexer_processed_block', 'Latest block published.', ['chain']),
    processedBlockTimestamp: gauge('sluice_indexer_processed_block_timestamp_seconds', 'Block time of the latest block published, Unix seconds.', ['chain']),
    blockProcessing: histogram('sluice_indexer_block_processing_seconds', 'Time to read, match and publish one message.', FAST, ['chain']),
    blockArrival: histogram('sluice_indexer_block_arrival_seconds', "From a block's own time to its publication near the head.", FLOW, ['chain']),
    reorgDepth: zeroed(histogram('sluice_indexer_reorg_depth_blocks', 'Blocks replaced by a reorganisation.', REORG, ['chain']), each),
    sightings: counter('sluice_indexer_sightings_total', 'Matched movements by kind: native, internal, token, sent.', ['chain', 'kind']),
    blocksByLogs: counter(
      'sluice_indexer_blocks_by_logs_total',
      'Blocks published that were read by the logs of two providers first; all of them are read completely later.',
      ['chain'],
    ),
    blindBlocks: counter('sluice_indexer_blind_blocks_total', 'Blocks published that were read from an endpoint which does not show internal transfers.', [
      'chain',
    ]),
    unknownHeaderField: gauge(
      'sluice_indexer_unknown_header_field',
      '1 while no endpoint proves a header because of a field that this release does not know.',
      ['chain', 'field'],
    ),
    mempoolTransactions: gauge('sluice_indexer_mempool_transactions', 'Unmined transactions at the node that concern watched addresses.', ['chain']),
    mempoolPolls: counter('sluice_indexer_mempool_polls_total', 'Times the node was asked what waits: ok, failed.', ['chain', 'result']),
    state: gauge('sluice_indexer_state', '1 for the state the chain machine is in.', ['chain', 'state']),
    leader: gauge('sluice_indexer_leader', "1 while this process holds the network's lease.", ['chain']),
    watchedAddresses: gauge('sluice_indexer_watched_addresses', 'Addresses in the watch set.', ['chain']),
    backfillRemaining: gauge('sluice_indexer_backfill_remaining_blocks', 'Blocks between the latest published and the head.', ['chain']),
    rewinds: fromZero(counter('sluice_indexer_rewinds_total', "Starts from the consumer's tip under a new epoch.", ['chain']), each),
  };
}

export type ApiMetrics = ReturnType<typeof createApiMetrics>;
export type IndexerMetrics = ReturnType<typeof createIndexerMetrics>;
