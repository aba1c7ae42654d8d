import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Commit, Deps, Gateway, Reply } from '#api/deps.ts';
import { committer, fingerprint, type Keyed } from '#api/http/idempotency.ts';
import { createSettlement } from '#api/settlements/create.ts';
import { getSettlement, type SettlementView } from '#api/settlements/view.ts';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import type { Database } from '#shared/platform/postgres.ts';
import { stranger } from '#test/harness/sign-as.ts';
import { aTreasury, MERCHANT, type Treasury } from '#test/fixtures/treasury.ts';

let treasury: Treasury;
let shop: Gateway;

beforeAll(async () => {
  treasury = await aTreasury();
});
beforeEach(async () => {
  shop = await treasury.world.aGateway();
});
afterAll(async () => {
  try {
    await treasury.audit();
  } finally {
    await treasury.stop();
  }
});

interface Ask {
  amount: string;
  key?: string;
  address?: string;
  /** A key that asks; one that nobody has cannot be noted beside its cashout. */
  keyId?: string;
}

/** Asks for cashouts whose facts are all fetched before the first of them is committed, so that they come to be written in one turn of the event loop, in this order. */
async function askAll(deps: Deps, asks: readonly Ask[], gateway = shop): Promise<PromiseSettledResult<Reply>[]> {
  let left = asks.length;
  const begin: (() => void)[] = [];
  return Promise.allSettled(
    asks.map(({ amount, key = randomUUID(), address = MERCHANT, keyId }, place) => {
      const body = { assetId: treasury.assets.USDT?.id as string, amount, address };
      const own = committer(deps, keyOf(gateway, key, body)).commit;
      const commit: Commit = async (work, shared) => {
        await new Promise<void>((resolve) => {
          begin[place] = resolve;
          left -= 1;
          // Once the last of them waits too, or it would be the last whatever its place.
          if (left === 0)
            setImmediate(() => {
              for (const each of begin) each();
            });
        });
        return own(work, shared);
      };
      return createSettlement(deps, { gateway, body, commit, ...(keyId !== undefined && { by: { keyId } }) });
    }),
  );
}

function keyOf(gateway: Gateway, key: string, body: object): Keyed {
  return {
    scope: { gatewayId: gateway.id, operation: 'createSettlement', key },
    fingerprint: fingerprint('POST', '/merchant/settlements', Buffer.from(JSON.stringify(body))),
  };
}

/** The same process with a count of its transactions that end well. */
function counted(): { deps: Deps; transactions(): number } {
  let count = 0;
  const { db } = treasury.deps;
  const transaction: Database['transaction'] = async (work) => {
    const done = await db.transaction(work);
    count += 1;
    return done;
  };
  return { deps: { ...treasury.deps, db: { ...db, transaction } }, transactions: () => count };
}

const viewOf = (result: PromiseSettledResult<Reply> | undefined): SettlementView => {
  if (result?.status !== 'fulfilled') throw result?.reason;
  return result.value.data as SettlementView;
};

async function balance(kind: string): Promise<string> {
  const rows = await treasury.world.database.sql<{ balance: string }[]>`select balance from ledger_accounts where gateway_id = ${shop.id} and kind = ${kind}`;
  return formatAmount(rows.reduce((sum, row) => sum + parseTrusted(row.balance), 0n));
}

/** What each cashout drew, in the order of its amount, by the place of the credit it was drawn from. */
async function draws(): Promise<{ amount: string; credit: number; drawn: string }[]> {
  return treasury.world.database.sql`
    select s.amount_text as amount, c.place::int as credit, trim_scale(w.amount)::text as drawn
    from (select id, row_number() over (order by matured_at, id) as place from credits where gateway_id = ${shop.id}) c
      join credit_draws w on w.credit_id = c.id join settlements s on s.id = w.settlement_id
    where s.gateway_id = ${shop.id} order by s.amount, c.place`;
}

/** Everything that is kept of a gateway's cashouts, as far as it is the same each time. */
async function writtenBy(gateway: Gateway): Promise<string> {
  const rows = await treasury.world.database.sql`
    select to_jsonb(s) - '{id,created_at,dispatch_at,address_id,intent_mac,fee_locked,net_amount}'::text[] as settlement, s.dispatch_at = s.created_at as timely,
      s.net_amount + s.fee_locked = s.amount as whole, (select b.address from address_book b where b.id = s.address_id) as address,
      (select jsonb_agg(jsonb_build_array(e.event, e.from_status, e.to_status, e.actor)) from settlement_events e where e.settlement_id = s.id) as events,
      (select jsonb_agg(jsonb_build_array(t.kind, t.said like '%' || s.id || '%')) from statements t where t.subject = s.id::text) as statements,
      (select jsonb_agg(jsonb_build_array(o.topic, o.state, o.due_at = s.dispatch_at)) from outbox o where o.ref_id = s.id) as work,
      (select count(*) from settlement_quotes q where q.settlement_id = s.id) as quotes,
      (select jsonb_agg(jsonb_build_array(t.source_key = 'settlement:' || s.id || ':reserve', t.kind, a.kind, l.amount) order by l.amount)
        from ledger_transactions t join ledger_entries l on l.transaction_id = t.id join ledger_accounts a on a.id = l.account_id where t.source_key like '%' || s.id || '%') as postings,
      (select jsonb_agg(jsonb_build_array(k.operation, k.status, k.body like '%' || s.id || '%')) from idempotency_keys k where k.resource_id = s.id) as keys
    from settlements s where s.gateway_id = ${gateway.id} order by s.amount`;
  return JSON.stringify(rows).replaceAll(gateway.id, 'gateway');
}

describe('claims of one moment on one pool', () => {
  it('share a transaction; each is written and answered as alone, and draws what those before it left', async () => {
    const lone = await treasury.world.aGateway();
    for (const gateway of [lone, shop]) for (const amount of ['12', '30']) await treasury.earn(gateway, 'USDT', amount);
    const before = parseTrusted(await balance('available'));
    const asks = [{ amount: '5' }, { amount: '6', address: stranger('another').address.toLowerCase() }, { amount: '7' }];
    for (const ask of asks) viewOf((await askAll(treasury.deps, [ask], lone))[0]);
    const { deps, transactions } = counted();
    const answers = await askAll(deps, asks);
    for (const answer of answers) {
      const view = viewOf(answer);
      expect(view).toEqual(await getSettlement(treasury.deps, { gateway: shop, id: view.id }));
    }
    expect(transactions()).toBe(1);
    expect(await writtenBy(shop)).toBe(await writtenBy(lone));
    expect(before - parseTrusted(await balance('available'))).toBe(parseTrusted('18'));
    expect(await balance('reserved')).toBe('18');
    const drawn = await draws();
    expect(drawn.map(({ amount, credit }) => [amount, credit])).toEqual([
      ['5', 1],
      ['6', 1],
      ['7', 1],
      ['7', 2],
    ]);
    expect(drawn.reduce((sum, one) => sum + parseTrusted(one.drawn), 0n)).toBe(parseTrusted('18'));
  });

  it('take no more than there is: one that others leave too little for is refused, and nothing is kept of it', async () => {
    await treasury.earn(shop, 'USDT', '20');
    const available = await balance('available');
    const tooMuch = formatAmount(parseTrusted(available) - parseTrusted('3'));
    const answers = await askAll(treasury.deps, [{ amount: '2' }, { amount: '2' }, { amount: tooMuch, key: 'too much' }]);
    const refused = answers.filter(({ status }) => status === 'rejected');
    expect(refused).toMatchObject([{ reason: { code: 'insufficient_balance' } }]);
    const claimed = answers.filter(({ status }) => status === 'fulfilled').map((answer) => parseTrusted(viewOf(answer).amount));
    const left = claimed.reduce((sum, one) => sum - one, BigInt(parseTrusted(available)));
    expect(await balance('available')).toBe(formatAmount(left));
    expect(await treasury.world.database.sql`select count(*)::int as kept from settlements where gateway_id = ${shop.id}`).toEqual([{ kept: 2 }]);
    expect(await treasury.world.database.sql`select count(*)::int as kept from idempotency_keys where gateway_id = ${shop.id} and status is null`).toEqual([
      { kept: 0 },
    ]);
  });

  it('with equal keys are one cashout, and another request with that key is a conflict', async () => {
    await treasury.earn(shop, 'USDT', '20');
    const answers = await askAll(treasury.deps, [
      { amount: '2', key: 'order-1' },
      { amount: '3', key: 'order-2' },
      { amount: '2', key: 'order-1' },
      { amount: '4', key: 'order-1' },
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
    expect(answers[3]).toMatchObject({ reason: { code: 'idempotency_conflict' } });
    expect(viewOf(answers[2]).id).toBe(viewOf(answers[0]).id);
    expect(await balance('reserved')).toBe('5');
  });

  it('are each alone when one of them cannot be written, which nobody else is told of', async () => {
    await treasury.earn(shop, 'USDT', '20');
    const answers = await askAll(treasury.deps, [{ amount: '2' }, { amount: '3', keyId: 'nobody-has-it' }, { amount: '4' }]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await balance('reserved')).toBe('6');
  });
});
