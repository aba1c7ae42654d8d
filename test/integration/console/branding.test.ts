import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPeopleDesk, type PeopleDesk } from '#api/people/desk.ts';
import { aService, listenCheckout, type Listening, type Service, type Shop } from '#test/contract/service.ts';
import { aMemberWithCodes, type Member, serveConsole } from '#test/harness/console-stage.ts';

const ADDRESS = '198.51.100.7';
/** A disc, 64 × 64, as PNG. */
const LOGO =
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAYAAACqaXHeAAAAwUlEQVR42u3b2RGCUAxAUcqxEuu1Q63AEfAtWU5mLOCeL4TkOIxZNq/n433m1y64FMio6HQYs8PDQqwODwWxO34bQpTwLRBR45cgRI+fipAlfgpCtvihCFnjhyG0Bsge/xdClfjbCK0BqsVfRmgNUDX+NAKAzgDV438iAADQGKBL/FcEAAAAAAAAAAAAT4P+CwAA4K2Qd4IA+gL4MgTAx1EAFiSsyACwJmdR0qqsZWnr8g4mnMw4mnI253DS6awpPR9IKFm23eeByQAAAABJRU5ErkJggg==';
const HASH = createHash('sha256').update(Buffer.from(LOGO, 'base64')).digest('hex');

let service: Service;
let desk: PeopleDesk;
let checkout: Listening;
let served: Awaited<ReturnType<typeof serveConsole>>;
let shop: Shop;
let owner: Member;

beforeAll(async () => {
  service = await aService((deps) => ({ ...deps, config: { ...deps.config, SLUICE_CONSOLE_URL: 'http://localhost:3002' } }));
  desk = openPeopleDesk(service.deps);
  checkout = await listenCheckout(service.deps);
  served = await serveConsole(service.deps, service.world.database);
});
afterAll(async () => {
  await served?.stop();
  await checkout?.close();
  await service?.stop();
});
beforeEach(async () => {
  shop = await service.aShop();
  owner = await member('owner');
});

const member = (role: string): Promise<Member> =>
  aMemberWithCodes({ deps: service.deps, desk, database: service.world.database }, { role, gatewayId: shop.id });
const act = ({ cookie, code }: Member, name: 'settings-change' | 'logo-change' | 'logo-remove', fields: Record<string, string>, step = 0) =>
  desk.doGatewayAct({ cookie, address: ADDRESS, gateway: shop.id, act: name, fields, proof: code(step) });
const change = (who: Member, pairs: Record<string, readonly [string, string]>, step = 0) =>
  act(who, 'settings-change', { change: JSON.stringify(pairs) }, step);
async function page(): Promise<string> {
  const body = { currencyCode: 'USD', amount: '50', callbackUrl: 'https://shop.example/thanks' };
  const { data } = await shop.call('POST', '/payments', { body });
  return (await fetch(`${checkout.origin}/p/${String(data.paymentUid)}`)).text();
}
const inConsole = (path: string, who: Member, init: RequestInit = {}) =>
  fetch(`${served.origin}/g/${shop.id}${path}`, {
    redirect: 'manual',
    ...init,
    headers: { cookie: `__Host-sluice=${who.cookie}`, 'sec-fetch-site': 'same-origin', origin: served.origin, ...init.headers },
  });

describe('branding', () => {
  it('shows payers the colours, the theme and the logo, all from the checkout’s own host', async () => {
    await change(owner, { displayName: ['', 'Kwik <b>Shop</b>'], accentColor: ['', '#E5A50A'], theme: ['AUTO', 'DARK'] });
    await act(owner, 'logo-change', { image: LOGO }, 1);
    const html = await page();
    expect(html).toContain('Kwik &lt;b>Shop&lt;/b>');
    const style = /href="(\/brand\/e5a50a-dark\/[^"]+\.css)"/.exec(html)?.[1] ?? expect.fail(html.slice(0, 800));
    const css = await fetch(`${checkout.origin}${style}`);
    expect([css.status, css.headers.get('content-type'), css.headers.get('cache-control')]).toEqual([
      200,
      'text/css; charset=utf-8',
      expect.stringContaining('immutable'),
    ]);
    expect(await css.text()).toContain('--accent:#');
    const logo = new RegExp(`src="(/p/[^"]+/logo\\?v=${HASH.slice(0, 16)})"`).exec(html)?.[1] ?? expect.fail('no logo');
    const answer = await fetch(`${checkout.origin}${logo}`);
    expect(Buffer.from(await answer.arrayBuffer()).toString('base64')).toBe(LOGO);
    expect(Object.fromEntries(['content-type', 'x-content-type-options', 'content-security-policy'].map((name) => [name, answer.headers.get(name)]))).toEqual({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
  });

  it.each([
    ['accentColor', 'red;}body{display:none', 'branding.accentColor'],
    ['accentColor', '#12345', 'branding.accentColor'],
    ['theme', 'SEPIA', 'branding.theme'],
    ['displayName', 'Acme\u202eskooB', 'branding.displayName'],
    ['displayName', 'a\nb', 'branding.displayName'],
    ['supportUrl', 'javascript:alert(1)', 'branding.supportUrl'],
  ])('refuses %s %j', async (name, value, field) => {
    const from = name === 'theme' ? 'AUTO' : '';
    await expect(change(owner, { [name]: [from, value] })).rejects.toMatchObject({ code: 'validation_error', field });
  });

  it('refuses a name that payers could take for another shop’s', async () => {
    const other = shop;
    await change(owner, { displayName: ['', 'Bean & Leaf'] });
    shop = await service.aShop();
    const rival = await member('owner');
    await expect(change(rival, { displayName: ['', 'B\u0435an and L\u0435af'.replace(' and ', ' ')] })).rejects.toMatchObject({
      code: 'validation_error',
      field: 'displayName',
    });
    await change(rival, { displayName: ['', 'Leaf and Bean'] }, 1);
    expect(other.id).not.toBe(shop.id);
  });

  it('takes only an image of its own bytes as a logo, for a proof, and of two at once one', async () => {
    await expect(act(owner, 'logo-change', { image: Buffer.from('<svg onload="alert(1)"/>').toString('base64') })).rejects.toMatchObject({ field: 'logo' });
    const second = await member('owner');
    const outcomes = await Promise.allSettled([act(owner, 'logo-change', { image: LOGO }, 1), act(second, 'logo-change', { image: LOGO })]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const third = await member('owner');
    await act(third, 'logo-remove', { seen: HASH });
    expect(await page()).not.toContain('/logo?v=');
    for (const role of ['finance', 'developer', 'support'])
      await expect(act(await member(role), 'logo-change', { image: LOGO }), role).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('the console’s preview', () => {
  it('is the checkout’s own page with what is being tried, framed by ours alone and without a program', async () => {
    const was = JSON.stringify({ accentColor: ['', ''], displayName: ['', ''] });
    const query = new URLSearchParams({ scene: 'pay', was, accentColor: '#613583', displayName: 'New <name>' });
    const answer = await inConsole(`/settings/preview?${query}`, owner);
    const html = await answer.text();
    expect([answer.status, html.includes('New &lt;name>'), html.includes('/brand/613583-auto/'), html.includes('<script')]).toEqual([200, true, true, false]);
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect([policy.includes("frame-ancestors 'self'"), policy.includes("script-src 'none'"), answer.headers.get('x-frame-options')]).toEqual([
      true,
      true,
      'SAMEORIGIN',
    ]);
    // Nothing was saved by looking.
    expect(await page()).not.toContain('New &lt;name>');
    for (const scene of ['choose', 'paid', 'short']) expect((await inConsole(`/settings/preview?scene=${scene}`, owner)).status).toBe(200);
    for (const [shownAs, status] of Object.entries({ iframe: 200, document: 404 }))
      expect([shownAs, (await inConsole('/settings/preview', owner, { headers: { 'sec-fetch-dest': shownAs } })).status]).toEqual([shownAs, status]);
    const elsewhere = await inConsole('/settings', owner);
    expect(elsewhere.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    for (const role of ['finance', 'support', 'cashier'])
      expect([role, (await inConsole('/settings/preview', await member(role))).status]).toEqual([role, 403]);
  });

  it('looks at a logo that is sent as a file before anything is kept of it', async () => {
    const form = new FormData();
    form.set('logo', new Blob([Buffer.from(LOGO, 'base64')], { type: 'text/html' }), 'x.html');
    const answer = await inConsole('/settings/logo', owner, { method: 'POST', body: form });
    const html = await answer.text();
    expect([
      answer.status,
      html.includes(`data:image/png;base64,${LOGO}`),
      answer.headers.get('content-security-policy')?.includes("img-src 'self' data:"),
    ]).toEqual([200, true, true]);
    expect(await service.world.database.sql`select 1 from gateway_logos where gateway_id = ${shop.id}`).toEqual([]);
    const svg = new FormData();
    svg.set('logo', new Blob(['<svg/>']), 'x.png');
    expect((await inConsole('/settings/logo', owner, { method: 'POST', body: svg })).status).toBe(422);
    expect((await inConsole('/settings/logo', await member('finance'), { method: 'POST', body: form })).status).toBe(403);
  });
});
