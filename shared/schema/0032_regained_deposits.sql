-- A freeze that only a reorganisation made, because it took booked deposits back, ends by itself once every one of them is final again.
-- older builds: leave the column empty, and what they froze is lifted by an operator, as before.

alter table freezes add column lost_deposits uuid[];
comment on column freezes.lost_deposits is 'The booked deposits that a reorganisation took back, when nothing else froze the scope: once all of them are final again as they were, it is lifted by itself (decision 0031). Null for every other freeze.';
