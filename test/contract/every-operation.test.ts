import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reply } from '#api/deps.ts';
import { operations } from '#api/operations/index.ts';
import { connect } from '#shared/platform/postgres.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';
import { BODIES, CATALOGUE, type Entry, NOT_YET, pathOf } from './catalogue.ts';
import { type Answer, aService, type Caller, callerOf, listen, type Listening, type Service, type Shop, type SignedAsk } from './service.ts';

let service: Service;
let shop: Shop;
beforeAll(async () => {
  service = await aService();
  shop = await service.aShop();
});
afterAll(() => service.stop());

/** Sends a request the way the operation wants it to be sent. */
function send(to: Caller, entry: Entry, ask: SignedAsk & { path?: string } = {}): Promise<Answer> {
  const path = ask.path ?? pathOf(entry);
  if (entry.scheme === 'signedRequest') return to.signed(entry.method, path, { ...(entry.idempotencyKey === 'none' ? { idempotencyKey: null } : {}), ...ask });
  return to.call(entry.method, path, ask);
}

const body = (entry: Entry): { body?: unknown } => (BODIES[entry.id] === undefined ? {} : { body: BODIES[entry.id] });
const each = (entries: readonly Entry[]): [string, Entry][] => entries.map((entry) => [entry.id, entry]);
const KEYED = CATALOGUE.filter((entry) => entry.scheme !== null);
const SIGNED = CATALOGUE.filter((entry) => entry.scheme === 'signedRequest');
const POSTS = CATALOGUE.filter((entry) => entry.method === 'POST');
const WITH_BODY = CATALOGUE.filter((entry) => entry.takesBody);

describe('400', () => {
  const bodies = [
    '',
    '{',
    'null x',
    '{"a":1,"a":2}',
    '{"a":{"b":1,"\\u0062":2}}',
    '{"__proto__":{}}',
    '{"a":{"constructor":1}}',
    '[[[[[[[[[1]]]]]]]]]',
    '\ufeff{}',
    "{'a':1}",
  ].slice(1);
  it.each(each(WITH_BODY))('%s refuses what is not strict JSON', async (_id, entry) => {
    for (const raw of bodies) {
      const { status, error } = await send(shop, entry, { raw });
      expect([raw, status, error.code]).toEqual([raw, 400, 'malformed_json']);
    }
    const latin1 = await send(shop, entry, { raw: new Uint8Array([0x7b, 0x22, 0xe9, 0x22, 0x3a, 0x31, 0x7d]) });
    expect(latin1.status).toBe(400);
  });
});

describe('401', () => {
  it.each(each(KEYED))('%s wants a known key of a verified gateway', async (_id, entry) => {
    const suspended = await service.aShop({ status: 'SUSPENDED' });
    const wrong = `${shop.apiKey.slice(0, -1)}${shop.apiKey.endsWith('0') ? '1' : '0'}`;
    const answers = [
      await service.ask(entry.method, `/api/v1${pathOf(entry)}`, body(entry)),
      ...(await Promise.all(
        ['', 'nonsense', wrong, `sluice_${'0'.repeat(16)}_${'0'.repeat(64)}`, suspended.apiKey].map((key) =>
          send(shop, entry, { ...body(entry), headers: { 'x-api-key': key } }),
        ),
      )),
    ];
    for (const { status, error } of answers) expect([status, error.code]).toEqual([401, 'auth_api_key_invalid']);
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
  });

  it.each(each(SIGNED))('%s wants a fresh timestamp and the signature of these very bytes', async (_id, entry) => {
    const now = Math.floor(Date.now() / 1000);
    const refused = async (ask: SignedAsk): Promise<string> => (await send(shop, entry, { ...body(entry), ...ask })).error.code;
    expect(await refused({ headers: { 'x-signature': '' } })).toBe('signature_missing');
    expect(await refused({ headers: { 'x-timestamp': '' } })).toBe('signature_missing');
    for (const timestamp of [String(now - 302), String(now + 302), `${now}.0`, '1e9', '-1', '9'.repeat(13), `${now}, ${now}`])
      expect([timestamp, await refused({ timestamp })]).toEqual([timestamp, 'signature_stale']);
    for (const signature of ['0'.repeat(64), 'zz', '0'.repeat(63), `${'0'.repeat(64)}, ${'0'.repeat(64)}`])
      expect(await refused({ headers: { 'x-signature': signature } })).toBe('signature_invalid');
    expect(await refused({ secret: 'cashout_other' })).toBe('signature_invalid');
  });
});

describe('403', () => {
  it.each(each(KEYED))('%s wants its permission', async (_id, entry) => {
    const others = [...new Set(CATALOGUE.flatMap((one) => one.permission ?? []))].filter((permission) => permission !== entry.permission);
    const made = await service.ask('POST', `/operator/v1/gateways/${shop.id}/api-keys`, {
      headers: { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` },
      body: { permissions: others },
    });
    const { status, error } = await send(shop, entry, { ...body(entry), headers: { 'x-api-key': String(made.data.apiKey) } });
    expect([status, error.code]).toEqual([403, 'forbidden']);
    expect(error.message).toContain(entry.permission);
  });

  it.each(each(SIGNED))('%s wants the cashout API enabled, then an allowlisted address, before it looks at the signature', async (_id, entry) => {
    const disabled = await service.aShop({ cashout: { enabled: false, allowlist: [] } });
    expect((await send(disabled, entry, { secret: 'wrong' })).error.code).toBe('cashout_not_enabled');
    const elsewhere = await service.aShop({ cashout: { enabled: true, allowlist: ['203.0.113.7'] } });
    const { error } = await send(elsewhere, entry, { secret: 'wrong' });
    expect(error.code).toBe('ip_not_allowed');
    expect(error.message).toContain('127.0.0.1');
  });
});

describe('404', () => {
  it.each(each(CATALOGUE.filter((entry) => entry.hasId && !NOT_YET.includes(entry.id))))(
    '%s answers a malformed, an unknown and a foreign id with the same bytes',
    async (_id, entry) => {
      const foreign = entry.path.includes('{paymentId}') && entry.scheme !== null ? (await (await service.aShop()).payment()).paymentUid : randomUUID();
      const ids = [
        randomUUID(),
        randomUUID().toUpperCase(),
        foreign,
        'x',
        '%00',
        '%E0%A4%A',
        'a%2Fb',
        '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c4',
        'urn:uuid:7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44',
        "1'%20or%20'1'='1",
        '%F0%9F%9C%81',
      ];
      for (const id of ids) {
        const { status, text } = await send(shop, entry, { ...body(entry), path: pathOf(entry, id) });
        expect([id, status, text]).toEqual([id, 404, '{"success":false,"error":{"code":"not_found","message":"Not found."}}']);
      }
    },
  );
});

describe('413', () => {
  it.each(each(POSTS))('%s refuses a body above 65,536 bytes', async (_id, entry) => {
    const { status, error } = await send(shop, entry, { raw: JSON.stringify({ a: 'x'.repeat(65_536) }) });
    expect([status, error.code]).toEqual([413, 'payload_too_large']);
  });
});

describe('415', () => {
  it.each(each(POSTS))('%s refuses a compressed body', async (_id, entry) => {
    const { status, error } = await send(shop, entry, { raw: '{}', headers: { 'content-encoding': 'gzip' } });
    expect([status, error.code]).toEqual([415, 'unsupported_media_type']);
  });

  it.each(each(WITH_BODY))('%s refuses a body that is not application/json', async (_id, entry) => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', 'application/jsonp', '']) {
      const { status, error } = await send(shop, entry, { ...body(entry), headers: { 'content-type': type } });
      expect([type, status, error.code]).toEqual([type, 415, 'unsupported_media_type']);
    }
  });
});

describe('422', () => {
  it.each(each(WITH_BODY))('%s names the body when it is missing or not an object', async (_id, entry) => {
    for (const raw of ['', '[]', '"{}"', '1', 'null', 'true']) {
      const { status, error } = await send(shop, entry, { raw });
      expect([raw, status, error.code]).toEqual([raw, 422, 'validation_error']);
      expect(error.message).toMatch(/^body: /);
    }
  });

  it.each(each(CATALOGUE.filter((entry) => entry.idempotencyKey === 'required')))(
    '%s wants an Idempotency-Key before it looks at the body',
    async (_id, entry) => {
      for (const idempotencyKey of [null, 'x'.repeat(256)]) {
        const { status, error } = await send(shop, entry, { idempotencyKey, body: {} });
        expect([status, error.code]).toEqual([422, 'validation_error']);
        expect(error.message).toMatch(/^Idempotency-Key: /);
      }
    },
  );
});

describe('500', () => {
  let crashing: Listening;
  beforeAll(async () => {
    crashing = await answering(async () => {
      throw new Error('canary: postgres://user:secret@db');
    });
  });
  afterAll(() => crashing.close());

  it.each(each(CATALOGUE))('%s answers a crash in the envelope and tells nothing about it', async (_id, entry) => {
    const { status, error, text } = await send(callerOf(crashing.ask, shop), entry, body(entry));
    expect([status, error.code]).toEqual([500, 'internal_error']);
    expect(text).not.toContain('canary');
  });
});

describe('501', () => {
  it.each(each(CATALOGUE.filter((entry) => NOT_YET.includes(entry.id))))('%s is not available yet', async (_id, entry) => {
    const { status, error } = await send(shop, entry, body(entry));
    expect([status, error.code]).toEqual([501, 'not_implemented']);
  });
});

describe('503', () => {
  let stranded: Listening;
  beforeAll(async () => {
    stranded = await answering(async () => {
      const away = connect('postgres://nobody@127.0.0.1:1/nothing', { name: 'away', max: 1 });
      return { status: 200, data: await away.sql`select 1`.finally(() => away.end()) };
    });
  });
  afterAll(() => stranded.close());

  it.each(each(CATALOGUE))('%s asks to come back while the database is away', async (_id, entry) => {
    const { status, error, headers } = await send(callerOf(stranded.ask, shop), entry, body(entry));
    expect([status, error.code, headers.get('retry-after')]).toEqual([503, 'service_unavailable', '1']);
  });
});

/** The same service with every operation replaced by one function. */
function answering(operation: () => Promise<Reply>): Promise<Listening> {
  return listen(service.deps, Object.fromEntries(Object.keys(operations).map((id) => [id, operation])) as unknown as typeof operations);
}
