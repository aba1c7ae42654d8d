import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Scenario } from '#api/checkout/page/snapshot.ts';
import type { CheckoutState } from '#api/checkout/page/state.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { demoNetwork } from '#test/harness/networks.ts';
import { readQr } from '#test/harness/read-qr.ts';
import { aScene, expectWebhooks, type Scene } from '#test/journeys/scene.ts';
import { type HostedShop, hostedShop } from './hosted-shop.ts';
import { openPayer, payerAt } from './payer.ts';

describeInBrowser('payers on TRON', (open) => {
  let scene: Scene;
  let shop: HostedShop;
  beforeAll(async () => {
    scene = await aScene({ blockMs: 300, networks: [await demoNetwork('tron')] });
    shop = hostedShop(scene);
  });
  afterAll(() => scene?.stop());

  it('pay USDT from a small dark phone, in one language and then another, and stay on the page', async () => {
    const payment = await shop.create();
    const tab = await open({ colorScheme: 'dark', viewport: { width: 360, height: 640 }, locale: 'es-MX', isMobile: true, hasTouch: true });
    const payer = await openPayer(tab, payment.paymentUrl);
    expect(await payer.page.locator('html').getAttribute('lang')).toBe('es');
    await payer.choose(/USDT en .*TRON/);
    await payer.shows('pay');
    const [amount, address] = [await payer.copy('copy-amount'), await payer.copy('copy-address')];
    expect(address).toMatch(/^T[1-9A-HJ-NP-Za-km-z]{33}$/);
    expect(await readQr(await payer.part('qr').screenshot())).toBe(address);

    await payer.speak('ar');
    expect(await payer.page.locator('html').getAttribute('dir')).toBe('rtl');
    await payer.shows('pay');
    await payer.isLive();
    expect([await payer.copy('copy-amount'), await payer.copy('copy-address')]).toEqual([amount, address]);
    // Read from left to right in every language, by people and by cameras.
    for (const name of ['amount', 'address'] as const)
      expect(await payer.part(name).evaluate((element) => getComputedStyle(element).direction), name).toBe('ltr');
    expect(await readQr(await payer.part('qr').screenshot())).toBe(address);

    await payer.leave();
    const txid = await shop.send('USDT', address, amount);
    await payer.shows('success');
    expect(await payer.page.locator('html').getAttribute('dir')).toBe('rtl');
    await payer.part('stop-returning').click();
    await payer.part('returning').waitFor({ state: 'detached' });
    await payer.comeBack();
    await payer.part('details').locator('summary').click();
    expect(await payer.copy('copy-transaction')).toBe(txid);
    await expectWebhooks(scene, payment.id, ['SUCCESS']);
    expect(payer.page.url()).toContain(payment.id);
  });

  it('need no JavaScript: the page is forms and links, and says each time how things stand', async () => {
    const payment = await shop.create({ amount: '12' });
    const { page } = await open({ javaScriptEnabled: false, origins: [shop.origin], tolerate: /422/ });
    const payer = payerAt(page);
    await page.goto(payment.paymentUrl);
    await payer.shows('choose');
    // Nothing chosen is a mistake, and one that is explained.
    await payer.part('chooser').evaluate((form) => form.setAttribute('novalidate', ''));
    await payer.part('chooser').getByRole('button').click();
    await payer.part('problem').waitFor();

    await payer.choose(/TRX/);
    await payer.shows(['pay', 'preparing']);
    const address = await waitFor(
      async () => {
        if ((await page.locator('main[data-state="pay"]').count()) === 0) await page.reload();
        return (await payer.part('address').count()) > 0 && payer.part('address').textContent();
      },
      { what: 'the address', everyMs: 500 },
    );
    const offer = await shop.offer(payment, 'TRX');
    expect([address, offer.totalValue]).toEqual([offer.depositAddress, '40']);
    expect(await payer.part('amount').innerText()).toContain('40');
    expect(await readQr(await payer.part('qr').screenshot())).toBe(address);
    expect(await payer.part('copy-amount').isVisible()).toBe(false);

    await payer.speak('tr');
    await payer.shows('pay');

    await shop.send('TRX', address, offer.totalValue);
    await expectWebhooks(scene, payment.id, ['SUCCESS']);
    await payer.part('refresh').getByRole('link').click();
    await payer.shows('success');
    expect(await page.locator('html').getAttribute('lang')).toBe('tr');
    await payer.part('return').click();
    await page.waitForURL(`${shop.origin}/thanks?*`);
    expect(new URL(page.url()).searchParams.get('status')).toBe('SUCCESS');
  });

  const SCENARIOS: Record<Scenario, CheckoutState[]> = {
    success: ['success'],
    acceptable: ['acceptable'],
    underpaid: ['under'],
    overpaid: ['over'],
    wrong_asset: ['success'],
    seen_then_confirmed: ['seen', 'success'],
    late_capture: ['success'],
    expired: ['expired-grace', 'success'],
  };
  it('play every scenario of a sandbox payment by pressing its button', async () => {
    const { page } = await open();
    const payer = payerAt(page);
    for (const [scenario, states] of Object.entries(SCENARIOS)) {
      const payment = await shop.create({ isSandbox: true, underAcceptableDiff: '0.5' });
      await page.goto(payment.paymentUrl);
      await payer.part('test-mode').waitFor();
      await payer.leave();
      for (const [round, state] of states.entries()) {
        // What expired is only left to come late; everything else goes on by its own button.
        const pressed = round === 1 && scenario === 'expired' ? 'late_capture' : scenario;
        await payer.part('sandbox').locator(`button[value="${pressed}"]`).click();
        await payer.shows(state);
      }
      if (await payer.part('stop-returning').isVisible()) await payer.part('stop-returning').click();
      expect(await payer.part('qr').count(), scenario).toBe(0);
    }
  });

  it('play a sandbox payment without JavaScript too', async () => {
    const payment = await shop.create({ isSandbox: true });
    const { page } = await open({ javaScriptEnabled: false });
    const payer = payerAt(page);
    await page.goto(payment.paymentUrl);
    await payer.part('sandbox').locator('button[value="overpaid"]').click();
    await payer.shows('over');
  });
});
