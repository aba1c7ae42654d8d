-- Whether codes of tokens hold an amount is the gateway's decision; those that never made one keep the address alone.

update gateways
set settings = jsonb_set(settings, '{branding}', coalesce(nullif(settings -> 'branding', 'null'), '{}') || '{"qrMode": "SAFE"}')
where settings -> 'branding' -> 'qrMode' is null;
