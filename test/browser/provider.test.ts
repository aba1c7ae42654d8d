import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { aLyingProvider, type LyingProvider } from '#test/fixtures/lying-provider.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { aConsoleStage, type ConsoleStage } from '#test/harness/console-stage.ts';
import { look } from './looking.ts';
import { comeIn } from './passkey.ts';

describeInBrowser('somebody whom a provider signs in', (open) => {
  let stage: ConsoleStage;
  let provider: LyingProvider;
  beforeAll(async () => {
    provider = await aLyingProvider();
    const rules = (gateway: string) => [{ claim: 'groups', value: 'shop-finance', gateway, role: 'finance' }];
    stage = await aConsoleStage({ provider: { ...provider, name: 'Acme SSO', rules } });
  });
  afterAll(async () => {
    await stage?.stop();
    await provider?.stop();
  });
  beforeEach(() => {
    provider.lie = {};
  });

  const screen = (page: Page, name: string) => page.locator(`main[data-screen="${name}"]`).waitFor();
  const signIn = async (page: Page, claims: Record<string, unknown>): Promise<void> => {
    provider.visitor = { email: `${claims.sub}@example.com`, email_verified: true, ...claims };
    await page.goto(`${stage.origin}/sign-in`);
    await page.getByRole('link', { name: /Acme SSO/ }).click();
  };

  it('goes there and comes back to what its claims give, and sees in their profile by whom they are signed in', async () => {
    const { page } = await open({ origins: [provider.issuer] });
    await page.goto(`${stage.origin}/sign-in`);
    await look(page, 'sign-in');
    await signIn(page, { sub: 'anna', groups: ['shop-finance'] });
    await screen(page, 'places');
    expect(await page.locator('main').innerText()).toContain('Acme <Books>');
    await page.goto(`${stage.origin}/profile`);
    expect(await page.locator('[data-part="provider"]').innerText()).toContain('Acme SSO');
    await look(page, 'profile');
  });

  it('connects it to a passkey of theirs, and goes there only after a proof, by a link that names it', async () => {
    const { page } = await open({ origins: [provider.issuer] });
    await comeIn(page, stage.origin, stage.deps, { email: 'fay@example.com', gatewayId: stage.gatewayId, role: 'owner' });
    await page.goto(`${stage.origin}/profile`);
    await page.getByRole('button', { name: /Connect/ }).click();
    await screen(page, 'provider-leave');
    await look(page, 'leave');
    provider.visitor = { sub: 'fay', email: 'another@example.com', email_verified: true };
    await page.getByRole('link', { name: /Acme SSO/ }).click();
    await screen(page, 'profile');
    await look(page, 'connected');
    expect(await page.getByRole('button', { name: /Disconnect/ }).count()).toBe(1);
  });

  it('is told what to do where no rule gives a role, and where the provider answers nothing or lies', async () => {
    const { page } = await open({ origins: [provider.issuer], tolerate: /status of (4\d\d|503)/ });
    for (const [name, claims, lie] of [
      ['no-role', { sub: 'ben' }, {}],
      ['unverified', { sub: 'cleo', groups: ['shop-finance'], email_verified: false }, {}],
      ['away', { sub: 'dan', groups: ['shop-finance'] }, { status: 500 }],
      ['forged', { sub: 'eve', groups: ['shop-finance'] }, { foreignKey: true }],
    ] as const) {
      provider.lie = lie;
      await signIn(page, claims);
      await page.waitForURL((url) => url.port === new URL(stage.origin).port && url.pathname !== '/sign-in/provider');
      await look(page, name);
      expect(
        (await page.context().cookies()).filter(({ name: cookie }) => cookie === '__Host-sluice'),
        name,
      ).toEqual([]);
      expect((await page.locator('main').innerText()).length, name).toBeGreaterThan(40);
    }
  });
});
