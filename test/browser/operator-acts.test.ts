import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { screenCredit } from '#api/aml/screen-credit.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { upsertScreeningScore } from '#api/store/screenings.ts';
import { aService, payTo, selectAddress, type Service } from '#test/contract/service.ts';
import { forgetMadeUp, makeStuck } from '#test/fixtures/stuck-coins.ts';
import { TEST_PEOPLE } from '#test/harness/world.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { serveConsole } from '#test/harness/console-stage.ts';
import { look, unfold } from './looking.ts';
import { acceptInvitation, arrive, comeIn, givePasskeys } from './passkey.ts';

describeInBrowser('what operators do in the console', (open) => {
  let service: Service;
  let served: Awaited<ReturnType<typeof serveConsole>>;
  beforeAll(async () => {
    service = await aService((deps) => ({ ...deps, config: { ...deps.config, SLUICE_CONSOLE_URL: 'http://localhost:1' } }));
    served = await serveConsole(service.deps, service.world.database);
  });
  afterAll(async () => {
    await served?.stop();
    await service?.stop();
  });

  const operator = async (): Promise<Page> => {
    const { page } = await open();
    await comeIn(page, served.origin, service.deps, { email: `operator-${randomUUID()}@example.com`, gatewayId: null, role: 'operator' });
    return page;
  };
  const lookUnfolded = async (page: Page, name: string): Promise<void> => {
    await unfold(page);
    await look(page, name);
  };

  /** A payment that the server with this key asks for, whose coins screening holds. */
  async function aHeldPayment(key: string): Promise<string> {
    const body = { currencyCode: 'USD', amount: '10', checkoutMode: 'API', webhookUrl: 'https://shop.example/hook', checkAmountDeviation: false };
    await service.world.database.sql`
      update gateways set settings = jsonb_set(settings, '{apiAllowlist}', '["127.0.0.0/8", "::1/128"]') where id = (select gateway_id from api_keys where id = ${key.slice('sluice_'.length, 'sluice_'.length + 16)})`;
    const { paymentUid } = (await service.ask('POST', '/api/v1/payments', { headers: { 'x-api-key': key }, body })).data as { paymentUid: string };
    const { sql } = service.world.database;
    const [offer] = await sql<{ id: string }[]>`
      select o.id from payment_offers o join assets a on a.id = o.asset_id where o.payment_id = ${paymentUid} and a.symbol = 'USDT' limit 1`;
    const address = await selectAddress(service, paymentUid, offer?.id ?? '');
    await upsertScreeningScore(sql, { address: address.toLowerCase(), score: 90 });
    await service.mine([payTo(address, service.world.assets.USDT as StoredAsset, '20')]);
    await service.mine();
    for (const { id } of await sql<{ id: string }[]>`select id from credits where payment_id = ${paymentUid}`) await screenCredit(service.worker, id);
    return paymentUid;
  }

  it('provides a shop with a gateway whose owner comes in, and refunds what was paid there and held, by two of them', async () => {
    const [anna, ben] = [await operator(), await operator()];
    await anna.goto(`${served.origin}/ops/gateways`);
    await anna.getByText('New gateway', { exact: true }).click();
    await lookUnfolded(anna, 'new-gateway');
    await anna.getByLabel('Name of the shop').fill('Bakery <i>');
    await anna.getByLabel('E-mail address of its owner').fill('baker@shop.example');
    await anna.getByLabel('Its server may ask for cashouts').check();
    await anna.getByLabel('Deposits and destinations are screened').check();
    await anna.getByLabel('Screening credits to begin with').fill('5');
    await anna.getByRole('button', { name: 'Make it' }).click();
    await anna.getByText('All of this is shown once').waitFor();
    await lookUnfolded(anna, 'gateway-made');
    const secrets = await anna.locator('[data-part="secret"]').allInnerTexts();
    const key = secrets[0] as string;
    expect((await service.ask('GET', '/api/v1/payments', { headers: { 'x-api-key': key } })).status).toBe(200);
    const link = secrets[3] as string;
    await anna.getByRole('link', { name: 'I stored it' }).click();
    await anna.locator('main[data-screen="ops-gateway"]').waitFor();
    expect(await anna.content()).not.toContain(key);
    await lookUnfolded(anna, 'gateway');
    const { page: owner } = await open();
    await givePasskeys(owner);
    await acceptInvitation(owner, link);
    expect(await owner.locator('main').innerText()).toContain('Bakery <i>');

    const id = await aHeldPayment(key);
    await anna.goto(`${served.origin}/ops/payments/${id}`);
    await lookUnfolded(anna, 'held');
    const refund = anna.locator('form', { has: anna.locator('input[name="address"]') });
    await refund.locator('input[name="address"]').fill('0x70997970C51812dc3A010C7d01b50e0d17dc79C8');
    await refund.locator('input[name="reason"]').fill('the sender asked for it <b>');
    await refund.getByRole('button', { name: 'Propose the refund' }).click();
    await anna.locator('main[data-screen="ops-screening"]').waitFor();
    await anna.getByText('You proposed it').waitFor();
    await ben.goto(`${served.origin}/ops/screening`);
    await lookUnfolded(ben, 'proposal');
    await arrive(ben, () => ben.getByRole('button', { name: 'Confirm with my passkey' }).click());
    expect(await ben.getByRole('button', { name: 'Confirm with my passkey' }).count()).toBe(0);
    await expect.poll(async () => (await service.world.database.sql`select 1 from aml_refunds where payment_id = ${id}`).length).toBe(1);
  });

  it('has a form for whatever else they may do, on pages that fit', async () => {
    const ben = await operator();
    for (const [page, name] of [
      ['networks/ethereum', 'network'],
      ['money', 'money'],
      ['people', 'people'],
      ['jobs', 'jobs'],
    ] as const) {
      await ben.goto(`${served.origin}/ops/${page}`);
      await lookUnfolded(ben, name);
    }
  });

  it('has a navigation of one line on a phone, which a finger and a keyboard unfold', async () => {
    const ben = await operator();
    await ben.setViewportSize({ width: 360, height: 740 });
    await ben.goto(`${served.origin}/ops/networks`);
    const [nav, parts, here] = [ben.locator('.side'), ben.locator('.side ul'), ben.locator('.side-here')];
    expect([(await nav.boundingBox())?.height ?? 0, (await here.boundingBox())?.height ?? 0]).toEqual([expect.any(Number), 36]);
    expect((await nav.boundingBox())?.height).toBeLessThan(72);
    expect([await parts.isVisible(), await here.innerText()]).toEqual([false, expect.stringContaining('Networks')]);
    await here.click();
    expect(await parts.isVisible()).toBe(true);
    await ben.getByRole('checkbox', { name: 'All pages Networks' }).press('Space');
    expect(await parts.isVisible()).toBe(false);
    await ben.keyboard.press('Space');
    await look(ben, 'navigation');
    await ben.setViewportSize({ width: 360, height: 740 });
    await arrive(ben, () => ben.getByRole('link', { name: 'Jobs' }).click());
    expect(await parts.isVisible()).toBe(false);
  });

  it('has forms for coins that are withheld, for those that did not follow their payment, and for all work of a kind that failed', async () => {
    const [ben, shop, { sql }] = [await operator(), await service.aShop({ screening: { enabled: true, credits: 5 } }), service.world.database];
    const [kept, stuck] = [await aHeldPayment(shop.apiKey), await aHeldPayment(shop.apiKey)];
    const decide = (id: string, action: string) =>
      service.ask('POST', `/operator/v1/payments/${id}/aml`, { headers: { authorization: `Bearer ${TEST_PEOPLE.anna}` }, body: { action, reason: 'a test' } });
    await decide(kept, 'WITHHOLD');
    await decide(stuck, 'RELEASE');
    await makeStuck(sql, stuck);
    await ben.goto(`${served.origin}/ops/payments/${stuck}`);
    await lookUnfolded(ben, 'misplaced');
    expect(await ben.locator('form[action$="payment-transfer"]').count()).toBe(1);
    await forgetMadeUp(sql);
    await sql`insert into outbox (id, topic, ref_id, due_at, state, last_error, failures) values (gen_random_uuid(), 'person.mail', gen_random_uuid(), sluice_now(), 'dead', 'away', 3)`;
    await ben.goto(`${served.origin}/ops/jobs`);
    await lookUnfolded(ben, 'failed-jobs');
    expect(await ben.locator('form[action$="jobs-retry"]').count()).toBe(1);
    await sql`delete from outbox where topic = 'person.mail'`;

    await ben.goto(`${served.origin}/ops/gateways/${shop.id}`);
    await lookUnfolded(ben, 'withheld');
    const form = ben.locator('form[action$="withheld-pay"]');
    await form.locator('input[name="amount"]').fill('0.5');
    await form.locator('input[name="reason"]').fill('a court order <b>');
    await form.locator('input[name="address"]').fill('0x70997970C51812dc3A010C7d01b50e0d17dc79C8');
    await form.getByRole('button', { name: 'Propose the payout' }).click();
    await ben.locator('main[data-screen="ops-screening"]').waitFor();
    await lookUnfolded(ben, 'withheld-proposal');
    expect(await ben.locator('[data-part="proposals"]').innerText()).toContain('a court order <b>');
  });
});
