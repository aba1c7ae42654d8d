-- Keys that change while everything runs, and who made a change through the operator API.
-- older builds: the three indexes are on tables of some thousand rows, and the trigger refuses what no build does.

alter table gateway_secrets add column sealed_under text;
comment on column gateway_secrets.sealed_under is 'Id of the master key it opens under; null when whoever sealed it did not say, and the worker finds out (decision 0026).';
create index gateway_secrets_sealed_under on gateway_secrets (sealed_under);

alter table api_keys add column hashed_under text;
comment on column api_keys.hashed_under is 'Id of the pepper in its hash; null until it is used, when whoever made it did not say (decision 0026).';

alter table operator_actions add column actor text;
alter table operator_actions add column client_ip text;
alter table operator_actions add column token text;
alter table operator_actions add column request_id text;
comment on column operator_actions.actor is 'Who it was, as the caller said; null when nothing was said. The token is the only proof.';
comment on column operator_actions.client_ip is 'Address the call came from; null for what the service did by itself.';
comment on column operator_actions.token is 'Which operator token it was made with: current, or previous while it is changed.';
comment on column operator_actions.request_id is 'The call in the logs.';
create index operator_actions_target on operator_actions (target, id desc);
create index operator_actions_action on operator_actions (action, id desc);
create trigger operator_actions_never_emptied before truncate on operator_actions for each statement execute function refuse_change();
