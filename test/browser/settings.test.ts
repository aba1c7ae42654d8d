import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { invitePerson } from '#api/people/invitations.ts';
import { aService, type Service, type Shop } from '#test/contract/service.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { serveConsole } from '#test/harness/console-stage.ts';
import { look } from './looking.ts';

/** A disc, 64 × 64, as PNG. */
const LOGO =
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAYAAACqaXHeAAAAwUlEQVR42u3b2RGCUAxAUcqxEuu1Q63AEfAtWU5mLOCeL4TkOIxZNq/n433m1y64FMio6HQYs8PDQqwODwWxO34bQpTwLRBR45cgRI+fipAlfgpCtvihCFnjhyG0Bsge/xdClfjbCK0BqsVfRmgNUDX+NAKAzgDV438iAADQGKBL/FcEAAAAAAAAAAAAT4P+CwAA4K2Qd4IA+gL4MgTAx1EAFiSsyACwJmdR0qqsZWnr8g4mnMw4mnI253DS6awpPR9IKFm23eeByQAAAABJRU5ErkJggg==';

describeInBrowser('settings in the console', (open) => {
  let service: Service;
  let shop: Shop;
  let served: Awaited<ReturnType<typeof serveConsole>>;
  beforeAll(async () => {
    service = await aService((deps) => ({ ...deps, config: { ...deps.config, SLUICE_CONSOLE_URL: 'http://localhost:1' } }));
    shop = await service.aShop();
    served = await serveConsole(service.deps, service.world.database);
  });
  afterAll(async () => {
    await served?.stop();
    await service?.stop();
  });

  /** An owner with a passkey in a browser of their own, signed in. */
  const anOwner = async (): Promise<Page> => {
    const { page } = await open({ tolerate: /status of 409/ });
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    const options = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true } as const;
    await cdp.send('WebAuthn.addVirtualAuthenticator', { options: { ...options, automaticPresenceSimulation: true } });
    const { db, randomBytes } = service.deps;
    const by = { kind: 'command', name: 'root@host' } as const;
    const { token } = await invitePerson({ db, randomBytes }, { email: `owner-${randomUUID()}@example.com`, gatewayId: shop.id, role: 'owner', by });
    await page.goto(`${served.origin}/invitations/${token}`);
    await page.getByRole('button', { name: /passkey/ }).click();
    await page.locator('main[data-screen="places"]').waitFor();
    return page;
  };

  it('are tried on examples, looked at and proved; whoever comes second sees what is there now', async () => {
    const [anna, ben] = [await anOwner(), await anOwner()];
    const settings = `${served.origin}/g/${shop.id}/settings`;
    await Promise.all([anna.goto(settings), ben.goto(settings)]);
    await look(anna, 'form');
    const review = async (page: Page, under: string): Promise<void> => {
      const form = page.locator('form[aria-labelledby="tolerance"]');
      await form.locator('select[name="acceptableDiffKind"]').selectOption('PERCENTAGE');
      await form.locator('input[name="underAcceptableDiff"]').fill(under);
      await form.locator('input[name="own"]').fill('98.5');
      await form.getByRole('button', { name: 'Try it' }).click();
      await page.getByText('As it would be').waitFor();
    };
    await review(anna, '1');
    await look(anna, 'tried');
    await anna.getByRole('button', { name: 'Look at the change' }).first().click();
    await anna.getByRole('heading', { name: 'What changes' }).waitFor();
    await look(anna, 'review');
    await review(ben, '2');
    await ben.getByRole('button', { name: 'Look at the change' }).first().click();
    await anna.getByRole('button', { name: 'Save' }).click();
    await anna.locator('form[aria-labelledby="tolerance"]').waitFor();
    expect(await anna.locator('input[name="underAcceptableDiff"]').inputValue()).toBe('1');

    await ben.getByRole('button', { name: 'Save' }).click();
    await ben.getByText('Somebody changed this since you began').waitFor();
    expect(await ben.locator('[role="alert"]:visible').innerText()).toContain('meanwhile');
    await look(ben, 'conflict');
    await ben.getByRole('button', { name: 'Save' }).click();
    await ben.locator('form[aria-labelledby="tolerance"]').waitFor();
    expect(await ben.locator('input[name="underAcceptableDiff"]').inputValue()).toBe('2');
  });

  it('show the checkout itself in the colours that are tried, and say what becomes of a colour that cannot be read', async () => {
    const anna = await anOwner();
    await anna.goto(`${served.origin}/g/${shop.id}/settings`);
    const form = anna.locator('form[aria-labelledby="branding"]');
    await form.locator('input[name="accentColor"]').fill('#e5a50a');
    await form.locator('input[name="displayName"]').fill('Kwik Coffee');
    await form.getByRole('button', { name: 'Try it' }).click();
    await anna.getByText('too little to be read').waitFor();
    const payer = anna.frameLocator('iframe').first();
    await payer.getByText('Kwik Coffee').first().waitFor();
    while ((await anna.locator('.preview:not([open])').count()) > 0) await anna.locator('.preview:not([open]) summary').first().click();
    await anna.frameLocator('iframe').nth(3).getByText('Kwik Coffee').first().waitFor();
    await look(anna, 'branding');
    await anna.locator('input[type="file"]').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: Buffer.from(LOGO, 'base64') });
    await anna.getByRole('button', { name: 'Look at it first' }).click();
    await anna.getByRole('heading', { name: 'The new logo' }).waitFor();
    await look(anna, 'logo');
    await anna.getByRole('button', { name: 'Use this logo' }).click();
    await anna.getByRole('button', { name: 'Remove the logo' }).waitFor();
    await look(anna, 'logo-kept');
  });
});
