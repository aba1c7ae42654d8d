/**
 * What each process may do in Postgres: the only place where it is said. `sluice db roles apply` grants exactly this, `sluice db roles`
 * compares, and tests hold it against the schema and against every statement that the processes run (decision 0035). Whoever adds a
 * table, or a statement that writes, adds a word here.
 */

/** The roles that logins are members of; each is a database role named `sluice_<role>` that nobody can log in as. */
export const DATABASE_ROLES = ['http', 'worker', 'signer', 'indexer', 'console', 'readonly'] as const;
export type DatabaseRole = (typeof DATABASE_ROLES)[number];

/** What a role that takes part in the work may do. */
interface Rights {
  /** Tables it reads, with all their columns. */
  reads: readonly string[];
  /** By table: `insert`, `delete`, and `update(…)` with every column it may change. */
  writes: Readonly<Record<string, string>>;
}

/**
 * `lockable` is a column that holds nothing and takes no value: Postgres asks whoever locks a row for the right to change some column
 * of it, and this one cannot be changed.
 */
export const WORKING_RIGHTS: Readonly<Record<'http' | 'worker' | 'signer' | 'indexer' | 'console', Rights>> = {
  http: {
    reads: words(`
      accepted_header_fields accruals accruals_to_invoice address_book address_uses adopted_transactions allowlist_entries aml_events aml_refund_credits aml_refunds api_key_makers api_keys assets
      authenticators backups chain_blocks chain_tips charge_draws charges clock_offset code_guards console_actions credit_draws credit_tallies credits currencies
      database_epochs day_changes day_figures deposit_addresses deposits expense_months export_parts exports freezes further_transfers gateway_entries gateway_months gateway_secrets
      gateways idempotency_keys identities indexer_leases invitations invoice_lines invoices issuer_refusals ledger_accounts ledger_entries ledger_transactions
      lying_deposits lying_outputs memberships mempool_deposits mempool_snapshots mempool_transactions networks opening_outputs operator_actions operator_proposals outbox
      gateway_logos
      export_columns monthly_exports notification_choices person_languages
      output_locks passkey_challenges passkeys payment_events payment_names payment_offers payment_references payment_steps payments payout_attempts payout_events
      payouts people person_notices pool_moves price_sources prices provider_sign_ins reconciliations recovery_codes refused_requests requests rescans roles sandbox_deposits
      policy_versions receipt_mails schema_migrations screening_credits screening_days screening_scores screenings sent_json sessions settlement_approvals settlement_events
      settlement_fees settlement_policies settlement_quotes settlements sightings sign_in_links signer_journal signer_reports
      spent_outputs statements tallies totp_acceptances totp_guards trace_contexts transfer_sums unexplained_balances unknown_outgoing used_signatures wallets watches
      member_proposals settlement_keys
      webhook_answers webhook_attempts webhook_events withheld_payouts withheld_transfer_credits withheld_transfers
    `),
    writes: {
      accepted_header_fields: 'insert',
      accruals: 'insert',
      address_book: 'insert update(added_at added_by changed_at changed_by hidden_at name)',
      adopted_transactions: 'insert',
      allowlist_entries: 'insert update(note) delete',
      aml_events: 'insert',
      aml_refund_credits: 'insert',
      aml_refunds: 'insert update(ended_at failure intent_mac status txid)',
      api_key_makers: 'insert',
      api_keys: 'insert update(allowlist expires_at hashed_under last_used_at last_used_from name revoked_at secret_hash)',
      assets: 'insert update(dust_floor minimum_settlement name network_fee symbol)',
      authenticators: 'insert update(confirmed_at ended_at last_step sealed sealed_under)',
      chain_tips: 'update(lockable)',
      charge_draws: 'insert',
      clock_offset: 'update(seconds)',
      code_guards: 'insert update(failures locked_until)',
      console_actions: 'insert',
      credit_draws: 'insert update(state)',
      credits: 'insert update(pool remaining taken)',
      currencies: 'update(active)',
      database_epochs: 'update(beat_at generation history noted_at)',
      deposit_addresses: 'insert',
      deposits: `
        insert update(address_id amount asset_id block_hash block_time claimed_by co_senders coinbase credit_id doubt doubted_since final_at
        first_seen_at height lost_at parts path payment_id position raw_amount sender state trace_context unproven usd_price waits_since)`,
      export_columns: 'insert update(columns) delete',
      exports: 'insert',
      freezes: 'insert update(lost_deposits) delete',
      further_transfers: 'insert',
      gateway_logos: 'insert delete',
      gateway_secrets: 'insert update(expires_at sealed sealed_under)',
      gateways: 'insert update(billing name settings status)',
      idempotency_keys: 'insert update(body resource_id status)',
      identities: 'insert update(used_at) delete',
      indexer_leases: 'update(epoch)',
      invitations: 'insert update(ended_at outcome)',
      ledger_accounts: 'insert update(balance)',
      ledger_entries: 'insert',
      ledger_transactions: 'insert',
      member_proposals: 'insert update(decided_at decided_by state)',
      memberships: 'insert update(ended_at)',
      mempool_transactions: 'update(ended_at replaced_by state)',
      networks: 'insert update(genesis_hash native_symbol paused_at)',
      monthly_exports: 'insert update(columns format) delete',
      notification_choices: 'insert delete',
      operator_actions: 'insert',
      operator_proposals: 'insert update(decided_at decided_by outcome status)',
      outbox: 'insert update(due_at failures state)',
      output_locks: 'insert update(released_at)',
      passkey_challenges: 'insert delete',
      passkeys: 'insert update(counter removed_at used_at)',
      payment_events: 'insert',
      payment_names: 'insert',
      payment_offers: 'insert update(selected_at)',
      payment_steps: 'insert',
      payments: `
        insert update(aml_state amount amount_usd deciding_deposit_id deposit_path deviation_usd expected_usd expires_at inquiry_attempts
        is_verified judging_offer_id received_amount received_amount_usd received_asset_id resolved_at selected_offer_id status verified_at)`,
      payout_events: 'insert',
      payouts: 'insert update(failure final_at plan raw_fee status txid)',
      people: 'insert',
      person_languages: 'insert update(language)',
      person_notices: 'insert',
      pool_moves: 'insert',
      prices: 'insert update(at source usd) delete',
      provider_sign_ins: 'insert delete',
      receipt_mails: 'insert',
      reconciliations: 'update(accepted_shortage short_since)',
      recovery_codes: 'insert update(used_at)',
      refused_requests: 'insert update(count last_at)',
      requests: 'insert delete',
      rescans: 'insert',
      sandbox_deposits: 'insert update(commission confirmations confirms_at final_at net network_fee path state usd_price)',
      screening_credits: 'insert update(credits granted)',
      screening_scores: 'insert update(score set_at)',
      sent_json: 'insert',
      sessions: 'insert update(ended_at seen_at)',
      settlement_events: 'insert',
      policy_versions: 'insert update(decided_at decided_by state)',
      settlement_approvals: 'insert',
      settlement_fees: 'insert',
      settlement_keys: 'insert',
      settlement_policies: 'insert update(people policy)',
      settlement_quotes: 'insert',
      settlements: `
        insert update(destination_risk_score dispatch_at fee_locked fee_payer hold_reason intent_mac net_amount order_mac pool received_amount
        routed_by_service settled_at status txid wait_reason)`,
      sign_in_links: 'insert update(ended_at) delete',
      sightings: 'insert update(booked_at canonical parts raw_amount)',
      spent_outputs: 'insert',
      statements: 'insert',
      totp_acceptances: 'insert',
      totp_guards: 'insert update(failures locked_until)',
      trace_contexts: 'insert',
      transfer_sums: 'insert delete',
      used_signatures: 'insert update(used_at)',
      wallets: 'insert update(halted_reason lockable next_nonce)',
      watches: 'insert',
      webhook_events: 'insert update(resend_requested_at state)',
      withheld_payouts: 'insert',
      withheld_transfer_credits: 'insert',
      withheld_transfers: 'insert update(ended_at failure intent_mac status txid)',
    },
  },
  worker: {
    reads: words(`
      accepted_header_fields accruals accruals_to_invoice address_book address_uses adopted_transactions aml_events aml_refund_credits aml_refunds assets audit_changes
      audit_marks audit_moves authenticators balance_looks blind_blocks canary chain_blocks chain_tips charge_draws charges clock_offset
      console_actions consumer_leases credit_draws credit_tallies credits currencies database_epochs day_changes day_figures deposit_addresses
      deposits expense_months export_parts exports freezes further_transfers gateway_entries gateway_months gateway_secrets gateways idempotency_keys indexer_leases invitations invoice_lines invoices
      issuer_refusals kept_readings kept_sums ledger_accounts ledger_entries ledger_transactions lying_deposits lying_outputs
      mempool_deposits mempool_snapshots mempool_transactions networks opening_outputs operator_actions outbox output_locks parked_messages payment_events
      payment_names payment_offers payment_steps payments payout_attempts payout_events payouts people person_notices pool_moves price_quotes price_sources prices provider_sign_ins reconciliations
      recovery_codes refused_requests requests rescans rewind_requests sandbox_deposits schema_migrations screening_credits screening_days screening_scores
      policy_versions receipt_mails screenings sent_json sessions settlement_events settlement_fees settlement_policies settlement_quotes settlements sightings sign_in_links
      memberships monthly_export_files monthly_exports notification_choices notification_marks notifications person_languages roles
      signer_reports spent_outputs statements tallies
      touched_holdings trace_contexts transfer_sums unexplained_balances unknown_outgoing used_signatures wallets watches webhook_answers webhook_attempts webhook_events
      withheld_payouts withheld_transfer_credits withheld_transfers
    `),
    writes: {
      accruals: 'insert',
      address_uses: 'insert delete',
      aml_events: 'insert',
      aml_refunds: 'update(ended_at failure intent_mac status txid)',
      audit_changes: 'delete',
      audit_marks: 'insert update(fingerprint history mac since whole_at) delete',
      audit_moves: 'delete',
      authenticators: 'update(sealed sealed_under) delete',
      balance_looks: 'insert update(explained_height height)',
      blind_blocks: 'insert delete',
      canary: 'insert update(attempted_at problem succeeded_at)',
      chain_blocks: 'insert update(canonical) delete',
      chain_tips: 'insert update(applied_at block_time epoch final_height hash head_height height safe_height seq)',
      charge_draws: 'insert',
      charges: 'insert',
      consumer_leases: 'insert update(expires_at fence holder)',
      credit_draws: 'insert update(state)',
      credit_tallies: 'insert delete',
      credits: 'insert update(matured_at pool remaining screening screening_score taken)',
      database_epochs: 'update(beat_at generation history noted_at system_identifier timeline)',
      day_changes: 'delete',
      day_figures: 'insert update(amount count usd)',
      deposits: `
        insert update(address_id amount asset_id block_hash block_time claimed_by co_senders coinbase credit_id doubt doubted_since final_at
        first_seen_at height lost_at parts path payment_id position raw_amount screening_ref screening_score sender state trace_context unproven
        usd_price waits_since)`,
      export_parts: 'insert delete',
      expense_months: 'insert delete',
      exports: 'insert update(byte_count ended_at failures place problem row_count state worked_at) delete',
      freezes: 'insert update(lost_deposits) delete',
      gateway_months: 'insert delete',
      gateway_secrets: 'update(sealed sealed_under)',
      gateways: 'update(lockable)',
      idempotency_keys: 'delete',
      indexer_leases: 'update(epoch)',
      invitations: 'delete',
      invoice_lines: 'insert',
      invoices: 'insert',
      issuer_refusals: 'insert update(looked_at stopped_at) delete',
      kept_readings: 'insert update(height raw_amount read_at) delete',
      kept_sums: 'insert update(raw_amount version)',
      ledger_accounts: 'insert update(balance)',
      ledger_entries: 'insert',
      ledger_transactions: 'insert',
      mempool_deposits: 'insert update(first_seen_at)',
      mempool_snapshots: 'insert update(applied_at epoch seq taken_at)',
      mempool_transactions: 'insert update(ended_at first_seen_at replaced_by state) delete',
      monthly_export_files: 'insert delete',
      monthly_exports: 'delete',
      networks: 'update(genesis_hash outgoing_reviewed traces_missing_since trusted_generation)',
      notification_choices: 'delete',
      notification_marks: 'insert update(place)',
      notifications: 'insert update(mail_id sent_at taken_at) delete',
      opening_outputs: 'insert',
      operator_actions: 'insert',
      outbox: 'insert update(claimed_until claims due_at failures handed_until last_error state) delete',
      output_locks: 'insert update(released_at)',
      parked_messages: 'insert delete',
      payment_events: 'insert',
      payments: `
        update(aml_state amount amount_usd deciding_deposit_id deposit_path deviation_usd expected_usd expires_at judging_offer_id received_amount
        received_amount_usd received_asset_id resolved_at status)`,
      payout_events: 'insert',
      payouts: 'insert update(anchor failure final_at nonce plan raw_amount raw_fee status txid)',
      person_notices: 'delete',
      pool_moves: 'insert',
      price_quotes: 'insert update(good_until price quoted_in standing taken_at)',
      price_sources: 'insert update(answered_at failed_at failures last_error next_at)',
      prices: 'insert update(at source usd)',
      provider_sign_ins: 'delete',
      receipt_mails: 'delete',
      reconciliations: 'insert update(accepted_shortage difference height read_at short_since)',
      recovery_codes: 'delete',
      refused_requests: 'delete',
      requests: 'delete',
      rescans: 'insert update(finished_at found next_height problem to_height)',
      rewind_requests: 'insert',
      sandbox_deposits: 'update(commission confirmations confirms_at final_at net network_fee path state usd_price)',
      screening_credits: 'insert update(credits)',
      screening_days: 'delete',
      screenings: 'insert update(asked_at attempt categories credit decided_at leased_until problem provider_ref sanctioned score source state)',
      settlement_events: 'insert',
      settlement_fees: 'insert',
      settlement_policies: 'insert update(people policy)',
      settlement_quotes: 'insert',
      settlements: `
        update(check_at destination_risk_score dispatch_at fee_locked fee_payer hold_reason intent_mac net_amount order_mac pool received_amount
        routed_by_service settled_at status txid wait_reason)`,
      sessions: 'delete',
      sign_in_links: 'delete',
      sightings: 'insert update(booked_at canonical parts raw_amount)',
      spent_outputs: 'insert',
      tallies: 'insert delete',
      touched_holdings: 'delete',
      trace_contexts: 'insert',
      transfer_sums: 'insert delete',
      unexplained_balances: 'insert update(raw_amount resolved_at to_height)',
      used_signatures: 'delete',
      wallets: 'insert update(halted_reason lockable next_nonce)',
      watches: 'update(acked_epoch watch_until watched_from)',
      webhook_answers: 'insert delete',
      webhook_attempts: 'insert update(duration_ms finished_at http_status result)',
      webhook_events: 'insert update(attempts delivered_at next_attempt_at resend_requested_at state)',
      withheld_payouts: 'insert',
      withheld_transfer_credits: 'insert',
      withheld_transfers: 'update(ended_at failure intent_mac status txid)',
    },
  },
  signer: {
    reads: words(`
      accepted_header_fields address_book adopted_transactions aml_refunds assets chain_blocks chain_tips charge_draws charges clock_offset credit_draws credits database_epochs
      deposit_addresses deposits freezes issuer_refusals ledger_accounts lying_deposits lying_outputs networks opening_outputs output_locks payments payout_attempts payout_events
      payouts pool_moves prices schema_migrations sent_json settlement_events settlement_policies settlements sightings signer_journal signer_reports spent_outputs statements trace_contexts
      transfer_sums wallets watches
      webhook_events withheld_payouts withheld_transfers
    `),
    writes: {
      freezes: 'insert update(lost_deposits)',
      outbox: 'insert',
      payout_attempts: 'insert',
      payout_events: 'insert',
      payouts: 'update(failure status)',
      settlement_events: 'insert',
      settlements: 'update(status wait_reason)',
      signer_journal: 'insert update(hash journal_id moved_at seq)',
      signer_reports: 'insert update(reason reported_at state unknown)',
      wallets: 'update(lockable)',
    },
  },
  indexer: {
    reads: words(`
      accepted_header_fields assets chain_blocks chain_tips clock_offset indexer_leases networks rescans rewind_requests schema_migrations watches
    `),
    writes: {
      indexer_leases: 'insert update(caught_up_at epoch expires_at holder published_height reading rereading)',
      rescans: 'update(problem)',
    },
  },
  console: {
    // Besides, what people may read of everything else. What says who somebody is, the http role writes (decision 0064).
    reads: words('clock_offset console_actions gateways invitations memberships passkeys people roles schema_migrations sessions sign_in_links'),
    writes: { sessions: 'update(seen_at)' },
  },
};

/** What people and their tools do not get to read: hashes of keys, sealed secrets, keyed proofs, bytes that are ready to be sent. */
export const UNREADABLE: Readonly<Record<string, readonly string[]>> = {
  aml_refunds: ['intent_mac'],
  api_keys: ['secret_hash'],
  audit_marks: ['mac'],
  authenticators: ['sealed'],
  gateway_secrets: ['sealed'],
  invitations: ['token_hash'],
  idempotency_keys: ['fingerprint', 'body'],
  operator_proposals: ['mac'],
  passkey_challenges: ['hash'],
  provider_sign_ins: ['state_hash', 'browser_hash'],
  payout_attempts: ['signed_bytes'],
  payouts: ['plan'],
  receipt_mails: ['address_hash'],
  recovery_codes: ['code_hash'],
  sessions: ['token_hash'],
  sign_in_links: ['token_hash'],
  settlements: ['intent_mac', 'order_mac'],
  used_signatures: ['signature'],
  withheld_transfers: ['intent_mac'],
};

/** Sequences that are not the counter of one table, with who draws from them and moves them on after a restore. */
export const SEQUENCE_RIGHTS: Readonly<Record<string, readonly DatabaseRole[]>> = {
  derivation_index_evm: ['http', 'worker'],
  derivation_index_tron: ['http', 'worker'],
  derivation_index_bitcoin: ['http', 'worker'],
};

/** Tables whose rows stay as they were written: nobody may change, delete or empty them, and triggers refuse it to their owner too. */
export const APPEND_ONLY = words(`
  accruals adopted_transactions aml_events charge_draws charges console_actions further_transfers invoice_lines invoices ledger_entries ledger_transactions
  opening_outputs operator_actions payment_events payout_attempts payout_events sent_json settlement_events settlement_fees spent_outputs statements
  totp_acceptances
`);

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
