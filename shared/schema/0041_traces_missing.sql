-- Networks of which no endpoint shows what contracts pass on: their own coin is not offered (decision 0042).

alter table networks add column traces_missing_since timestamptz;
comment on column networks.traces_missing_since is 'Since when no endpoint traces and the operator did not accept it, service time: the native coin is not offered; null while it is.';
