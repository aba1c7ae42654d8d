-- Large deposits that a second provider has not confirmed yet.

alter table deposits add column doubted_since timestamptz;
comment on column deposits.doubted_since is 'Since when a final deposit of some value waits for a second provider to confirm it; null while it needs none or has it (reliability D9).';

alter table deposits add column doubt text check (doubt in ('unreachable', 'disputed', 'unseen'));
comment on column deposits.doubt is 'Why it waits, as of the last time somebody was asked. unreachable: fewer than two providers tell of it as final; disputed: one tells otherwise; unseen: the other provider does not show what contracts pass on.';
