import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, get, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHostedCheckout } from '#api/checkout/hosted.ts';
import type { HydrationData } from '#api/checkout/page/model.ts';
import { createLimiter } from '#shared/platform/limiter.ts';
import { connect } from '#shared/platform/postgres.ts';
import { SCENARIOS } from '#state-machines/payment/scenario.ts';
import { times } from '#test/harness/counts.ts';
import { aService, type Listening, listenCheckout, type Service, type Shop } from './service.ts';

let service: Service;
let shop: Shop;
let checkout: Listening;
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop();
  checkout = await listenCheckout(service.deps);
});
afterAll(async () => {
  await checkout.close();
  await service.stop();
});

interface Page {
  status: number;
  headers: Headers;
  html: string;
  /** What the page is on: `data-state` of its main element. */
  state: string | undefined;
  language: string | undefined;
  /** What the browser goes on from; undefined on pages about errors. */
  data: HydrationData | undefined;
}

async function open(path: string, init: RequestInit = {}, through: Listening = checkout): Promise<Page> {
  const response = await fetch(`${through.origin}${path}`, { redirect: 'manual', ...init });
  const html = await response.text();
  const data = /data-page="([^"]*)"/.exec(html)?.[1];
  return {
    status: response.status,
    headers: response.headers,
    html,
    state: /<main[^>]*data-state="([^"]*)"/.exec(html)?.[1],
    language: /<html lang="([^"]*)"/.exec(html)?.[1],
    data: data === undefined ? undefined : (JSON.parse(unescaped(data)) as HydrationData),
  };
}

const unescaped = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
const send = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}, through?: Listening): Promise<Page> =>
  open(path, { method: 'POST', body: new URLSearchParams(fields), headers }, through);

interface Offer {
  id: string;
  assetSymbol: string;
  totalValue: string;
}

async function aHosted(body: Record<string, unknown> = {}, by: Shop = shop): Promise<{ id: string; path: string; offers: Offer[] }> {
  const { data } = await by.call('POST', '/payments', {
    body: { currencyCode: 'USD', amount: '10', callbackUrl: 'https://shop.example/', isSandbox: true, ...body },
  });
  const id = String(data.paymentUid);
  return { id, path: `/p/${id}`, offers: (await service.ask('GET', `/api/v1/public/payments/${id}`)).data.offers as Offer[] };
}

/** Headers of every page there is, those about errors too (ux 0.7). */
function expectPageHeaders({ headers, html }: Page): void {
  const policy = headers.get('content-security-policy') ?? '';
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self' ws://127.0.0.1:3001",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ])
    expect(policy.split('; ')).toContain(part);
  expect(policy).not.toMatch(/unsafe|data:|\*|https:/);
  expect([headers.get('referrer-policy'), headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual(['no-referrer', 'no-store', 'nosniff']);
  expect(headers.get('x-robots-tag')).toContain('noindex');
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  for (const name of ['set-cookie', 'access-control-allow-origin', 'etag', 'x-powered-by']) expect(headers.get(name)).toBeNull();
  // Nothing that the policy would have to make an exception for, and nothing from elsewhere.
  expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:|<base|<iframe/i);
  for (const [, script] of html.matchAll(/<script([^>]*)>/g)) expect(script).toMatch(/^ type="module" src="\/assets\//);
  for (const [, source] of html.matchAll(/(?:src|srcset)="([^"]*)"/g)) expect(source).toMatch(/^\//);
}

describe('the page of a payment', () => {
  it('shows amount, network, deadline and status to whoever runs no script, curl among them (ux C14)', async () => {
    const { path, offers, id } = await aHosted();
    expect((await open(path)).state).toBe('choose');
    const chosen = offers.find((offer) => offer.assetSymbol === 'USDT');
    expect((await send(path, { offerId: chosen?.id ?? '' })).status).toBe(303);
    const page = await open(path);
    expectPageHeaders(page);
    expect([page.status, page.state, page.language]).toEqual([200, 'pay', 'en']);
    const body = page.html.slice(page.html.indexOf('<main'));
    for (const shown of [chosen?.totalValue, 'USDT on ', ' left', 'Waiting for your payment', 'Acme Books', id]) expect(body).toContain(shown);
    expect(page.data?.snapshot.payment).toMatchObject({ id, status: 'PENDING', selectedOfferId: chosen?.id });
    expect((await open(`${path}?choose`)).state).toBe('choose');
  });

  it('is the same to HEAD, without its body, and with a slash or capitals in the address', async () => {
    const { id, path } = await aHosted();
    const head = await open(path, { method: 'HEAD' });
    expect([head.status, head.html]).toEqual([200, '']);
    for (const spelled of [`${path}/`, `/p/${id.toUpperCase()}`]) expect((await open(spelled)).data?.path).toBe(path);
  });

  it('is compressed as its reader takes it', async () => {
    const { path } = await aHosted();
    for (const [accepted, unpack] of [
      ['br, gzip', brotliDecompressSync],
      ['gzip', gunzipSync],
      ['identity', (bytes: Uint8Array) => bytes],
    ] as const) {
      const { bytes, encoding } = await rawGet(path, { 'accept-encoding': accepted });
      expect(encoding).toBe(accepted.split(',')[0] === 'identity' ? undefined : accepted.split(',')[0]);
      expect(Buffer.from(unpack(bytes)).toString()).toContain('data-state="choose"');
    }
  });

  it("is in the language that is asked for, else the payment's, the gateway's, the browser's", async () => {
    const german = await service.aShop({ branding: { language: 'ar' } });
    const [plain, own, theirs] = [await aHosted(), await aHosted({ language: 'es' }, german), await aHosted({}, german)];
    const seen = async (path: string, accept = 'zh-CN'): Promise<string | undefined> => (await open(path, { headers: { 'accept-language': accept } })).language;
    expect(await Promise.all([seen(`${own.path}?lang=tr`), seen(own.path), seen(theirs.path), seen(plain.path), seen(plain.path, 'xx')])).toEqual([
      'tr',
      'es',
      'ar',
      'zh-CN',
      'en',
    ]);
    expect((await open(theirs.path)).html).toContain('<html lang="ar" dir="rtl"');
    expect(await seen(`${own.path}?lang=klingon&lang=tr`)).toBe('es');
  });

  it('writes whatever a merchant is called as text', async () => {
    const name = `<script>alert(1)</script>"'&</div>`;
    const page = await open((await aHosted({}, await service.aShop({ branding: { displayName: name } }))).path);
    expectPageHeaders(page);
    expect(page.html).not.toContain('<script>alert');
    expect(page.data?.snapshot.merchant.name).toBe(name);
  });

  it('writes what is paid for as text', async () => {
    const title = `<script>alert(1)</script>"'&</div>`;
    const page = await open((await aHosted({ title, reference: title.slice(0, 30) })).path);
    expectPageHeaders(page);
    expect(page.html).not.toContain('<script>alert');
    expect(page.data?.snapshot.payment).toMatchObject({ title, reference: title.slice(0, 30) });
  });

  it('has a receipt once it is paid, and until then leads back to itself', async () => {
    const { path, offers } = await aHosted({ title: 'Moby-Dick' });
    const early = await open(`${path}/receipt`);
    expect([early.status, early.headers.get('location')]).toEqual([303, path]);
    await send(path, { offerId: offers.find((offer) => offer.assetSymbol === 'USDT')?.id ?? '' });
    await send(path, { scenario: 'success' });
    const receipt = await open(`${path}/receipt`);
    expectPageHeaders(receipt);
    expect([receipt.status, receipt.state, receipt.data]).toEqual([200, 'receipt', undefined]);
    expect(receipt.html).toContain('Moby-Dick');
    expect((await open(`${path}/receipt?lang=tr`)).language).toBe('tr');
    const deleted = await open(`${path}/receipt`, { method: 'DELETE' });
    expect([deleted.status, deleted.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
    expect((await open(`/p/${randomUUID()}/receipt`)).status).toBe(404);
  });

  it('has nothing of screening on it (ux 0.6)', async () => {
    const { path } = await aHosted();
    expect((await open(path)).html).not.toMatch(/\baml|quarantin|screening|risk score/i);
  });
});

describe('forms, for browsers without scripts', () => {
  it.each([...SCENARIOS])('play %s on a sandbox payment and lead back to its page', async (scenario) => {
    const { path, offers } = await aHosted({ underAcceptableDiff: '1' });
    await send(path, { offerId: offers.at(-1)?.id ?? '' });
    const answer = await send(path, { action: 'simulate', scenario });
    expect([answer.status, answer.headers.get('location'), answer.html]).toEqual([303, path, '']);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect((await open(path)).state).not.toBe('pay');
  });

  it('keep the language that the page was in', async () => {
    const { path, offers } = await aHosted();
    expect((await send(path, { offerId: offers[0]?.id ?? '', lang: 'tr' })).headers.get('location')).toBe(`${path}?lang=tr`);
    expect((await send(`${path}?lang=es`, { offerId: offers[0]?.id ?? '' })).headers.get('location')).toBe(`${path}?lang=es`);
    expect((await send(path, { offerId: offers[0]?.id ?? '', lang: '\r\nx: y' })).headers.get('location')).toBe(path);
    expect((await send(path, { offerId: '', lang: 'es' })).language).toBe('es');
  });

  it.each<[string, Record<string, string>, number, string]>([
    ['nothing chosen', {}, 422, 'choose-first'],
    ['an empty choice', { offerId: '' }, 422, 'choose-first'],
    ["another payment's offer", { offerId: randomUUID() }, 404, 'choose-failed'],
    ['no id at all', { offerId: '\0' }, 404, 'choose-failed'],
    ['no amount', { scenario: 'success', amount: '1e3' }, 422, 'simulate-failed'],
    ['no asset', { scenario: 'success', assetId: 'x' }, 422, 'simulate-failed'],
  ])('say on the page what is wrong with %s', async (_what, fields, status, problem) => {
    const { path } = await aHosted();
    const page = await send(path, fields);
    expectPageHeaders(page);
    expect([page.status, page.data?.problem?.kind, page.state]).toEqual([status, problem, 'choose']);
  });

  it('show what became of a payment that ended meanwhile', async () => {
    const { path, offers } = await aHosted();
    await send(path, { scenario: 'success' });
    const page = await send(path, { offerId: offers[0]?.id ?? '' });
    expect([page.status, page.state, page.data?.problem?.kind]).toEqual([409, 'success', 'choose-failed']);
  });

  it('simulate nothing of a real payment', async () => {
    const { path } = await aHosted({ isSandbox: false });
    expect((await send(path, { scenario: 'success' })).status).toBe(409);
  });

  it.each<[string, Record<string, string>, number]>([
    ['of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, 403],
    ['of another site in an old browser', { origin: 'https://evil.example' }, 403],
    ['of a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }, 403],
    ['of the page', { origin: 'null', 'sec-fetch-site': 'same-origin' }, 303],
    ['of the page in an old browser, which hides where it was', { origin: 'null' }, 303],
    ['of curl', {}, 303],
  ])('%s', async (_who, headers, status) => {
    const { path, offers } = await aHosted();
    expect((await send(path, { offerId: offers[0]?.id ?? '' }, headers)).status).toBe(status);
  });

  it('are read as forms only, and up to 64 KB', async () => {
    const { path } = await aHosted();
    for (const [body, type, status] of [
      ['{}', 'application/json', 415],
      ['offerId=x', 'text/plain', 415],
      ['offerId=x', 'multipart/form-data; boundary=x', 415],
      [`offerId=${'x'.repeat(70_000)}`, 'application/x-www-form-urlencoded', 413],
    ] as const) {
      const page = await open(path, { method: 'POST', body, headers: { 'content-type': type } });
      expectPageHeaders(page);
      expect([page.status, page.state]).toEqual([status, 'refused']);
    }
  });

  it('never break it, whatever they hold', async () => {
    const { path } = await aHosted();
    const field = fc.constantFrom('offerId', 'scenario', 'amount', 'assetId', 'lang', 'action', '__proto__');
    const value = fc.oneof(fc.constantFrom(...SCENARIOS, 'select', 'es'), fc.string({ unit: 'binary', maxLength: 60 }), fc.uuid());
    await fc.assert(
      fc.asyncProperty(fc.dictionary(field, value), async (fields) => {
        expect((await send(path, fields)).status).toBeLessThan(500);
      }),
      { numRuns: times(60) },
    );
  });
});

describe('pages about what went wrong', () => {
  it('E1: an unknown payment is 404, whatever its address looks like, and in the language of the browser', async () => {
    for (const id of [randomUUID(), '', 'x', '%00', '%ff', '%E0%A4%A', '..%2f..%2fetc', `${randomUUID()}%20`, 'x'.repeat(2_000), "'--"]) {
      for (const method of ['GET', 'POST']) {
        const page = await open(`/p/${id}`, {
          method,
          headers: { 'accept-language': 'es' },
          ...(method === 'POST' && { body: new URLSearchParams({ offerId: 'x' }) }),
        });
        expectPageHeaders(page);
        expect([page.status, page.state, page.language, page.data]).toEqual([404, 'not-found', 'es', undefined]);
      }
    }
  });

  it("E2: a payment in API mode is 403, with nothing of it or its merchant, from the merchant's own servers too", async () => {
    const { paymentUid, payment } = await shop.payment({ amount: '77.77' });
    for (const page of [await open(`/p/${paymentUid}`), await send(`/p/${paymentUid}`, { offerId: payment.offers[0]?.id ?? '' })]) {
      expectPageHeaders(page);
      expect([page.status, page.state]).toEqual([403, 'api-mode']);
      for (const secret of ['77.77', 'Acme', 'USDT', payment.offers[0]?.id ?? '']) expect(page.html).not.toContain(secret);
    }
    expect((await service.ask('GET', `/api/v1/public/payments/${paymentUid}`)).data.selectedOfferId).toBeNull();
  });

  it('E5: too many visits are 429 and told when to come back; too many forms say so on the page', async () => {
    const deps = { ...service.deps, config: { ...service.deps.config, SLUICE_RATE_LIMIT_SCALE: 1 / 60 }, limiter: createLimiter({ now: () => 0 }) };
    const narrow = await listenCheckout(deps);
    try {
      const { path, offers } = await aHosted();
      for (let visit = 0; visit < 2; visit += 1) expect((await send(path, { offerId: offers[0]?.id ?? '' }, {}, narrow)).status).toBe(303);
      const refused = await send(path, { offerId: offers[0]?.id ?? '' }, {}, narrow);
      expect([refused.status, refused.state, refused.data?.problem?.kind]).toEqual([429, 'choose', 'busy']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      await open(path, {}, narrow);
      await open(path, {}, narrow);
      const page = await open(path, {}, narrow);
      expectPageHeaders(page);
      expect([page.status, page.state]).toEqual([429, 'busy']);
      expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      await narrow.close();
    }
  });

  it('E6: 503 while the database is away, and 500 after a crash, of which it tells nothing', async () => {
    const away = connect('postgres://nobody@127.0.0.1:1/nothing', { name: 'away', max: 1 });
    const crash = async (): Promise<never> => {
      throw new Error('canary: postgres://user:secret@db');
    };
    const [stranded, crashing] = [
      await listenCheckout({ ...service.deps, db: away }),
      await listenCheckout(service.deps, { ...openHostedCheckout(service.deps), read: crash }),
    ];
    try {
      for (const [through, status] of [
        [stranded, 503],
        [crashing, 500],
      ] as const) {
        const page = await open(`/p/${randomUUID()}`, {}, through);
        expectPageHeaders(page);
        expect([page.status, page.state]).toEqual([status, 'unavailable']);
        expect(page.html).not.toContain('canary');
      }
    } finally {
      await Promise.all([stranded.close(), crashing.close(), away.end()]);
    }
  });

  it('frames and programs of other sites are refused, links to the page are followed', async () => {
    const { path } = await aHosted();
    for (const [site, mode, dest, status] of [
      ['cross-site', 'navigate', 'document', 200],
      ['same-site', 'navigate', 'document', 200],
      ['none', 'navigate', 'document', 200],
      ['same-origin', 'same-origin', 'empty', 200],
      ['cross-site', 'navigate', 'iframe', 403],
      ['cross-site', 'no-cors', 'image', 403],
      ['cross-site', 'cors', 'empty', 403],
      ['same-site', 'cors', 'empty', 403],
    ] as const) {
      const answer = await rawGet(path, { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest });
      expect([site, mode, dest, answer.status]).toEqual([site, mode, dest, status]);
      expect(answer.bytes.toString()).toContain(status === 200 ? 'data-state="choose"' : 'data-state="refused"');
    }
  });

  it('a method that a page does not have is 405', async () => {
    const page = await open((await aHosted()).path, { method: 'DELETE' });
    expect([page.status, page.headers.get('allow'), page.state]).toEqual([405, 'GET, HEAD, POST', 'refused']);
  });
});

describe('what the page loads', () => {
  const manifest = JSON.parse(readFileSync('dist/checkout/manifest.json', 'utf8')) as { script: string; style: string };

  it('is named after its content, kept for ever and compressed beforehand', async () => {
    const { html } = await open((await aHosted()).path);
    for (const [name, type] of [
      [manifest.script, 'text/javascript; charset=utf-8'],
      [manifest.style, 'text/css; charset=utf-8'],
    ] as const) {
      expect(html).toContain(`"/assets/${name}"`);
      const plain = readFileSync(`dist/checkout/assets/${name}`);
      for (const [accepted, unpack] of [
        ['br', brotliDecompressSync],
        ['gzip', gunzipSync],
        ['identity', (bytes: Uint8Array) => bytes],
      ] as const) {
        const { bytes, headers, encoding } = await rawGet(`/assets/${name}`, { 'accept-encoding': accepted });
        expect([headers['content-type'], headers['cache-control'], headers.vary]).toEqual([type, 'public, max-age=31536000, immutable', 'Accept-Encoding']);
        expect(encoding ?? 'identity').toBe(accepted);
        expect(Buffer.from(unpack(bytes)).equals(plain)).toBe(true);
      }
    }
    expect((await open('/favicon.svg')).headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
  });

  it('is nothing else of the disk', async () => {
    for (const path of [
      '/assets/',
      '/assets/manifest.json',
      '/assets/..%2fmanifest.json',
      '/assets/../manifest.json',
      `/assets/${manifest.style}.br`,
      '/manifest.json',
      '/locales/en.json',
    ])
      expect([path, (await open(path)).status]).toEqual([path, 404]);
    expect((await open(`/assets/${manifest.style}`, { method: 'POST' })).status).toBe(405);
    expect((await open(`/assets/${manifest.style}`, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403);
  });
});

describe("the merchant's logo", () => {
  let host: Server;
  let logoUrl: string;
  const PICTURE = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  beforeAll(async () => {
    host = createServer((request, response) => response.writeHead(request.url === '/logo.svg' ? 200 : 404, { 'content-type': 'image/svg+xml' }).end(PICTURE));
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
    logoUrl = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    host.close();
    host.closeAllConnections();
  });

  it('comes from the checkout itself, as an image that can do nothing', async () => {
    const { path } = await aHosted({}, await service.aShop({ branding: { logoUrl: `${logoUrl}/logo.svg` } }));
    const page = await open(path);
    expect(page.html).toContain(`src="${path}/logo"`);
    expect(page.html).not.toContain(logoUrl);
    const logo = await open(`${path}/logo`, { headers: { 'sec-fetch-site': 'same-origin' } });
    expect([logo.status, logo.html, logo.headers.get('content-type')]).toEqual([200, PICTURE, 'image/svg+xml']);
    expect(logo.headers.get('content-security-policy')).toBe("default-src 'none'; style-src 'unsafe-inline'; sandbox");
    expect([logo.headers.get('x-content-type-options'), logo.headers.get('cross-origin-resource-policy')]).toEqual(['nosniff', 'same-origin']);
    expect(logo.headers.get('cache-control')).toBe('private, max-age=3600');
    expect((await open(`${path}/logo`, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403);
    expect((await open(`${path}/logo`, { method: 'POST' })).status).toBe(405);
  });

  it('is 404 where there is none, and for payments without a page', async () => {
    const broken = await service.aShop({ branding: { logoUrl: `${logoUrl}/missing` } });
    const { paymentUid } = await broken.payment();
    for (const [path, status] of [
      [(await aHosted()).path, 404],
      [(await aHosted({}, broken)).path, 404],
      [`/p/${randomUUID()}`, 404],
      [`/p/${paymentUid}`, 403],
    ] as const)
      expect((await open(`${path}/logo`)).status).toBe(status);
  });
});

/** Sends these headers alone, and reads what is sent as it is sent; fetch adds some and unpacks by itself. */
function rawGet(
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; bytes: Buffer; headers: IncomingHttpHeaders; encoding: string | undefined }> {
  return new Promise((resolve, reject) => {
    get(`${checkout.origin}${path}`, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { statusCode: status = 0, headers: told } = response;
        resolve({ status, bytes: Buffer.concat(chunks), headers: told, encoding: told['content-encoding'] });
      });
    }).on('error', reject);
  });
}
