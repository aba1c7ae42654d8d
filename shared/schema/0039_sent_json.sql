-- What a caller's own JSON looked like: jsonb keeps neither the order of keys nor every number as it was written.
-- older builds: neither write nor read it; they give back what jsonb made of it, as they always did.

create table sent_json (
  owner uuid not null,
  field text not null check (field in ('callbackParams', 'webhookParams', 'metadata')),
  document text not null,
  primary key (owner, field)
);
comment on table sent_json is 'Free-form JSON that callers store with a payment or a cashout, to be echoed as it was sent (contract 2.8).';
comment on column sent_json.owner is 'Id of the payment or the settlement.';
comment on column sent_json.field is 'Name of the field in the request.';
comment on column sent_json.document is 'The JSON as it was sent, without the space between its tokens.';
create trigger sent_json_append_only before update or delete on sent_json for each row execute function refuse_change();
create trigger sent_json_never_emptied before truncate on sent_json for each statement execute function refuse_change();
