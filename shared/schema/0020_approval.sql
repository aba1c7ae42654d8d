-- Approving with an authenticator, signatures that were used, and the comparison of the books with the chains.

create table totp_guards (
  gateway_id uuid primary key references gateways,
  failures int not null default 0 check (failures >= 0),
  locked_until timestamptz
);
comment on table totp_guards is 'Wrong authenticator codes of a gateway; counted in a transaction of their own, so that a refused approval cannot take them back. Its lock lets one code be tried at a time.';
comment on column totp_guards.gateway_id is 'The account: a gateway has one authenticator (decisions 10).';
comment on column totp_guards.failures is 'Wrong codes since the last accepted one, or since the last lock ended.';
comment on column totp_guards.locked_until is 'Service time until which no code is looked at; null before the first lock, and after an accepted code.';

create table totp_acceptances (
  secret_id uuid not null references gateway_secrets,
  step bigint not null,
  settlement_id uuid not null references settlements,
  accepted_at timestamptz not null default now(),
  primary key (secret_id, step)
);
comment on table totp_acceptances is 'Every code that approved something; the key is what keeps a time step from being accepted twice.';
comment on column totp_acceptances.secret_id is 'The authenticator it came from; a new one starts anew.';
comment on column totp_acceptances.step is 'Time step of RFC 6238: Unix seconds divided by 30, rounded down.';
comment on column totp_acceptances.settlement_id is 'What it approved.';
comment on column totp_acceptances.accepted_at is 'When, by the database clock.';
create trigger totp_acceptances_append_only before update or delete on totp_acceptances for each row execute function refuse_change();

create table used_signatures (
  gateway_id uuid not null references gateways,
  signature bytea not null,
  used_at timestamptz not null default clock_timestamp(),
  primary key (gateway_id, signature)
);
comment on table used_signatures is 'Signatures of cashout requests of the last minutes; none can be valid longer than it is remembered (decisions 8).';
comment on column used_signatures.gateway_id is 'Whose request it was.';
comment on column used_signatures.signature is 'The HMAC itself, so that writing it in another case is no other signature.';
comment on column used_signatures.used_at is 'When it was first used, by the wall clock of the database.';
create index used_signatures_used on used_signatures (used_at);

create table reconciliations (
  asset_id uuid primary key references assets,
  height bigint not null,
  difference ledger_amount not null,
  short_since bigint,
  accepted_shortage unsigned_amount not null default 0,
  read_at timestamptz not null default sluice_now()
);
comment on table reconciliations is 'The last comparison of what the books say all our addresses hold of an asset with what the chain says (A14).';
comment on column reconciliations.asset_id is 'The asset.';
comment on column reconciliations.height is 'The applied block both sides were taken at.';
comment on column reconciliations.difference is 'What the chain says minus what the books say; below zero, coins are missing.';
comment on column reconciliations.short_since is 'Block of the first of an unbroken run of readings that miss coins; null while none are missing beyond what was accepted.';
comment on column reconciliations.accepted_shortage is 'How much may be missing because an operator lifted the freeze by force, knowing it.';
comment on column reconciliations.read_at is 'Service time of the reading.';

alter table networks add column outgoing_reviewed bigint not null default 0;
comment on column networks.outgoing_reviewed is 'The latest sighting of a transaction from an address of ours that the books did not know and for which dispatch was frozen; an operator who lifts the freeze is not stopped by it again (A15).';

create table database_epochs (
  only_row boolean primary key default true check (only_row),
  system_identifier text not null,
  timeline text not null,
  noticed text,
  noticed_at timestamptz
);
comment on table database_epochs is 'The history of this database that dispatch trusts: a restore or a failover begins another one, and may have lost what was signed (reliability D16).';
comment on column database_epochs.only_row is 'There is one row.';
comment on column database_epochs.system_identifier is 'The cluster, as Postgres names it.';
comment on column database_epochs.timeline is 'Its timeline, as in the names of its log files.';
comment on column database_epochs.noticed is 'The other history that was found last, as cluster and timeline; null when none ever was.';
comment on column database_epochs.noticed_at is 'Service time at which that one was found.';
insert into database_epochs (system_identifier, timeline)
  select system_identifier::text, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) from pg_control_system();
