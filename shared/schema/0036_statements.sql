-- What the http role accepted, signed with a key that no other process has: the signer believes nothing else about what it is to pay.
-- older builds: know neither the table nor what it is for.

create table statements (
  id bigint generated always as identity primary key,
  kind text not null check (length(kind) between 1 and 40),
  subject text not null check (length(subject) between 1 and 200),
  said text not null,
  public_key text not null check (public_key ~ '^[0-9a-f]{64}$'),
  signature bytea not null check (octet_length(signature) = 64),
  made_at timestamptz not null default sluice_now()
);
comment on table statements is 'Append-only: decisions that came in over HTTP (cashouts, approvals, refunds, what two people agreed on), signed by the process that accepted them (decision 0036).';
comment on column statements.id is 'Order in which they were written; of several about one thing its reader says which count.';
comment on column statements.kind is 'What sort of thing is said, such as cashout; a copy for finding it, the signed words count.';
comment on column statements.subject is 'Id of what it is about; a copy for finding it, the signed words count.';
comment on column statements.said is 'The words that are signed: a JSON array of version, kind, subject and every field by name.';
comment on column statements.public_key is 'Public half of the Ed25519 key it was signed with, in hexadecimal: tells which keys are still needed.';
comment on column statements.signature is 'Ed25519 signature over those words (RFC 8032).';
comment on column statements.made_at is 'Service time.';
create index statements_subject on statements (subject, kind);
create trigger statements_append_only before update or delete on statements for each row execute function refuse_change();
