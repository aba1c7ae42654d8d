import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createClient, NoAnswer, readWebhook, selectAddress, SluiceError, WebhookRefused } from '#ops/client/index.ts';

const BASE = 'https://pay.example/api/v1';
const ID = '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44';
const BODY = { currencyCode: 'USD', amount: '10', callbackUrl: 'https://shop.example/thanks' };

interface Sent {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** A client whose service gives these answers, one after another; an error is a lost connection. */
function clientOver(...answers: (Response | Error)[]) {
  const sent: Sent[] = [];
  const pauses: number[] = [];
  const client = createClient({
    baseUrl: `${BASE}/`,
    apiKey: 'key',
    cashoutSigningSecret: 'secret',
    now: () => 1_795_255_200_999 + sent.length * 1_000,
    wait: async (ms) => pauses.push(ms),
    fetch: async (url, init) => {
      sent.push({ url: String(url), method: init?.method ?? '', headers: init?.headers as Record<string, string>, body: init?.body as string | undefined });
      const answer = answers.shift();
      if (answer === undefined) throw new Error('nobody expected this call');
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  return { client, sent, pauses };
}

const ok = (data: unknown): Response => Response.json({ success: true, data });
const refused = (status: number, code: string, headers: Record<string, string> = {}): Response =>
  Response.json({ success: false, error: { code, message: 'amount must be a decimal' } }, { status, headers });

describe('the merchant client', () => {
  it('puts path fields into the path, the rest into the query, and the key into its header', async () => {
    const { client, sent } = clientOver(ok({}), ok({ items: [] }));
    await client.verifyPayment({ paymentId: 'a/b?c' });
    await client.listPayments({ status: 'SUCCESS', limit: 5 });
    expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `POST ${BASE}/payments/a%2Fb%3Fc/verify`,
      `GET ${BASE}/payments?status=SUCCESS&limit=5`,
    ]);
    expect(sent[0]).toMatchObject({ headers: { 'x-api-key': 'key' }, body: undefined });
  });

  it('signs cashout requests over the very bytes it sends (contract 4.3)', async () => {
    const { client, sent } = clientOver(ok({ id: ID }), ok({ items: [] }));
    await client.createSettlement({ body: { assetId: ID, amount: '5', address: 'x' }, idempotencyKey: 'payout-1' });
    await client.listBalances();
    const sign = (text: string): string => createHmac('sha256', 'secret').update(text).digest('hex');
    const [create, balances] = sent as [Sent, Sent];
    expect(create.headers).toMatchObject({ 'x-timestamp': '1795255200', 'x-signature': sign(`1795255200.${create.body}`), 'idempotency-key': 'payout-1' });
    expect(balances.headers).toMatchObject({ 'x-timestamp': '1795255201', 'x-signature': sign('1795255201.') });
  });

  it('tries what was lost again with the same Idempotency-Key and a new signature', async () => {
    const { client, sent, pauses } = clientOver(new TypeError('fetch failed'), refused(503, 'service_unavailable', { 'retry-after': '3' }), ok({ id: ID }));
    await client.createSettlement({ body: { assetId: ID, amount: '5', address: 'x' } });
    expect(new Set(sent.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set([expect.stringMatching(/^[0-9a-f-]{36}$/)]));
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
    expect(sent.map(({ headers }) => headers['x-timestamp'])).toEqual(['1795255200', '1795255201', '1795255202']);
    expect(pauses).toEqual([500, 3_000]);
  });

  it('does not repeat what would count twice', async () => {
    const { client, sent } = clientOver(new TypeError('fetch failed'));
    await expect(client.inquirePayment({ paymentId: ID, body: { txHash: '0x1' } })).rejects.toThrow(NoAnswer);
    expect(sent).toHaveLength(1);
  });

  it('gives up after two more tries, and at once when the service asks for more patience than half a minute', async () => {
    const busy = (): Response => refused(429, 'rate_limit_exceeded', { 'retry-after': '1' });
    const often = clientOver(busy(), busy(), busy());
    await expect(often.client.createPayment({ body: BODY })).rejects.toMatchObject({ status: 429, retryAfterSeconds: 1 });
    expect(often.pauses).toEqual([1_000, 1_000]);
    const long = clientOver(refused(429, 'rate_limit_exceeded', { 'retry-after': '900' }));
    await expect(long.client.createPayment({ body: BODY })).rejects.toMatchObject({ retryAfterSeconds: 900 });
  });

  it('says why the service refused, and never tries that again', async () => {
    const { client, sent } = clientOver(refused(422, 'validation_error', { 'x-request-id': 'r-1' }));
    const error = await client.createPayment({ body: BODY }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SluiceError);
    expect(error).toMatchObject({ status: 422, code: 'validation_error', message: 'amount must be a decimal', requestId: 'r-1', retryAfterSeconds: undefined });
    expect(sent).toHaveLength(1);
  });

  it('does not take the page of a proxy for an answer', async () => {
    const { client, pauses } = clientOver(new Response('<html>Bad Gateway</html>', { status: 502 }), new Response('null', { status: 200 }));
    await expect(client.getPublicPayment({ paymentId: ID })).rejects.toThrow(/GET .*: 200, and no envelope/);
    expect(pauses).toEqual([500]);
  });

  it('says which option a call lacks', async () => {
    const bare = createClient({ baseUrl: BASE });
    await expect(bare.listAssets()).rejects.toThrow('listAssets needs the option apiKey of createClient');
    await expect(createClient({ baseUrl: BASE, apiKey: 'key' }).listBalances()).rejects.toThrow('listBalances needs the option cashoutSigningSecret');
    await expect(bare.getPublicPayment({ paymentId: '' })).rejects.toThrow('getPublicPayment needs paymentId');
  });
});

describe('selecting an address', () => {
  const pending = (): Response => ok({ assignmentStatus: 'PENDING', retryAfterMs: 2_000 });

  it('asks again after the pause that 202 names until the address is watched (contract 4.2)', async () => {
    const { client } = clientOver(pending(), pending(), ok({ assignmentStatus: 'ASSIGNED', depositAddress: '0xabc' }));
    const pauses: number[] = [];
    const answer = await selectAddress(client, { paymentId: ID, offerId: ID }, { wait: async (ms) => pauses.push(ms) });
    expect([answer.depositAddress, pauses]).toEqual(['0xabc', [2_000, 2_000]]);
  });

  it('answers PENDING without an address when the time is over', async () => {
    const { client } = clientOver(pending(), pending());
    const answer = await selectAddress(client, { paymentId: ID, offerId: ID }, { timeoutMs: 3_000, wait: async () => undefined });
    expect(answer).toMatchObject({ assignmentStatus: 'PENDING' });
    expect(answer.depositAddress).toBeUndefined();
  });
});

describe('reading a webhook', () => {
  const SECRET = `whsec_${Buffer.from('a webhook secret of thirty bytes').toString('base64')}`;
  const BYTES = `{"paymentId":"${ID}","status":"SUCCESS"}`;
  const AT = 1_795_255_200;
  const signature = (secret: string, id = 'm1', at = AT, body = BYTES): string =>
    `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(`${id}.${at}.${body}`)
      .digest('base64')}`;
  const headers = (changes: Record<string, string | string[] | undefined> = {}) => ({
    'Webhook-Id': 'm1',
    'webhook-timestamp': String(AT),
    'webhook-signature': signature(SECRET),
    ...changes,
  });
  const now = (): number => AT * 1_000 + 250_000;

  it('answers what a genuine one says, from a string or bytes, plain headers or Headers', () => {
    expect(readWebhook({ body: BYTES, headers: headers() }, SECRET, { now })).toEqual({ paymentId: ID, status: 'SUCCESS' });
    expect(readWebhook({ body: Buffer.from(BYTES), headers: new Headers(headers() as Record<string, string>) }, SECRET, { now })).toMatchObject({
      status: 'SUCCESS',
    });
  });

  it('accepts the old and the new secret while one replaces the other', () => {
    const other = `whsec_${Buffer.from('another secret of thirty-two byt').toString('base64')}`;
    const both = headers({ 'webhook-signature': `${signature(other)} ${signature(SECRET)}` });
    for (const secret of [SECRET, other]) expect(readWebhook({ body: BYTES, headers: both }, secret, { now }).paymentId).toBe(ID);
  });

  it.each([
    ['another body', { body: BYTES.replace('SUCCESS', 'EXPIRED'), headers: headers() }, 'webhook-signature'],
    ['another id', { body: BYTES, headers: headers({ 'Webhook-Id': 'm2' }) }, 'webhook-signature'],
    ['a made-up signature', { body: BYTES, headers: headers({ 'webhook-signature': 'v1,AAAA' }) }, 'webhook-signature'],
    ['no signature', { body: BYTES, headers: headers({ 'webhook-signature': undefined }) }, 'webhook-signature is missing'],
    ['two ids', { body: BYTES, headers: headers({ 'Webhook-Id': ['m1', 'm1'] }) }, 'Webhook-Id|webhook-id is missing or was sent twice'],
    [
      'a replay after the tolerance',
      { body: BYTES, headers: headers({ 'webhook-timestamp': String(AT - 60), 'webhook-signature': signature(SECRET, 'm1', AT - 60) }) },
      'webhook-timestamp',
    ],
    ['a time that is none', { body: BYTES, headers: headers({ 'webhook-timestamp': '1e9' }) }, 'webhook-timestamp'],
  ])('refuses %s', (_what, webhook, why) => {
    expect(() => readWebhook(webhook, SECRET, { now })).toThrow(WebhookRefused);
    expect(() => readWebhook(webhook, SECRET, { now })).toThrow(new RegExp(why));
  });
});
