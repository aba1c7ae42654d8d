import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '#test/harness/browser.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { readQr } from '#test/harness/read-qr.ts';
import { expectGenuineWebhook } from '#test/journeys/genuine-webhook.ts';
import { aScene, expectWebhooks, type Scene } from '#test/journeys/scene.ts';
import { type HostedShop, hostedShop } from './hosted-shop.ts';
import { openPayer } from './payer.ts';

const SUPPORT = 'https://help.acme.example/contact?from=checkout';

describeInBrowser('payers of ether and its tokens', (open) => {
  let scene: Scene;
  let shop: HostedShop;
  beforeAll(async () => {
    const openAmount = { enabled: true, minAmountUsd: '25', assetIds: null };
    scene = await aScene({ blockMs: 300, gateway: { branding: { displayName: 'Acme Books', supportUrl: SUPPORT }, openAmount } });
    shop = hostedShop(scene);
  });
  afterAll(() => scene?.stop());

  it('choose, copy, pay, see it found and confirmed, and are back at the shop without touching anything', async () => {
    const payment = await shop.create({ amount: '49.90', callbackParams: { basket: ['a b', 'c&d'] } });
    const payer = await openPayer(await open({ origins: [shop.origin] }), payment.paymentUrl);
    await payer.shows('choose');
    await payer.isLive();
    expect(await payer.page.getByRole('radio', { checked: true }).count()).toBe(0);
    await payer.choose(/USDT on /);

    await payer.shows('pay');
    const offer = await shop.offer(payment, 'USDT');
    const [amount, address] = [await payer.copy('copy-amount'), await payer.copy('copy-address')];
    expect([amount, address]).toEqual([offer.totalValue, offer.depositAddress]);
    expect(await readQr(await payer.part('qr').screenshot())).toBe(address);
    expect(await payer.part('network-warning').innerText()).toMatch(/Send only USDT on /);
    expect(await payer.part('timer').isVisible()).toBe(true);

    const mineAgain = await scene.holdBlocks();
    const txid = await shop.send('USDT', address, amount);
    await scene.chainOf('USDT').mine(1);
    await payer.shows('seen');
    expect(await payer.page.locator('main').innerText()).toContain('Confirmations: 1 of 2');
    // Nothing is left to be in time for, nothing left to scan, and nobody needs to wait here.
    for (const gone of ['timer', 'qr', 'copy-amount'] as const) expect(await payer.part(gone).count(), gone).toBe(0);
    expect(await payer.part('return').getAttribute('href')).toContain(`${shop.origin}/thanks?`);

    await payer.leave();
    mineAgain();
    await payer.shows('success');
    expect(await payer.part('transaction').locator('a').getAttribute('href')).toContain(txid);
    await payer.comeBack();
    await payer.page.waitForURL(`${shop.origin}/**`);
    const back = new URL(payer.page.url());
    expect([back.pathname, Object.fromEntries(back.searchParams), back.hash]).toEqual([
      '/thanks',
      { order: '7', basket: '["a b","c&d"]', paymentUid: payment.id, status: 'SUCCESS' },
      '#paid',
    ]);
    expect(await payer.page.evaluate(() => document.referrer)).toBe('');
    await expectWebhooks(scene, payment.id, ['SUCCESS']);
    await expectGenuineWebhook(scene, payment.id, 'SUCCESS');
  });

  it('may be two at one payment, choosing different coins at once: one address, and both see the one payment', async () => {
    const payment = await shop.create();
    const [tab, other] = [await open({ origins: [shop.origin] }), await open({ origins: [shop.origin] })];
    const payers = await Promise.all([tab, other].map((one) => openPayer(one, payment.paymentUrl)));
    const [first, second] = payers as [(typeof payers)[0], (typeof payers)[0]];
    // Neither is sent before both have chosen: the tab that hears of the other's choice first has nothing to choose any more.
    const held: (() => Promise<void>)[] = [];
    for (const { page } of payers) await page.route('**/select', (route) => void held.push(() => route.continue()));
    await Promise.all([first.choose(/USDT on /), second.choose(/USDC on /)]);
    await expect.poll(() => held.length).toBe(2);
    await Promise.all(held.map((send) => send()));
    await Promise.all(payers.map((payer) => payer.shows('pay')));
    const { offers } = await shop.read(payment);
    const addresses = new Set(offers.flatMap(({ depositAddress }) => depositAddress ?? []));
    expect(addresses.size).toBe(1);
    const [address] = addresses as unknown as [string];
    for (const payer of payers) expect(await payer.copy('copy-address')).toBe(address);

    await Promise.all(payers.map((payer) => payer.leave()));
    await shop.send('USDC', address, (await shop.offer(payment, 'USDC')).totalValue);
    await Promise.all(payers.map((payer) => payer.shows('success')));
    const [one, two] = await Promise.all(payers.map((payer) => payer.part('received').innerText()));
    expect(one).toContain('USDC');
    expect(two).toBe(one);
  });

  it('who sent too little of a coin they did not choose are told so, in figures, and stay to read it', async () => {
    const payment = await shop.create();
    const payer = await openPayer(await open(), payment.paymentUrl);
    await payer.choose(/USDT on /);
    await payer.shows('pay');
    await shop.send('ETH', await payer.copy('copy-address'), '0.01');
    await payer.shows('under');
    expect(await payer.title.innerText()).toBe('We received less than requested');
    expect(await payer.part('received').innerText()).toContain('0.01');
    const text = await payer.page.locator('main').innerText();
    expect(text).toContain('Do not send more to this address');
    expect(text).toContain('valued at its own market price');
    expect(await payer.copy('copy-payment-id')).toBe(payment.id);
    const contact = new URL((await payer.part('contact').first().getAttribute('href')) as string);
    expect(contact.href.startsWith(SUPPORT)).toBe(true);
    expect(contact.href).toContain(payment.id);
    expect(await payer.part('returning').count()).toBe(0);
    expect(new URL((await payer.part('return').getAttribute('href')) as string).searchParams.get('status')).toBe('MISMATCH');
  });

  it('may pay as much as they like where the amount is open, and see what it came to', async () => {
    const payer = await openPayer(await open({ origins: [shop.origin] }), (await shop.createOpen()).paymentUrl);
    expect(await payer.title.innerText()).toBe('Send any amount from $25.00');
    await payer.choose(/ETH on /);
    await payer.shows('open');
    expect(await payer.page.locator('main').innerText()).toContain('$25.00 ≈ 0.0125\u00a0ETH now');
    expect(await payer.part('copy-amount').count()).toBe(0);
    const address = await payer.copy('copy-address');
    expect(await readQr(await payer.part('qr').screenshot())).toBe(`ethereum:${address}@31337`);
    await payer.leave();
    await shop.send('ETH', address, '0.02');
    await payer.shows('success');
    expect(await payer.part('received').innerText()).toContain('0.02 ETH');
    await payer.part('stop-returning').click();
  });

  it('who are late see the end, and the page turns to the result by itself when their coins arrive after all', async () => {
    const timeoutSeconds = 120;
    const payment = await shop.create({ timeoutSeconds });
    const payer = await openPayer(await open({ origins: [shop.origin] }), payment.paymentUrl);
    await payer.choose(/ETH on /);
    await payer.shows(['pay', 'ending']);
    const [amount, address] = [await payer.copy('copy-amount'), await payer.copy('copy-address')];
    await scene.world.operator(scene.api).must('POST', '/clock/advance', { body: { seconds: timeoutSeconds + 1 } });
    await payer.shows('expired-grace');
    expect(await payer.page.locator('main').innerText()).toMatch(/this page updates if it arrives by/);
    expect(await payer.part('qr').count()).toBe(0);

    await payer.leave();
    await shop.send('ETH', address, amount);
    await payer.shows('success');
    expect(await payer.page.locator('main').innerText()).toContain('Your payment arrived late and was still counted.');
    await payer.part('stop-returning').click();
    await expectWebhooks(scene, payment.id, ['EXPIRED', 'SUCCESS']);
  });

  it('leaves books that match the chain', async () => {
    await assertBooksMatchChain(scene.world);
  });
});
