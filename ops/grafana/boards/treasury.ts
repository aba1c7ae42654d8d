import { type Board, quantile } from '../board.ts';

const ON_CHAIN = 'chain=~"$chain"';

export const treasury: Board = {
  name: 'treasury',
  title: 'Sluice 5 · Cashouts and money',
  description: 'Cashouts on their way, what is held against what is owed, and whether the books are right.',
  panels: [
    {
      title: 'Open cashouts',
      description: 'Cashouts that are not finished, by status.',
      runbook: 'settlement-dispatch',
      queries: { '{{status}}': 'max by (status) (sluice_settlements_open) or vector(0)' },
    },
    {
      title: 'Oldest open cashout',
      description: 'By status. In PROCESSING longer than three confirmations wakes somebody; UNDERFUNDED and PENDING_APPROVAL may wait for days.',
      runbook: 'settlement-stuck',
      unit: 's',
      queries: { '{{chain}} {{status}}': `max by (chain, status) (sluice_settlement_oldest_age_seconds{${ON_CHAIN}})` },
    },
    {
      title: 'Due and not sent',
      description: 'How long the oldest due cashout has waited. More than ten minutes wakes somebody, unless its own gateway or destination holds it back.',
      runbook: 'settlement-dispatch',
      unit: 's',
      queries: {
        '{{chain}}': `max by (chain) (sluice_settlement_dispatch_overdue_seconds{${ON_CHAIN}})`,
        '{{chain}} held back': `max by (chain) (sluice_settlement_held_back_seconds{${ON_CHAIN}})`,
      },
    },
    {
      title: 'Sent to final, p95',
      description: 'From the broadcast of a payout to SETTLED, beside what the chain is expected to take.',
      runbook: 'settlement-stuck',
      unit: 's',
      queries: {
        '{{chain}}': quantile(0.95, 'sluice_settlement_broadcast_to_settled_seconds', { by: 'chain', labels: ON_CHAIN }),
        '{{chain}} expected': `max by (chain) (sluice_chain_expected_confirmation_seconds{${ON_CHAIN}})`,
      },
    },
    {
      title: 'What cashouts do',
      description: 'Changes of status in an hour.',
      runbook: 'settlement-dispatch',
      queries: { '{{from}} → {{to}}': 'sum by (from, to) (increase(sluice_settlement_transitions_total[1h]))' },
    },
    {
      title: 'What destinations cost',
      description: 'Transactions in a day whose destination cost more than was locked, charged to the gateway that asked: failed, or more units than quoted.',
      runbook: 'settlement-dispatch',
      queries: { '{{chain}} {{cause}}': `sum by (chain, cause) (increase(sluice_destination_charges_total{${ON_CHAIN}}[1d]))` },
    },
    {
      title: 'Cashouts stopped',
      description: 'Freezes and halted wallets. Anything but 0 waits for an operator.',
      runbook: 'dispatch-frozen',
      queries: { '{{kind}}': 'max by (kind) (sluice_dispatch_stops)' },
    },
    {
      title: 'Journal of the signer',
      description: 'What the signer says of its journal: anything but open signs nothing.',
      runbook: 'signer-journal',
      queries: { '{{state}}': 'max by (state) (sluice_signer_journal_state) > 0' },
    },
    {
      title: 'Signatures remembered',
      description: 'What the journal of the signer holds, what of the last day Postgres does not know, and what was not signed again because of it in a day.',
      runbook: 'signer-journal',
      queries: {
        held: 'max(sluice_signer_journal_signatures)',
        'unknown to Postgres': 'max(sluice_signer_journal_unknown_signatures)',
        'not signed again': 'sum(increase(sluice_signer_journal_contradictions_total[1d]))',
      },
    },
    {
      title: 'Books trusted',
      description: '0 while the books are compared with a chain after a restore, a failover or an outage of the database.',
      runbook: 'history-not-trusted',
      queries: { '{{chain}}': `min by (chain) (sluice_history_trusted{${ON_CHAIN}})` },
    },
    {
      title: 'Held',
      description: 'Coins at addresses of this deployment.',
      runbook: 'treasury',
      queries: { '{{chain}} {{asset}}': `sluice:treasury_balance{${ON_CHAIN}}` },
    },
    {
      title: 'Owed',
      description: 'Coins owed to gateways, and those kept for nobody yet.',
      runbook: 'treasury',
      queries: { '{{chain}} {{asset}}': `sluice:liabilities{${ON_CHAIN}}` },
    },
    {
      title: 'Held and not owed',
      description: 'Must not be negative.',
      runbook: 'treasury',
      queries: { '{{chain}} {{asset}}': `sluice:treasury_balance{${ON_CHAIN}} - sluice:liabilities{${ON_CHAIN}}` },
    },
    {
      title: 'Held by wallet',
      description: 'hot pays cashouts, held keeps what screening flagged, funding brings gas, deposit waits to be swept.',
      runbook: 'treasury',
      queries: { '{{chain}} {{asset}} {{wallet}}': `max by (chain, asset, wallet) (sluice_treasury_onchain_balance{${ON_CHAIN}})` },
    },
    {
      title: 'Hot wallet between its limits',
      description: 'Of assets whose excess goes to cold storage: above the ceiling it does, below the floor a refill is due.',
      runbook: 'cold-storage',
      queries: {
        '{{chain}} {{asset}}': `max by (chain, asset) (sluice_hot_wallet_coins{${ON_CHAIN}}) or vector(0)`,
        '{{chain}} {{asset}} {{limit}}': `max by (chain, asset, limit) (sluice_hot_wallet_limit_coins{${ON_CHAIN}}) or vector(0)`,
      },
    },
    {
      title: 'In cold storage',
      description: 'Coins by the books: stored, and moving there in a block that is not final.',
      runbook: 'cold-storage',
      queries: { '{{chain}} {{asset}} {{state}}': `max by (chain, asset, state) (sluice_cold_storage_coins{${ON_CHAIN}}) or vector(0)` },
    },
    {
      title: 'Stopped by an issuer',
      description: 'Addresses that the issuer of a token does not let move it. Anything at hot or held stops the asset.',
      runbook: 'issuer',
      queries: { '{{chain}} {{asset}} {{wallet}}': `max by (chain, asset, wallet) (sluice_issuer_refusals{${ON_CHAIN}}) or vector(0)` },
    },
    {
      title: 'Gas left',
      description: 'Transfers a wallet still pays for at present fees. Fewer than 50 open a ticket.',
      runbook: 'gas',
      queries: { '{{chain}} {{wallet}}': `min by (chain, wallet) (sluice_wallet_gas_runway_transfers{${ON_CHAIN}})` },
    },
    {
      title: 'Outputs of the pools',
      description:
        'Outputs worth spending, where coins are outputs. Above 200 the small ones are joined while fees are low; above 1,000 for hours opens a ticket.',
      runbook: 'treasury',
      queries: { '{{chain}} {{pool}}': `max by (chain, pool) (sluice_pool_outputs{${ON_CHAIN}}) or vector(0)` },
    },
    {
      title: 'Sum of all entries',
      description: 'Per asset. Anything but 0 is an incident.',
      runbook: 'ledger',
      queries: { '{{asset}}': 'max by (asset) (abs(sluice_ledger_imbalance))' },
    },
    {
      title: 'Last audit',
      description: 'Seconds since the books were last checked; once a minute is normal.',
      runbook: 'ledger',
      unit: 's',
      queries: { age: 'time() - max(sluice_ledger_check_timestamp_seconds)' },
    },
    {
      title: 'Last whole audit',
      description: 'Seconds since the books were last checked as a whole, and not what changed alone; once a night is normal.',
      runbook: 'ledger',
      unit: 's',
      queries: { age: 'time() - max(sluice_ledger_whole_check_timestamp_seconds)' },
    },
    {
      title: 'Chain minus books',
      description: 'Coins that our addresses hold more than the books say. Negative: coins are missing.',
      runbook: 'reconciliation',
      queries: { '{{chain}} {{asset}}': `min by (chain, asset) (sluice_reconciliation_difference{${ON_CHAIN}})` },
    },
    {
      title: 'Last comparison with the chain',
      description: 'Seconds since; once a minute is normal.',
      runbook: 'reconciliation',
      unit: 's',
      queries: { '{{chain}}': `time() - max by (chain) (sluice_reconciliation_timestamp_seconds{${ON_CHAIN}})` },
    },
    {
      title: 'Coins nobody saw arrive',
      description: 'Addresses with native coins that no transfer explains.',
      runbook: 'unexplained-coins',
      queries: { '{{chain}}': `max by (chain) (sluice_unexplained_balances{${ON_CHAIN}})` },
    },
  ],
};
