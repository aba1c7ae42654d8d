-- What a gateway may have sent again all at once: webhooks that nobody tries any more, the oldest first.
-- older builds: ask for none of this; building it reads webhooks once and finds few.

create index webhook_events_undelivered on webhook_events (gateway_id, state, created_at, id)
  where state in ('exhausted', 'stopped') and resend_requested_at is null;
