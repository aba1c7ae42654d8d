-- What operators look for in their lists, each by an index: deposits in order of time and by who sent them, cashouts by destination and transaction, jobs that
-- failed, gateways by name, and the audit log by time (decision 0069).
-- older builds: write these rows as before; the indexes keep their writers out while they are built.

create index deposits_newest on deposits (first_seen_at desc, id desc);
create index deposits_set_aside on deposits (state, first_seen_at desc, id desc) where state in ('dropped', 'dust', 'unallocated');
create index deposits_sender on deposits (sender, first_seen_at desc, id desc);
create index unexplained_balances_newest on unexplained_balances (found_at desc, id desc) where resolved_at is null;

create index settlements_address on settlements (address, created_at desc, id desc);
create index settlements_txid on settlements (txid) where txid is not null;

create index outbox_dead on outbox (due_at, id) where state = 'dead';
create index outbox_retrying on outbox (due_at, id) where state = 'due' and last_error is not null;

create index gateways_newest on gateways (created_at desc, id desc);
create index gateways_name on gateways (lower(name) text_pattern_ops);

create index operator_actions_at on operator_actions (at desc, id desc);
create index operator_actions_action_at on operator_actions (action, at desc, id desc);
create index operator_actions_target_at on operator_actions (target, at desc, id desc);
create index operator_actions_person_at on operator_actions (person, at desc, id desc) where person is not null;
create index operator_actions_request on operator_actions (request_id) where request_id is not null;

create index operator_proposals_target on operator_proposals (target, created_at desc, id desc);
