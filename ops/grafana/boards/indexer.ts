import { type Board, quantile } from '../board.ts';

const ON_CHAIN = 'chain=~"$chain"';
const by = { by: 'chain', labels: ON_CHAIN };
const latest = (metric: string): string => `max by (chain) (${metric}{${ON_CHAIN}})`;

export const indexer: Board = {
  name: 'indexer',
  title: 'Sluice 4 · Chains',
  description: 'How each chain is followed: indexers, the nodes they ask, and the books that take in what they publish.',
  panels: [
    {
      title: 'Behind the clock',
      description: 'Age of the newest block published. Judged by block time: a node that hangs tells an old head, and shows a lag of 0 blocks.',
      runbook: 'indexer-stalled',
      unit: 's',
      queries: { '{{chain}}': `sluice:chain_indexer_lag_seconds{${ON_CHAIN}}`, '{{chain}} limit': latest('sluice_chain_stall_threshold_seconds') },
    },
    {
      title: 'Behind the head',
      description: 'Blocks between the head and the latest published.',
      runbook: 'indexer-stalled',
      queries: { '{{chain}}': `${latest('sluice_indexer_head_block')} - ${latest('sluice_indexer_processed_block')}` },
    },
    {
      title: 'Still to catch up',
      description: 'Blocks left at the last publication; falls to 0 after an outage.',
      runbook: 'indexer-stalled',
      queries: { '{{chain}}': latest('sluice_indexer_backfill_remaining_blocks') },
    },
    {
      title: 'Books behind the indexer',
      description: 'Published and not yet in the books, by block time.',
      runbook: 'consumer',
      unit: 's',
      queries: { '{{chain}}': `sluice:chain_books_lag_seconds{${ON_CHAIN}}` },
    },
    {
      title: 'Books behind the indexer, in blocks',
      description: 'Published and not yet in the books, in blocks.',
      runbook: 'consumer',
      queries: { '{{chain}}': `${latest('sluice_indexer_processed_block')} - ${latest('sluice_applied_block')}` },
    },
    {
      title: 'Messages taken in',
      description: 'What became of messages of the indexers. "forged" wakes somebody.',
      runbook: 'consumer',
      unit: 'ops',
      queries: { '{{chain}} {{result}}': `sum by (chain, result) (rate(sluice_messages_applied_total{${ON_CHAIN}}[$__rate_interval]))` },
    },
    {
      title: 'In charge',
      description: 'Indexers that hold the lease of a chain: exactly one.',
      runbook: 'indexer-leader',
      queries: { '{{chain}}': `sum by (chain) (sluice_indexer_leader{${ON_CHAIN}})` },
    },
    {
      title: 'State',
      description: 'What each indexer does: tailing is the normal one.',
      runbook: 'indexer-stalled',
      queries: { '{{chain}} {{state}}': `max by (chain, state) (sluice_indexer_state{${ON_CHAIN}}) == 1` },
    },
    {
      title: 'New starts from the books',
      description: 'How often an indexer went back to what the books know.',
      runbook: 'indexer-stalled',
      queries: { '{{chain}}': `sum by (chain) (increase(sluice_indexer_rewinds_total{${ON_CHAIN}}[1h]))` },
    },
    {
      title: 'Time for one message, p95',
      description: 'To read, match and publish blocks.',
      runbook: 'indexer-stalled',
      unit: 's',
      queries: { '{{chain}}': quantile(0.95, 'sluice_indexer_block_processing_seconds', by) },
    },
    {
      title: 'Block to publication, p95',
      description: "From a block's own time to its publication, near the head.",
      runbook: 'indexer-stalled',
      unit: 's',
      queries: { '{{chain}}': quantile(0.95, 'sluice_indexer_block_arrival_seconds', by) },
    },
    {
      title: 'Reorganisations',
      description: 'How often blocks were replaced in a day. Deeper than six wakes somebody.',
      runbook: 'reorg',
      queries: { '{{chain}}': `sum by (chain) (increase(sluice_indexer_reorg_depth_blocks_count{${ON_CHAIN}}[1d]))` },
    },
    {
      title: 'Failed requests to nodes',
      description: 'Share of requests a provider did not answer well.',
      runbook: 'rpc',
      unit: 'percentunit',
      queries: {
        '{{chain}} {{provider}}': `1 - (sum by (chain, provider) (rate(sluice_rpc_requests_total{${ON_CHAIN}, result="ok"}[$__rate_interval])) / sum by (chain, provider) (rate(sluice_rpc_requests_total{${ON_CHAIN}}[$__rate_interval])))`,
      },
    },
    {
      title: 'Requests to nodes',
      description: 'Requests by outcome, from all processes. This is what providers bill.',
      runbook: 'rpc',
      unit: 'reqps',
      queries: { '{{chain}} {{result}}': `sum by (chain, result) (rate(sluice_rpc_requests_total{${ON_CHAIN}}[$__rate_interval]))` },
    },
    {
      title: 'Time nodes take, p95',
      description: 'How long providers take to answer, by provider. A block time is too long.',
      runbook: 'rpc',
      unit: 's',
      queries: { '{{chain}} {{provider}}': quantile(0.95, 'sluice_rpc_request_duration_seconds', { by: 'chain, provider', labels: ON_CHAIN }) },
    },
    {
      title: 'Heads by provider',
      description: 'The head each provider told last.',
      runbook: 'rpc',
      queries: { '{{chain}} {{provider}}': `max by (chain, provider) (sluice_rpc_head_block{${ON_CHAIN}})` },
    },
    {
      title: 'Providers apart',
      description: 'Blocks between the highest and the lowest head. More than a payment needs to be final opens a ticket.',
      runbook: 'rpc',
      queries: { '{{chain}}': `sluice:rpc_head_spread_blocks{${ON_CHAIN}}`, '{{chain}} limit': latest('sluice_chain_confirmations_required') },
    },
    {
      title: 'Endpoints',
      description: 'The state each endpoint is in, for any process.',
      runbook: 'rpc',
      shows: 'table',
      queries: { '': `max by (chain, provider, state) (sluice_rpc_endpoint_state{${ON_CHAIN}}) == 1` },
    },
    {
      title: 'Watched addresses',
      description: 'Addresses in the watch set of the indexer.',
      runbook: 'indexer-stalled',
      queries: { '{{chain}}': latest('sluice_indexer_watched_addresses') },
    },
    {
      title: 'Movements found',
      description: 'Matched movements by kind.',
      runbook: 'deposit-latency',
      queries: { '{{chain}} {{kind}}': `sum by (chain, kind) (increase(sluice_indexer_sightings_total{${ON_CHAIN}}[1h]))` },
    },
    {
      title: 'Blocks without internal transfers',
      description: 'Read from an endpoint that does not show them: native coins sent by a contract are not seen there.',
      runbook: 'unexplained-coins',
      queries: { blocks: `sum(increase(sluice_indexer_blind_blocks_total{${ON_CHAIN}}[1h])) or vector(0)` },
    },
    {
      title: 'Blocks by logs',
      description: 'Caught up by the logs of two providers first; they are read completely once the head is reached.',
      runbook: 'indexer-stalled',
      queries: { blocks: `sum(increase(sluice_indexer_blocks_by_logs_total{${ON_CHAIN}}[1h])) or vector(0)` },
    },
    {
      title: 'Unmined transactions',
      description: 'At the node, to watched addresses.',
      runbook: 'deposit-latency',
      queries: { '{{chain}}': `max by (chain) (sluice_indexer_mempool_transactions{${ON_CHAIN}}) or vector(0)` },
    },
    {
      title: 'Looks at the mempool',
      description: 'Times the node was asked what waits.',
      runbook: 'rpc',
      unit: 'ops',
      queries: { '{{chain}} {{result}}': `sum by (chain, result) (rate(sluice_indexer_mempool_polls_total{${ON_CHAIN}}[$__rate_interval])) or vector(0)` },
    },
  ],
};
