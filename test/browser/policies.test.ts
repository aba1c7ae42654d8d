import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { GATEWAYS } from '#test/contract/examples.ts';
import { aService, type Service, type Shop } from '#test/contract/service.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { serveConsole } from '#test/harness/console-stage.ts';
import { look } from './looking.ts';
import { arrive, comeIn } from './passkey.ts';

const CASHES_OUT = { cashout: { ...(GATEWAYS.approveSettlement?.cashout as object), approvalCapUsd: null } };

describeInBrowser('policies in the console', (open) => {
  let service: Service;
  let shop: Shop;
  let served: Awaited<ReturnType<typeof serveConsole>>;
  beforeAll(async () => {
    service = await aService((deps) => ({ ...deps, config: { ...deps.config, SLUICE_CONSOLE_URL: 'http://localhost:1' } }));
    shop = await service.aShop(CASHES_OUT);
    await shop.fund('USDT', '500');
    await service.world.database.sql`update api_keys set permissions = array_remove(permissions, 'settlement:approve') where gateway_id = ${shop.id}`;
    served = await serveConsole(service.deps, service.world.database);
  });
  afterAll(async () => {
    await served?.stop();
    await service?.stop();
  });

  /** Somebody with a passkey in a browser of their own, signed in. */
  const somebody = async (role: string): Promise<Page> => {
    const { page } = await open();
    await comeIn(page, served.origin, service.deps, { email: `${role}-${randomUUID()}@example.com`, gatewayId: shop.id, role });
    return page;
  };

  it('are written in words, tried on past cashouts, agreed to by another owner, and have two people approve', async () => {
    const create = (amount: string) =>
      shop.signed('POST', '/merchant/settlements', {
        body: { assetId: service.world.assets.USDT?.id, amount, address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', metadata: { requester: 'Kim <b>' } },
      });
    await create('60');
    await create('3');
    // Beside whoever creates a cashout, two have to be left who approve.
    const [anna, ben] = [await somebody('owner'), await somebody('owner'), await somebody('approver')];
    const policies = `${served.origin}/g/${shop.id}/policies`;
    await anna.goto(policies);
    await look(anna, 'none');
    await anna.getByRole('link', { name: 'Change' }).click();
    await anna.getByLabel('Worth more than, in USD', { exact: true }).fill('50');
    await anna.locator('select[name="destination"]').selectOption('younger');
    await anna.locator('input[name="days"]').fill('2');
    await anna.locator('select[name="people"]').selectOption('2');
    await anna.getByRole('button', { name: 'Add it' }).click();
    await anna.getByText('needs 2 people').first().waitFor();
    await anna.getByLabel('Cap for every other cashout, in USD').fill('1000');
    await anna.getByRole('button', { name: 'Set the cap' }).click();
    await anna.getByText('needs one person above 1000 USD').first().waitFor();
    expect(await anna.locator('main').innerText()).toContain('Of the last 2 cashouts, one would have met something else.');
    await look(anna, 'draft');
    await anna.getByRole('button', { name: 'Propose' }).click();
    await anna.getByText('You proposed it').waitFor();

    await ben.goto(policies);
    await ben.getByText(/proposed it/).waitFor();
    await look(ben, 'waiting');
    await arrive(ben, () => ben.getByRole('button', { name: 'Agree' }).click());
    expect(await ben.getByText(/proposed it/).count()).toBe(0);
    await look(ben, 'in-force');

    const id = String((await create('60')).data.id);
    await anna.goto(`${served.origin}/g/${shop.id}/cashouts/${id}`);
    await anna.getByText('It waits for 2 people who approve; 0 did').waitFor();
    expect(await anna.locator('main').innerText()).toContain('Kim <b>');
    await look(anna, 'approval');
    await anna.getByRole('button', { name: 'Approve with my passkey' }).click();
    await anna.getByText('You approved it. It waits for others.').waitFor();
    await ben.goto(`${served.origin}/g/${shop.id}/cashouts/${id}`);
    await look(ben, 'second-approval');
    await arrive(ben, () => ben.getByRole('button', { name: 'Approve with my passkey' }).click());
    expect(await ben.getByRole('button', { name: 'Approve with my passkey' }).count()).toBe(0);
    await expect.poll(async () => (await shop.signed('GET', `/merchant/settlements/${id}`)).data.status).toBe('REQUESTED');

    await ben.goto(`${served.origin}/g/${shop.id}/allowlists`);
    await look(ben, 'allowlists');
    await ben.goto(`${served.origin}/g/${shop.id}/addresses`);
    await ben
      .getByRole('link', { name: /^Stand for/ })
      .first()
      .click();
    await look(ben, 'addresses');
    await ben.getByRole('button', { name: 'Stand for it' }).click();
    await expect
      .poll(async () => (await service.world.database.sql`select 1 from address_book where added_by like '%@%' and gateway_id = ${shop.id}`).length)
      .toBe(1);
  });
});
