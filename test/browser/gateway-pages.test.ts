import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GATEWAY_SCREENS } from '#api/console/gateway-screens.ts';
import { permissionOf } from '#api/console/page/sections.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { aService, payTo, selectAddress, type Service, type Shop } from '#test/contract/service.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { aMember, serveConsole } from '#test/harness/console-stage.ts';
import { axeFindings } from '#test/harness/tab.ts';
import { findingsOf } from './looking.ts';
import { expectLightPage } from './page-weight.ts';

const HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(1)>';
const OVERRIDE = '\u202e99.94$';
const GATEWAY_ROLES = ['owner', 'finance', 'approver', 'developer', 'support', 'cashier'] as const;

let service: Service;
let shop: Shop;
let stranger: Shop;
let origin: string;
let stop: () => Promise<void>;
const payments: Record<string, string> = {};
let cashoutId: string;
/** Of service time, as statements are named by. */
let month: string;

beforeAll(async () => {
  service = await aService();
  shop = await service.aShop({ name: `Acme ${HOSTILE}` });
  stranger = await service.aShop();
  const console = await serveConsole(service.deps, service.world.database);
  origin = console.origin;
  stop = async () => {
    await console.stop();
    await service.stop();
  };
  const asset = service.world.assets.USDT as StoredAsset;
  const paid = async (by: Shop, amount: string, body: Record<string, unknown> = {}) => {
    const { paymentUid, payment } = await by.payment({ amount: '49.90', ...body });
    const offer = payment.offers.find(({ assetId }) => assetId === asset.id);
    const address = await selectAddress(service, paymentUid, offer?.id ?? '');
    await service.mine([payTo(address, asset, amount)]);
    await service.mine();
    return paymentUid;
  };
  payments.paid = await paid(shop, '49.9', { webhookParams: { order: HOSTILE, note: OVERRIDE, exact: 12345678901234567890n.toString() } });
  payments.mismatch = await paid(shop, '10');
  payments.foreign = await paid(stranger, '49.9');
  payments.pending = (await shop.payment({ webhookParams: { order: 'A-1001' } })).paymentUid;
  for (let made = 0; made < 2; made++) await shop.payment({ webhookParams: { order: 'twice' } });
  await shop.fund('USDT', '40');
  const body = { assetId: asset.id, amount: '12.5', address: `0x${'7a'.repeat(20)}`, metadata: { requester: HOSTILE } };
  const cashout = await shop.signed('POST', '/merchant/settlements', { body });
  expect(cashout.status, cashout.text).toBe(200);
  cashoutId = String(cashout.data.id);
  [{ month }] = (await service.world.database.sql`select to_char(sluice_now() at time zone 'UTC', 'YYYY-MM') as month`) as unknown as [{ month: string }];
});
afterAll(() => stop?.());

const member = (role: string, gatewayId: string | null = shop.id) =>
  aMember(service.world.database, { email: `${role}-${randomUUID()}@example.com`, gatewayId, role });
const read = async (path: string, session: string) => {
  const answer = await fetch(`${origin}${path}`, { headers: { cookie: `__Host-sluice=${session}`, 'accept-encoding': 'identity' }, redirect: 'manual' });
  return { status: answer.status, location: answer.headers.get('location'), body: await answer.text() };
};
const pathOf = (template: string, id: string | undefined) => `/g/${shop.id}${template.replace('{id}', id ?? '')}`;
const PAGES = GATEWAY_SCREENS.filter(({ path }) => path !== '/search');
const idFor = (template: string) => (template.startsWith('/cashouts') ? cashoutId : template.startsWith('/statements') ? month : payments.paid);
const factsOf = async (paymentId: string) => {
  const { data } = await shop.call('GET', `/payments/${paymentId}`);
  const { outcome, offers } = data as unknown as { outcome: { txHash: string }; offers: { depositAddress?: string }[] };
  return { txHash: outcome.txHash, depositAddress: offers.find(({ depositAddress }) => depositAddress !== undefined)?.depositAddress ?? '' };
};
/** All but what is new in every answer. */
const same = (body: string) => body.replaceAll(/Request [^<]+/g, '');

describe('a person of a gateway', () => {
  it('begins with what was received, how far payments came and what waits, as the operations tell it, and leads there', async () => {
    const session = await member('owner');
    const { status, location } = await read(`/g/${shop.id}`, session);
    expect([status, location]).toEqual([303, `/g/${shop.id}/home`]);
    const { body } = await read(`/g/${shop.id}/home`, session);
    const { data } = await shop.call('GET', '/funnel');
    const { created, paid } = data as { created: number; paid: number };
    expect(created).toBeGreaterThan(paid);
    const series = (await shop.call('GET', '/series')).data as { items: { received: { amountUsd: string }[] }[] };
    const cents = series.items.flatMap(({ received }) => received).reduce((sum, { amountUsd }) => sum + Math.round(Number(amountUsd) * 100), 0);
    expect(cents).toBeGreaterThan(0);
    expect(body).toContain(`$${(cents / 100).toFixed(2)}`);
    expect(body.match(/<meter[^>]*value="(\d+)"/g)?.map((meter) => Number(/value="(\d+)"/.exec(meter)?.[1]))).toEqual(expect.arrayContaining([created, paid]));
    await service.world.database.sql`update webhook_events set state = 'exhausted' where payment_id = ${payments.mismatch ?? ''}`;
    const needs = /<ul class="needs".*?<\/ul>/s.exec((await read(`/g/${shop.id}/home`, session)).body)?.[0] ?? '';
    expect(needs).toContain(`/g/${shop.id}/webhooks?state=exhausted`);
    expect((await read(`/g/${stranger.id}/home`, session)).status).toBe(404);
  });

  it.each(GATEWAY_ROLES)('as %s is shown every part that the role’s permissions name, and no other', async (role) => {
    const session = await member(role);
    const [{ permissions }] = (await service.world.database.sql`select permissions from roles where name = ${role}`) as unknown as [{ permissions: string[] }];
    for (const { path, section, permission = permissionOf(section) } of GATEWAY_SCREENS) {
      const allowed = permissions.includes(permission);
      const { status, body } = await read(pathOf(path, idFor(path)), session);
      expect(status, path).toBe(allowed ? (path === '/search' ? 303 : 200) : 403);
      if (path === '/search' && allowed) continue;
      expect(body.includes(`href="/g/${shop.id}/${section}"`), `link to ${section}`).toBe(permissions.includes(permissionOf(section)));
      if (!allowed) expect(body, path).toContain('Not part of your role');
    }
    const beginning = await read(`/g/${shop.id}`, session);
    const first = GATEWAY_SCREENS.find(({ section }) => permissions.includes(permissionOf(section)));
    expect([beginning.status, beginning.location]).toEqual(first === undefined ? [403, null] : [303, `/g/${shop.id}/${first.section}`]);
  });

  it('gets the same bytes for another gateway as for none, and for its payments and cashouts as for unknown ones', async () => {
    const session = await member('owner');
    const unknown = randomUUID();
    for (const { path } of GATEWAY_SCREENS) {
      const foreign = await read(`/g/${stranger.id}${path.replace('{id}', payments.foreign ?? '')}`, session);
      const none = await read(`/g/${unknown}${path.replace('{id}', payments.foreign ?? '')}`, session);
      expect([foreign.status, same(foreign.body)], path).toEqual([404, same(none.body)]);
    }
    for (const id of [payments.foreign, 'A'.repeat(43), 'null', payments.paid?.toUpperCase().replace(/.$/, 'z')])
      for (const list of ['payments', 'cashouts']) {
        const answer = await read(`/g/${shop.id}/${list}/${id}`, session);
        const none = await read(`/g/${shop.id}/${list}/${unknown}`, session);
        expect([answer.status, same(answer.body)], `${list} ${id}`).toEqual([404, same(none.body)]);
      }
  });

  it('is out at the next request once the membership ended or became another role', async () => {
    const session = await member('owner');
    expect((await read(pathOf('/payments', ''), session)).status).toBe(200);
    const { sql } = service.world.database;
    const person = sql`(select person_id from sessions order by created_at desc, id limit 1)`;
    await sql`update memberships set role = 'cashier' where person_id = ${person}`;
    expect((await read(pathOf('/payments', ''), session)).status).toBe(403);
    await sql`update memberships set ended_at = sluice_now() where person_id = ${person}`;
    expect((await read(pathOf('/payments', ''), session)).status).toBe(404);
  });

  it('reads nothing without a session, and nothing of the deployment’s own roles', async () => {
    for (const session of ['', 'P'.repeat(43)]) expect(await read(pathOf('/payments', ''), session)).toMatchObject({ status: 303, location: '/sign-in' });
    expect((await read(pathOf('/payments', ''), await member('operator', null))).status).toBe(404);
  });

  it('is told what is wrong with a query, whatever is in it', async () => {
    const session = await member('owner');
    expect((await read(`${pathOf('/webhooks', '')}?state=lost`, session)).status).toBe(422);
    expect((await read(`${pathOf('/requests', '')}?status=3xx`, session)).status).toBe(422);
    for (const query of ['status=NONE', 'after=x', 'after=%00', `after=${'A'.repeat(5000)}`, `status=${encodeURIComponent(HOSTILE)}`]) {
      const { status, body } = await read(`${pathOf('/payments', '')}?${query}`, session);
      expect(status, query).toBe(422);
      expect(body, query).not.toContain('<script>alert');
    }
    expect((await read(`${pathOf('/payments', '')}?status=&after=`, session)).status).toBe(200);
  });

  it('opens by the search what is known by exactly this, and lists what several are known by', async () => {
    const session = await member('owner');
    const to = async (q: string, as = session) => {
      const { status, location } = await read(`${pathOf('/search', '')}?q=${encodeURIComponent(q)}`, as);
      return status === 303 ? location?.replace(`/g/${shop.id}`, '') : status;
    };
    const { txHash, depositAddress } = await factsOf(payments.mismatch ?? '');
    for (const q of [payments.mismatch ?? '', ` ${payments.mismatch} `, txHash, txHash.toUpperCase().replace('0X', '0x'), depositAddress])
      expect(await to(q), q).toBe(`/payments/${payments.mismatch}`);
    expect(await to('A-1001')).toBe(`/payments/${payments.pending}`);
    expect(await to(HOSTILE)).toBe(`/payments/${payments.paid}`);
    expect(await to(cashoutId)).toBe(`/cashouts/${cashoutId}`);
    for (const q of ['twice', payments.foreign ?? '', randomUUID(), '%', "'; drop table payments; --"])
      expect(await to(q), q).toBe(`/payments?q=${encodeURIComponent(q)}`);
    for (const q of ['', '  ']) expect(await to(q)).toBe('/payments');
    for (const q of ['A\u0000', 'two\nlines', 'A'.repeat(256)]) expect(await to(q), q).toBe(422);
    expect(await to('A-1001', await member('cashier'))).toBe(403);
    const listed = await read(`${pathOf('/payments', '')}?q=twice`, session);
    expect([...listed.body.matchAll(/class="row-name"/g)]).toHaveLength(2);
    expect((await read(`${pathOf('/payments', '')}?q=${payments.foreign}`, session)).body).toContain('No payment is like that');
  });

  it('narrows the list by what was received, when and how, and keeps that from page to page', async () => {
    const session = await member('owner');
    const listed = async (query: string) => {
      const { status, body } = await read(`${pathOf('/payments', '')}?${query}`, session);
      expect(status, query).toBe(200);
      return { ids: [...body.matchAll(/class="row-name" href="[^"]+\/([0-9a-f-]{36})"/g)].map(([, id]) => id), body };
    };
    expect((await listed('asset=USDT&status=MISMATCH')).ids).toEqual([payments.mismatch]);
    expect((await listed('asset=BTC')).body).toContain('No payment is like that');
    expect((await listed('network=ethereum&verified=false&sandbox=false')).ids).toContain(payments.paid);
    expect((await listed('createdTo=2020-01-01')).ids).toEqual([]);
    expect((await listed('createdFrom=2020-01-01&asset=&network=')).ids).toContain(payments.paid);
    expect((await read(`${pathOf('/payments', '')}?createdFrom=soon`, session)).status).toBe(422);
    expect((await listed('asset=USDT')).body).toContain('status=MISMATCH&amp;asset=USDT'.split('&amp;').sort().join('&amp;'));
  });

  it('leafs through all payments, each once, by the links at the foot', async () => {
    const session = await member('owner');
    const made = [];
    for (let at = 0; at < 25; at++) made.push((await shop.payment()).paymentUid);
    const seen: string[] = [];
    for (let path: string | undefined = pathOf('/payments', ''); path !== undefined; ) {
      const { body } = await read(path, session);
      seen.push(...[...body.matchAll(/class="row-name" href="[^"]+\/([0-9a-f-]{36})"/g)].map(([, id]) => String(id)));
      path = /href="([^"]+)" rel="next"/.exec(body)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining([...made, payments.paid, payments.pending]));
    expect(seen).not.toContain(payments.foreign);
  });

  it('gets each page in at most 80 KB and 8 requests', async () => {
    const session = await member('owner');
    for (const { path } of PAGES) await expectLightPage(origin, pathOf(path, idFor(path)), session);
  });
});

describeInBrowser('the pages of a gateway', (open) => {
  const signedIn = async (options: Parameters<typeof open>[0] = {}, role = 'owner') => {
    const { page } = await open(options);
    await page
      .context()
      .addCookies([{ name: '__Host-sluice', value: await member(role), url: 'https://localhost', secure: true, httpOnly: true, sameSite: 'Lax' }]);
    return page;
  };

  it('tell of a payment what happened, the sum that decided it, and what came of it', async () => {
    const page = await signedIn();
    await page.goto(`${origin}${pathOf('/payments/{id}', payments.mismatch)}`);
    const happened = page.locator('.timeline > .event');
    const titles = await happened.locator('.event-title').allInnerTexts();
    expect(titles[0]).toBe('Created');
    const judged = happened.filter({ hasText: 'Judged: Mismatch' });
    expect(await judged.locator('.why').innerText()).toMatch(/10 USDT × .+ = 10\.00 USD received; .+ the difference is -39\.90 USD/);
    await judged.locator('summary').click();
    expect(await judged.locator('.steps li').count()).toBeGreaterThan(2);
    expect(await happened.filter({ hasText: /Credited \d/ }).innerText()).toMatch(/10 − [\d.]+ network fee − 0 commission = [\d.]+ USDT/);
    await page.getByRole('link', { name: 'Payments' }).last().click();
    await page.locator('main[data-screen="payments"]').waitFor();
  });

  it('show what shops, payers and gateways wrote as text, digit by digit', async () => {
    const page = await signedIn();
    await page.goto(`${origin}${pathOf('/payments/{id}', payments.paid)}`);
    const text = await page.locator('body').innerText();
    for (const written of [`Acme ${HOSTILE}`, HOSTILE, '12345678901234567890']) expect(text).toContain(written);
    // A mark that turns the text around ends with the value it is in.
    expect(await page.locator('dd', { hasText: '99.94' }).evaluate((value) => getComputedStyle(value).unicodeBidi)).toBe('isolate');
    await page.goto(`${origin}${pathOf('/cashouts/{id}', cashoutId)}`);
    expect(await page.locator('main').innerText()).toContain(HOSTILE);
    await page.goto(`${origin}${pathOf('/payments', '')}?status=SUCCESS`);
    expect(await page.locator('main').innerText()).toContain('<script>alert(1)</script>');
  });

  it('lead from a balance to the postings it is the sum of, and from each to what caused it', async () => {
    const page = await signedIn();
    await page.goto(`${origin}${pathOf('/ledger', '')}`);
    const lines = await page
      .locator('tbody tr')
      .evaluateAll((rows) =>
        rows.map((row) => ({ account: row.querySelectorAll('td')[1]?.textContent ?? '', amount: row.querySelector('.amount .figure')?.textContent ?? '' })),
      );
    const sum = lines
      .filter(({ account }) => account === 'Available')
      .reduce((total, { amount }) => total + Number(amount.replace('−', '-').replace(/ USDT$/, '')), 0);
    await page.goto(`${origin}${pathOf('/balances', '')}`);
    expect(Number(await page.locator('tbody td .figure').first().innerText())).toBeCloseTo(sum, 6);
    await page.goto(`${origin}${pathOf('/credits', '')}`);
    await page.locator('tbody a').last().click();
    await page.locator('main[data-screen="payment"]').waitFor();
    await page.goto(`${origin}${pathOf('/ledger', '')}`);
    await page.locator('td a[href*="/cashouts/"]').first().click();
    await page.locator('main[data-screen="cashout"]').waitFor();
  });

  it('copy a whole hash where a short one is shown', async () => {
    const page = await signedIn({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto(`${origin}${pathOf('/payments/{id}', payments.paid)}`);
    await page
      .getByRole('button', { name: /Copy the transaction/ })
      .first()
      .click();
    await page.locator('.copied').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^0x[0-9a-f]{64}$/);
  });

  it('tell moments in the reader’s zone, and in UTC to whoever points at one or runs no programs', async () => {
    const tokyo = await signedIn({ timezoneId: 'Asia/Tokyo' });
    await tokyo.goto(`${origin}${pathOf('/payments/{id}', payments.paid)}`);
    const moment = tokyo.locator('time[data-moment="time"]').first();
    const at = new Date((await moment.getAttribute('datetime')) ?? '');
    expect(await moment.innerText()).toBe(at.toLocaleTimeString('en-GB', { timeZone: 'Asia/Tokyo' }));
    expect(await moment.getAttribute('title')).toBe(`${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`);
    const plain = await signedIn({ javaScriptEnabled: false });
    await plain.goto(`${origin}${pathOf('/payments/{id}', payments.paid)}`);
    expect(await plain.locator('dd time').first().innerText()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/);
  });

  it('read without a finding of axe and without scrolling sideways, on a desk and on a phone, in light and dark', async () => {
    const page = await signedIn({ tolerate: /status of 4\d\d/ });
    const found: string[] = [];
    for (const path of [
      ...PAGES.map((one) => pathOf(one.path, idFor(one.path))),
      pathOf('/payments/{id}', payments.mismatch),
      pathOf('/payments/{id}', payments.pending),
      `${pathOf('/payments', '')}?status=EXPIRED&asset=USDT`,
      `${pathOf('/payments', '')}?asset=USDT`,
      `${pathOf('/cashouts', '')}?status=REJECTED`,
      `${pathOf('/webhooks', '')}?state=exhausted`,
      pathOf('/payments/{id}', randomUUID()),
    ]) {
      await page.goto(`${origin}${path}`);
      found.push(...(await findingsOf(page, path)));
    }
    expect(found).toEqual([]);
  });

  it('change their language by a form in their foot, and stay where they are', async () => {
    const page = await signedIn({ javaScriptEnabled: false });
    const address = `${origin}${pathOf('/payments', '')}?status=PENDING`;
    await page.goto(address);
    await page.getByRole('combobox', { name: 'Language' }).selectOption('Español');
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByRole('heading', { name: 'Pagos', level: 1 }).waitFor();
    expect(page.url()).toBe(address);
    await page.goto(`${origin}${pathOf('/balances', '')}`);
    await page.getByRole('heading', { name: 'Saldos', level: 1 }).waitFor();
  });

  it('say of an empty gateway how it begins, and of a role without permission whom to ask', async () => {
    const empty = await service.aShop({ name: 'Nobody yet' });
    const { page } = await open({ tolerate: /status of 403/ });
    const as = async (role: string) => {
      const value = await member(role, empty.id);
      await page.context().addCookies([{ name: '__Host-sluice', value, url: 'https://localhost', secure: true, httpOnly: true, sameSite: 'Lax' }]);
    };
    await as('owner');
    for (const [section, text] of [
      ['payments', 'curl'],
      ['balances', 'Nothing here yet'],
      ['credits', 'Nothing here yet'],
      ['ledger', 'Nothing here yet'],
      ['webhooks', 'No webhooks yet'],
      ['cashouts', 'No cashouts yet'],
    ] as const) {
      await page.goto(`${origin}/g/${empty.id}/${section}`);
      expect(await page.locator('main').innerText()).toContain(text);
      expect(await axeFindings(page), section).toEqual([]);
    }
    await as('cashier');
    await page.goto(`${origin}/g/${empty.id}/payments`);
    expect(await page.locator('main').innerText()).toContain('You are Cashier of Nobody yet');
    expect(await axeFindings(page)).toEqual([]);
  });
});
