-- The screening queue: payments that screening flagged, in one state, newest first.
-- older builds: ask for none of this; building it reads payments once and finds few.

create index payments_flagged on payments (aml_state, created_at desc, id desc) where aml_state is not null;
