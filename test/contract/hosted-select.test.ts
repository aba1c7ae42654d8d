import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openHostedCheckout } from '#api/checkout/hosted.ts';
import { createLimiter } from '#shared/platform/limiter.ts';
import { connect } from '#shared/platform/postgres.ts';
import { times } from '#test/harness/counts.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';
import type { Answer, Ask } from './client.ts';
import { mutate, mutation } from './hostile.ts';
import { dial } from './raw-http.ts';
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

const OPERATOR = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };
const NOT_FOUND = '{"success":false,"error":{"code":"not_found","message":"Not found."}}';
const codeOf = ({ status, error }: Answer): [number, string | undefined] => [status, error?.code];

interface Offer {
  id: string;
  assetSymbol: string;
  totalValue: string;
}

/** A hosted payment, and what its page knows of it. */
async function aHostedPayment(body: Record<string, unknown> = {}): Promise<{ id: string; offers: Offer[] }> {
  const { data } = await shop.call('POST', '/payments', { body: { currencyCode: 'USD', amount: '10', callbackUrl: 'https://shop.example/', ...body } });
  const id = String(data.paymentUid);
  return { id, offers: (await service.ask('GET', `/api/v1/public/payments/${id}`)).data.offers as Offer[] };
}

const ask = (id: string, given: Ask, through: Listening = checkout): Promise<Answer> => through.ask('POST', `/p/${id}/select`, given);
const select = (id: string, offer: { id: string } | undefined): Promise<Answer> => ask(id, { body: { offerId: offer?.id } });

/** Selects while an indexer acknowledges. */
async function selectWatched(id: string, offer: Offer | undefined): Promise<Answer> {
  let waiting = true;
  const selecting = select(id, offer).finally(() => {
    waiting = false;
  });
  while (waiting) await service.world.acknowledge();
  return selecting;
}

describe('200', () => {
  it('answers like the public select: one watched address for every asset of the network and on every repeat (decisions 9)', async () => {
    const { id, offers } = await aHostedPayment();
    const first = await selectWatched(id, offers[0]);
    expect(codeOf(first)).toEqual([200, undefined]);
    for (const offer of offers) {
      const { status, data } = await select(id, offer);
      expect([status, data.assignmentStatus, data.depositAddress, data.paymentStatus]).toEqual([200, 'ASSIGNED', first.data.depositAddress, 'PENDING']);
      expect([data.amount, (data.offer as Offer).id]).toEqual([offer.totalValue, offer.id]);
      expect(data).not.toHaveProperty('retryAfterMs');
    }
    const read = (await service.ask('GET', `/api/v1/public/payments/${id}`)).data;
    expect(read.selectedOfferId).toBe(offers.at(-1)?.id);
  });

  it('needs no allowlist and ignores fields it does not know', async () => {
    const closed = await service.aShop({ apiAllowlist: [] });
    const { data } = await closed.call('POST', '/payments', {
      body: { currencyCode: 'USD', amount: '10', callbackUrl: 'https://shop.example/', isSandbox: true },
    });
    const { offers } = (await service.ask('GET', `/api/v1/public/payments/${data.paymentUid}`)).data as { offers: Offer[] };
    const answer = await ask(String(data.paymentUid), { body: { offerId: offers[0]?.id.toUpperCase(), colour: 'blue' } });
    expect([answer.status, answer.data.depositAddress]).toEqual([200, `sandbox-${data.paymentUid}`]);
  });

  it.each([
    ['the page itself', { 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1:3001' }],
    ['the page itself behind another name', { 'sec-fetch-site': 'same-origin', origin: 'https://pay.example' }],
    ['a person who typed it', { 'sec-fetch-site': 'none' }],
    ['an old browser on the page itself', { origin: 'http://127.0.0.1:3001' }],
  ])('serves %s', async (_who, headers) => {
    const { id, offers } = await aHostedPayment({ isSandbox: true });
    const answer = await ask(id, { body: { offerId: offers[0]?.id }, headers });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('202', () => {
  it('says when to call again while nobody watches the address; the same call again is the recovery (contract 2.5)', async () => {
    const { id, offers } = await aHostedPayment();
    const pending = await select(id, offers[0]);
    expect([pending.status, pending.data.assignmentStatus]).toEqual([202, 'PENDING']);
    expect(pending.data.retryAfterMs).toBeGreaterThan(0);
    expect(pending.data).not.toHaveProperty('depositAddress');
    await service.world.acknowledge();
    const late = (await service.ask('GET', `/api/v1/public/payments/${id}`)).data.offers as { depositAddress?: string }[];
    const again = await select(id, offers[0]);
    expect([again.status, again.data.depositAddress]).toEqual([200, late[0]?.depositAddress]);
  });
});

describe('400', () => {
  it('refuses what is not strict JSON', async () => {
    for (const raw of ['{', '{"offerId":"a","offerId":"b"}', '[[[[[[[[[1]]]]]]]]]', '\ufeff{}'])
      expect([raw, ...codeOf(await ask(randomUUID(), { raw }))]).toEqual([raw, 400, 'malformed_json']);
  });
});

describe('403', () => {
  it('refuses a payment in API mode, from an allowlisted address too', async () => {
    const { paymentUid, payment } = await shop.payment();
    expect(codeOf(await select(paymentUid, payment.offers[0]))).toEqual([403, 'forbidden']);
    expect((await service.ask('GET', `/api/v1/public/payments/${paymentUid}`)).data.selectedOfferId).toBeNull();
  });

  it.each([
    ['cross-site', { 'sec-fetch-site': 'cross-site', origin: 'http://127.0.0.1:3001' }],
    ['same-site', { 'sec-fetch-site': 'same-site' }],
    ['of another origin', { origin: 'https://evil.example' }],
    ['of an opaque origin', { origin: 'null' }],
    ['of another port', { origin: 'http://127.0.0.1:3002' }],
  ])("refuses a page that is %s, and its browser's question beforehand", async (_what, headers) => {
    const { id, offers } = await aHostedPayment({ isSandbox: true });
    const answer = await ask(id, { body: { offerId: offers[0]?.id }, headers });
    expect(codeOf(answer)).toEqual([403, 'forbidden']);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    const preflight = await fetch(`${checkout.origin}/p/${id}/select`, { method: 'OPTIONS', headers: { ...headers, 'access-control-request-method': 'POST' } });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  });
});

describe('404', () => {
  it('knows neither other payments nor offers of other payments, all in the same bytes', async () => {
    const [one, other] = [await aHostedPayment(), await aHostedPayment()];
    for (const [payment, offer] of [
      [randomUUID(), one.offers[0]],
      ['x', one.offers[0]],
      ['%00', one.offers[0]],
      ['%E0%A4%A', one.offers[0]],
      [one.id, other.offers[0]],
      [one.id, { id: randomUUID() }],
    ] as [string, Offer][]) {
      const { status, text } = await select(payment, offer);
      expect([status, text]).toEqual([404, NOT_FOUND]);
    }
  });

  it('is what every other path of the listener answers, in the envelope', async () => {
    const { id } = await aHostedPayment();
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', `/p/${id}/select/more`],
      ['POST', `/p/${id}/select/more`],
      ['POST', '/api/v1/payments'],
      ['GET', '/operator/v1/gateways'],
      ['GET', '/openapi.json'],
      ['GET', '/logos/USDT.svg'],
    ] as const) {
      const response = await fetch(`${checkout.origin}${path}`, { method });
      expect([path, response.status, await response.text()]).toEqual([path, 404, NOT_FOUND]);
      expect([response.headers.get('x-contract-revision'), response.headers.get('x-content-type-options')]).toEqual(['2.2.0', 'nosniff']);
    }
    const wrong = await fetch(`${checkout.origin}/p/${id}/select`);
    expect([wrong.status, wrong.headers.get('allow'), ((await wrong.json()) as Answer).error.code]).toEqual([405, 'POST', 'method_not_allowed']);
  });
});

describe('409', () => {
  it('refuses a payment that is overdue, then expired, then nothing else', async () => {
    const { id, offers } = await aHostedPayment({ timeoutSeconds: 60 });
    await service.world.advance(61);
    expect(codeOf(await select(id, offers[0]))).toEqual([409, 'conflict']);
    expect((await service.ask('POST', `/api/v1/public/payments/${id}/expire`)).data.status).toBe('EXPIRED');
    expect(codeOf(await select(id, offers[0]))).toEqual([409, 'conflict']);
  });

  it('refuses a payment that is resolved', async () => {
    const { id, offers } = await aHostedPayment({ isSandbox: true });
    const played = await service.ask('POST', `/api/v1/public/payments/${id}/sandbox/simulate`, { body: { scenario: 'success' } });
    expect(played.data.status).toBe('SUCCESS');
    expect(codeOf(await select(id, offers[0]))).toEqual([409, 'conflict']);
  });
});

describe('413', () => {
  it('refuses a body above 65,536 bytes', async () => {
    expect(codeOf(await ask(randomUUID(), { raw: JSON.stringify({ offerId: 'x'.repeat(65_536) }) }))).toEqual([413, 'payload_too_large']);
  });
});

describe('415', () => {
  it('refuses anything but uncompressed application/json, so that no form of another site gets through', async () => {
    const body = JSON.stringify({ offerId: randomUUID() });
    for (const headers of [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': '' },
      { 'content-encoding': 'gzip' },
    ] as Record<string, string>[])
      expect(codeOf(await ask(randomUUID(), { raw: body, headers }))).toEqual([415, 'unsupported_media_type']);
  });
});

describe('422', () => {
  it('names the body or the offer id', async () => {
    const { id } = await aHostedPayment();
    for (const raw of ['', '[]', 'null', '"x"']) {
      const answer = await ask(id, { raw });
      expect([...codeOf(answer), answer.error.message.slice(0, 6)]).toEqual([422, 'validation_error', 'body: ']);
    }
    for (const body of [{}, { offerId: null }, { offerId: 'x' }, { offerId: 7 }, { offerId: `urn:uuid:${randomUUID()}` }]) {
      const answer = await ask(id, { body });
      expect([...codeOf(answer), answer.error.message.slice(0, 9)]).toEqual([422, 'validation_error', 'offerId: ']);
    }
  });
});

describe('429', () => {
  it('shares the limit of the public select, per source address', async () => {
    const limited = await listenCheckout({
      ...service.deps,
      config: { ...service.deps.config, SLUICE_RATE_LIMIT_SCALE: 5 / 120 },
      limiter: createLimiter({ now: Date.now }),
    });
    try {
      const { id, offers } = await aHostedPayment({ isSandbox: true });
      const answers: Answer[] = [];
      for (let calls = 0; calls < 7; calls++) answers.push(await ask(id, { body: { offerId: offers[0]?.id } }, limited));
      expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200, 429, 429]);
      expect(Number(answers.at(-1)?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    } finally {
      await limited.close();
    }
  });

  it("comes before every other check, of other sites' pages and unknown paths too (decisions 8)", async () => {
    const limited = await listenCheckout({
      ...service.deps,
      config: { ...service.deps.config, SLUICE_RATE_LIMIT_SCALE: 3 / 120 },
      limiter: createLimiter({ now: Date.now }),
    });
    try {
      const headers = { 'sec-fetch-site': 'cross-site' };
      const foreign: Answer[] = [];
      for (let calls = 0; calls < 4; calls++) foreign.push(await ask(randomUUID(), { raw: '{', headers }, limited));
      expect(foreign.map((answer) => answer.status)).toEqual([403, 403, 403, 429]);
      const unknown: number[] = [];
      for (let calls = 0; calls < 4; calls++) unknown.push((await fetch(`${limited.origin}/nowhere`, { headers })).status);
      expect(unknown).toEqual([403, 403, 403, 429]);
    } finally {
      await limited.close();
    }
  });
});

describe('whatever is sent', () => {
  const uuid = '3f2b8c1e-9a4d-4e6f-8b7a-1c2d3e4f5a6b';
  const json = (body: string): string => `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const offer = json(`{"offerId":"${uuid}"}`);
  const ID = '{id}';

  it.each([
    ['a path outside', `POST /p/../../etc/passwd HTTP/1.1\r\nHost: x\r\n${offer}`, 404],
    ['an encoded path outside', `POST /p/%2e%2e%2fselect/select HTTP/1.1\r\nHost: x\r\n${offer}`, 404],
    ['an id with an encoded slash', `POST /p/${ID}%2f/select HTTP/1.1\r\nHost: x\r\n${offer}`, 404],
    ['an id with a NUL', `POST /p/%00${ID}/select HTTP/1.1\r\nHost: x\r\n${offer}`, 404],
    ['an id that is no UTF-8', `POST /p/%ff%fe/select HTTP/1.1\r\nHost: x\r\n${offer}`, 404],
    ['an id that is cut off', `POST /p/%E0%A4%A/select HTTP/1.1\r\nHost: x\r\n${offer}`, 404],
    ['an id in braces', `POST /p/%7B${ID}%7D/select HTTP/1.1\r\nHost: x\r\n${offer}`, 404],
    ['an id as a URN', `POST /p/urn:uuid:${ID}/select HTTP/1.1\r\nHost: x\r\n${offer}`, 404],
    ['an id of ten thousand letters', `POST /p/${'a'.repeat(10_000)}/select HTTP/1.1\r\nHost: x\r\n${offer}`, 404],
    ['no id', `POST /p//select HTTP/1.1\r\nHost: x\r\n${offer}`, 404],
    ['the template itself', `POST /p/{paymentId}/select HTTP/1.1\r\nHost: x\r\n${offer}`, 404],
    ['the name of a prototype', `POST /p/__proto__/select HTTP/1.1\r\nHost: x\r\n${offer}`, 404],
    ['another host', `POST http://evil.example/p/${ID}/select HTTP/1.1\r\nHost: evil.example\r\n${offer}`, 404],
    ['the public call of the API', `POST /api/v1/public/payments/${ID}/offers/${uuid}/select HTTP/1.1\r\nHost: x\r\n\r\n`, 404],
    ['the operation by its name', `POST /selectOffer HTTP/1.1\r\nHost: x\r\n${offer}`, 404],
    ['a query beside', `POST /p/${ID}/select?offerId=${uuid}&offerId[]=1&__proto__[x]=1&%00 HTTP/1.1\r\nHost: x\r\n${offer}`, 404],
    ['an offer in the query only', `POST /p/${ID}/select?offerId=${uuid} HTTP/1.1\r\nHost: x\r\n${json('{}')}`, 422],
    ['no body', `POST /p/${ID}/select HTTP/1.1\r\nHost: x\r\n\r\n`, 422],
    ['a body without a type', `POST /p/${ID}/select HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`, 415],
    ['a list', `POST /p/${ID}/select HTTP/1.1\r\nHost: x\r\n${json('[{}]')}`, 422],
    ['an offer that is a list', `POST /p/${ID}/select HTTP/1.1\r\nHost: x\r\n${json(`{"offerId":["${uuid}"]}`)}`, 422],
    ['an offer with a NUL', `POST /p/${ID}/select HTTP/1.1\r\nHost: x\r\n${json(`{"offerId":"\\u0000${uuid}"}`)}`, 422],
    ['an offer that is half a character', `POST /p/${ID}/select HTTP/1.1\r\nHost: x\r\n${json('{"offerId":"\\ud800"}')}`, 422],
    ['an offer with SQL', `POST /p/${ID}/select HTTP/1.1\r\nHost: x\r\n${json(`{"offerId":"${uuid}'; drop table payments; --"}`)}`, 422],
    [
      'bytes that are no UTF-8',
      Buffer.from(`POST /p/${ID}/select HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\n"\xff\xfe"`, 'latin1'),
      400,
    ],
    ['an override of the method', `GET /p/${ID}/select HTTP/1.1\r\nHost: x\r\nX-HTTP-Method-Override: POST\r\n\r\n`, 405],
    ['PUT', `PUT /p/${ID}/select HTTP/1.1\r\nHost: x\r\n${offer}`, 405],
    ['an upgrade to a WebSocket', `GET /ws/payments/${ID} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`, 404],
    [
      'a key, an IP and an Origin that mean nothing here',
      `POST /p/${ID}/select HTTP/1.1\r\nHost: x\r\nX-Api-Key: x\r\nX-Forwarded-For: 10.0.0.1\r\n${json('{}')}`,
      422,
    ],
  ])('%s is answered in the envelope, and selects nothing', async (_what, request, status) => {
    const { id } = await aHostedPayment({ isSandbox: true });
    const connection = dial(checkout.origin);
    try {
      connection.socket.write(Buffer.from(Buffer.from(request).toString('latin1').replaceAll(ID, id), 'latin1'));
      const answer = await connection.next();
      const envelope = JSON.parse(answer.body) as { success: boolean; error: { code: string; message: string } };
      expect([answer.status, envelope.success, typeof envelope.error.message]).toEqual([status, false, 'string']);
      expect([answer.headers['content-type'], answer.headers['cache-control']]).toEqual(['application/json; charset=utf-8', 'no-store']);
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    } finally {
      connection.socket.destroy();
    }
    expect((await service.ask('GET', `/api/v1/public/payments/${id}`)).data.selectedOfferId).toBeNull();
  });

  it('in any body and under any id, it is an answer that checkout.yaml lists, and no 5xx', async () => {
    const { id } = await aHostedPayment({ isSandbox: true });
    const ids = fc.oneof(fc.constant(id), fc.uuid(), fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).map(encodeURIComponent));
    await fc.assert(
      fc.asyncProperty(ids, mutation, async (paymentId, how) => {
        const answer = await ask(paymentId, { raw: JSON.stringify(mutate({ offerId: uuid }, how)) ?? '' });
        expect(answer.status).toBeLessThan(500);
        expect(answer.status).toBeGreaterThanOrEqual(400);
      }),
      { numRuns: times(200) },
    );
    expect((await service.ask('GET', `/api/v1/public/payments/${id}`)).data.selectedOfferId).toBeNull();
  });
});

describe('500', () => {
  it('answers a crash in the envelope and tells nothing about it', async () => {
    const crash = async (): Promise<never> => {
      throw new Error('canary: postgres://user:secret@db');
    };
    const crashing = await listenCheckout(service.deps, { ...openHostedCheckout(service.deps), select: crash });
    try {
      const answer = await ask(randomUUID(), { body: { offerId: randomUUID() } }, crashing);
      expect(codeOf(answer)).toEqual([500, 'internal_error']);
      expect(answer.text).not.toContain('canary');
    } finally {
      await crashing.close();
    }
  });
});

describe('503', () => {
  it('asks to come back while the database is away', async () => {
    const away = connect('postgres://nobody@127.0.0.1:1/nothing', { name: 'away', max: 1 });
    const stranded = await listenCheckout({ ...service.deps, db: away });
    try {
      const answer = await ask(randomUUID(), { body: { offerId: randomUUID() } }, stranded);
      expect(codeOf(answer)).toEqual([503, 'service_unavailable']);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    } finally {
      await Promise.all([stranded.close(), away.end()]);
    }
  });

  it('refuses new addresses on a network that an operator has paused', async () => {
    const { id, offers } = await aHostedPayment();
    const pause = (what: string) => service.ask('POST', `/operator/v1/networks/ethereum/${what}`, { headers: OPERATOR });
    expect((await pause('pause')).status).toBe(200);
    try {
      expect(codeOf(await select(id, offers[0]))).toEqual([503, 'service_unavailable']);
    } finally {
      await pause('resume');
    }
    expect((await selectWatched(id, offers[0])).status).toBe(200);
  });
});

it('every status that checkout.yaml lists has its cases here', () => {
  const { paths } = parse(readFileSync('api/contract/checkout.yaml', 'utf8')) as { paths: Record<string, { post: { responses: object } }> };
  const own = [...readFileSync('test/contract/hosted-select.test.ts', 'utf8').matchAll(/^describe\('(\d{3})'/gm)].map((match) => match[1]);
  expect(own).toEqual(Object.keys(paths['/p/{paymentId}/select']?.post.responses ?? {}));
});
