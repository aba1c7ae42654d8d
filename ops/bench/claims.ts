import { randomUUID } from 'node:crypto';
import { runAudit } from '#api/audit/run-audit.ts';
import { merchant, type Merchant, operator } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { parseTrusted } from '#shared/core/money.ts';
import type { Database, Sql } from '#shared/platform/postgres.ts';
import { type Bench, type Found, median, ratio, rounded } from './bench.ts';
import { evmOnly } from './http.ts';
import type { Load, Loaded } from './load.ts';
import { cpuSince, readCpu, usageOf } from './machine.ts';
import { type ApiProcess, SECRETS, type Stage } from './stage.ts';
import { type Requested, replay } from './statements.ts';
import { addressOfPayment, openToldChain } from './told-chain.ts';

/** Those who claim at the same time, through the api as well as by the one statement: as many as the api has connections for transactions. */
const CLIENTS = 20;
const ROUNDS = { tiny: 1, full: 5 };
const SECONDS = { tiny: 0.4, full: 3 };
/** What lies on the one balance, and what each claim takes of it. */
const [BALANCE, CLAIM] = ['10000000', '2'];
const DESTINATION = '0x00000000000000000000000000000000000000ff';
/** Slower than this tells more of the hypervisor than of us. */
const MOST_STEAL = 0.05;

/** Cashouts of one balance that everybody draws from, all rules of the contract in force, against one statement that has the same effect. */
export const claims: Bench = {
  what: 'cashouts a second of one gateway and one asset, 20 clients, signed and each with its Idempotency-Key, against the same effect in one statement by pgbench',
  async run(stage, size) {
    const networks = (await evmOnly()).map((network) => ({ ...network, finality: { resolve: [{ rule: { blocks: 1 } }], mature: { blocks: 1 } } }));
    const database = await stage.database();
    const environment = stage.environment(database, await stage.networksFile(networks));
    const network = networks[0]?.name as string;
    const shop = await withRoles(stage, environment, 'http,worker', (api) => earn(stage, database.sql, api, network));
    const rounds: Round[] = [];
    const load = await stage.startTool('load.ts', []);
    // Without a worker: claims are what is measured, and nobody could pay them out here.
    await withRoles(stage, environment, 'http', async (api) => {
      const asked = loadOf(api, shop);
      await load.ask<Loaded>({ ...asked, clients: 1, seconds: 0 } satisfies Load);
      const same = await sameEffect(database);
      const byApi = (seconds: number): Promise<Loaded> => load.ask<Loaded>({ ...asked, seconds } satisfies Load);
      const inOneStatement = async (): Promise<number> =>
        (await replay(database.url, same, { clients: CLIENTS, seconds: Math.max(1, SECONDS[size]), directory: stage.directory })).perSecond;
      // What is compiled and prepared once is no part of the figure.
      await byApi(SECONDS[size]);
      for (let round = 0; round < ROUNDS[size]; round++) {
        const bare = await inOneStatement();
        const [before, cpu, earlier] = [usageOf(api.pid), readCpu(), await countClaims(database)];
        const loaded = await byApi(SECONDS[size]);
        const cpuUs = ((usageOf(api.pid).cpuSeconds - before.cpuSeconds) * 1e6) / Math.max(1, loaded.answers);
        const claimed = (await countClaims(database)) - earlier;
        rounds.push({ ...loaded, bare, cpuUs, steal: cpuSince(cpu).steal, exact: claimed === loaded.answers - loaded.refused });
        stage.say(`claims: ${rounded(loaded.perSecond)}/s, in one statement ${rounded(bare)}/s`);
      }
    });
    await load.stop();
    const of = (name: 'perSecond' | 'p50Ms' | 'p99Ms' | 'cpuUs' | 'bare'): number => rounded(median(rounds.map((one) => one[name])));
    const share = ratio(median(rounds.map((one) => one.perSecond / one.bare)), 1);
    return {
      figures: {
        claims: {
          perSecond: of('perSecond'),
          p50Ms: of('p50Ms'),
          p99Ms: of('p99Ms'),
          cpuUsPerClaim: of('cpuUs'),
          refused: rounds.reduce((sum, { refused }) => sum + refused, 0),
          steal: rounded(Math.max(...rounds.map(({ steal }) => steal))),
        },
        'in one statement': { perSecond: of('bare') },
      },
      ratios: { 'claims ÷ in one statement': share },
      goals: [{ goal: 'P11: claims of one balance ÷ in one statement ≥ 0.8', measured: share, met: share >= 0.8 }],
      proofs: await proofsOf(stage, database, rounds),
    };
  },
};

interface Round extends Loaded {
  /** Claims a second in one statement. */
  bare: number;
  cpuUs: number;
  steal: number;
  /** Whether there are as many more cashouts as were answered with one. */
  exact: boolean;
}

/** A gateway that has a balance, of this asset. */
interface Earned {
  gateway: Merchant['gateway'];
  assetId: string;
}

async function withRoles<T>(stage: Stage, environment: Record<string, string>, roles: string, work: (api: ApiProcess) => Promise<T>): Promise<T> {
  const api = await stage.startApi({ ...environment, SLUICE_ROLES: roles });
  try {
    return await work(api);
  } finally {
    await api.stop();
  }
}

/** A gateway that may cash out, with one credited payment that is all of its balance. Billed by the month, its cashouts of tokens ask no node for a fee. */
async function earn(stage: Stage, sql: Sql, api: ApiProcess, network: string): Promise<Earned> {
  const desk = operator(`${api.origin}/operator/v1`, SECRETS.SLUICE_OPERATOR_TOKEN);
  const allowlist = ['127.0.0.1'];
  const body = { name: 'Acme Books', billing: 'MONTHLY', apiAllowlist: allowlist, cashout: { enabled: true, allowlist } };
  const { gateway, ...secrets } = (await desk.must('POST', '/gateways', { body })) as { gateway: { id: string } } & Omit<Merchant['gateway'], 'id'>;
  for (const [symbol, usd] of Object.entries({ ETH: '2000', USDT: '1', USDC: '1' })) await desk.must('PUT', `/prices/${symbol}`, { body: { usd } });
  const shop = merchant(`${api.origin}/api/v1`, { ...secrets, id: gateway.id });
  const chain = openToldChain(stage, network);
  try {
    const { address, assetId, contract, decimals } = await addressOfPayment({ shop, origin: api.origin, sql, chain }, BALANCE);
    const rawAmount = (Number(BALANCE) * 10 ** decimals).toString();
    await chain.tell([chain.nextBlock({ transfers: [{ sender: DESTINATION, recipient: address, contract, rawAmount }], final: true })]);
    const isAvailable = async (): Promise<boolean> => (await balanceOf(sql)) === parseTrusted(BALANCE);
    await waitFor(isAvailable, { what: 'the balance' });
    return { gateway: shop.gateway, assetId };
  } finally {
    await chain.close();
  }
}

/** A claim with another signature and another Idempotency-Key each time: of what differs, a label that the address book has no use for any more. */
function loadOf(api: ApiProcess, { gateway, assetId }: Earned): Load {
  const body = JSON.stringify({ assetId, amount: CLAIM, address: DESTINATION, label: '{key}' });
  return {
    port: Number(new URL(api.origin).port),
    clients: CLIENTS,
    seconds: 1,
    method: 'POST',
    path: '/api/v1/merchant/settlements',
    headers: { 'x-api-key': gateway.apiKey },
    body,
    keyed: true,
    signedWith: gateway.cashoutSigningSecret,
  };
}

const FRESH = { settlement: randomUUID(), outbox: randomUUID(), key: `order-${randomUUID()}` };

/**
 * What one claim leaves in the database, in one statement: the debit with its posting, the credit that is drawn from, the cashout with its event and what was accepted of
 * it, the work that is due, and the Idempotency-Key with its reply. Everything that is not new with each claim is as the api's first claim has it.
 */
async function sameEffect({ sql }: Database): Promise<Requested> {
  const [first] = await sql<[Record<string, string>]>`
    select s.gateway_id, s.asset_id, s.network_id, s.address_id, s.address, a.id::text as available, c.id as credit, k.key_id, st.said, st.public_key,
      '\\x' || encode(st.signature, 'hex') as signature, '\\x' || encode(s.intent_mac, 'hex') as mac, e.facts::text as facts, i.body, '\\x' || encode(i.fingerprint, 'hex') as fingerprint
    from settlements s join ledger_accounts a on a.gateway_id = s.gateway_id and a.asset_id = s.asset_id and a.kind = 'available'
      join credits c on c.gateway_id = s.gateway_id join settlement_keys k on k.settlement_id = s.id join statements st on st.subject = s.id::text
      join settlement_events e on e.settlement_id = s.id join idempotency_keys i on i.resource_id = s.id`;
  const values: string[] = [];
  const bind = (value: string | undefined, type: string): string => `$${values.push(value ?? '')}::${type}`;
  const the = (column: string, type = 'uuid'): string => bind(first[column], type);
  const settlement = (): string => bind(FRESH.settlement, 'uuid');
  const amount = `'${CLAIM}'::numeric`;
  const text = `
    with key as (
      insert into idempotency_keys (gateway_id, operation, key, fingerprint, status, body, resource_id)
      select ${the('gatewayId')}, 'createSettlement', ${bind(FRESH.key, 'text')}, ${the('fingerprint', 'bytea')}, 200, ${the('body', 'text')}, ${settlement()}
      on conflict do nothing returning 1),
    debit as (
      update ledger_accounts set balance = balance - ${amount} where id = ${the('available', 'bigint')} and balance >= ${amount} and exists (select 1 from key) returning id),
    credit as (update credits set remaining = remaining - ${amount} from debit where credits.id = ${the('credit')} and remaining >= ${amount} returning credits.id),
    cashout as (
      insert into settlements (id, gateway_id, asset_id, network_id, status, address_id, address, amount_text, amount, requested_route, pool, routed_by_service, created_at, fee_locked,
        net_amount, fee_payer, dispatch_at, intent_mac)
      select ${settlement()}, ${the('gatewayId')}, ${the('assetId')}, ${the('networkId')}, 'REQUESTED', ${the('addressId')}, ${the('address', 'text')}, '${CLAIM}', ${amount}, 'GREEN', 'green',
        false, sluice_now(), 0, ${amount}, 'PLATFORM', sluice_now(), ${the('mac', 'bytea')} from credit returning id),
    draw as (insert into credit_draws (settlement_id, credit_id, amount, state) select cashout.id, credit.id, ${amount}, 'reserved' from cashout, credit),
    reserved as (
      insert into ledger_accounts (kind, asset_id, gateway_id, settlement_id, balance)
      select 'reserved', ${the('assetId')}, ${the('gatewayId')}, id, ${amount} from cashout returning id),
    posting as (insert into ledger_transactions (source_key, kind) select ${bind('settlement:', 'text')} || id || ${bind(':reserve', 'text')}, 'reserve' from cashout returning id),
    entries as (
      insert into ledger_entries (transaction_id, account_id, asset_id, amount)
      select posting.id, line.account, ${the('assetId')}, line.amount
      from posting, debit, reserved, lateral (values (debit.id, -${amount}), (reserved.id, ${amount})) as line (account, amount)),
    event as (
      insert into settlement_events (settlement_id, event, to_status, facts, actor) select id, 'CREATED', 'REQUESTED', ${the('facts', 'jsonb')}, 'merchant' from cashout),
    asker as (insert into settlement_keys (settlement_id, key_id) select id, ${the('keyId', 'text')} from cashout),
    accepted as (
      insert into statements (kind, subject, said, public_key, signature)
      select 'cashout', id::text, ${the('said', 'text')}, ${the('publicKey', 'text')}, ${the('signature', 'bytea')} from cashout)
    insert into outbox (id, topic, ref_id, due_at) select ${bind(FRESH.outbox, 'uuid')}, 'settlement.dispatch', id, sluice_now() from cashout`;
  return { statements: [{ text, values }], fresh: Object.values(FRESH), answer: '' };
}

async function balanceOf(sql: Sql): Promise<bigint> {
  const [row] = await sql<{ balance: string }[]>`select balance from ledger_accounts where kind = 'available'`;
  return parseTrusted(row?.balance ?? '0');
}

async function countClaims({ sql }: Database): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*)::int as count from settlements`;
  return row.count;
}

async function proofsOf({ durable }: Stage, database: Database, rounds: readonly Round[]): Promise<Found['proofs']> {
  const { sql } = database;
  const [settings] = await sql<[{ fsync: string; commit: string }]>`select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`;
  const [sums] = await sql<[{ claimed: string; drawn: string; keys: number; due: number }]>`
    select (select sum(amount) from settlements)::text as claimed, (select sum(amount) from credit_draws where state = 'reserved')::text as drawn,
      (select count(*) from idempotency_keys where operation = 'createSettlement' and status = 200)::int as keys,
      (select count(*) from outbox where topic = 'settlement.dispatch' and state = 'due')::int as due`;
  const count = await countClaims(database);
  const total = BigInt(count) * parseTrusted(CLAIM);
  const audit = (await runAudit(sql)).filter(({ rows }) => rows.length > 0).map(({ check }) => check);
  return {
    fsync: settings.fsync === 'on' || !durable,
    synchronousCommit: settings.commit === 'on',
    auditClean: audit.length === 0,
    ...(audit.length === 0 ? {} : { auditViolated: audit.join(', ') }),
    sumExact: parseTrusted(sums.claimed) === total && parseTrusted(sums.drawn) === total && parseTrusted(BALANCE) - (await balanceOf(sql)) === total,
    eachWithItsKeyAndItsWork: sums.keys === count && sums.due === count,
    everyAnswerIsAClaim: rounds.every(({ exact }) => exact),
    everyAnswerSucceeded: rounds.every(({ refused }) => refused === 0),
    stealBelowLimit: rounds.every(({ steal }) => steal < MOST_STEAL),
  };
}
