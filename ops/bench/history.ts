import type { Tx } from '#shared/platform/postgres.ts';

/** How much of a seeded history is not done yet: the same whatever its size, as it is in a deployment that keeps up. */
const RECENT = 500;
/**
 * Of how many of the last payments some wait for a decision of screening: those before were decided about, as in a deployment that keeps up. Only those
 * also brought outputs of Bitcoin that lie there for ever, dust and what is nobody's: what grows with them is not to be taken for what grows with history.
 */
const DECIDED_ABOUT = 5_000;
/** Payments whose credits one cashout of a gateway and asset draws. */
const PER_CASHOUT = 250;
/** Bytes of a PSBT (BIP-174) up to its first input: mark, key of the unsigned transaction, its length, version, one input. */
const PSBT_HEAD = '70736274ff010064020000' + '0001';
/** Stands for an account that is no gateway's or no cashout's; nobody has this id. */
const NONE = '00000000-0000-0000-0000-000000000000';

const ASSETS = `
  (values
    ('usdt-evm', 'ethereum', 'USDT', 'ERC20', '0xdac17f958d2ee523a2206206994597c13d831ec7', 6, 1::numeric),
    ('usdt-tron', 'tron', 'USDT', 'TRC20', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 6, 1),
    ('eth', 'ethereum', 'ETH', 'NATIVE', null, 18, 2000),
    ('trx', 'tron', 'TRX', 'NATIVE', null, 6, 0.25),
    ('btc', 'bitcoin', 'BTC', 'NATIVE', null, 8, 50000)) as a (key, network, symbol, type, contract, decimals, usd)`;

/**
 * Writes what a deployment holds that took `payments` payments over three networks and four gateways: most of them paid, credited,
 * matured, swept and cashed out long ago, a few flagged, late, dust or unpaid, the last ones open. Its audit is clean. For an empty,
 * migrated database and a superuser, as triggers are passed over.
 */
export async function writeHistory(tx: Tx, payments: number): Promise<void> {
  await tx`set local session_replication_role = replica`;
  await tx`set local work_mem = '512MB'`;
  await tx`set local maintenance_work_mem = '1GB'`;
  const indexes = await dropIndexes(tx);
  for (const statement of statementsOf(payments)) await tx.unsafe(statement);
  for (const definition of indexes) await tx.unsafe(definition);
}

/** Takes away every index that is no constraint's, and returns how each was made, in the order of their making, which decides between two that cost the same: filled row by row, they take longer than everything else. */
async function dropIndexes(tx: Tx): Promise<string[]> {
  const indexes = await tx<{ name: string; definition: string }[]>`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i join pg_class c on c.oid = i.indrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid)
    order by i.indexrelid`;
  for (const { name } of indexes) await tx.unsafe(`drop index ${name}`);
  return indexes.map(({ definition }) => definition);
}

const idOf = (what: string, key: string): string => `md5('${what} ' || ${key})::uuid`;

function statementsOf(payments: number): string[] {
  return [...places(payments), ...paid(payments), ...books(), ...sweeps(payments), ...cashouts(payments), ...closing()];
}

/** Networks, assets, wallets, gateways and what is told of each chain. */
function places(payments: number): string[] {
  const tip = payments + 2_000;
  return [
    `insert into networks (id, name, family, chain_id, native_symbol)
     select ${idOf('network', 'n.name')}, n.name, n.family, n.chain_id, n.symbol
     from (values ('ethereum', 'evm', '1', 'ETH'), ('tron', 'tron', 'tron', 'TRX'), ('bitcoin', 'bitcoin', 'bitcoin', 'BTC')) as n (name, family, chain_id, symbol)`,
    `insert into assets (id, network_id, symbol, name, type, contract, decimals)
     select ${idOf('asset', 'a.key')}, ${idOf('network', 'a.network')}, a.symbol, a.symbol, a.type, a.contract, a.decimals from ${ASSETS}`,
    `insert into prices (symbol, usd, source, at) select distinct a.symbol, a.usd, 'bench', sluice_now() from ${ASSETS}`,
    `insert into wallets (id, network_id, role, address, derivation_path)
     select ${idOf('wallet', "n.name || ' ' || r.role")}, n.id, r.role, n.name || '-' || r.role, 'm' from networks n, (values ('hot'), ('held'), ('funding')) as r (role)`,
    `insert into gateways (id, name, status, billing, settings)
     select ${idOf('gateway', 'g')}, 'shop ' || g, 'VERIFIED', case g when 4 then 'MONTHLY' else 'STANDARD' end, '{}' from generate_series(1, 4) g`,
    `insert into chain_tips (network_id, height, hash, block_time, safe_height, final_height, head_height, epoch, seq)
     select id, ${tip}, name || ' tip', sluice_now(), ${tip}, ${tip - 5}, ${tip}, 1, 1 from networks`,
    `insert into chain_blocks (network_id, height, hash, parent_hash, block_time, canonical) select id, ${tip}, name || ' tip', 'before', sluice_now(), true from networks`,
  ];
}

/** Payments up to their deposits, with what was sighted and told. Those that are open stay so for as long as millions of rows take to be written. */
function paid(payments: number): string[] {
  const open = Math.min(200, Math.ceil(payments / 10));
  return [
    `create unlogged table history as
     select i, ${idOf('payment', 'i')} as payment, ${idOf('deposit', 'i')} as deposit, ${idOf('address', 'i')} as address_id, g.gateway, g.id as gateway_id,
       a.key, ${idOf('asset', 'a.key')} as asset_id, a.network, ${idOf('network', 'a.network')} as network_id, a.symbol, a.contract, a.decimals, a.usd,
       s.status, s.deposited, case when s.flagged then 'held' else 'green' end as pool, a.network || '-' || encode(sha256(('address ' || i)::bytea), 'hex') as address,
       encode(sha256(('deposit ' || i)::bytea), 'hex') as txid, 1000 + i as height, m.gross, m.fee, m.fee as commission,
       m.gross - m.fee - case g.gateway when 4 then 0 else m.fee end as net, g.gateway = 4 as borne, i / ${PER_CASHOUT} as bucket,
       case s.status when 'PENDING' then sluice_now() - interval '5 minutes' else sluice_now() - interval '2 hours' - (${payments} - i) * interval '20 seconds' end as created_at
     from generate_series(1, ${payments}) i
       cross join lateral (select case when i % 10 < 4 then 'usdt-evm' when i % 10 < 7 then 'usdt-tron' when i % 10 < 8 then 'eth' else 'btc' end as key) k
       join ${ASSETS} on a.key = k.key
       cross join lateral (select case when i % 100 < 70 then 1 when i % 100 < 90 then 2 when i % 100 < 95 then 3 else 4 end as gateway) n
       cross join lateral (select n.gateway, ${idOf('gateway', 'n.gateway')} as id) g
       cross join lateral (select n.kind, n.kind in (1, 4) and a.network = 'bitcoin' and i <= ${payments - DECIDED_ABOUT} as lies from (select (i / 10) % 25 as kind) n) c
       cross join lateral (
         select case when i > ${payments - open} then 'PENDING' when c.kind in (0, 1, 4) then 'EXPIRED' when c.kind = 2 then 'MISMATCH' when c.kind = 3 then 'ACCEPTABLE' else 'SUCCESS' end as status,
           case when i > ${payments - open} or c.kind = 0 or c.lies then null when c.kind = 1 then 'dust' when c.kind = 4 then 'unallocated' else 'credited' end as deposited,
           i % 97 = 5 and c.kind > 1 and c.kind <> 4 and i <= ${payments - open} and i > ${payments - DECIDED_ABOUT} as flagged) s
       cross join lateral (
         select round((case c.kind when 1 then 0.5 when 2 then 60 when 3 then 99 else 100 end) / a.usd, least(a.decimals, 8)) as gross, round(1 / a.usd, least(a.decimals, 8)) as fee) m`,
    'create unique index on history (i)',
    'create index on history (gateway, key, bucket)',
    'analyze history',
    `insert into payments (id, gateway_id, billing, status, checkout_mode, type, currency_code, amount, amount_usd, tx_fee_payer, commission_fee_payer, commission_bps,
       commission_minimum_usd, over_tolerance, under_tolerance, tolerance_kind, check_amount_deviation, webhook_url, timeout_seconds, grace_seconds, created_at, expires_at,
       selected_offer_id, resolved_at, deciding_deposit_id, judging_offer_id, received_asset_id, received_amount, received_amount_usd, deposit_path, aml_state)
     select payment, gateway_id, case when borne then 'MONTHLY' else 'STANDARD' end, status, 'HOSTED', 'DIRECT', 'USD', '100', 100, case when borne then 'PLATFORM' else 'MERCHANT' end,
       'MERCHANT', 100, 0, 1, 1, 'ABSOLUTE', true, case when gateway <> 3 then 'https://shop.example/hook' end, 3600, 86400, created_at,
       created_at + case status when 'PENDING' then interval '1 day' else interval '1 hour' end, ${idOf('offer', "i || ' ' || key")}, case when status <> 'PENDING' then created_at + interval '10 minutes' end, case when deposited = 'credited' then deposit end,
       ${idOf('offer', "i || ' ' || key")}, case when deposited = 'credited' then asset_id end, case when deposited = 'credited' then gross end,
       case when deposited = 'credited' then round(gross * usd, 2) end, case when deposited = 'credited' then 'standard' end, case pool when 'held' then 'HELD' end
     from history order by i`,
    `insert into payment_offers (id, payment_id, asset_id, rank, price_usd, price_source, amount, tx_fee, commission_fee, total_value, network_fee, selected_at)
     select ${idOf('offer', "h.i || ' ' || a.key")}, h.payment, ${idOf('asset', 'a.key')}, 1, a.usd, 'bench', round(100 / a.usd, 8), 0, 0, round(100 / a.usd, 8), 0,
       case when a.key = h.key then h.created_at end
     from history h join ${ASSETS} on a.key in ('usdt-evm', 'usdt-tron', 'btc') or a.key = h.key order by h.i`,
    `insert into deposit_addresses (id, payment_id, network_id, family, derivation_index, address, created_at)
     select address_id, payment, network_id, case network when 'ethereum' then 'evm' else network end, i, address, created_at from history order by i`,
    `insert into watches (network_id, address, acked_epoch, watched_from, created_at, watch_until)
     select network_id, address, 1, height - 1, created_at, case when network = 'bitcoin' and deposited is not null then null else created_at + interval '90 days' end from history order by i`,
    `insert into sightings (network_id, kind, txid, ordinal, height, block_hash, position, block_time, sender, recipient, contract, raw_amount, observed_at, booked_at)
     select network_id, case when contract is null then 'native' else 'token' end, txid, 0, height, network || ' ' || height, 0, created_at, 'payer ' || i, address, contract,
       trunc(gross * 10::numeric ^ decimals), created_at, created_at + interval '10 minutes' from history where deposited is not null order by i`,
    `insert into deposits (id, network_id, txid, kind, ordinal, address_id, payment_id, asset_id, sender, raw_amount, amount, height, block_hash, position, block_time, first_seen_at,
       state, final_at, usd_price, path, credit_id)
     select deposit, network_id, txid, case when contract is null then 'native' else 'token' end, 0, address_id, payment, asset_id, 'payer ' || i, trunc(gross * 10::numeric ^ decimals), gross,
       height, network || ' ' || height, 0, created_at, created_at + interval '5 minutes', deposited, created_at + interval '10 minutes', usd,
       case deposited when 'credited' then 'standard' end, case deposited when 'credited' then deposit end from history where deposited is not null order by i`,
    `insert into payment_events (payment_id, event, from_status, to_status, actor, at)
     select payment, e.event, e.was, coalesce(e.becomes, status), 'consumer', created_at
     from history, (values (1, 'CREATED', null, 'PENDING'), (2, 'RESOLVED', 'PENDING', null)) as e (turn, event, was, becomes) where e.turn = 1 or status <> 'PENDING' order by i, e.turn`,
    `insert into aml_events (payment_id, event, from_status, to_status, actor, at) select payment, 'FLAGGED', null, 'HELD', 'screening', created_at from history where pool = 'held' order by i`,
    `insert into webhook_events (id, payment_id, gateway_id, status, url, body, state, attempts, next_attempt_at, created_at, delivered_at)
     select ${idOf('webhook', 'i')}, payment, gateway_id, status, 'https://shop.example/hook', repeat('{"status":"SUCCESS"}', 30), 'delivered', 1, created_at, created_at, created_at
     from history where status <> 'PENDING' and gateway <> 3 order by i`,
    `insert into webhook_attempts (id, event_id, number, started_at, finished_at, result, http_status, duration_ms)
     select ${idOf('attempt', 'i')}, ${idOf('webhook', 'i')}, 1, created_at, created_at, 'delivered', 200, 20 from history where status <> 'PENDING' and gateway <> 3 order by i`,
    `insert into payment_references (gateway_id, digest, created_at, payment_id)
     select gateway_id, encode(substr(sha256(('order-' || i)::bytea), 1, 16), 'hex')::uuid, created_at, payment from history order by i`,
    `insert into idempotency_keys (gateway_id, operation, key, fingerprint, status, body, resource_id, created_at)
     select gateway_id, 'createPayment', 'order-' || i, sha256(i::text::bytea), 201, repeat('{"id":1}', 50), payment, created_at
     from history where i % 2 = 0 and created_at > sluice_now() - interval '90 days' order by i`,
  ];
}

/** Credits and the ledger of what was deposited. */
function books(): string[] {
  return [
    `insert into credits (id, gateway_id, asset_id, payment_id, pool, screening, screening_score, gross, network_fee, commission, net, remaining, credited_at, matures_at, mature_height,
       network_id, matured_at)
     select deposit, gateway_id, asset_id, payment, pool, case pool when 'held' then 'flagged' else 'none' end, case pool when 'held' then 90 end, gross, fee, commission, net, net,
       created_at, created_at, height, network_id, created_at + interval '10 minutes' from history where deposited = 'credited' order by i`,
    `insert into accruals (credit_id, gateway_id, payment_id, asset_id, coins, price_usd, usd, at)
     select deposit, gateway_id, payment, asset_id, fee, usd, round(fee * usd, 18), sluice_now() from history where deposited = 'credited' and borne order by i`,
    `create unlogged table postings (source_key text, kind text, at timestamptz, account text, asset_id uuid, gateway_id uuid, settlement_id uuid, amount numeric)`,
    `insert into postings
     select 'deposit:' || deposit, case deposited when 'credited' then 'credit' else deposited end, created_at, e.account, asset_id, case when e.own then gateway_id end, null, e.amount
     from history cross join lateral (
       values ('chain', false, -gross), (case deposited when 'credited' then null else 'unallocated' end, false, gross),
         (case when deposited <> 'credited' then null when pool = 'green' then 'pending' else 'heldPending' end, true, net), (case deposited when 'credited' then 'networkFee' end, false, fee),
         (case deposited when 'credited' then 'commission' end, false, commission), (case when deposited = 'credited' and borne then 'platformExpense' end, false, -fee)) as e (account, own, amount)
     where deposited is not null and e.account is not null`,
    `insert into postings
     select 'credit:' || deposit || ':mature', 'mature', created_at, e.account, asset_id, gateway_id, null, e.amount
     from history cross join lateral (
       values (case pool when 'green' then 'pending' else 'heldPending' end, -net), (case pool when 'green' then 'available' else 'held' end, net)) as e (account, amount)
     where deposited = 'credited'`,
  ];
}

/** What brought the coins of credited deposits home, where they do not lie as outputs. */
function sweeps(payments: number): string[] {
  return [
    `create unlogged table swept as
     select *, address as sender, encode(sha256(('sweep ' || i)::bytea), 'hex') as sweep_txid, ${idOf('payout', "'sweep ' || i")} as payout, ${idOf('wallet', 'address')} as wallet_id,
       case network when 'ethereum' then 21000000000000 else 1000000 end as raw_fee
     from history where deposited = 'credited' and pool = 'green' and network <> 'bitcoin' and i <= ${payments - RECENT}`,
    `insert into wallets (id, network_id, role, address, derivation_path, next_nonce)
     select wallet_id, network_id, 'deposit', address, 'm/' || i, case network when 'ethereum' then 1 else 0 end from swept order by i`,
    `insert into payouts (id, network_id, wallet_id, purpose, status, asset_id, recipient, raw_amount, nonce, plan, txid, raw_fee, created_at, final_at)
     select payout, network_id, wallet_id, 'sweep', 'CONFIRMED', asset_id, network || '-hot', trunc(gross * 10::numeric ^ decimals) - case when contract is null then raw_fee else 0 end,
       case network when 'ethereum' then 0 end, jsonb_build_object('rawFee', raw_fee::text), sweep_txid, raw_fee, created_at, created_at from swept order by i`,
    `insert into payout_attempts (id, payout_id, number, txid, signed_bytes, fee_limit, created_at, expires_at)
     select ${idOf('bytes', "'sweep ' || i")}, payout, 1, sweep_txid, decode(repeat('ab', 110), 'hex'), raw_fee * 2, created_at, case network when 'tron' then created_at + interval '1 minute' end
     from swept order by i`,
    `insert into payout_events (payout_id, event, from_status, to_status, actor, at) select payout, 'FINAL', 'INCLUDED', 'CONFIRMED', 'consumer', created_at from swept order by i`,
    `insert into sightings (network_id, kind, txid, ordinal, height, block_hash, position, block_time, sender, recipient, contract, raw_amount, nonce, succeeded, raw_fee, observed_at, booked_at)
     select network_id, e.kind, sweep_txid, 0, height + 5, network || ' ' || height + 5, 1, created_at, address, case when e.kind <> 'sent' then network || '-hot' end,
       case when e.kind <> 'sent' then contract end, case when e.kind <> 'sent' then trunc(gross * 10::numeric ^ decimals) - case when contract is null then raw_fee else 0 end end,
       case when e.kind = 'sent' and network = 'ethereum' then 0 end, case when e.kind = 'sent' then true end, case when e.kind = 'sent' then raw_fee end, created_at, created_at
     from swept cross join lateral (values ('sent'), (case when contract is null then 'native' else 'token' end)) as e (kind) order by i`,
    gasOf('swept', 'sweep_txid', 'created_at'),
  ];
}

/** What transactions of ours cost, in the network's own coin. */
function gasOf(table: string, txid: string, at: string): string {
  return `insert into postings
    select 'gas:' || network_id || ':' || ${txid}, 'gas', ${at}, e.account, ${idOf('asset', "case network when 'ethereum' then 'eth' when 'tron' then 'trx' else 'btc' end")}, null, null, e.amount
    from ${table} cross join lateral (select raw_fee / 10::numeric ^ case network when 'ethereum' then 18 when 'tron' then 6 else 8 end as cost) c
      cross join lateral (values ('gas', -c.cost), ('chain', c.cost)) as e (account, amount)`;
}

/** Cashouts that drew all that a gateway had of an asset from some hundred payments. */
function cashouts(payments: number): string[] {
  return [
    `create unlogged table cashed as
     select c.*, ${idOf('settlement', 'c.name')} as id, ${idOf('payout', 'c.name')} as payout, encode(sha256(('cashout ' || c.name)::bytea), 'hex') as txid, c.amount - f.fee as net,
       f.fee as fee_locked, f.raw_fee, row_number() over (partition by c.network order by c.height, c.name) - 1 as nonce,
       sum(trunc((c.gross - c.amount + f.fee) * 10::numeric ^ c.decimals) - f.raw_fee) over (partition by c.network order by c.height, c.name) as change
     from (
       select gateway || ' ' || key || ' ' || bucket as name, gateway_id, asset_id, key, network, network_id, contract, decimals, bucket, gateway, max(height) + 10 as height,
         max(created_at) as at, sum(net) as amount, sum(gross) as gross, min(txid) as anchor_txid
       from history where deposited = 'credited' and pool = 'green' and bucket < ${Math.floor((payments - RECENT) / PER_CASHOUT)}
       group by gateway, gateway_id, asset_id, key, network, network_id, contract, decimals, bucket) c
       cross join lateral (
         select case c.key when 'eth' then 0.001 when 'btc' then 0.00002 else 1 end as fee, case c.network when 'ethereum' then 21000000000000 when 'tron' then 1000000 else 1000 end as raw_fee) f`,
    `create unlogged table drawn as
     select h.*, s.id as settlement_id, s.payout from history h join cashed s on s.gateway = h.gateway and s.key = h.key and s.bucket = h.bucket where h.deposited = 'credited' and h.pool = 'green'`,
    `insert into address_book (id, gateway_id, network_id, address, label, tag)
     select ${idOf('book', 'g.id || n.name')}, g.id, n.id, n.name || '-bank-' || g.name, 'bank', 'own' from gateways g, networks n`,
    `insert into settlements (id, gateway_id, asset_id, network_id, status, address_id, address, amount_text, amount, requested_route, pool, fee_locked, net_amount, received_amount, txid,
       created_at, settled_at)
     select s.id, s.gateway_id, s.asset_id, s.network_id, 'SETTLED', b.id, b.address, s.amount::text, s.amount, 'GREEN', 'green', s.fee_locked, s.net, s.net, s.txid, s.at, s.at
     from cashed s join address_book b on b.gateway_id = s.gateway_id and b.network_id = s.network_id`,
    `insert into settlement_events (settlement_id, event, from_status, to_status, actor, at)
     select id, 'PAID', 'PROCESSING', 'SETTLED', 'consumer', at from cashed`,
    `insert into settlement_fees (settlement_id, native_asset_id, locked, actual, at)
     select id, ${idOf('asset', "case network when 'ethereum' then 'eth' when 'tron' then 'trx' else 'btc' end")}, fee_locked,
       raw_fee / 10::numeric ^ case network when 'ethereum' then 18 when 'tron' then 6 else 8 end, at from cashed`,
    `insert into credit_draws (settlement_id, credit_id, amount, state) select settlement_id, deposit, net, 'spent' from drawn`,
    'update credits c set remaining = 0 from drawn d where d.deposit = c.id',
    `insert into payouts (id, network_id, wallet_id, purpose, settlement_id, status, asset_id, recipient, raw_amount, nonce, anchor, plan, txid, raw_fee, created_at, final_at)
     select s.payout, s.network_id, w.id, 'settlement', s.id, 'CONFIRMED', s.asset_id, t.address, trunc(s.net * 10::numeric ^ s.decimals), case s.network when 'ethereum' then s.nonce end,
       case s.network when 'bitcoin' then s.anchor_txid || ':0' end, jsonb_build_object('rawFee', s.raw_fee::text), s.txid, s.raw_fee, s.at, s.at
     from cashed s join wallets w on w.network_id = s.network_id and w.role = 'hot' join settlements t on t.id = s.id`,
    `update wallets w set next_nonce = n.next from (select network_id, max(nonce) + 1 as next from cashed where network = 'ethereum' group by 1) n where n.network_id = w.network_id and w.role = 'hot'`,
    `insert into payout_attempts (id, payout_id, number, txid, signed_bytes, fee_limit, created_at, expires_at)
     select ${idOf('bytes', 'name')}, payout, 1, txid, case network
         when 'bitcoin' then decode('${PSBT_HEAD}' || regexp_replace(reverse(anchor_txid), '(.)(.)', '\\2\\1', 'g') || '00000000' || repeat('00', 40), 'hex')
         else decode(repeat('ab', 110), 'hex') end, raw_fee * 2, at, case network when 'tron' then at + interval '1 minute' end
     from cashed`,
    `insert into payout_events (payout_id, event, from_status, to_status, actor, at) select payout, 'FINAL', 'INCLUDED', 'CONFIRMED', 'consumer', at from cashed`,
    `insert into sightings (network_id, kind, txid, ordinal, height, block_hash, position, block_time, sender, recipient, contract, raw_amount, nonce, succeeded, raw_fee, observed_at, booked_at)
     select s.network_id, e.kind, s.txid, e.ordinal, s.height, s.network || ' ' || s.height, 2, s.at, s.network || '-hot', e.recipient, case when e.kind = 'token' then s.contract end, e.raw,
       case when e.kind = 'sent' and s.network = 'ethereum' then s.nonce end, case when e.kind = 'sent' then true end, case when e.kind = 'sent' then s.raw_fee end, s.at, s.at
     from cashed s join settlements t on t.id = s.id cross join lateral (
       values ('sent', 0, null, null::numeric), (case when s.contract is null then 'native' else 'token' end, 0, t.address, trunc(s.net * 10::numeric ^ s.decimals)),
         (case s.network when 'bitcoin' then 'native' end, 1, 'bitcoin-hot', s.change)) as e (kind, ordinal, recipient, raw)
     where e.kind is not null`,
    ...['cashed', 'drawn', 'sightings'].map((table) => `analyze ${table}`),
    `insert into output_locks (network_id, txid, vout, payout_id, locked_at) select network_id, txid, 0, payout, created_at from drawn where network = 'bitcoin'`,
    // What comes back is spent by the next one.
    `insert into output_locks (network_id, txid, vout, payout_id, locked_at)
     select s.network_id, b.txid, 1, s.payout, s.at from cashed s join cashed b on b.network = s.network and b.nonce = s.nonce - 1 where s.network = 'bitcoin'`,
    `insert into spent_outputs (sighting_id, txid, vout)
     select g.id, b.txid, 1 from cashed s join cashed b on b.network = s.network and b.nonce = s.nonce - 1
       join sightings g on g.network_id = s.network_id and g.txid = s.txid and g.kind = 'sent' where s.network = 'bitcoin'`,
    `insert into spent_outputs (sighting_id, txid, vout)
     select g.id, d.txid, 0 from drawn d join cashed s on s.payout = d.payout join sightings g on g.network_id = s.network_id and g.txid = s.txid and g.kind = 'sent' where d.network = 'bitcoin'`,
    `insert into postings
     select 'settlement:' || id || ':' || e.step, e.step, at, e.account, asset_id, case when e.account in ('available', 'reserved') then gateway_id end, case e.account when 'reserved' then id end, e.amount
     from cashed cross join lateral (
       values ('reserve', 'available', -amount), ('reserve', 'reserved', amount), ('settle', 'reserved', -amount), ('settle', 'chain', net), ('settle', 'gas', fee_locked)) as e (step, account, amount)`,
    gasOf('cashed', 'txid', 'at'),
  ];
}

/** `is not distinct from` as an equation, which a hash join can use: every cashout has accounts of its own. */
const sameOrNone = (column: string): string => `coalesce(a.${column}, '${NONE}') = coalesce(p.${column}, '${NONE}')`;

/** The ledger from what was posted, and nothing left of how it was made. */
function closing(): string[] {
  return [
    `insert into ledger_accounts (asset_id, kind, gateway_id, settlement_id, balance)
     select asset_id, account, gateway_id, settlement_id, sum(amount) from postings group by 1, 2, 3, 4 order by 4 nulls first, 1, 2, 3`,
    'insert into ledger_transactions (source_key, kind, at) select source_key, min(kind), min(at) from postings group by source_key order by min(at), source_key collate "C"',
    'analyze postings',
    'analyze ledger_accounts',
    'analyze ledger_transactions',
    `insert into ledger_entries (transaction_id, account_id, asset_id, amount)
     select t.id, a.id, p.asset_id, sum(p.amount) from postings p join ledger_transactions t on t.source_key = p.source_key
       join ledger_accounts a on a.asset_id = p.asset_id and a.kind = p.account and ${sameOrNone('gateway_id')} and ${sameOrNone('settlement_id')}
     group by 1, 2, 3 order by 1`,
    `insert into tallies (list, gateway_id, status, count)
     select 'payments', gateway_id, status, count(*) from payments group by 2, 3
     union all select 'settlements', gateway_id, status, count(*) from settlements group by 2, 3
     union all select 'webhook_events', gateway_id, state, count(*) from webhook_events group by 2, 3
     union all select 'deposits', p.gateway_id, d.state, count(*) from deposits d join payments p on p.id = d.payment_id group by 2, 3`,
    `insert into lying_deposits (network_id, asset_id, address)
     select network_id, asset_id, address from history h where deposited = 'credited' and network <> 'bitcoin' and not exists (select 1 from swept s where s.i = h.i)`,
    `insert into lying_outputs (network_id, txid, vout, address, spendable)
     select network_id, txid, 0, address, deposited = 'credited' from history h where deposited is not null and network = 'bitcoin' and not exists (select 1 from drawn d where d.i = h.i)
     union all
     (select network_id, txid, 1, 'bitcoin-hot', true from cashed where network = 'bitcoin' order by nonce desc limit 1)`,
    `insert into kept_readings (asset_id, address, raw_amount, height)
     select distinct a.id, s.recipient, 0, 0 from sightings s join assets a on a.network_id = s.network_id and a.contract is not distinct from s.contract
       join networks n on n.id = s.network_id and n.family <> 'bitcoin'
     where s.kind <> 'sent' and exists (select 1 from deposit_addresses d where d.address = s.recipient)`,
    `insert into kept_sums (asset_id, raw_amount, version) select distinct asset_id, 0, 1 from kept_readings`,
    `insert into credit_tallies
     select gateway_id, asset_id, pool, matured_at is not null, sum(gross), sum(network_fee), sum(commission) from credits group by 1, 2, 3, 4`,
    `insert into day_figures (gateway_id, sandbox, day, made_on, what, count, amount, usd)
     select gateway_id, sandbox, utc_day(created_at), utc_day(created_at), 'created', count(*), 0, 0 from payments group by 1, 2, 3`,
    `insert into day_figures (gateway_id, sandbox, day, made_on, what, asset_id, count, amount, usd)
     select gateway_id, sandbox, utc_day(coalesce(resolved_at, created_at)), utc_day(created_at), 'received', received_asset_id, count(*), coalesce(sum(received_amount), 0),
       coalesce(sum(received_amount_usd), 0) from payments where received_asset_id is not null group by 1, 2, 3, 4, 6`,
    `insert into gateway_entries (gateway_id, transaction_id, account_id, at)
     select a.gateway_id, e.transaction_id, e.account_id, t.at
     from ledger_entries e join ledger_accounts a on a.id = e.account_id join ledger_transactions t on t.id = e.transaction_id where a.gateway_id is not null`,
    `insert into gateway_months (gateway_id, asset_id, month, kind, account, amount, entries, folded)
     select g.gateway_id, e.asset_id, date_trunc('month', t.at at time zone 'UTC')::date, t.kind, a.kind, sum(e.amount), count(*), true
     from ledger_entries e join ledger_accounts a on a.id = e.account_id join ledger_transactions t on t.id = e.transaction_id
       join (select distinct transaction_id, gateway_id from gateway_entries) g on g.transaction_id = e.transaction_id
     group by 1, 2, 3, 4, 5`,
    `insert into expense_months (gateway_id, month, billing, asset_id, coins, usd, lines, folded)
     select gateway_id, date_trunc('month', at at time zone 'UTC')::date, billing, asset_id, sum(coins), sum(usd), count(*), true from accruals group by 1, 2, 3, 4`,
    `insert into accruals_to_invoice (accrual_id, gateway_id, at) select id, gateway_id, at from accruals where billing = 'MONTHLY'`,
    `insert into address_uses (address_id, asset_id, cashouts, sent, first_at, last_at, folded)
     select address_id, asset_id, count(*), sum(received_amount), min(settled_at), max(settled_at), true from settlements where status = 'SETTLED' group by 1, 2`,
    'drop table history, swept, cashed, drawn, postings',
  ];
}
