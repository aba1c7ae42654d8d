import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, call, type CallOptions, type Merchant, merchant, newKey, operator, type Operator } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import type { Deployable, RunningApi } from '#test/harness/deployables.ts';
import { type Collector, dumpDatabase, dumpRedis, type KeyedNode, keyedNode, readFolder, search, type Sinks, startCollector } from '#test/harness/sinks.ts';
import { POLICY } from '#shared/core/policy.ts';
import { publicHalf } from '#shared/platform/statements.ts';
import { totpCode } from '#test/harness/totp-code.ts';
import { aWorld, TEST_SEED, WORLD_PRICES, type World } from '#test/harness/world.ts';

// Everything that is secret is made up here and put where it belongs; then whole stories are told, errors of every kind among
// them, and everything that was written anywhere is searched for it (reliability I29).

const secret = (what: string): string => `canary-${what}-${randomBytes(20).toString('hex')}`;
const DEPLOYMENT = {
  SLUICE_STREAM_KEY: secret('stream'),
  SLUICE_API_KEY_PEPPER: secret('pepper'),
  SLUICE_API_KEY_PEPPER_NEXT: secret('pepper-next'),
  SLUICE_OPERATOR_TOKEN: secret('operator'),
  SLUICE_OPERATOR_TOKEN_PREVIOUS: secret('operator-previous'),
  SLUICE_MASTER_KEY: secret('master'),
  SLUICE_MASTER_KEY_PREVIOUS: secret('master-previous'),
  SLUICE_STREAM_KEY_PREVIOUS: secret('stream-previous'),
  SLUICE_INTENT_KEY: randomBytes(32).toString('hex'),
};
const PEOPLE = { anna: secret('anna'), ben: secret('ben') };
const NODE_KEY = secret('node');
const REDIS_PASSWORD = secret('redis');
/** Sent in requests: what a merchant or an attacker writes belongs into its row, and into no log. */
const WRITTEN = { metadata: secret('metadata'), webhook: secret('webhook-url'), callback: secret('callback'), reference: secret('reference') };
/** Credentials that are none, which somebody tries. */
const TRIED = {
  key: `sluice_${randomBytes(8).toString('hex')}_${randomBytes(32).toString('hex')}`,
  token: secret('tried-token'),
  body: secret('tried-body'),
  path: secret('tried-path'),
};

let world: World;
let node: KeyedNode;
let collector: Collector;
let receiver: WebhookReceiver;
let api: RunningApi;
let control: Operator;
let shop: Merchant;
let totp: string;
const processes: Deployable[] = [];
const metrics: string[] = [];
const answers: string[] = [];
const codes: string[] = [];

beforeAll(async () => {
  [collector, receiver] = await Promise.all([startCollector(), startWebhookReceiver()]);
  world = await aWorld({ blockSeconds: 1 });
  node = await keyedNode(world.network.rpcUrls[0] ?? '', NODE_KEY);
  const { writeFile, readFile } = await import('node:fs/promises');
  const file = JSON.parse(await readFile(world.networksFile, 'utf8')) as { networks: object[] };
  await writeFile(world.networksFile, JSON.stringify({ networks: file.networks.map((one) => ({ ...one, rpcUrls: [node.url] })) }));
  const redis = new URL(world.redis.url);
  redis.username = 'default';
  redis.password = REDIS_PASSWORD;
  const told = {
    REDIS_URL: redis.href,
    SLUICE_LOG_LEVEL: 'trace',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '200',
  };
  Object.assign(world.signerEnvironment, told, { SLUICE_INTENT_PUBLIC_KEYS: publicHalf(DEPLOYMENT.SLUICE_INTENT_KEY) });
  Object.assign(world.environment, DEPLOYMENT, told, {
    SLUICE_OPERATOR_TOKENS: Object.entries(PEOPLE)
      .map(([name, token]) => `${name}=${token}`)
      .join(','),
  });
  // An indexer has the stream key alone, of all of them.
  const indexerEnv = Object.fromEntries(
    Object.keys(DEPLOYMENT)
      .filter((name) => name !== 'SLUICE_STREAM_KEY')
      .concat('SLUICE_OPERATOR_TOKENS')
      .map((name) => [name, undefined]),
  );
  api = await world.startApi();
  const [indexer, signer] = await Promise.all([world.startIndexer({ env: indexerEnv }), world.startSigner()]);
  processes.push(api, indexer, signer);
  control = operator(api.operatorUrl, DEPLOYMENT.SLUICE_OPERATOR_TOKEN);
  for (const [symbol, usd] of Object.entries(WORLD_PRICES)) await control.must('PUT', `/prices/${symbol}`, { body: { usd } });
});
afterAll(async () => {
  await world.stop();
  await Promise.all([node.stop(), collector.stop(), receiver.stop()]);
});

/** One call of anybody; what comes back is kept to be searched. */
async function tell(url: string, method: string, options: CallOptions = {}): Promise<Answer> {
  const answer = await call(url, method, options);
  answers.push(answer.text);
  return answer;
}

const signed = async (method: string, path: string, body?: object): Promise<Answer> => {
  const answer = await shop.signed(method, path, { ...(body !== undefined && { body }), ...(method === 'POST' && { idempotencyKey: newKey() }) });
  answers.push(answer.text);
  return answer;
};

async function assetId(symbol: string): Promise<string> {
  const { items } = (await shop.must('GET', '/assets')) as { items: { assetId: string; symbol: string }[] };
  return items.find((one) => one.symbol === symbol)?.assetId ?? '';
}

async function pays(amount: string): Promise<string> {
  const created = (await shop.must('POST', '/payments', {
    body: {
      currencyCode: 'USD',
      amount,
      checkoutMode: 'API',
      webhookUrl: `${receiver.url}?token=${WRITTEN.webhook}`,
      metadata: { note: WRITTEN.metadata },
    },
  })) as { paymentUid: string; payment: { offers: { id: string; assetSymbol: string }[] } };
  const offer = created.payment.offers.find((one) => one.assetSymbol === 'USDT')?.id;
  const selected = await waitFor(
    async () => {
      const answer = await tell(`${api.baseUrl}/public/payments/${created.paymentUid}/offers/${offer}/select`, 'POST');
      return answer.status === 200 && answer.data;
    },
    { what: 'an address' },
  );
  await world.chain.pay(String(selected.depositAddress), world.chain.tokens.USDT, BigInt(amount) * 1_000_000n);
  await waitFor(async () => (await shop.must('POST', `/payments/${created.paymentUid}/verify`)).status === 'SUCCESS', {
    what: 'the payment',
    timeoutMs: 60_000,
  });
  return created.paymentUid;
}

describe('no secret leaves the place it belongs to', () => {
  let paymentId: string;

  it('while a gateway is made, paid, and pays out with an approval', async () => {
    const here = ['127.0.0.1', '::1'];
    const created = (await control.must('POST', '/gateways', {
      body: {
        name: 'Canary',
        apiAllowlist: here,
        cashout: { enabled: true, allowlist: here, approvalCapUsd: '5', parkingEnabled: true, parkedCap: 5 },
        contactEmail: 'ops@example.com',
      },
    })) as { gateway: { id: string }; apiKey: string; cashoutSigningSecret: string; webhookSecret: string };
    shop = merchant(api.baseUrl, { ...created, id: created.gateway.id });
    paymentId = await pays('20');
    const callbackUrl = `https://shop.example/thanks?session=${WRITTEN.callback}`;
    const hosted = await shop.must('POST', '/payments', { body: { currencyCode: 'USD', amount: '3', webhookUrl: receiver.url, callbackUrl } });
    expect((await fetch(String(hosted.paymentUrl))).status).toBe(200);
    await waitFor(() => receiver.received.length > 0, { what: 'the webhook' });

    const asset = await assetId('USDT');
    const made = await signed('POST', '/merchant/settlements', {
      assetId: asset,
      amount: '8',
      address: world.chain.outsider,
      metadata: { note: WRITTEN.metadata },
    });
    expect(made.data.status, made.text).toBe('PENDING_APPROVAL');
    // No number that something else is counted by begins with a zero: such codes are found only where they were told.
    let right = '';
    while (!right.startsWith('0')) {
      totp = String((await control.must('POST', `/gateways/${shop.gateway.id}/totp`)).secret);
      right = totpCode(totp);
    }
    let longAgo = 1_000_000_000;
    while (!totpCode(totp, longAgo).startsWith('0')) longAgo += POLICY.totpStepSeconds;
    const wrong = totpCode(totp, longAgo);
    codes.push(wrong, right);
    for (const totpCodeOf of [wrong, right]) await signed('POST', `/merchant/settlements/${made.data.id}/approve`, { totpCode: totpCodeOf });
    await waitFor(async () => (await signed('GET', `/merchant/settlements/${made.data.id}`)).data.status === 'SETTLED', {
      what: 'the cashout',
      timeoutMs: 60_000,
    });
    const parked = await signed('POST', '/merchant/settlements', { assetId: asset, amount: '4000', address: world.chain.outsider });
    expect(parked.data.status, parked.text).toBe('UNDERFUNDED');
    const [anna, ben] = [operator(api.operatorUrl, PEOPLE.anna), operator(api.operatorUrl, PEOPLE.ben)];
    const order = { assetId: asset, amount: '1', address: world.chain.outsider, reason: WRITTEN.reference };
    const proposal = await anna.must('POST', `/gateways/${shop.gateway.id}/withheld`, { body: order });
    for (const one of [anna, ben]) answers.push((await one.call('POST', `/proposals/${String(proposal.id)}/confirm`, { body: {} })).text);
    answers.push(JSON.stringify(await ben.must('POST', `/proposals/${String(proposal.id)}/withdraw`, { body: {} })));
    await control.must('POST', `/gateways/${shop.gateway.id}/secrets/webhook/rotate`, { body: { reason: WRITTEN.reference } });
  });

  it('while everything that can be refused is', async () => {
    const { baseUrl, operatorUrl, checkoutOrigin, origin } = api;
    for (const key of [TRIED.key, shop.gateway.apiKey.replace(/.$/, 'x'), `${shop.gateway.apiKey}00`])
      await tell(`${baseUrl}/payments`, 'GET', {
        headers: { 'x-api-key': key, cookie: `session=${TRIED.token}`, referer: `https://x.example/?t=${TRIED.token}` },
      });
    for (const token of [TRIED.token, `${DEPLOYMENT.SLUICE_OPERATOR_TOKEN}x`, `anna=${PEOPLE.anna}`])
      await tell(`${operatorUrl}/gateways`, 'GET', { headers: { authorization: `Bearer ${token}` } });
    const raws = [
      `{"amount": "${TRIED.body}"`,
      `{"amount":"${TRIED.body}","amount":1}`,
      JSON.stringify({ currencyCode: TRIED.body, amount: TRIED.body }),
      TRIED.body,
    ];
    for (const rawBody of raws)
      await tell(`${baseUrl}/payments`, 'POST', { rawBody, headers: { 'x-api-key': shop.gateway.apiKey, 'content-type': 'application/json' } });
    await tell(`${baseUrl}/payments`, 'POST', { rawBody: TRIED.body.repeat(2_000), headers: { 'x-api-key': shop.gateway.apiKey } });
    for (const path of [`/${TRIED.path}`, `/payments/${TRIED.path}/verify`, `/payments?apiKey=${TRIED.path}`, `/public/payments/${TRIED.path}`]) {
      await tell(`${baseUrl}${path}`, 'POST');
      await tell(`${baseUrl}${path}`, 'GET');
    }
    await fetch(`${checkoutOrigin}/p/${TRIED.path}?token=${TRIED.token}`).then(async (answer) => answers.push(await answer.text()));
    await fetch(`${origin}/docs/${TRIED.path}`).then(async (answer) => answers.push(await answer.text()));
    // Signed wrongly, by a secret and with a code that are almost right.
    const almost = merchant(baseUrl, { ...shop.gateway, cashoutSigningSecret: shop.gateway.cashoutSigningSecret.replace(/.$/, 'x') });
    answers.push((await almost.signed('POST', '/merchant/settlements', { idempotencyKey: newKey(), body: { note: TRIED.body } })).text);
    answers.push((await almost.signed('POST', `/merchant/settlements/${randomUUID()}/approve`, { body: { totpCode: codes[0] } })).text);
    answers.push((await control.call('POST', '/gateways', { body: { name: TRIED.body, status: TRIED.body } })).text);
    answers.push((await control.call('PATCH', `/gateways/${shop.gateway.id}`, { body: { apiAllowlist: [TRIED.body] } })).text);
  });

  it('and every answer of every listener tells browsers to guess, frame and run nothing', async () => {
    const at = (origin: string, ...paths: string[]): string[] => paths.map((path) => `${origin}${path}`);
    const urls = [
      ...at(
        api.origin,
        '/',
        '/docs',
        '/docs/api',
        '/docs/nothing',
        '/openapi.json',
        '/llms.txt',
        '/logos/usdt.svg',
        '/logos/nothing',
        '/api/v1/nothing',
        '/operator/v1/jobs',
      ),
      ...at(api.checkoutOrigin, '/', '/p/nothing', '/p/nothing/logo', '/assets/nothing', '/ws/payments/nothing'),
      ...processes.flatMap(({ opsUrl }) => at(opsUrl, '/metrics', '/healthz', '/readyz', '/nothing')),
    ];
    const bare: string[] = [];
    for (const url of urls) {
      const { headers } = await fetch(url);
      const policy = headers.get('content-security-policy') ?? '';
      const guarded = policy.includes("default-src 'none'") && (policy.includes("frame-ancestors 'none'") || policy.includes('sandbox'));
      const quiet = headers.get('x-powered-by') === null && headers.get('server') === null;
      if (!guarded || !quiet || headers.get('x-content-type-options') !== 'nosniff' || headers.get('referrer-policy') === null) bare.push(`${url} ${policy}`);
    }
    expect(bare).toEqual([]);
  });

  it('while the node fails in every way, telling its key to whoever listens', async () => {
    const told = `project ${NODE_KEY} has no credits left, see ${node.url}`;
    const indexer = processes[1] as Deployable;
    const before = indexer.lines.length;
    node.fail([
      { status: 500, body: told },
      { status: 429, body: JSON.stringify({ error: told }) },
      { refuse: told },
      { status: 200, body: `<html>${told}</html>` },
      'hang up',
    ]);
    const body = { assetId: await assetId('ETH'), amount: '0.001', address: world.chain.outsider };
    await waitFor(
      async () => {
        await signed('POST', '/merchant/settlements/estimate-fee', body);
        return node.failed() > 10 && indexer.lines.length > before + 1;
      },
      { what: 'everybody to notice', everyMs: 100 },
    );
    answers.push((await control.call('GET', '/networks')).text, (await control.call('GET', '/audit')).text);
    for (const { opsUrl } of processes) answers.push(await (await fetch(`${opsUrl}/readyz`)).text());
    node.fail();
  });

  it('while time goes on, mail is written, a process is killed and all are stopped', async () => {
    await control.must('POST', '/clock/advance', { body: { seconds: 8 * 86_400 } });
    await waitFor(async () => (await readFolder(world.environment.SLUICE_MAIL_DIR ?? '')).includes('ops@example.com'), { what: 'the mail' });
    for (const path of [
      '/audit-log?limit=100',
      `/gateways/${shop.gateway.id}`,
      '/jobs?limit=100',
      '/webhooks',
      '/payments',
      '/settlements',
      '/secrets',
      `/payments/${paymentId}`,
    ])
      answers.push(JSON.stringify(await control.must('GET', path)));
    for (const { opsUrl } of processes) metrics.push(await (await fetch(`${opsUrl}/metrics`)).text());
    await processes[2]?.kill();
    await Promise.all([api.stop(), processes[1]?.stop()]);
  });

  it('and nowhere is one found: not in the database, Redis, logs, metrics, traces, answers, webhooks or mail', async () => {
    const logs = processes.map((one) => one.lines.join('\n')).join('\n');
    const stored: Sinks = {
      database: await dumpDatabase(world.database),
      redis: await dumpRedis(world.redis),
      mail: await readFolder(world.environment.SLUICE_MAIL_DIR ?? ''),
    };
    const told: Sinks = { logs, metrics: metrics.join('\n'), traces: collector.received() };
    const shown: Sinks = { answers: answers.join('\n'), webhooks: JSON.stringify(receiver.received.map(({ headers, body }) => [headers, body])) };

    // That each of them was really read: something harmless that must be in it.
    for (const [name, text] of Object.entries({ ...stored, ...told, ...shown })) expect(text.length, `${name} is empty`).toBeGreaterThan(100);
    for (const text of [stored.database, told.logs, shown.webhooks]) expect(text).toContain(paymentId);
    expect(stored.database).toContain(WRITTEN.metadata);
    expect(stored.redis).toContain('sluice');
    expect(told.metrics).toContain('sluice_');
    expect(told.traces).toContain('sluice-api');

    const seed = mnemonicToSeedSync(TEST_SEED);
    const hot = HDKey.fromMasterSeed(seed).derive(world.network.wallets.hot.path).privateKey ?? new Uint8Array();
    const halves = shop.gateway.apiKey.split('_');
    const keys = {
      ...DEPLOYMENT,
      ...PEOPLE,
      NODE_KEY,
      databasePassword: new URL(world.database.url).password,
      REDIS_PASSWORD,
      apiKey: halves[2] ?? '',
      plainHashOfTheKey: createHash('sha256')
        .update(halves[2] ?? '')
        .digest('hex'),
      cashoutSigningSecret: shop.gateway.cashoutSigningSecret,
      webhookSecret: shop.gateway.webhookSecret,
      totp,
      mnemonic: TEST_SEED,
      seed: Buffer.from(seed).toString('hex'),
      hotKey: Buffer.from(hot).toString('hex'),
      triedKey: TRIED.key.split('_')[2] ?? '',
      triedToken: TRIED.token,
    };
    const found = [
      ...search(keys, { ...stored, ...told, ...shown }),
      ...search({ ...WRITTEN, triedBody: TRIED.body, triedPath: TRIED.path }, { ...told, mail: stored.mail ?? '', redis: stored.redis ?? '' }),
      ...codes
        .filter((code) => new RegExp(`["':= ]${code}["', ]`).test(Object.values({ ...told, ...shown, redis: stored.redis }).join('\n')))
        .map((code) => `the code ${code}`),
    ];
    expect(found).toEqual([]);
  });
});
