import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Deps } from '#api/deps.ts';
import { merchantOperations } from '#api/operations/merchant-operations.ts';
import { createLimiter } from '#shared/platform/limiter.ts';
import { connect, type Database } from '#shared/platform/postgres.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';
import { CATALOGUE } from './catalogue.ts';
import type { Answer } from './client.ts';
import type { Context, Sending } from './context.ts';
import { type Listening, listen } from './service.ts';

const OPERATOR = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };
const NOT_FOUND = '{"success":false,"error":{"code":"not_found","message":"Not found."}}';

/** The cases that hold for every operation that lists a status, by status; each registers its tests when called. */
export function generalCases(context: Context): Record<number, () => void> {
  const { entry } = context;
  const cases: Record<number, () => void> = {
    400: () => malformedJson(context),
    401: () => unauthorized(context),
    403: () => forbidden(context),
    404: () => notFound(context),
    413: () => tooLarge(context),
    415: () => wrongType(context),
    429: () => rateLimited(context),
    500: () => crashed(context),
    503: () => databaseAway(context),
    ...(entry.idempotencyKey === 'none' ? {} : { 409: () => keyReused(context) }),
    ...(entry.takesBody || entry.idempotencyKey === 'required' ? { 422: () => incomplete(context) } : {}),
  };
  return Object.fromEntries(Object.entries(cases).filter(([status]) => entry.statuses.includes(status)));
}

const codeOf = ({ status, error }: Answer): [number, string | undefined] => [status, error?.code];

function malformedJson({ send }: Context): void {
  it('refuses what is not strict JSON', async () => {
    const bodies = [
      '{',
      'null x',
      '{"a":1,"a":2}',
      '{"a":{"b":1,"\\u0062":2}}',
      '[[[[[[[[[1]]]]]]]]]',
      '\ufeff{}',
      "{'a':1}",
      '{"a":01}',
      '{"a":NaN}',
      '{"a":1,}',
      '{}{}',
      '{"a":"\t"}',
    ];
    for (const raw of bodies) expect([raw, ...codeOf(await send({ raw }))]).toEqual([raw, 400, 'malformed_json']);
    const latin1 = new Uint8Array([0x7b, 0x22, 0xe9, 0x22, 0x3a, 0x31, 0x7d]);
    expect(codeOf(await send({ raw: latin1 }))).toEqual([400, 'malformed_json']);
  });
}

function unauthorized(context: Context): void {
  const { entry, service, shop, send } = context;
  it('wants a known key of a verified gateway, and does not say which of the two was wrong', async () => {
    const [pending, suspended] = [await service.aShop({ status: 'PENDING' }), await service.aShop({ status: 'SUSPENDED' })];
    const wrong = `${shop.apiKey.slice(0, -1)}${shop.apiKey.endsWith('0') ? '1' : '0'}`;
    const keys = ['', 'nonsense', wrong, `sluice_${'0'.repeat(16)}_${'0'.repeat(64)}`, pending.apiKey, suspended.apiKey, await revokedKey(context)];
    const path = entry.path.replaceAll(/\{\w+\}/g, randomUUID());
    const answers = [await service.ask(entry.method, `/api/v1${path}`)];
    for (const key of keys) answers.push(await send({ headers: { 'x-api-key': key } }));
    for (const answer of answers) expect(codeOf(answer)).toEqual([401, 'auth_api_key_invalid']);
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
  });

  if (entry.scheme !== 'signedRequest') return;
  it('wants a fresh timestamp and the signature of these very bytes', async () => {
    const now = Math.floor(Date.now() / 1000);
    const refused = async (sending: Sending): Promise<string> => (await send(sending)).error.code;
    for (const header of ['x-signature', 'x-timestamp']) expect(await refused({ headers: { [header]: '' } })).toBe('signature_missing');
    // The later one is so far ahead that it still is when a slow machine comes to it.
    for (const timestamp of [String(now - 302), String(now + 360), `${now}.0`, '1e9', '-1', '9'.repeat(13), `${now}, ${now}`])
      expect([timestamp, await refused({ timestamp })]).toEqual([timestamp, 'signature_stale']);
    for (const signature of ['0'.repeat(64), 'zz', '0'.repeat(63), `${'0'.repeat(64)}, ${'0'.repeat(64)}`])
      expect(await refused({ headers: { 'x-signature': signature } })).toBe('signature_invalid');
    expect(await refused({ secret: 'cashout_other' })).toBe('signature_invalid');
    expect(await refused({ secret: (await service.aShop()).cashoutSecret })).toBe('signature_invalid');
  });
}

async function revokedKey({ service, shop }: Context): Promise<string> {
  const { data } = await service.ask('POST', `/operator/v1/gateways/${shop.id}/api-keys`, { headers: OPERATOR, body: {} });
  const revoked = await service.ask('DELETE', `/operator/v1/gateways/${shop.id}/api-keys/${data.keyId}`, { headers: OPERATOR });
  expect(revoked.status, revoked.text).toBe(200);
  return String(data.apiKey);
}

function forbidden(context: Context): void {
  const { entry, service, shop, send } = context;
  if (entry.scheme === null) {
    if (entry.id === 'openPaymentSocket') forbiddenMode(context);
    else forbiddenAddress(context);
    return;
  }
  it('wants its permission and names it', async () => {
    const others = [...new Set(CATALOGUE.flatMap((one) => one.permission ?? []))].filter((permission) => permission !== entry.permission);
    const made = await service.ask('POST', `/operator/v1/gateways/${shop.id}/api-keys`, { headers: OPERATOR, body: { permissions: others } });
    const answer = await send({ headers: { 'x-api-key': String(made.data.apiKey) } });
    expect(codeOf(answer)).toEqual([403, 'forbidden']);
    expect(answer.error.message).toContain(entry.permission);
  });

  if (entry.scheme !== 'signedRequest') return;
  it('wants the cashout API enabled, then an allowlisted address, before it looks at the signature', async () => {
    const permissions = entry.permission === null ? [] : [entry.permission];
    const disabled = await service.aShop({ cashout: { enabled: false, allowlist: [] } }, permissions);
    expect(codeOf(await send({ from: disabled, secret: 'wrong' }))).toEqual([403, 'cashout_not_enabled']);
    const elsewhere = await service.aShop({ cashout: { enabled: true, allowlist: ['203.0.113.7'] } }, permissions);
    const answer = await send({ from: elsewhere, secret: 'wrong' });
    expect(codeOf(answer)).toEqual([403, 'ip_not_allowed']);
    expect(answer.error.message).toContain('127.0.0.1');
  });
}

function forbiddenMode({ shop, send }: Context): void {
  it('refuses a payment in API mode, even to an allowlisted address', async () => {
    const { paymentUid } = await shop.payment();
    expect(codeOf(await send({ params: { paymentId: paymentUid } }))).toEqual([403, 'forbidden']);
  });
}

function forbiddenAddress({ service, example, send }: Context): void {
  it('refuses a payment in API mode to an address off the allowlist and names the address', async () => {
    const closing = await service.aShop();
    const known = await example(closing);
    for (const apiAllowlist of [['203.0.113.0/24', '2001:db8::/32'], []]) {
      const changed = await service.ask('PATCH', `/operator/v1/gateways/${closing.id}`, { headers: OPERATOR, body: { apiAllowlist } });
      expect(changed.status, changed.text).toBe(200);
      const answer = await send(known);
      expect(codeOf(answer)).toEqual([403, 'forbidden']);
      expect(answer.error.message).toContain('127.0.0.1');
    }
  });
}

/** What names nothing of one gateway alone. */
const EVERYBODYS = ['month'];

function notFound({ entry, anotherShop, example, send }: Context): void {
  const names = [...entry.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
  const isEverybodys = names.every((name) => EVERYBODYS.includes(name));
  it.each(names)('answers a malformed, an unknown and a foreign %s with the same bytes', async (name) => {
    const known = await example();
    // The id alone is the credential of a public read, so that another gateway's payment is not foreign to anybody.
    const foreign = isEverybodys || (entry.scheme === null && names.length === 1) ? [] : [(await example(await anotherShop())).params?.[name] ?? ''];
    const unknown = [randomUUID(), randomUUID().toUpperCase(), '00000000-0000-0000-0000-000000000000'];
    const malformed = [
      'x',
      '%00',
      '%E0%A4%A',
      'a%2Fb',
      '%F0%9F%9C%81',
      "1'%20or%20'1'='1",
      `${randomUUID()}0`,
      randomUUID().slice(1),
      `urn:uuid:${randomUUID()}`,
      '-1',
      'x'.repeat(3_000),
    ];
    for (const id of [...foreign, ...unknown, ...malformed]) {
      const { status, text } = await send({ ...known, params: { ...known.params, [name]: id } });
      expect([id, status, text]).toEqual([id, 404, NOT_FOUND]);
    }
  });

  if (entry.scheme === null || isEverybodys) return;
  it('knows for its owner what it does not know for another gateway', async () => {
    const known = await example();
    expect((await send({ ...known, from: await anotherShop() })).status).toBe(404);
    expect((await send(known)).status).not.toBe(404);
  });
}

function tooLarge({ send }: Context): void {
  it('refuses a body above 65,536 bytes', async () => {
    expect(codeOf(await send({ raw: JSON.stringify({ a: 'x'.repeat(65_536) }) }))).toEqual([413, 'payload_too_large']);
  });
}

function wrongType({ entry, example, send }: Context): void {
  it('refuses a compressed body', async () => {
    for (const encoding of ['gzip', 'deflate', 'br', 'zstd'])
      expect(codeOf(await send({ raw: '{}', headers: { 'content-encoding': encoding } }))).toEqual([415, 'unsupported_media_type']);
  });

  if (!entry.takesBody) return;
  it('refuses a body that is not application/json in UTF-8', async () => {
    const known = await example();
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', 'application/jsonp', 'multipart/form-data', ''])
      expect([type, ...codeOf(await send({ ...known, headers: { 'content-type': type } }))]).toEqual([type, 415, 'unsupported_media_type']);
  });
}

function incomplete({ entry, example, send }: Context): void {
  if (entry.takesBody)
    it('names the body when it is missing or not an object', async () => {
      const { params } = await example();
      for (const raw of ['', '[]', '"{}"', '1', 'null', 'true']) {
        const answer = await send({ ...(params === undefined ? {} : { params }), raw });
        expect([raw, ...codeOf(answer)]).toEqual([raw, 422, 'validation_error']);
        expect(answer.error.message).toMatch(/^body: /);
      }
    });

  if (entry.idempotencyKey === 'none') return;
  it('names the Idempotency-Key when it is not 1 to 255 printable characters, before it looks at the body', async () => {
    for (const idempotencyKey of [...(entry.idempotencyKey === 'required' ? [null] : []), 'x'.repeat(256), 'caf\u00e9']) {
      const answer = await send({ idempotencyKey });
      expect(codeOf(answer)).toEqual([422, 'validation_error']);
      expect(answer.error.message).toMatch(/^Idempotency-Key: /);
    }
  });
}

function keyReused({ anotherShop, example, send }: Context): void {
  it('refuses a used Idempotency-Key with another request, replays it with the same one, and keeps it for one gateway', async () => {
    const [known, idempotencyKey] = [await example(), randomUUID()];
    const first = await send({ ...known, idempotencyKey });
    expect(first.status, first.text).toBeLessThan(300);
    for (const body of [{ ...known.body, another: 1 }, { nonsense: true }])
      expect(codeOf(await send({ ...known, body, idempotencyKey }))).toEqual([409, 'idempotency_conflict']);
    const again = await send({ ...known, idempotencyKey });
    expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([first.status, first.text, 'true']);
    const other = await anotherShop();
    const theirs = await send({ ...(await example(other)), from: other, idempotencyKey });
    expect([theirs.status, theirs.headers.get('idempotency-replayed')]).toEqual([first.status, null]);
    expect(theirs.text).not.toBe(first.text);
  });
}

/** How often a call may be repeated before a limit of almost nothing must have stopped it. */
const PATIENCE = 10;

function rateLimited({ entry, service, example, send }: Context): void {
  const limited = listening(() => ({
    ...service.deps,
    config: { ...service.deps.config, SLUICE_RATE_LIMIT_SCALE: 1e-9 },
    limiter: createLimiter({ now: Date.now }),
  }));
  const stopped = async (sending: Sending): Promise<Answer> => {
    for (let calls = 1; ; calls++) {
      const answer = await send({ ...sending, through: limited.ask });
      if (answer.status === 429 || calls === PATIENCE) return answer;
    }
  };

  it('tells a caller that calls too often when to come back, whether its key is good or not', async () => {
    const known = await example();
    for (const headers of [{}, ...(entry.scheme === null ? [] : [{ 'x-api-key': 'nonsense' }])]) {
      const answer = await stopped({ ...known, headers });
      expect(codeOf(answer)).toEqual([429, 'rate_limit_exceeded']);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
  });
}

function crashed({ service, example, send }: Context): void {
  const lines: string[] = [];
  const crash = async (): Promise<never> => {
    throw new Error('canary: postgres://user:secret@db');
  };
  const crashing = listening(
    () => ({ ...service.deps, log: pino({ serializers: { error: pino.stdSerializers.err } }, { write: (line: string) => void lines.push(line) }) }),
    Object.fromEntries(Object.keys(merchantOperations).map((id) => [id, crash])) as unknown as typeof merchantOperations,
  );

  it('answers a crash in the envelope, tells nothing about it, and logs it under the request id', async () => {
    const answer = await send({ ...(await example()), through: crashing.ask });
    expect(codeOf(answer)).toEqual([500, 'internal_error']);
    expect(answer.text).not.toContain('canary');
    const logged = lines.filter((line) => line.includes(String(answer.headers.get('x-request-id'))) && line.includes('canary'));
    expect(logged).toHaveLength(1);
  });
}

function databaseAway({ service, example, send }: Context): void {
  let away: Database | undefined;
  const stranded = listening(() => {
    away = connect('postgres://nobody@127.0.0.1:1/nothing', { name: 'away', max: 1 });
    return { ...service.deps, db: away };
  });
  afterAll(() => away?.end());

  it('asks to come back while the database is away', async () => {
    const answer = await send({ ...(await example()), through: stranded.ask });
    expect(codeOf(answer)).toEqual([503, 'service_unavailable']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  });
}

/** Another listener for the tests of this block, over other dependencies or with other operations. */
function listening(deps: () => Deps, answering?: typeof merchantOperations): Pick<Listening, 'ask'> {
  let listener: Listening | undefined;
  beforeAll(async () => {
    listener = await listen(deps(), answering);
  });
  afterAll(() => listener?.close());
  return { ask: (...request) => (listener as Listening).ask(...request) };
}
