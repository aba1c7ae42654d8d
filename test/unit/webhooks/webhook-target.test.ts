import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createWebhookHttp } from '#api/clients/webhook-http.ts';
import { mayReach, parseWebhookTarget, reachOf, type WebhookPolicy } from '#api/clients/webhook-target.ts';
import { ANSWERS, WEBHOOK_URLS, type UrlCase } from '#test/fixtures/webhook-urls.ts';
import { type Canary, watchConnections } from '#test/harness/connections.ts';

const strict: WebhookPolicy = { privateTargets: false, requireHttps: false };
const open: WebhookPolicy = { privateTargets: true, requireHttps: false };
const loopback: WebhookPolicy = { privateTargets: ['127.0.0.0/8', '::1/128'], requireHttps: false };
const production: WebhookPolicy = { privateTargets: false, requireHttps: true };

let canary: Canary;
beforeAll(() => {
  canary = watchConnections();
});
afterAll(() => canary.restore());
beforeEach(() => {
  canary.attempts.length = 0;
});

const title = ({ url, reason }: UrlCase): [string, UrlCase] => [
  `${reason}: ${JSON.stringify(url).slice(0, 80)}`,
  WEBHOOK_URLS.find((one) => one.url === url) as UrlCase,
];
const of = (...verdicts: UrlCase['verdict'][]) => WEBHOOK_URLS.filter((one) => verdicts.includes(one.verdict)).map(title);

it('the corpus has more than 300 different URLs, more than 50 of them public', () => {
  expect(new Set(WEBHOOK_URLS.map((one) => one.url)).size).toBe(WEBHOOK_URLS.length);
  expect(WEBHOOK_URLS.length).toBeGreaterThanOrEqual(300);
  expect(of('public').length).toBeGreaterThanOrEqual(50);
});

describe('a URL that leads inside, or nowhere a webhook may go, is refused when the payment is created and again when it is sent, with no connection', () => {
  it.each(of('private', 'never'))('%s', async (_title, { url, problem }) => {
    expect(parseWebhookTarget(url, strict)).toEqual({ ok: false, problem });
    const resolved: string[] = [];
    const resolve = async (name: string): Promise<string[]> => {
      resolved.push(name);
      return ['93.184.216.34'];
    };
    const client = createWebhookHttp({ policy: strict, resolve });
    expect(await client.post(url, {}, '{}')).toMatchObject({ kind: 'failed', result: 'blocked' });
    expect([resolved, canary.attempts]).toEqual([[], []]);
  });
});

describe('a deployment that allows private targets allows those and nothing else', () => {
  it.each(of('private'))('%s', (_title, { url }) => expect(parseWebhookTarget(url, open)).toMatchObject({ ok: true }));
  it.each(of('never'))('%s', async (_title, { url, problem }) => {
    expect(parseWebhookTarget(url, open)).toEqual({ ok: false, problem });
    expect(await createWebhookHttp({ policy: open, resolve: async () => ['127.0.0.1'] }).post(url, {}, '{}')).toMatchObject({
      kind: 'failed',
      result: 'blocked',
    });
    expect(canary.attempts).toEqual([]);
  });
});

describe('a public URL is allowed by every policy and connected to at the checked addresses only', () => {
  it.each(of('public'))('%s', async (_title, { url }) => {
    for (const policy of [strict, open, loopback]) expect(parseWebhookTarget(url, policy)).toMatchObject({ ok: true });
    const client = createWebhookHttp({ policy: strict, resolve: async () => ['93.184.216.34', '2606:4700::1111'] });
    expect(await client.post(url, {}, '{}')).toMatchObject({ kind: 'failed', result: 'refused' });
    const { hostname } = new URL(url);
    const literal = /^[[\d]/.test(hostname) && !/[a-z]/.test(hostname.replace(/^\[.*\]$/, ''));
    expect(canary.attempts).toEqual(literal ? [hostname.replace(/^\[|\]$/g, '')] : ['93.184.216.34', '2606:4700::1111']);
  });
});

describe('a name that was harmless when the payment was created is judged by every address it has when the webhook is sent', () => {
  it.each(ANSWERS.map((one): [string, (typeof ANSWERS)[number]] => [one.reason, one]))('%s', async (_title, { addresses, verdict }) => {
    expect(parseWebhookTarget('https://hooks.example/', strict)).toMatchObject({ ok: true });
    for (const [policy, reached] of [
      [strict, verdict === 'public'],
      [open, verdict !== 'never'],
    ] as const) {
      canary.attempts.length = 0;
      const outcome = await createWebhookHttp({ policy, resolve: async () => [...addresses] }).post('http://hooks.example/', {}, '{}');
      expect(outcome).toMatchObject({ kind: 'failed', result: reached ? 'refused' : 'blocked' });
      expect(canary.attempts).toEqual(reached ? addresses : []);
    }
  });

  it('is asked again at every attempt', async () => {
    const answers = [['93.184.216.34'], ['127.0.0.1'], ['93.184.216.34', '10.0.0.1']];
    const client = createWebhookHttp({ policy: strict, resolve: async () => answers.shift() ?? [] });
    const results: string[] = [];
    for (let attempt = 1; attempt <= 4; attempt++) {
      const outcome = await client.post('http://hooks.example/', {}, '{}');
      results.push(outcome.kind === 'failed' ? outcome.result : 'answered');
    }
    expect(results).toEqual(['refused', 'blocked', 'blocked', 'dns']);
    expect(canary.attempts).toEqual(['93.184.216.34']);
  });
});

describe('a deployment may open some private ranges and keep the others shut', () => {
  it.each([
    ['http://127.0.0.1:4242/', true],
    ['http://[::1]:4242/', true],
    ['http://[::ffff:127.0.0.1]/', true],
    ['http://localhost:4242/', true],
    ['http://10.0.0.1/', false],
    ['http://192.168.0.1/', false],
    ['http://[fd00::1]/', false],
    ['http://169.254.169.254/', false],
    ['http://0.0.0.0/', false],
    ['http://8.8.8.8/', true],
  ])('%s: %s', (url, allowed) => expect(parseWebhookTarget(url, loopback).ok).toBe(allowed));

  it('judges what a name resolves to by the same ranges', async () => {
    for (const [address, result] of [
      ['127.0.0.1', 'refused'],
      ['10.0.0.1', 'blocked'],
      ['169.254.169.254', 'blocked'],
    ] as const)
      expect(await createWebhookHttp({ policy: loopback, resolve: async () => [address] }).post('http://localhost/', {}, '{}')).toMatchObject({ result });
  });

  it('cannot open link-local or reserved ones', () => {
    const careless: WebhookPolicy = { privateTargets: ['0.0.0.0/0', '::/0'], requireHttps: false };
    for (const { url, verdict } of WEBHOOK_URLS) expect([url, parseWebhookTarget(url, careless).ok]).toEqual([url, verdict !== 'never']);
  });
});

it('production wants https', () => {
  expect(parseWebhookTarget('http://shop.example/', production)).toEqual({ ok: false, problem: 'must use https' });
  expect(parseWebhookTarget('https://shop.example/', production)).toMatchObject({ ok: true });
});

it('every first octet is either public or listed', () => {
  const blocked = Array.from({ length: 256 }, (_, octet) => octet).filter((octet) => reachOf(`${octet}.200.77.77`) !== 'public');
  expect(blocked).toEqual([0, 10, 127, ...Array.from({ length: 32 }, (_, index) => 224 + index)]);
});

it('IPv6 outside 2000::/3 is never public', () => {
  for (let first = 0; first < 0x10000; first += 0x155) {
    const address = `${first.toString(16)}:1:2:3:4:5:6:7`;
    if (first < 0x2000 || first > 0x3fff) expect(mayReach(address, strict)).toBe(false);
  }
});
