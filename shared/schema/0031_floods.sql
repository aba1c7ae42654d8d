-- A flood shrinks: what an indexer reads is remembered, so that the next life reads less of it, and thousands of transfers of one asset to
-- one address in one block are one row, whose parts lie packed beside it (decision 0030).

alter table indexer_leases
  add column reading jsonb,
  add column rereading jsonb;
comment on column indexer_leases.reading is 'What is being read: {from, to, deaths, by}, written before it is read. Still there under another holder, it is what that process ended on; deaths counts the lives that did. Null before the first reading, and after a stop in good order.';
comment on column indexer_leases.rereading is 'The same of blocks that an operator has read again.';
comment on table indexer_leases is 'Who may write a network''s stream and what it is reading; the only table an indexer writes.';
