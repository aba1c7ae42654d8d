-- Prices from public sources: what each source last said, and when it is asked again.

create table price_sources (
  name text primary key,
  next_at timestamptz not null default sluice_now(),
  failures int not null default 0,
  answered_at timestamptz,
  last_error text,
  failed_at timestamptz
);
comment on table price_sources is 'The public price sources this deployment asks; a worker claims one by moving next_at.';
comment on column price_sources.name is 'Name in the registry of sources.';
comment on column price_sources.next_at is 'Service time from which it may be asked again.';
comment on column price_sources.failures is 'Failures in a row; each lengthens the pause.';
comment on column price_sources.answered_at is 'Service time of the last usable answer.';
comment on column price_sources.last_error is 'What the last failure was.';
comment on column price_sources.failed_at is 'Service time of the last failure.';

create table price_quotes (
  source text not null references price_sources,
  symbol text not null,
  price unsigned_amount not null,
  quoted_in text not null,
  taken_at timestamptz not null,
  good_until timestamptz not null,
  standing boolean not null,
  primary key (source, symbol)
);
comment on table price_quotes is 'The latest quote of each source; `prices` holds what enough of them agree on.';
comment on column price_quotes.source is 'Who says so.';
comment on column price_quotes.symbol is 'Asset ticker, or `fiat:<CODE>` for a currency.';
comment on column price_quotes.price is 'Units of quoted_in for one unit.';
comment on column price_quotes.quoted_in is '`USD`, or the ticker whose dollar price is multiplied in.';
comment on column price_quotes.taken_at is 'Service time just before the source was asked.';
comment on column price_quotes.good_until is 'Service time from which the quote counts no more.';
comment on column price_quotes.standing is 'Whether it is a daily rate that holds until the next one.';
