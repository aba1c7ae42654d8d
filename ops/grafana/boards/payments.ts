import { type Board, quantile } from '../board.ts';

const ON_CHAIN = 'chain=~"$chain"';
const by = { by: 'chain', labels: ON_CHAIN };

export const payments: Board = {
  name: 'payments',
  title: 'Sluice 3 · Payments',
  description: 'From the creation of a payment to its result, and what gets lost on the way.',
  panels: [
    {
      title: 'Created',
      description: 'Payments created in an hour, by what they are.',
      runbook: 'api-errors',
      queries: { '{{mode}} {{kind}}': 'sum by (mode, kind) (increase(sluice_payments_created_total{sandbox="false"}[1h]))' },
    },
    {
      title: 'Created, paid, resolved',
      description: 'The funnel of an hour: created, results from a deposit, and all results.',
      runbook: 'expiry',
      queries: {
        created: 'sum(increase(sluice_payments_created_total{sandbox="false"}[1h]))',
        paid: 'sum(increase(sluice_payment_seen_to_resolved_seconds_count[1h]))',
        resolved: 'sum(increase(sluice_payments_resolved_total{sandbox="false"}[1h]))',
      },
    },
    {
      title: 'Results',
      description: 'Payments that came to rest in an hour.',
      runbook: 'expiry',
      queries: { '{{status}}': 'sum by (status) (increase(sluice_payments_resolved_total{sandbox="false"}[1h]))' },
    },
    {
      title: 'Mismatches',
      description: 'Share of results in which the amount or the coin was not what was asked for.',
      runbook: 'recovery',
      unit: 'percentunit',
      queries: {
        share:
          '(sum(increase(sluice_payments_resolved_total{sandbox="false", status="MISMATCH"}[6h])) or vector(0)) / sum(increase(sluice_payments_resolved_total{sandbox="false"}[6h]))',
      },
    },
    {
      title: 'How deposits came',
      description: "standard: in time. late_confirmation, late_capture: after the deadline. manual_inquiry: found by the merchant's question.",
      runbook: 'deposit-latency',
      queries: { '{{deposit_path}}': 'sum by (deposit_path) (increase(sluice_payments_resolved_total{sandbox="false"}[1h]))' },
    },
    {
      title: 'Overdue and not expired',
      description: 'Unpaid payments more than a minute past their deadline. Anything but 0 means that expiry stands still.',
      runbook: 'expiry',
      queries: { overdue: 'max(sluice_payments_overdue)' },
    },
    {
      title: 'Final deposit to result, p95',
      description: 'What payers wait for after the last confirmation; 30 s is the promise.',
      runbook: 'deposit-latency',
      unit: 's',
      queries: { '{{chain}}': quantile(0.95, 'sluice_payment_confirmed_to_resolved_seconds', by) },
    },
    {
      title: 'First seen to result, p95',
      description: 'Confirmations included.',
      runbook: 'deposit-latency',
      unit: 's',
      queries: { '{{chain}}': quantile(0.95, 'sluice_payment_seen_to_resolved_seconds', by) },
    },
    {
      title: 'Address after select, p95',
      description: 'Time until a selected offer has its address.',
      runbook: 'api-errors',
      unit: 's',
      queries: { '{{chain}}': quantile(0.95, 'sluice_address_assign_duration_seconds', by) },
    },
    {
      title: 'Deposits by fit',
      description: 'unmatched: coins that belong to no payment and wait for somebody.',
      runbook: 'recovery',
      queries: { '{{chain}} {{match}}': `sum by (chain, match) (increase(sluice_deposits_total{${ON_CHAIN}}[1h]))` },
    },
    {
      title: 'Second opinions',
      description: 'What other providers said about large deposits. "disputed" wakes somebody.',
      runbook: 'second-opinion',
      queries: { '{{chain}} {{result}}': `sum by (chain, result) (increase(sluice_second_opinions_total{${ON_CHAIN}}[1h]))` },
    },
    {
      title: 'Messages about unmined transactions',
      description: 'What became of news from the mempool; only for people to see, never for credits.',
      runbook: 'consumer',
      queries: { '{{chain}} {{result}}': `sum by (chain, result) (rate(sluice_mempool_messages_applied_total{${ON_CHAIN}}[$__rate_interval])) or vector(0)` },
    },
    {
      title: 'Age of prices',
      description: 'Since its sources last agreed on a price. More than two minutes wakes somebody.',
      runbook: 'prices',
      unit: 's',
      queries: { '{{asset}}': 'time() - max by (asset) (sluice_price_timestamp_seconds)' },
    },
    {
      title: 'Price sources without an answer',
      description: 'Failed questions by source. One of several may fail.',
      runbook: 'prices',
      queries: { '{{source}}': 'sum by (source) (increase(sluice_price_fetch_errors_total[10m]))' },
    },
    {
      title: 'Screening',
      description: 'Questions to screening by outcome.',
      runbook: 'aml',
      queries: { '{{provider}} {{result}}': 'sum by (provider, result) (increase(sluice_aml_screens_total[1h]))' },
    },
    {
      title: 'Time screening takes, p95',
      description: 'Until screening answers.',
      runbook: 'aml',
      unit: 's',
      queries: { '{{provider}}': quantile(0.95, 'sluice_aml_screen_duration_seconds', { by: 'provider' }) },
    },
    {
      title: 'Gateways without screening credit',
      description: 'Their cashouts wait until credit is added.',
      runbook: 'aml',
      queries: { gateways: 'max(sluice_aml_gateways_without_credit)' },
    },
  ],
};
