import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { committer, fingerprint, type Keyed } from '#api/http/idempotency.ts';
import { commitDraft, type Draft } from '#api/payments/create-draft.ts';
import { type CreatePaymentBody, draftPayment } from '#api/payments/create.ts';
import { publicPayment, paymentView } from '#api/payments/view.ts';
import { lockGateway } from '#api/store/gateways.ts';
import type { Payment } from '#api/store/payments.ts';
import { SentJson } from '#shared/core/sent-json.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { connect, type Database } from '#shared/platform/postgres.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { cutLink } from '#test/harness/cut-link.ts';
import { type InProcess, inProcess } from '#test/harness/in-process.ts';
import { urlFor } from '#test/harness/logins.ts';

let world: InProcess;
let shop: Gateway;
/** Another process on the same database. */
let elsewhere: Database;

beforeAll(async () => {
  world = await inProcess();
  elsewhere = connect(urlFor(world.database.url), { name: 'elsewhere', max: 4 });
});
beforeEach(async () => {
  shop = await world.aGateway();
});
afterAll(async () => {
  try {
    await assertCleanAudit(world.database);
  } finally {
    await elsewhere.end();
    await world.stop();
  }
});

const BODY: CreatePaymentBody = { currencyCode: 'USD', amount: '49.90', checkoutMode: 'API', webhookUrl: 'http://127.0.0.1:4242/webhook' };

interface Ask {
  deps: Deps;
  gateway?: Gateway;
  key?: string;
  body?: Partial<CreatePaymentBody>;
  /** Changes what was decided, as no request can. */
  spoil?(draft: Draft): void;
  /** In place of the view of the payment. */
  view?(payment: Payment): object;
}

/** Creates that are checked and priced, to be written by one turn of the event loop. */
async function ready(asks: Ask[]): Promise<() => Promise<PromiseSettledResult<Reply>[]>> {
  const writes = await Promise.all(
    asks.map(async ({ deps, gateway = shop, key, body, spoil, view }) => {
      const asked = { ...BODY, ...body };
      const draft = await draftPayment(deps, { gateway, body: asked, clientIp: '127.0.0.1', sent: () => new SentJson(JSON.stringify(asked)) });
      spoil?.(draft);
      const shown = view ?? ((payment: Payment) => paymentView(deps, { payment, offers: draft.offers, addresses: [], deposits: [] }));
      return () => commitDraft(deps, committer(deps, key === undefined ? undefined : keyOf(gateway, key, asked)).commit, draft, shown);
    }),
  );
  return () => Promise.allSettled(writes.map((write) => write()));
}

async function createAll(asks: Ask[]): Promise<PromiseSettledResult<Reply>[]> {
  return (await ready(asks))();
}

function keyOf(gateway: Gateway, key: string, body: object): Keyed {
  return {
    scope: { gatewayId: gateway.id, operation: 'createPayment', key },
    fingerprint: fingerprint('POST', '/payments', Buffer.from(JSON.stringify(body))),
  };
}

/** The same process with a count of its transactions. */
function counted(db: Database = world.deps.db): { deps: Deps; transactions(): number; atOnce(): number } {
  let [count, running, most] = [0, 0, 0];
  const transaction: Database['transaction'] = async (work) => {
    count += 1;
    running += 1;
    most = Math.max(most, running);
    try {
      return await db.transaction(work);
    } finally {
      running -= 1;
    }
  };
  return { deps: { ...world.deps, db: { ...db, transaction } }, transactions: () => count, atOnce: () => most };
}

const idOf = (result: PromiseSettledResult<Reply> | undefined): string => {
  if (result?.status !== 'fulfilled') throw result?.reason;
  return (result.value.data as { paymentUid: string }).paymentUid;
};

/** Everything of one gateway's payments that a create writes, as far as it is the same each time. */
async function writtenBy(gateway: Gateway): Promise<Record<string, unknown>[]> {
  return [
    ...(await world.database.sql`
      select to_jsonb(p) - '{id,created_at,expires_at}'::text[] as payment, p.expires_at - p.created_at = make_interval(secs => p.timeout_seconds) as timely,
        (select jsonb_agg(to_jsonb(o) - '{id,payment_id,price_at}'::text[] order by o.rank) from payment_offers o where o.payment_id = p.id) as offers,
        (select jsonb_agg(to_jsonb(e) - '{id,payment_id,at}'::text[]) from payment_events e where e.payment_id = p.id) as events,
        (select jsonb_agg(to_jsonb(n) - 'payment_id') from payment_names n where n.payment_id = p.id) as names,
        (select jsonb_agg(to_jsonb(s) - 'owner' order by field) from sent_json s where s.owner = p.id) as sent,
        (select count(*) from payment_references r where r.payment_id = p.id) as "references",
        (select jsonb_agg(jsonb_build_array(k.operation, k.key, encode(k.fingerprint, 'hex'), k.status, k.body like '%' || p.id || '%')) from idempotency_keys k
          where k.resource_id = p.id) as keys
      from payments p where gateway_id = ${gateway.id} order by p.amount`),
  ];
}

const count = async (gateway: Gateway): Promise<number> => (await world.database.sql`select 1 from payments where gateway_id = ${gateway.id}`).length;

describe('creates of one moment', () => {
  it('share a transaction, and each of them is written and answered as alone', async () => {
    const [lone, other] = [await world.aGateway(), await world.aGateway()];
    const asksOf = (deps: Deps, gateway: Gateway): Ask[] => [
      { deps, gateway, body: { amount: '1', webhookParams: { order: 'A-1', n: 1 }, callbackParams: { z: 1, a: '\u00e9' } }, key: 'first' },
      { deps, gateway, body: { amount: '2', title: 'NULL', reference: '{"A\\\\\\"}, 1', timeoutSeconds: 60 } },
      { deps, gateway, body: { amount: '3', isSandbox: true, reference: 'A-1' }, key: 'a key with spaces' },
      { deps, gateway, body: { amount: '4', language: 'de', webhookParams: { order: 'A-1' } } },
    ];
    for (const ask of asksOf(world.deps, lone)) idOf((await createAll([ask]))[0]);
    const { deps, transactions } = counted();
    const answers = await createAll([...asksOf(deps, shop), ...asksOf(deps, other)]);
    expect(transactions()).toBe(1);
    const alone = JSON.stringify(await writtenBy(lone));
    for (const gateway of [shop, other]) expect(JSON.stringify(await writtenBy(gateway)).replaceAll(gateway.id, lone.id)).toBe(alone);
    for (const answer of answers) {
      const id = idOf(answer);
      const { payment } = (answer as PromiseFulfilledResult<Reply>).value.data as { payment: object };
      expect(JSON.parse(JSON.stringify(payment))).toEqual(JSON.parse(JSON.stringify(await publicPayment(deps, { paymentId: id, clientIp: '127.0.0.1' }))));
    }
  });

  it('with equal keys are one payment, and another request with that key is a conflict', async () => {
    const { deps } = counted();
    const same: Ask = { deps, key: 'order-1' };
    const answers = await createAll([same, { deps, key: 'order-2' }, same, { deps, key: 'order-1', body: { amount: '7' } }, same, { deps }]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(answers[3]).toMatchObject({ reason: { code: 'idempotency_conflict' } });
    expect(new Set([0, 2, 4].map((at) => idOf(answers[at]))).size).toBe(1);
    expect(await count(shop)).toBe(3);
    expect(idOf((await createAll([same]))[0])).toBe(idOf(answers[0]));
  });

  it('go by a bounded number in one transaction, few at a time, and large ones by themselves', async () => {
    const many = counted();
    const write = await ready(Array.from({ length: 130 }, () => ({ deps: many.deps })));
    // What takes long holds up no other, and on a busy machine all of them do: here no time passes.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    for (const answer of await write().finally(() => vi.useRealTimers())) idOf(answer);
    expect(many.transactions()).toBe(3);
    expect(many.atOnce()).toBe(2);
    const large = counted();
    const document = { deps: large.deps, body: { webhookParams: { note: 'x'.repeat(9_000) } } };
    for (const answer of await createAll([document, { deps: large.deps }, { deps: large.deps }, document])) idOf(answer);
    expect(large.transactions()).toBe(3);
    expect(await count(shop)).toBe(134);
  });
});

describe('a create that cannot be written', () => {
  const unknownCurrency = (draft: Draft): void => {
    draft.payment.currencyCode = 'ZZZ';
  };

  it('fails for nobody else, and its gateway shares nothing for a while', async () => {
    const [bad, { deps, transactions }] = [await world.aGateway(), counted()];
    const keyed = (key: string): Ask => ({ deps, key });
    const answers = await createAll([keyed('a'), { deps, gateway: bad, spoil: unknownCurrency, key: 'b' }, { deps }, keyed('c')]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(answers[1]).toMatchObject({ reason: { code: '23503' } });
    expect([await count(shop), await count(bad)]).toEqual([3, 0]);
    const before = transactions();
    const later = await createAll([{ deps }, { deps, gateway: bad, spoil: unknownCurrency }, { deps }, { deps }]);
    expect(later.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(transactions() - before).toBe(2);
    expect(await world.database.sql`select 1 from idempotency_keys where gateway_id = ${bad.id}`).toEqual([]);
    expect(idOf((await createAll([keyed('a')]))[0])).toBe(idOf(answers[0]));
  });

  it('when what comes after the payments breaks, leaves the others each once', async () => {
    const { deps } = counted();
    const view = (): object => {
      throw new RangeError('after the effect');
    };
    const answers = await createAll([{ deps, key: 'a' }, { deps, key: 'b', view }, { deps }]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(answers[1]).toMatchObject({ reason: { message: 'after the effect' } });
    expect(await count(shop)).toBe(2);
    expect(await world.database.sql`select key from idempotency_keys where gateway_id = ${shop.id}`).toEqual([{ key: 'a' }]);
  });

  it('because its key is held elsewhere, makes nobody wait for whoever holds it, and its gateway shares nothing for a while', async () => {
    const { deps, transactions } = counted();
    const other = await world.aGateway();
    const held = keyOf(shop, 'held', BODY);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let holds = (): void => undefined;
    const taken = new Promise<void>((resolve) => {
      holds = resolve;
    });
    const holder = committer({ ...deps, db: elsewhere }, held).commit(async () => {
      holds();
      await released;
      return { status: 201, data: { paymentUid: 'theirs' } };
    });
    await taken;
    const writes = await ready([
      { deps, key: 'held' },
      { deps, key: 'free', gateway: other },
      { deps, gateway: other },
    ]);
    const answers = writes();
    while ((await count(other)) < 2);
    expect(await world.database.sql`select key from idempotency_keys where gateway_id in (${shop.id}, ${other.id})`).toEqual([{ key: 'free' }]);
    release();
    expect((await holder).data).toEqual({ paymentUid: 'theirs' });
    expect((await answers).map(idOf)[0]).toBe('theirs');
    expect(await count(shop)).toBe(0);
    const before = transactions();
    for (const answer of await createAll([{ deps }, { deps, gateway: other }, { deps, gateway: other }])) idOf(answer);
    expect(transactions() - before).toBe(2);
  });

  it('is none because somebody changes its gateway meanwhile', async () => {
    const { deps, transactions } = counted();
    await elsewhere.transaction(async (tx) => {
      await lockGateway(tx, shop.id);
      for (const answer of await createAll([{ deps }, { deps, key: 'a' }])) idOf(answer);
    });
    expect(transactions()).toBe(1);
  });
});

describe('a database without a connection to lend', () => {
  it('is asked once for all of them, who share again once it has one', async () => {
    const narrow = connect(urlFor(world.database.url), { name: 'narrow', max: 1 });
    try {
      const { deps, transactions } = counted({ ...world.deps.db, transaction: narrow.waitingAtMost(20).transaction });
      await narrow.transaction(async (tx) => {
        await tx`select 1`;
        for (const answer of await createAll([{ deps, key: 'a' }, { deps }, { deps, key: 'b' }]))
          expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'POOL_EXHAUSTED' } });
      });
      expect([transactions(), await count(shop)]).toEqual([1, 0]);
      for (const answer of await createAll([{ deps, key: 'a' }, { deps }, { deps, key: 'b' }])) idOf(answer);
      expect([transactions(), await count(shop)]).toEqual([2, 3]);
    } finally {
      await narrow.end();
    }
  });
});

describe('creates of two processes', () => {
  it('that cross with the same keys in another order are each one payment, and wait for each other in no circle', async () => {
    const [here, there] = [counted(), counted(elsewhere)];
    for (let round = 0; round < 10; round++) {
      const keys = Array.from({ length: 12 }, () => randomUUID());
      const asks = (deps: Deps, order: string[]): Ask[] => [...order.map((key) => ({ deps, key })), { deps }];
      const [one, other] = [await ready(asks(here.deps, keys)), await ready(asks(there.deps, keys.toReversed()))];
      const [ours, theirs] = (await Promise.all([one(), other()])).map((answers) => answers.map(idOf)) as [string[], string[]];
      expect(ours.slice(0, 12)).toEqual(theirs.slice(0, 12).toReversed());
      expect(await count(shop)).toBe((round + 1) * 14);
    }
  });
});

describe('a link that breaks while COMMIT is answered', () => {
  it('leaves each payment once: who has a key is answered by it, who has none is told that nobody knows', async () => {
    const link = await cutLink(urlFor(world.database.url));
    const throughLink = connect(link.url, { name: 'cut', max: 2 });
    try {
      const { deps: counting, transactions } = counted(throughLink);
      const metrics = createApiMetrics('test');
      const deps: Deps = { ...counting, metrics };
      const writes = await ready([{ deps, key: 'a' }, { deps }, { deps, key: 'b' }, { deps, key: 'a' }]);
      link.cutNextCommit();
      const answers = await writes();
      expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
      expect(idOf(answers[3])).toBe(idOf(answers[0]));
      expect([link.cuts, transactions()]).toEqual([1, 1]);
      const kept = await world.database.sql<{ key: string; id: string }[]>`
        select key, resource_id as id from idempotency_keys where gateway_id = ${shop.id} order by key`;
      expect(kept).toEqual([
        { key: 'a', id: idOf(answers[0]) },
        { key: 'b', id: idOf(answers[2]) },
      ]);
      expect(await count(shop)).toBe(3);
      expect((await metrics.paymentsCreated.get()).values.map(({ value }) => value)).toEqual([2]);
    } finally {
      await throughLink.end();
      await link.close();
    }
  });
});
