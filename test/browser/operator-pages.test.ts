import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { screenCredit } from '#api/aml/screen-credit.ts';
import { closeMonth } from '#api/store/invoices.ts';
import { OPERATOR_PAGES } from '#api/console/operator-screens.ts';
import { OPERATOR_SECTIONS } from '#api/console/page/operator-sections.ts';
import { readClock } from '#api/store/clock.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { upsertScreeningScore } from '#api/store/screenings.ts';
import { aService, payTo, selectAddress, type Service, type Shop } from '#test/contract/service.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { aMember, serveConsole } from '#test/harness/console-stage.ts';
import { TEST_PEOPLE, TEST_SECRETS } from '#test/harness/world.ts';
import { findingsOf } from './looking.ts';
import { expectLightPage } from './page-weight.ts';

const HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(1)>';
const DESTINATION = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const TOKEN = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };

let service: Service;
let shop: Shop;
let screened: Shop;
let origin: string;
let stop: () => Promise<void>;
let sessions: { operator: string; auditor: string; owner: string };
const ids: Record<'paid' | 'pending' | 'held' | 'cashout' | 'job', string> = {} as never;

beforeAll(async () => {
  service = await aService();
  const { database } = service.world;
  shop = await service.aShop({ name: `Acme ${HOSTILE}` });
  screened = await service.aShop({ name: 'Screened', screening: { enabled: true, credits: 5 } });
  const console = await serveConsole(service.deps, database);
  origin = console.origin;
  stop = async () => {
    await console.stop();
    await service.stop();
  };
  const asset = service.world.assets.USDT as StoredAsset;
  const paid = async (by: Shop, amount: string, score: number | null = null) => {
    const { paymentUid, payment } = await by.payment({ amount: '49.90', webhookParams: { order: HOSTILE } });
    const address = await selectAddress(service, paymentUid, payment.offers.find(({ assetId }) => assetId === asset.id)?.id ?? '');
    if (score !== null) await upsertScreeningScore(service.deps.db.sql, { address: address.toLowerCase(), score });
    await service.mine([payTo(address, asset, amount)]);
    await service.mine();
    return paymentUid;
  };
  ids.paid = await paid(shop, '49.9');
  ids.held = await paid(screened, '49.9', 90);
  for (const { id } of await database.sql<{ id: string }[]>`select id from credits where payment_id = ${ids.held}`) await screenCredit(service.worker, id);
  ids.pending = (await shop.payment({ webhookParams: { order: 'A-1001' } })).paymentUid;
  await shop.fund('USDT', '40');
  const body = { assetId: asset.id, amount: '12.5', address: DESTINATION, metadata: { requester: HOSTILE } };
  ids.cashout = String((await shop.signed('POST', '/merchant/settlements', { body })).data.id);
  const kept = await service.ask('POST', `/operator/v1/payments/${await paidAndWithheld(paid)}/aml`, {
    headers: TOKEN,
    body: { action: 'WITHHOLD', reason: 'ordered to' },
  });
  expect(kept.status, kept.text).toBe(200);
  const proposed = await service.ask('POST', `/operator/v1/gateways/${screened.id}/withheld`, {
    headers: { authorization: `Bearer ${TEST_PEOPLE.anna}` },
    body: { assetId: asset.id, amount: '0.01', address: DESTINATION, reason: `a court order ${HOSTILE}` },
  });
  expect(proposed.status, proposed.text).toBe(202);
  const monthly = await service.aShop({ name: 'Monthly', billing: 'MONTHLY', settings: { commissionBps: 100 } });
  await monthly.fund('USDT', '10');
  const month = `${(await readClock(database.sql)).now.toISOString().slice(0, 7)}-01`;
  await service.worker.db.transaction((tx) => closeMonth(tx, { id: randomUUID(), gatewayId: monthly.id, month }));
  ids.job = randomUUID();
  await database.sql`
    insert into outbox (id, topic, ref_id, state, due_at, claims, failures, last_error)
    values (${ids.job}, 'settlement.mail', ${ids.cashout}, 'dead', sluice_now(), 7, 7, ${`no host ${HOSTILE}`})`;
  await service.ask('POST', '/operator/v1/freeze', { headers: TOKEN, body: { scope: 'network:ethereum', reason: `we look at something ${HOSTILE}` } });
  sessions = {
    operator: await member('operator'),
    auditor: await member('auditor'),
    owner: await member('owner', shop.id),
  };
}, 120_000);
afterAll(() => stop?.());

/** A second payment of the gateway that screens, held too. */
async function paidAndWithheld(paid: (by: Shop, amount: string, score: number) => Promise<string>): Promise<string> {
  const id = await paid(screened, '49.9', 95);
  for (const row of await service.world.database.sql<{ id: string }[]>`select id from credits where payment_id = ${id}`)
    await screenCredit(service.worker, row.id);
  return id;
}
const member = (role: string, gatewayId: string | null = null) =>
  aMember(service.world.database, { email: `${role}-${randomUUID()}@example.com`, gatewayId, role });
const read = async (path: string, session: string, language = 'en') => {
  const headers = { cookie: `__Host-sluice=${session}`, 'accept-language': language, 'accept-encoding': 'identity' };
  const answer = await fetch(`${origin}${path}`, { headers, redirect: 'manual' });
  return { status: answer.status, location: answer.headers.get('location'), body: await answer.text() };
};
const idOf = (template: string) =>
  template.startsWith('/cashouts') ? ids.cashout : template.startsWith('/networks') ? 'ethereum' : template.startsWith('/gateways') ? shop.id : ids.paid;
const pathOf = (template: string) => `/ops${template.replace('{id}', idOf(template))}`;
/** All but what is new in every answer. */
const same = (body: string) => body.replaceAll(/Request [^<]+/g, '');
const rowsIn = (body: string) => [...body.matchAll(/class="row-name" href="[^"]+\/([0-9a-f-]{36})"/g)].map(([, id]) => id);

describe('somebody of the deployment', () => {
  it.each(['operator', 'auditor'] as const)('as %s reads every page, and finds no button that does anything', async (role) => {
    expect(await read('/ops', sessions[role])).toMatchObject({ status: 303, location: '/ops/overview' });
    for (const { path } of OPERATOR_PAGES) {
      const { status, body } = await read(pathOf(path), sessions[role]);
      expect(status, path).toBe(200);
      for (const section of OPERATOR_SECTIONS) expect(body, path).toContain(`href="/ops/${section}"`);
      expect(
        [...body.matchAll(/<form method="post" action="([^"]+)"/g)].map(([, action]) => action),
        path,
      ).toEqual(['/sign-out', '/language']);
      expect(body, path).not.toContain('<script>alert');
      expect(body, path).not.toContain('<img');
    }
    expect((await read('/', sessions[role])).body).toContain('href="/ops"');
  });

  it.each(['en', 'es'])('reads every page in %s without a text that is missing', async (language) => {
    for (const { path } of OPERATOR_PAGES) {
      const { body } = await read(pathOf(path), sessions.auditor, language);
      expect(body, path).toContain(`<html lang="${language}"`);
      for (const [heading] of body.matchAll(/<(?:h1|h2|summary|dt|th scope="col"[^>]*)>\s*<\//g)) expect(heading, path).toBe('');
    }
  });

  it('gets each page in at most 80 KB and 8 requests', async () => {
    for (const { path } of OPERATOR_PAGES) await expectLightPage(origin, pathOf(path), sessions.auditor);
  });

  it('is nobody to a gateway’s pages, and a gateway’s people and strangers find none of the deployment’s', async () => {
    for (const { path } of OPERATOR_PAGES) {
      const theirs = await read(pathOf(path), sessions.owner);
      const none = await read(`/g/${randomUUID()}/payments`, sessions.owner);
      expect([theirs.status, same(theirs.body)], path).toEqual([404, same(none.body)]);
      expect(await read(pathOf(path), ''), path).toMatchObject({ status: 303, location: '/sign-in' });
    }
    expect((await read(`/g/${shop.id}/payments`, sessions.operator)).status).toBe(404);
  });

  it('is told whom to ask once the role reads nothing, and is out once the membership ended', async () => {
    const session = await member('operator');
    const { sql } = service.world.database;
    await sql`insert into roles (name, operates, permissions) values ('helper', true, '{job:operate}') on conflict do nothing`;
    const person = sql`(select person_id from sessions order by created_at desc, id limit 1)`;
    await sql`update memberships set role = 'helper' where person_id = ${person}`;
    const refused = await read('/ops/payments', session);
    expect([refused.status, refused.body.includes('href="/ops/payments"')]).toEqual([403, false]);
    expect(refused.body).toContain('helper');
    await sql`update memberships set ended_at = sluice_now() where person_id = ${person}`;
    expect((await read('/ops/payments', session)).status).toBe(404);
  });

  it('finds nothing at an unknown payment, cashout, gateway or network', async () => {
    for (const list of ['payments', 'cashouts', 'gateways', 'networks'])
      for (const id of [randomUUID(), 'null', 'A'.repeat(43)]) {
        const { status } = await read(`/ops/${list}/${id}`, sessions.operator);
        expect(status, `${list} ${id}`).toBe(404);
      }
  });

  it('is told which filter is wrong, whatever is in it', async () => {
    for (const [path, field] of [
      ['/payments?status=NONE', 'status'],
      ['/payments?amlState=FROZEN', 'amlState'],
      ['/payments?gatewayId=1', 'gatewayId'],
      ['/payments?from=soon', 'from'],
      ['/payments?txHash=1', 'txHash'],
      ['/payments?sort=up', 'sort'],
      ['/payments?after=x', 'after'],
      [`/payments?q=${'x'.repeat(256)}`, 'q'],
      ['/payments?q=a%00', 'q'],
      ['/search?q=a%0Ab', 'q'],
      ['/deposits?state=lost', 'state'],
      ['/cashouts?status=NONE', 'status'],
      ['/jobs?state=lost', 'state'],
      ['/jobs?topic=lost', 'topic'],
      ['/money/invoices?month=soon', 'month'],
      ['/money/expenses?billing=NEVER', 'billing'],
      ['/audit/acts?after=0', 'after'],
      ['/people?after=x', 'after'],
      ['/people?gatewayId=x', 'gatewayId'],
      [`/cashouts?status=${encodeURIComponent(HOSTILE)}`, 'status'],
    ] as const) {
      const { status, body } = await read(`/ops${path}`, sessions.operator);
      expect(status, path).toBe(422);
      expect(body, path).toContain(`<code>${field}</code>`);
      expect(body, path).not.toContain('<script>alert');
    }
    expect((await read('/ops/payments?status=&q=&after=', sessions.operator)).status).toBe(200);
  });

  it('begins with what needs somebody, each with the way there', async () => {
    const { body } = await read('/ops/overview', sessions.auditor);
    const needs = /<ul class="needs".*?<\/ul>/s.exec(body)?.[0] ?? '';
    for (const path of ['/money', '/screening', '/jobs?state=dead']) expect(needs, path).toContain(`href="/ops${path}"`);
    expect(needs).toContain('One held payment waits for a decision');
    expect(needs).toContain('One act waits for a second person');
    expect(needs).toContain('One job was given up');
    expect(/data-part="stopped".*?<\/ul>/s.exec(body)?.[0]).toContain('we look at something');
  });

  it('opens by the search the one thing that is known by it, and lists what several are known by', async () => {
    const to = async (q: string) => {
      const { status, location, body } = await read(`/ops/search?q=${encodeURIComponent(q)}`, sessions.operator);
      return status === 303 ? location : { status, body };
    };
    expect(await to(ids.paid)).toBe(`/ops/payments/${ids.paid}`);
    expect(await to('A-1001')).toBe(`/ops/payments/${ids.pending}`);
    expect(await to(ids.cashout)).toBe(`/ops/cashouts/${ids.cashout}`);
    expect(await to(shop.id)).toBe(`/ops/gateways/${shop.id}`);
    const { data } = await shop.call('GET', `/payments/${ids.paid}`);
    const { outcome } = data as unknown as { outcome: { txHash: string } };
    expect(await to(outcome.txHash)).toBe(`/ops/payments/${ids.paid}`);
    const several = await to(HOSTILE);
    expect(several).toMatchObject({ status: 200 });
    expect((several as { body: string }).body).toContain(`href="/ops/payments/${ids.paid}"`);
    expect(await to(`nothing ${HOSTILE}`)).toMatchObject({ status: 200, body: expect.stringContaining('Nothing is known by') });
    expect(await to('')).toMatchObject({ status: 200 });
  });

  it('narrows lists as the operations do, and goes through them each row once', async () => {
    const listed = async (path: string) => {
      const { status, body } = await read(`/ops${path}`, sessions.operator);
      expect(status, path).toBe(200);
      return body;
    };
    expect(rowsIn(await listed('/payments?amlState=HELD'))).toEqual([ids.held]);
    expect(rowsIn(await listed(`/payments?gatewayId=${shop.id}&status=PENDING`))).toEqual([ids.pending]);
    expect(await listed('/payments?to=2020-01-01')).toContain('Nothing is like that');
    expect(await listed('/jobs?state=dead')).toContain('no host');
    expect(await listed('/screening')).toContain(`/ops/payments/${ids.held}`);
    for (let made = 0; made < 25; made++) await shop.payment();
    const seen: (string | undefined)[] = [];
    for (let path: string | undefined = '/payments?sort=oldest'; path !== undefined; ) {
      const body: string = await listed(path);
      seen.push(...rowsIn(body).filter((id) => id !== shop.id));
      path = /href="\/ops([^"]+)" rel="next"/.exec(body)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBeGreaterThan(28);
    expect(seen).toEqual(expect.arrayContaining([ids.paid, ids.held, ids.pending]));
  });

  it('sees that the record of acts is a chain, and where it is not', async () => {
    const { sql } = service.world.database;
    await sql`insert into console_actions (actor_kind, actor, act, target) values ('command', 'root@host', 'person.invite', 'anna@example.com')`;
    expect((await read('/ops/audit/acts', sessions.auditor)).body).toContain('hangs together');
    await sql`alter table console_actions disable trigger user`;
    const [{ seq, target }] = await sql<[{ seq: number; target: string }]>`select seq::float8 as seq, target from console_actions order by seq desc limit 1`;
    await sql`update console_actions set target = 'eve@example.com' where seq = ${seq}`;
    expect((await read('/ops/audit/acts', sessions.auditor)).body).toContain('it does not say what it said');
    await sql`update console_actions set target = ${target} where seq = ${seq}`;
    await sql`alter table console_actions enable trigger user`;
  });

  it('reads no hash, secret, proof or signed byte on any page', async () => {
    const secrets = await service.world.database.sql<{ text: string }[]>`
      select encode(secret_hash, 'hex') as text from api_keys union all select encode(sealed, 'hex') from gateway_secrets
      union all select token_hash from sessions union all select encode(mac, 'hex') from operator_proposals`;
    expect(secrets.length).toBeGreaterThan(5);
    for (const { path } of OPERATOR_PAGES) {
      const { body } = await read(pathOf(path), sessions.operator);
      for (const { text } of secrets) expect(body.includes(text), path).toBe(false);
    }
  });
});

describeInBrowser('the pages of the deployment', (open) => {
  const signedIn = async (options: Parameters<typeof open>[0] = {}, role: keyof typeof sessions = 'auditor') => {
    const { page } = await open(options);
    await page
      .context()
      .addCookies([{ name: '__Host-sluice', value: sessions[role], url: 'https://localhost', secure: true, httpOnly: true, sameSite: 'Lax' }]);
    return page;
  };

  it('lead to the search by one key, and from it to what is known by an order number', async () => {
    const page = await signedIn();
    await page.goto(`${origin}/ops/overview`);
    await page.keyboard.press('/');
    await page.keyboard.type('A-1001');
    await page.keyboard.press('Enter');
    await page.locator('main[data-screen="ops-payment"]').waitFor();
    expect(page.url()).toBe(`${origin}/ops/payments/${ids.pending}`);
    // The key is heard by the page's program, which comes after what the server drew.
    await page.locator('html[data-program]').waitFor();
    await page.keyboard.press('Control+k');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('q');
  });

  it('tell of a cashout its story, and of a held payment why it is held', async () => {
    const page = await signedIn();
    await page.goto(`${origin}${pathOf('/cashouts/{id}')}`);
    expect((await page.locator('.timeline .event-title').allInnerTexts())[0]).toBe('Asked for');
    expect(await page.locator('main').innerText()).toContain(HOSTILE);
    await page.goto(`${origin}/ops/payments/${ids.held}`);
    const evidence = page.locator('[data-part="evidence"]');
    expect(await evidence.innerText()).toContain('Held');
    await evidence.locator('summary').first().click();
    expect(await evidence.innerText()).toContain('90');
  });

  it('read without a finding of axe and without scrolling sideways, on a desk and on a phone, in light and dark', async () => {
    const page = await signedIn({ tolerate: /status of 4\d\d/ });
    const found: string[] = [];
    for (const path of [
      ...OPERATOR_PAGES.map((one) => pathOf(one.path)),
      `/ops/payments/${ids.held}?held`,
      '/ops/search?q=49.90',
      '/ops/payments?status=EXPIRED&from=2026-01-01',
      '/ops/deposits?state=unexplained',
      '/ops/jobs?state=dead',
      '/ops/payments?status=NONE',
      `/ops/gateways/${randomUUID()}?gone`,
    ]) {
      await page.goto(`${origin}${path}`);
      found.push(...(await findingsOf(page, path)));
    }
    expect(found).toEqual([]);
  });
});
