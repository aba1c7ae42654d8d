import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Contract, operationsOf } from '#api/docs/reference/contract.ts';
import { readCheckoutContract } from '#api/http/read-contract.ts';
import { type DocumentedPage, documentedPages, type Fence } from '#test/fixtures/documentation.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';
import { aService, type Service, type Shop } from './service.ts';

// Every block marked `run` is run, in the order of its page, against a service of its own; a JSON block marked `answer`
// after it is what it printed. What differs from run to run (ids, times, addresses, ports) only has to have its form.

const execute = promisify(execFile);
const AFTER = '\u001e';

let service: Service;
let shop: Shop;
let folder: string;
let indexing = true;
let indexer: Promise<void>;
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop({
    openAmount: { enabled: true, minAmountUsd: '5' },
    cashout: { enabled: true, allowlist: ['127.0.0.1', '::1'], parkingEnabled: true },
  });
  // The network fee of the deposit is half a coin.
  await shop.fund('USDT', '100.5');
  folder = await mkdtemp(join(tmpdir(), 'sluice-docs-'));
  await mkdir(join(folder, '.sluice'));
  await writeFile(join(folder, '.sluice/dev.json'), JSON.stringify(devFile()));
  await installClient();
  indexer = playIndexer();
});
afterAll(async () => {
  indexing = false;
  await indexer;
  await rm(folder, { recursive: true, force: true });
  await service.stop();
});

const runnable = documentedPages().filter(({ fences }) => fences.some(runs));

it('runs the pages that show calls', () => {
  expect(runnable.map(({ slug }) => slug).sort()).toEqual([
    'accept-a-payment',
    'cashout',
    'client',
    'errors',
    'open-amount',
    'quickstart',
    'sandbox',
    'self-hosting',
    'signing',
  ]);
});

describe.each(runnable.map((page) => [page.slug, page] as const))('%s', (_slug, page) => {
  it('prints what the page says it prints', async () => {
    for (const { said, printed, exact } of await runPage(page)) {
      const [wanted, got] = [normal(said), normal(printed)];
      if (exact) expect(got).toEqual(wanted);
      else expectPart(got, wanted, 'answer');
    }
  });
});

describe('what is served', () => {
  it('has every page at /docs, with its Markdown beside it', async () => {
    for (const { slug, markdown } of documentedPages()) {
      const address = `/docs/${slug === '' ? 'index' : slug}`;
      const [page, twin] = await Promise.all([get(address), get(`${address}.md`)]);
      expect([address, page.status, page.type], address).toEqual([address, 200, 'text/html; charset=utf-8']);
      expect([twin.status, twin.type, twin.body]).toEqual([200, 'text/markdown; charset=utf-8', markdown]);
      expect(page.body).toMatch(/<main id="content">.*<h1>/s);
    }
    expect((await get('/docs')).body).toBe((await get('/docs/index')).body);
  });

  it('leads from every page, and from the reference, only to what is there, from its own origin, without anything inline', async () => {
    const operations = [
      ...referenceOf('openapi', '/docs/api'),
      ...referenceOf('operator', '/docs/operator-api'),
      ...addressesOf(readCheckoutContract('api/contract') as unknown as Contract, '/docs/checkout-api'),
    ];
    const addresses = [
      '/docs',
      '/docs/api',
      '/docs/operator-api',
      '/docs/checkout-api',
      ...operations,
      ...documentedPages().map(({ slug }) => `/docs/${slug || 'index'}`),
    ];
    const known = new Map<string, number>();
    const anchors = new Map<string, Set<string>>();
    const wanted: [string, string, string][] = [];
    for (const address of addresses) {
      const { body, policy } = await get(address);
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
      expect(body).not.toMatch(/<script>|<style|\sstyle=|\son[a-z]+=/);
      anchors.set(address, new Set([...body.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)));
      for (const [, page = '', anchor = ''] of body.matchAll(/href="([^"#]*)#([^"]+)"/g)) wanted.push([address, page === '' ? address : page, anchor]);
      for (const [, link = ''] of body.matchAll(/(?:src|href|action|data-program|data-index)="([^"#]+)/g)) {
        if (link.startsWith('data:') || link.startsWith('https://')) continue;
        const to = new URL(link, `http://here${address}`).pathname;
        const place = link.startsWith('/') ? link : to;
        if (!known.has(place)) known.set(place, (await get(place)).status);
        expect([address, place, known.get(place)]).toEqual([address, place, 200]);
      }
    }
    expect([...known.keys()]).toEqual(expect.arrayContaining(['/docs/search', '/docs/search.json', '/openapi.json', '/llms.txt']));
    expect(wanted.filter(([, page, anchor]) => anchors.has(page) && anchors.get(page)?.has(anchor) !== true)).toEqual([]);
  });

  it('answers a search where scripts are off, whatever is asked, and 404 where no page is', async () => {
    const { status, body } = await get('/docs/search?q=how+do+I+verify+a+webhook');
    expect([status, /<ul class="found"><li><a href="([^"]+)"/.exec(body)?.[1]]).toEqual([200, '/docs/webhooks']);
    for (const question of ['', 'q=', 'q=%3Cscript%3E', `q=${'a+'.repeat(5_000)}`, 'q=%00%ff%E0%A4%A', 'q[]=a&q=b', 'q=constructor', 'q=__proto__']) {
      const answer = await get(`/docs/search?${question}`);
      expect([question, answer.status]).toEqual([question, 200]);
      expect(answer.body).not.toContain('<script>');
    }
    for (const path of ['/docs/nowhere', '/docs/api/nowhere', '/docs/__proto__', '/docs/webhooks.json', '/docs/../package', '/docs/assets/nothing.js'])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    expect((await fetch(`${service.origin}/docs/search`, { method: 'POST' })).status).toBe(405);
  });

  it('tells machines where every page is, and gives them all of it at once', async () => {
    const [index, full, contract] = await Promise.all([get('/llms.txt'), get('/llms-full.txt'), get('/openapi.json')]);
    expect(index.body).toMatch(/^# Sluice\n\n> Sluice takes crypto payments/);
    for (const { slug, markdown } of documentedPages().filter((page) => page.slug !== '' && !page.slug.startsWith('runbooks/'))) {
      expect(index.body).toContain(`](/docs/${slug}.md): `);
      expect(full.body).toContain(markdown.trim());
    }
    expect(JSON.parse(contract.body)).toMatchObject({ openapi: '3.1.0', info: { version: '2.2.0' }, webhooks: { payment: {} } });
    // Try it out asks whoever served the page, wherever that is.
    expect((JSON.parse(contract.body) as { servers: unknown }).servers).toEqual([{ url: '/api/v1', description: 'This deployment.' }]);
  });
});

/** Addresses of all operations of a contract. */
function referenceOf(name: string, address: string): string[] {
  return addressesOf(parse(readFileSync(`api/contract/${name}.yaml`, 'utf8')) as Contract, address);
}

function addressesOf(contract: Contract, address: string): string[] {
  return operationsOf(contract).map(({ slug }) => `${address}/${slug}`);
}

async function get(path: string): Promise<{ status: number; type: string | null; policy: string | null; body: string }> {
  const response = await fetch(service.origin + path);
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    policy: response.headers.get('content-security-policy'),
    body: await response.text(),
  };
}

interface Claim {
  said: unknown;
  printed: unknown;
  /** Whether the page shows the whole answer, or a part of it. */
  exact: boolean;
}

/** Runs a page's blocks as one script and pairs what they printed with what the page says. */
async function runPage({ fences }: DocumentedPage): Promise<Claim[]> {
  const blocks = fences.filter(runs);
  const script = ['set -euo pipefail', ...blocks.map((block) => `${commandsOf(block)}\nprintf '%s' '${AFTER}'`)].join('\n');
  const { stdout } = await execute('bash', ['-c', script], { cwd: folder, env: { ...process.env, ...environment() } });
  const outputs = stdout.split(AFTER);
  return fences.flatMap((fence, at): Claim[] => {
    if (fence.language !== 'json' || !fence.words.includes('answer')) return [];
    const last = fences.slice(0, at).filter(runs).length - 1;
    return [{ said: JSON.parse(fence.text), printed: lastJson(outputs[last] ?? ''), exact: !fence.words.includes('part') }];
  });
}

function runs({ language, words }: Fence): boolean {
  return ['sh', 'js'].includes(language) && words.includes('run');
}

function commandsOf({ language, text }: Fence): string {
  return language === 'js' ? `node --input-type=module <<'JS'\n${text}\nJS` : text;
}

/** What the quickstart has its reader set. */
function environment(): Record<string, string> {
  const { api, gateway, operatorUrl, operatorToken } = devFile();
  return { API: api.baseUrl, KEY: gateway.apiKey, SECRET: gateway.cashoutSigningSecret, OPERATOR: operatorUrl, TOKEN: operatorToken, GATEWAY: gateway.id };
}

/** As much of what `npm start` writes as pages read. */
function devFile() {
  return {
    api: { baseUrl: `${service.origin}/api/v1`, origin: service.origin },
    operatorUrl: `${service.origin}/operator/v1`,
    operatorToken: TEST_SECRETS.SLUICE_OPERATOR_TOKEN,
    gateway: { id: shop.id, apiKey: shop.apiKey, cashoutSigningSecret: shop.cashoutSecret },
    webhookReceiver: { origin: 'http://127.0.0.1:4299' },
  };
}

/** Puts the merchant client where a shop that installed it has it. */
async function installClient(): Promise<void> {
  const home = join(folder, 'node_modules/sluice-client');
  await build({ entryPoints: ['ops/client/index.ts'], outfile: join(home, 'index.js'), bundle: true, format: 'esm', platform: 'node' });
  await writeFile(join(home, 'package.json'), JSON.stringify({ name: 'sluice-client', type: 'module', exports: './index.js' }));
}

/** Acknowledges the addresses that selects of the pages wait for. */
async function playIndexer(): Promise<void> {
  while (indexing) {
    await service.world.acknowledge();
    await pause(50);
  }
}

/** The last line that is a JSON document; a block may print more than one answer. */
function lastJson(output: string): unknown {
  const documents = output
    .replaceAll(/\}\{/g, '}\n{')
    .split('\n')
    .filter((line) => line.startsWith('{'));
  return JSON.parse(documents.at(-1) ?? 'null');
}

/** A document with everything that differs from run to run replaced by its kind. */
function normal(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
    .replaceAll(/0x[0-9a-fA-F]{64}/g, '<hash>')
    .replaceAll(/0x[0-9a-fA-F]{40}/g, '<address>')
    .replaceAll(/http:\/\/127\.0\.0\.1(:\d+)?/g, '<origin>');
  return JSON.parse(text);
}

/** Whatever the page shows is there; of a list each shown item has one like it. */
function expectPart(got: unknown, wanted: unknown, where: string): void {
  if (Array.isArray(wanted)) {
    for (const one of wanted)
      expect(Array.isArray(got) && got.some((each) => holds(each, one)), `${where} has no ${JSON.stringify(one)}: ${JSON.stringify(got)}`).toBe(true);
  } else if (isObject(wanted)) {
    expect(isObject(got), `${where} is no object`).toBe(true);
    for (const [name, one] of Object.entries(wanted)) expectPart(isObject(got) ? got[name] : undefined, one, `${where}.${name}`);
  } else expect(got, where).toEqual(wanted);
}

function holds(got: unknown, wanted: unknown): boolean {
  try {
    expectPart(got, wanted, '');
    return true;
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
