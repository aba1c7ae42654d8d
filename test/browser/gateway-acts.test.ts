import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StoredAsset } from '#api/store/assets.ts';
import { EXAMPLES, GATEWAYS } from '#test/contract/examples.ts';
import { aService, type Service, type Shop } from '#test/contract/service.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { aMember, serveConsole, withAuthenticator } from '#test/harness/console-stage.ts';
import { openPeopleDesk } from '#api/people/desk.ts';
import { look } from './looking.ts';
import { arrive, comeIn } from './passkey.ts';

describeInBrowser('what people do at a gateway', (open) => {
  let service: Service;
  let shop: Shop;
  let served: Awaited<ReturnType<typeof serveConsole>>;
  beforeAll(async () => {
    service = await aService((deps) => ({ ...deps, config: { ...deps.config, SLUICE_CONSOLE_URL: 'http://localhost:1' } }));
    shop = await service.aShop(GATEWAYS.approveSettlement);
    await shop.fund('USDT', '500');
    served = await serveConsole(service.deps, service.world.database);
  });
  afterAll(async () => {
    await served?.stop();
    await service?.stop();
  });

  /** Somebody with a passkey in a browser of their own, signed in. */
  const somebody = async (role: string, tolerate?: RegExp): Promise<{ page: Page; email: string }> => {
    const { page } = await open(tolerate && { tolerate });
    const email = `${role}-${randomUUID()}@example.com`;
    await comeIn(page, served.origin, service.deps, { email, gatewayId: shop.id, role });
    return { page, email };
  };

  it('asks for a cashout in three steps, and somebody else approves it with their passkey', async () => {
    const [finance, approver] = [await somebody('owner', /status of (403|422)/), await somebody('approver')];
    const { page } = finance;
    await page.goto(`${served.origin}/g/${shop.id}/cashouts`);
    await page.getByRole('link', { name: 'New cashout' }).click();
    await look(page, 'new-cashout');
    const address = `0x${'5b'.repeat(20)}`;
    await page.getByRole('button', { name: 'All of it' }).click();
    await expect.poll(() => page.getByLabel('Amount').inputValue()).toMatch(/^[1-9]/);
    await page.getByLabel('Amount').fill('1e3');
    await page.getByLabel('Destination').fill(address);
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page
      .locator('.notice')
      .getByText(/amount/)
      .waitFor();
    expect(await page.getByLabel('Destination').inputValue(), 'what was filled in stays').toBe(address);
    await page.getByLabel('Amount').fill('120.5');
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.locator('main[data-screen="review-cashout"]').waitFor();
    await look(page, 'review-cashout');
    expect(await page.locator('main').innerText()).toMatch(/Nothing was ever sent there[\s\S]*waits for somebody else to approve/);
    await page.getByRole('button', { name: /passkey/ }).click();
    await page.locator('main[data-screen="cashout"]').waitFor();
    const id = page.url().split('/').at(-1) ?? '';
    const { data } = await shop.signed('GET', `/merchant/settlements/${id}`);
    expect(data).toMatchObject({ status: 'PENDING_APPROVAL', amount: '120.5', metadata: { requester: finance.email } });
    await page.getByText('You created it: somebody else approves it.').waitFor();
    expect(await page.getByRole('button', { name: 'Approve with my passkey' }).count(), 'whoever created it').toBe(0);

    await approver.page.goto(`${served.origin}/g/${shop.id}/cashouts/${id}`);
    await look(approver.page, 'approve');
    await arrive(approver.page, () => approver.page.getByRole('button', { name: 'Approve with my passkey' }).click());
    expect(await approver.page.getByRole('button', { name: 'Approve with my passkey' }).count()).toBe(0);
    await expect.poll(async () => (await shop.signed('GET', `/merchant/settlements/${id}`)).data.status).toBe('REQUESTED');
  });

  it('warns of an address that only looks like a known one', async () => {
    const { page } = await somebody('owner');
    const known = `0xabcd${'1'.repeat(32)}ef12`;
    const asset = service.world.assets.USDT as StoredAsset;
    const body = { assetId: asset.id, amount: '12.5', address: known, label: 'Payroll' };
    expect((await shop.signed('POST', '/merchant/settlements', { body })).status).toBe(200);
    await page.goto(`${served.origin}/g/${shop.id}/cashouts/new`);
    await page.getByLabel('Amount').fill('10');
    await page.getByLabel('Destination').fill(`0xabcd${'2'.repeat(32)}ef12`);
    await page.getByRole('button', { name: 'Look at it' }).click();
    expect(await page.getByRole('alert').first().innerText()).toContain('Payroll');
    expect((await page.getByRole('alert').first().innerText()).toLowerCase()).toContain(known);
  });

  it('makes a key that is shown once and works, and a link for a colleague', async () => {
    const { page } = await somebody('owner');
    await page.goto(`${served.origin}/g/${shop.id}/keys`);
    await page.getByText('New key').click();
    await page.getByLabel('Name').fill('Web <b>shop</b>');
    await look(page, 'keys');
    await page.getByRole('button', { name: 'Make it with my passkey' }).click();
    const text = await page.locator('[data-part="secret"] code').innerText();
    await look(page, 'new-key');
    const ask = async () => (await service.ask('GET', '/api/v1/payments', { headers: { 'x-api-key': text } })).status;
    expect(await ask()).toBe(200);
    await page.getByRole('link', { name: 'I stored it' }).click();
    expect(await page.content(), 'nowhere afterwards').not.toContain(text);
    const row = page.locator('tr', { hasText: 'Web <b>shop</b>' });
    await row.getByText('Revoke', { exact: true }).click();
    await look(page, 'revoke');
    await page.getByRole('button', { name: /Revoke/ }).click();
    await row.getByText(/Revoked/).waitFor();
    expect(await ask()).toBe(401);

    await page.goto(`${served.origin}/g/${shop.id}/team`);
    await page.getByText('Invite somebody').click();
    await page.getByLabel('E-mail address').fill('ben@example.com');
    await look(page, 'team');
    await page.getByRole('button', { name: 'Make a link with my passkey' }).click();
    const link = await page.locator('[data-part="secret"]').innerText();
    const colleague = await open();
    await colleague.page.goto(link);
    expect(await colleague.page.locator('main').innerText()).toContain('ben@example.com');
  });

  it('works without scripts, by a code', async () => {
    const email = `approver-${randomUUID()}@example.com`;
    const cookie = await aMember(service.world.database, { email, gatewayId: shop.id, role: 'approver' });
    const desk = openPeopleDesk(service.deps);
    const code = await withAuthenticator({ deps: service.deps, desk, database: service.world.database }, { email, cookie });
    const { page } = await open({ javaScriptEnabled: false });
    await page.context().addCookies([{ name: '__Host-sluice', value: cookie, url: served.origin.replace('http:', 'https:'), secure: true }]);
    const id = (await EXAMPLES.getSettlement(service, shop)).params?.settlementId ?? '';
    await page.goto(`${served.origin}/g/${shop.id}/cashouts/${id}`);
    await page.getByText('None of my passkeys is here').click();
    await page.getByLabel(/Six digits/).fill(code());
    await page.getByRole('button', { name: 'Approve with my passkey' }).click();
    await page.locator('main[data-screen="cashout"]').waitFor();
    expect((await shop.signed('GET', `/merchant/settlements/${id}`)).data.status).toBe('REQUESTED');
  });
});
