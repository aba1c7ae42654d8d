import { once } from 'node:events';
import { get, createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { findChromium } from '#ops/dev/services/chromium.ts';
import { freePort, waitFor } from '#ops/dev/services/wait.ts';
import { type Bench, type Figures, type Found, median, ratio, rounded, type Size } from './bench.ts';
import { aShop, evmOnly } from './http.ts';
import type { Stage } from './stage.ts';

const ROUNDS = { tiny: 1, full: 9 };
/** A phone on a slow line, as Lighthouse has it: 1.6 Mbit/s down, 750 kbit/s up, 150 ms there and back, a CPU four times slower. Tiny waits for nothing. */
const LINES = {
  tiny: { latency: 5, downloadThroughput: -1, uploadThroughput: -1, slowdown: 1 },
  full: { latency: 150, downloadThroughput: (1.6 * 1024 * 1024) / 8, uploadThroughput: (750 * 1024) / 8, slowdown: 4 },
};
const PHONE = { viewport: { width: 360, height: 640 }, deviceScaleFactor: 3, isMobile: true, hasTouch: true };
/** What an address is shown in. */
const ADDRESS = '[data-part="address"]';
/** Notes the beginning of the frame in which the address is laid out: it is painted at its end, before any timer that a busy program delays. */
const WATCH = `(() => {
  const look = () => {
    const found = document.querySelector('${ADDRESS}');
    if (found === null || found.getClientRects().length === 0) requestAnimationFrame(look);
    else globalThis.addressShownAt = performance.now();
  };
  requestAnimationFrame(look);
})()`;

/** What a payer with a phone on a slow line waits for on the hosted page, against the same bytes from memory, and against one file that says the same without a program. */
export const page: Bench = {
  what: 'first contentful paint and time to the address of the hosted page, on a phone with a slow line, against the same bytes from memory and against one file',
  async run(stage, size) {
    const executablePath = await findChromium(stage.say);
    if (executablePath === null) throw new Error('the bench of the page needs a Chromium on PATH');
    const { chromium } = await import('playwright-core');
    const database = await stage.database();
    const checkout = `http://127.0.0.1:${await freePort()}`;
    const environment = {
      ...stage.environment(database, await stage.networksFile(await evmOnly())),
      SLUICE_ROLES: 'http',
      SLUICE_CHECKOUT_URL: checkout,
      SLUICE_CHECKOUT_PORT: new URL(checkout).port,
    };
    const api = await stage.startApi(environment);
    const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
    const servers: Server[] = [];
    try {
      const url = await aPageWithAddress(api.origin, database.sql);
      const first = await open(browser, url, size);
      const files = await Promise.all(first.asked.map(async (asked) => [new URL(asked).pathname, await fetchFile(asked)] as const));
      const pages: Record<string, string> = { 'the page': url };
      for (const [name, kept] of [
        ['the same bytes', new Map(files)],
        ['one file', new Map([[new URL(url).pathname, inOneFile(new Map(files), new URL(url).pathname)]])],
      ] as const) {
        const { server, origin } = await serve(kept);
        servers.push(server);
        pages[name] = `${origin}${new URL(url).pathname}`;
      }
      const opened: Record<string, Opened[]> = {};
      for (let round = 0; round < ROUNDS[size]; round++)
        for (const [name, place] of Object.entries(pages)) opened[name] = [...(opened[name] ?? []), await open(browser, place, size)];
      return foundOf(opened);
    } finally {
      await browser.close();
      for (const server of servers) server.close();
      await api.stop();
    }
  },
};

/** What one look at a page came to. */
interface Opened {
  firstByteMs: number;
  firstPaintMs: number;
  addressMs: number;
  bytes: number;
  asked: string[];
}

/** Opens a page in a browser that never saw it. */
async function open(browser: Browser, url: string, size: Size): Promise<Opened> {
  const { slowdown, ...line } = LINES[size];
  const context = await browser.newContext(PHONE);
  try {
    const tab = await context.newPage();
    const debug = await context.newCDPSession(tab);
    const asked: string[] = [];
    let bytes = 0;
    debug.on('Network.requestWillBeSent', ({ request }) => void asked.push(request.url));
    debug.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await debug.send('Network.enable');
    await debug.send('Network.emulateNetworkConditions', { offline: false, ...line });
    await debug.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
    await tab.addInitScript(WATCH);
    await tab.goto(url, { waitUntil: 'load' });
    const laidOutMs = await waitFor(() => tab.evaluate<number | undefined>('globalThis.addressShownAt'), { what: 'the address', everyMs: 50 });
    // Told behind the frame that was painted.
    const painted = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime`;
    const firstPaintMs = await waitFor(() => tab.evaluate<number | undefined>(painted), { what: 'the first paint', everyMs: 50 });
    const firstByteMs = await tab.evaluate<number>(`performance.getEntriesByType('navigation')[0].responseStart`);
    return { firstByteMs, firstPaintMs, addressMs: Math.max(laidOutMs, firstPaintMs), bytes, asked };
  } finally {
    await context.close();
  }
}

/** A hosted page whose payer chose a coin. No indexer runs here: the bench says itself that the address is watched. */
async function aPageWithAddress(origin: string, sql: Awaited<ReturnType<Stage['database']>>['sql']): Promise<string> {
  const shop = await aShop({ origin });
  const body = { currencyCode: 'USD', amount: '49.90', callbackUrl: 'https://shop.example/thanks', webhookUrl: 'https://shop.example/hooks/sluice' };
  const { paymentUid, paymentUrl } = (await shop.must('POST', '/payments', { body })) as { paymentUid: string; paymentUrl: string };
  const { offers } = (await shop.must('GET', `/public/payments/${paymentUid}`)) as { offers: { id: string }[] };
  const chosen = fetch(paymentUrl, {
    method: 'POST',
    body: new URLSearchParams({ action: 'select', offerId: offers[0]?.id ?? '' }),
    headers: { accept: 'text/html' },
  });
  const watch = () => sql`update watches set acked_epoch = 1, watched_from = 0 where address in (select address from deposit_addresses) returning 1`;
  await waitFor(async () => (await watch()).length > 0, { what: 'an address', everyMs: 50 });
  await (await chosen).arrayBuffer();
  return paymentUrl;
}

/** An answer as it travelled. */
interface Kept {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

function fetchFile(url: string): Promise<Kept> {
  return new Promise((resolve, reject) => {
    const headers = { 'accept-encoding': 'gzip, deflate, br', accept: '*/*' };
    get(url, { headers, agent: false }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => void parts.push(part));
      answer.once('end', () => resolve({ headers: answer.headers, body: Buffer.concat(parts) }));
    }).once('error', reject);
  });
}

const OF_ONE_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding', 'date', 'set-cookie', 'content-length'];

/** Answers what was kept from memory, as the leanest server there could be. */
async function serve(files: ReadonlyMap<string, Kept>): Promise<{ server: Server; origin: string }> {
  const server = createServer((request, response) => {
    const kept = files.get(new URL(request.url ?? '/', 'http://bench').pathname);
    if (kept === undefined) response.writeHead(404).end();
    else response.writeHead(200, { ...omit(kept.headers), 'content-length': kept.body.length }).end(kept.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function omit(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined || OF_ONE_CONNECTION.includes(name) ? [] : [[name, value]])),
  );
}

function textOf({ headers, body }: Kept): string {
  const encoding = headers['content-encoding'];
  return (encoding === 'br' ? brotliDecompressSync(body) : encoding === 'gzip' ? gunzipSync(body) : body).toString('utf8');
}

/** The same page with its style within and without its program: the least that a browser could be sent to show the same. */
function inOneFile(files: ReadonlyMap<string, Kept>, path: string): Kept {
  const style = [...files.values()].filter(({ headers }) => headers['content-type']?.startsWith('text/css')).map(textOf);
  const html = textOf(files.get(path) as Kept)
    .replaceAll(/<script\b.*?<\/script>/gs, '')
    .replaceAll(/<link\b[^>]*>/g, '')
    .replace('</head>', () => `<style>${style.join('\n')}</style><link rel="icon" href="data:,"></head>`);
  return { headers: { 'content-type': 'text/html; charset=utf-8', 'content-encoding': 'br' }, body: brotliCompressSync(html) };
}

function foundOf(opened: Readonly<Record<string, Opened[]>>): Found {
  const figures: Record<string, Figures> = {};
  for (const [name, looks] of Object.entries(opened)) {
    const of = (what: 'firstByteMs' | 'firstPaintMs' | 'addressMs' | 'bytes'): number => rounded(median(looks.map((one) => one[what])));
    figures[name] = {
      firstByteMs: of('firstByteMs'),
      firstPaintMs: of('firstPaintMs'),
      addressMs: of('addressMs'),
      bytes: of('bytes'),
      requests: median(looks.map(({ asked }) => asked.length)),
    };
  }
  const own = opened['the page'] ?? [];
  const against = (name: string, what: 'firstPaintMs' | 'addressMs'): number =>
    ratio(median(own.map((one, round) => one[what] / (opened[name]?.[round]?.[what] ?? Number.NaN))), 1);
  const ratios = Object.fromEntries(
    ['the same bytes', 'one file'].flatMap((name) => [
      [`first paint ÷ ${name}`, against(name, 'firstPaintMs')],
      [`address ÷ ${name}`, against(name, 'addressMs')],
    ]),
  );
  const [paint, address, requests, bytes] = [
    ratios['first paint ÷ the same bytes'] ?? 0,
    ratios['address ÷ one file'] ?? 0,
    Number(figures['the page']?.requests),
    Number(figures['the page']?.bytes),
  ];
  return {
    figures,
    ratios,
    goals: [
      { goal: 'first paint ÷ the same bytes from memory ≤ 1.1', measured: paint, met: paint <= 1.1 },
      { goal: 'address ÷ one file ≤ 2', measured: address, met: address <= 2 },
      { goal: 'ux C14: requests ≤ 6', measured: requests, met: requests <= 6 },
      { goal: 'ux C14: bytes ≤ 80000', measured: bytes, met: bytes <= 80_000 },
    ],
    proofs: { addressShown: own.length > 0 && own.every(({ addressMs }) => addressMs > 0) },
  };
}
