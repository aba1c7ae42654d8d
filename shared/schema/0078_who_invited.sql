-- Who made a link to a gateway or the deployment: it works while they could make it.
-- older builds: note nobody, so that their links work as before, and let links in whoever made them.

alter table invitations add column invited_by uuid references people;
comment on column invitations.invited_by is 'The person who made it, without whose right to make it the link works no more; null when a command or a service did.';
