import { execFile } from 'node:child_process';
import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { matchingSteps } from '#api/gateways/totp.ts';
import type { Merchant } from '#ops/dev/client.ts';
import { must } from '#ops/dev/client.ts';
import { DEV_FILE, type DevFile, writeDevFile } from '#ops/dev/dev-file.ts';
import { FAUCET } from '#ops/dev/local-evm.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import type { Deployable, RunningApi } from '#test/harness/deployables.ts';
import { redisUrlFor, urlFor } from '#test/harness/logins.ts';
import { connect } from '#shared/platform/postgres.ts';
import { publicHalf } from '#shared/platform/statements.ts';
import { aPayment, aWorld, TEST_SECRETS, type World } from '#test/harness/world.ts';

const LAUNCHER = resolve('ops/cli/sluice.mjs');

let world: World;
let api: RunningApi;
let indexer: Deployable;
let merchant: Merchant;
/** A working folder with a development file, as npm start leaves one. */
let folder: string;

beforeAll(async () => {
  world = await aWorld({ blockSeconds: 1 });
  api = await world.startApi();
  indexer = await world.startIndexer();
  merchant = await world.aGateway(api);
  folder = await mkdtemp(join(tmpdir(), 'sluice-cli-'));
  await mkdir(join(folder, '.sluice'));
  const { items } = (await world.operator(api).must('GET', '/networks')) as { items: [{ id: string }] };
  const dev: DevFile = {
    api: { baseUrl: api.baseUrl, origin: api.origin, pid: api.pid },
    checkoutUrl: api.checkoutOrigin,
    dashboardUrl: null,
    operatorUrl: api.operatorUrl,
    operatorToken: TEST_SECRETS.SLUICE_OPERATOR_TOKEN,
    metrics: { api: `${api.opsUrl}/metrics`, indexers: {} },
    databaseUrl: world.database.url,
    redisUrl: world.redis.url,
    gateway: { ...merchant.gateway, totpSecret: '' },
    // Any page that answers will do: nothing is delivered here.
    webhookReceiver: { origin: 'http://127.0.0.1:9999', url: 'http://127.0.0.1:9999/hook', log: `${api.opsUrl}/healthz` },
    networks: { ethereum: { id: items[0].id, family: 'evm', rpcUrl: world.chain.url, chainId: 31337, faucetPrivateKey: FAUCET.privateKey, indexerPid: 1 } },
    localNetworks: ['ethereum'],
    assets: [],
    signer: { pid: 1 },
    console: { pid: 1 },
    runnerPid: process.pid,
  };
  await writeDevFile(join(folder, DEV_FILE), dev);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await world?.stop();
});

interface Ran {
  code: number;
  out: string;
  err: string;
}

function sluice(args: string[], options: { cwd?: string; env?: Record<string, string> } = {}): Promise<Ran> {
  return new Promise((done) => {
    execFile(process.execPath, [LAUNCHER, ...args], { cwd: options.cwd ?? folder, env: { PATH: process.env.PATH, ...options.env } }, (error, out, err) => {
      done({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, out, err });
    });
  });
}

async function json<T>(...args: string[]): Promise<T> {
  const ran = await sluice([...args, '--json']);
  expect(ran, args.join(' ')).toMatchObject({ code: 0 });
  return JSON.parse(ran.out) as T;
}

describe('sluice', () => {
  it('makes, lists and changes gateways', async () => {
    const created = await json<{ gateway: { id: string }; apiKey: string }>(
      'gateway',
      'create',
      'Corner Shop',
      'settings.commissionBps=25',
      'cashout.allowlist=10.0.0.0/8,::1',
    );
    expect(created).toMatchObject({
      gateway: { name: 'Corner Shop', settings: { commissionBps: 25 }, cashout: { allowlist: ['10.0.0.0/8', '::1'] } },
      apiKey: expect.stringMatching(/^sluice_/),
    });
    const changed = await json('gateway', 'set', created.gateway.id, 'status=SUSPENDED', 'contactEmail=shop@example.com');
    expect(changed).toMatchObject({ gateway: { status: 'SUSPENDED', contactEmail: 'shop@example.com', settings: { commissionBps: 25 } } });
    const text = await sluice(['gateway', 'list']);
    expect(text.out).toMatch(new RegExp(`${created.gateway.id} +Corner Shop +SUSPENDED`));
  });

  it('adds an asset with its price', async () => {
    const { node, tokens } = world.chain;
    const contract = '0x52908400098527886E0F7030069857D2E4169EE7';
    // Balances of it are asked for from now on, and a node that says none for a token looks like a bad one.
    await node.call('anvil_setCode', [contract, await node.call('eth_getCode', [tokens.USDT, 'latest'])]);
    const asset = await json('asset', 'add', 'ethereum', 'EURX', contract, '2', '--network-fee', '0.10', '--price', '1.1');
    expect(asset).toMatchObject({ symbol: 'EURX', decimals: 2, networkFee: '0.1', networkName: 'ethereum' });
  });

  it('pays a payment from the faucet and tells its whole story', async () => {
    const { paymentUid } = (await merchant.must('POST', '/payments', { body: aPayment('http://127.0.0.1:9999/hook', { amount: '25' }) })) as {
      paymentUid: string;
    };
    const paid = await json<{ txHash: string }>('pay', paymentUid, '--asset', 'USDT@ethereum', '--wait');
    expect(paid).toMatchObject({ paymentUid, asset: 'USDT', amount: '25', status: 'SUCCESS', txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
    await merchant.must('POST', `/payments/${paymentUid}/verify`);
    const story = await sluice(['payment', 'show', paymentUid]);
    expect(story.code).toBe(0);
    for (const line of [
      /status +SUCCESS/,
      /why +PENDING → SUCCESS: exactly the 25 USDT asked for arrived/,
      /invoice +The invoice is 25 USD/,
      /select +USDT on ethereum was selected/,
      /deposit +25 USDT arrived on ethereum in block \d+/,
      /price +.*locked price of 1 USD applies/,
      /value +25 USDT × 1 USD = 25.00 USD received; 25 USDT × 1 USD = 25.00 USD expected/,
      /fees +Of 25 USDT: /,
      /webhook/,
      /verify +The merchant verified the outcome/,
    ])
      expect(story.out).toMatch(line);
    expect(story.out).toContain(paid.txHash);
  });

  it('pays what was chosen on the hosted page, and shows an underpayment with the sum that made it one', async () => {
    const body = { currencyCode: 'USD', amount: '25', callbackUrl: 'http://127.0.0.1:9999/thanks' };
    const { paymentUid, paymentUrl } = (await merchant.must('POST', '/payments', { body })) as { paymentUid: string; paymentUrl: string };
    const { offers } = (await must(`${paymentUrl}/snapshot`, 'GET')).payment as { offers: { id: string; assetSymbol: string }[] };
    await must(`${paymentUrl}/select`, 'POST', { body: { offerId: offers.find(({ assetSymbol }) => assetSymbol === 'USDT')?.id } });
    expect(offers[0]?.assetSymbol).not.toBe('USDT');
    expect(await json('pay', paymentUid, '--amount', '24.5', '--wait')).toMatchObject({ asset: 'USDT', status: 'MISMATCH', page: paymentUrl });
    expect((await sluice(['payment', 'show', paymentUid])).out).toContain('0.50 USD too little is more than the tolerated 0.00 USD');
    expect((await json<object[]>('deposit', 'list', '--state', 'credited', '--gateway', merchant.gateway.id)).length).toBe(2);
  });

  it('allocates a deposit that was set aside, with the reason, and refuses without one', async () => {
    const { paymentUid } = (await merchant.must('POST', '/payments', { body: aPayment('http://127.0.0.1:9999/hook', { amount: '25' }) })) as {
      paymentUid: string;
    };
    await json('pay', paymentUid, '--asset', 'USDT', '--amount', '0.005');
    const id = await waitFor(async () => (await json<{ id: string }[]>('deposit', 'list', '--state', 'dust'))[0]?.id ?? false, {
      what: 'the dust',
      timeoutMs: 60_000,
    });
    expect((await sluice(['deposit', 'allocate', id, paymentUid])).code).toBe(2);
    const text = await sluice(['deposit', 'allocate', id, paymentUid, '--reason', 'every cent']);
    expect(text.out).toContain(`0.005 USDT credited to payment ${paymentUid} of gateway ${merchant.gateway.id}, which is PENDING`);
    expect((await sluice(['deposit', 'allocate', id, paymentUid, '--reason', 'again'])).code).toBe(1);
  });

  it('shows how far the chain is followed, a clean audit, and a healthy deployment but for its signer', async () => {
    expect(await json('chain', 'status')).toMatchObject([{ name: 'ethereum', indexed: true, tipHeight: expect.any(Number) }]);
    const audit = await sluice(['audit']);
    expect(audit.out).toMatch(/^ok +A1/m);
    expect(audit.code).toBe(0);
    const doctor = await sluice(['doctor']);
    // This deployment runs no signer, and that is all that is wrong with it.
    expect(doctor.out.match(/^FAIL.*$/gm)).toEqual([
      expect.stringMatching(/role signer +nobody does it/),
      expect.stringMatching(/signer journal +no signer has ever reported/),
    ]);
    expect(doctor.code).toBe(1);
    expect(doctor.out).toMatch(/postgres .*\d+ of \d+ connections/);
    expect(doctor.out).toMatch(/prices .*age: .*USDT \d+ s/);
    for (const what of ['operator api', 'network ethereum', 'prices', 'postgres', 'redis', 'node ethereum', 'api readiness'])
      expect(doctor.out).toContain(what);
  });

  it('has the doctor name the coin that has no price', async () => {
    await world.operator(api).must('PUT', '/prices/USDC', { body: { usd: null } });
    const doctor = await sluice(['doctor']);
    await world.operator(api).must('PUT', '/prices/USDC', { body: { usd: '1' } });
    expect(doctor.code).toBe(1);
    expect(doctor.out).toMatch(/FAIL +prices +USDC has none\n +fix: set it: PUT .*\/prices/);
  });

  it('lists coins that nothing explains, and has the doctor name them', async () => {
    const { sql } = world.database;
    const [row] = await sql<{ id: string }[]>`
      insert into unexplained_balances (id, network_id, address, raw_amount, from_height, to_height)
      select gen_random_uuid(), id, ${world.network.wallets.hot.address.toLowerCase()}, 1500000000000000000, 3, 7 from networks where name = 'ethereum' returning id`;
    expect(await json('deposit', 'list', '--state', 'unexplained')).toMatchObject([
      { id: row?.id, state: 'unexplained', amount: '1.5', assetSymbol: 'ETH', network: 'ethereum', paymentId: null, txHash: null, height: 7 },
    ]);
    expect((await sluice(['deposit', 'list', '--state', 'unexplained'])).out).toContain('1.5 ETH');
    const doctor = await sluice(['doctor']);
    await sql`update unexplained_balances set resolved_at = sluice_now()`;
    expect(doctor.code).toBe(1);
    expect(doctor.out).toMatch(/FAIL +balances +1 unexplained, such as 1\.5 ETH at 0x[0-9a-f]{40} on ethereum\n +fix: npx sluice deposit list/);
    expect(await json('deposit', 'list', '--state', 'unexplained')).toEqual([]);
    expect(await json('deposit', 'list')).not.toContainEqual(expect.objectContaining({ state: 'unexplained' }));
  });

  it('has the doctor say what to fix when the service or a dependency is away', async () => {
    const alone = await sluice(['doctor'], { cwd: tmpdir(), env: { SLUICE_DATA_DIR: tmpdir() } });
    expect(alone.code).toBe(1);
    expect(alone.out).toMatch(/FAIL +service[\s\S]*fix: start it: npm start/);
    const away = await sluice(['doctor'], { cwd: tmpdir(), env: { SLUICE_OPERATOR_URL: 'http://127.0.0.1:1/operator/v1', SLUICE_OPERATOR_TOKEN: 'x' } });
    expect(away.code).toBe(1);
    expect(away.out).toMatch(/FAIL +operator api/);
    const refused = await sluice(['doctor'], { cwd: tmpdir(), env: { SLUICE_OPERATOR_URL: api.operatorUrl, SLUICE_OPERATOR_TOKEN: 'wrong' } });
    expect(refused.out).toMatch(/token was refused[\s\S]*SLUICE_OPERATOR_TOKEN/);
  });

  it('ends with the documented exit codes', async () => {
    expect(await sluice(['--help'])).toMatchObject({ code: 0, out: expect.stringContaining('exit codes') });
    expect(await sluice([])).toMatchObject({ code: 2 });
    expect(await sluice(['frobnicate'])).toMatchObject({ code: 2, err: expect.stringContaining('usage: sluice') });
    expect(await sluice(['payment', 'show'])).toMatchObject({ code: 2, err: expect.stringContaining('usage: sluice payment show <id>') });
    expect(await sluice(['payment', 'show', '00000000-0000-4000-8000-000000000000'])).toMatchObject({ code: 1, err: expect.stringContaining('not_found') });
    expect(await sluice(['gateway', 'list'], { cwd: tmpdir(), env: { SLUICE_DATA_DIR: tmpdir() } })).toMatchObject({
      code: 3,
      err: expect.stringContaining('npm start'),
    });
    const away = { cwd: tmpdir(), env: { SLUICE_OPERATOR_URL: 'http://127.0.0.1:1/operator/v1', SLUICE_OPERATOR_TOKEN: 'x' } };
    const ran = await sluice(['gateway', 'list', '--json'], away);
    expect(ran.code).toBe(3);
    expect(JSON.parse(ran.out)).toMatchObject({ exitCode: 3, error: expect.stringContaining('127.0.0.1:1') });
  });

  it('makes fresh secrets that a production configuration accepts', async () => {
    const one = await json<Record<string, string>>('secret', 'generate');
    expect(Object.keys(one)).toEqual([
      'SLUICE_STREAM_KEY',
      'SLUICE_API_KEY_PEPPER',
      'SLUICE_OPERATOR_TOKEN',
      'SLUICE_MASTER_KEY',
      'SLUICE_INTENT_KEY',
      'SLUICE_INTENT_PUBLIC_KEYS',
    ]);
    expect(publicHalf(String(one.SLUICE_INTENT_KEY)), 'a pair').toBe(one.SLUICE_INTENT_PUBLIC_KEYS);
    expect(new Set([...Object.values(one), ...Object.values(await json<Record<string, string>>('secret', 'generate'))]).size).toBe(12);
    for (const secret of Object.values(one)) expect(secret).toMatch(/^[0-9a-f]{64}$/);
  });

  it('tells the code an authenticator shows now, and asks for a secret where there is no demo gateway', async () => {
    const { code } = await json<{ code: string }>('secret', 'code', 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
    expect(matchingSteps('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', code, Math.floor(Date.now() / 1_000))).not.toHaveLength(0);
    expect(await sluice(['secret', 'code'])).toMatchObject({ code: 2, err: expect.stringContaining('base32') });
  });

  it('shows when a key was used last, what operators did, and how far a change of keys has come', async () => {
    await merchant.must('GET', '/assets');
    const line = new RegExp(`${merchant.gateway.apiKey.split('_')[1]} +- +…[0-9a-f]{4} +works +20\\d\\d-.*T.*:00\\.000Z from (127\\.0\\.0\\.1|::1)`);
    await expect.poll(async () => (await sluice(['gateway', 'show', merchant.gateway.id])).out).toMatch(line);
    const made = await json<{ keyId: string }>('key', 'create', merchant.gateway.id, '--name', 'Till', '--permissions', 'payment:read,key:manage');
    expect((await sluice(['key', 'list', merchant.gateway.id])).out).toMatch(
      new RegExp(`${made.keyId} +Till +…[0-9a-f]{4} +works +never .* anywhere +payment:read key:manage`),
    );
    expect((await sluice(['key', 'revoke', merchant.gateway.id, made.keyId])).code).toBe(0);
    expect((await sluice(['key', 'list', merchant.gateway.id])).out).toMatch(new RegExp(`${made.keyId} +Till +…[0-9a-f]{4} +revoked 20`));
    const { hostname, userInfo } = await import('node:os');
    const done = await sluice(['secret', 'reseal', '--reason', 'yearly change']);
    expect(done).toMatchObject({ code: 0, out: expect.stringContaining('nothing stored needs a previous key') });
    expect(await json('audit-log', '--action', 'secrets.reseal')).toMatchObject([
      { reason: 'yearly change', actor: `${userInfo().username}@${hostname()}`, clientIp: '127.0.0.1', token: 'current' },
    ]);
    expect((await sluice(['audit-log', '--target', merchant.gateway.id])).out).toMatch(/gateway\.create/);
    expect(await json('secret', 'status')).toMatchObject({ settled: true, masterKey: { next: null, previous: null, secrets: { other: 0 } } });
  });

  it('lists and shows invoices', async () => {
    expect(await json('invoice', 'list', '--month', '2026-10')).toEqual([]);
    expect(await sluice(['invoice', 'list', '--month', 'October'])).toMatchObject({ code: 1, err: expect.stringContaining('month') });
    expect(await sluice(['invoice', 'show', '00000000-0000-4000-8000-000000000000'])).toMatchObject({ code: 1, err: expect.stringContaining('not_found') });
  });
});

describe('sluice doctor, for whoever runs a deployment that is none of npm start', () => {
  const asked = (env: Record<string, string> = {}): Promise<Ran> =>
    sluice(['doctor'], {
      cwd: tmpdir(),
      env: {
        SLUICE_OPERATOR_URL: api.operatorUrl,
        SLUICE_OPERATOR_TOKEN: TEST_SECRETS.SLUICE_OPERATOR_TOKEN,
        SLUICE_DATA_DIR: tmpdir(),
        DATABASE_URL: urlFor(world.database.url, ['http']),
        REDIS_URL: redisUrlFor(world.redis.url, ['http']),
        ...env,
      },
    });

  it('names every role with its login and since when, and the one that nobody does', async () => {
    const { out } = await asked();
    for (const line of [
      /^ok +role http +alive since 20\S+Z \(\d+ (s|min)\), login sluice_test_http_worker$/m,
      /^ok +role worker +alive since .*, login sluice_test_http_worker$/m,
      /^FAIL +role signer +nobody does it\n +fix: start an api with SLUICE_ROLES=signer/m,
      /^ok +role indexer ethereum +alive since .*, login sluice_test_indexer$/m,
    ])
      expect(out).toMatch(line);
    expect(out).not.toContain('stand by');
    // In the middle of an upgrade, a process says no more than what it is.
    const older = connect(urlFor(world.database.url, ['signer']), { name: 'sluice-api', max: 1 });
    await older.sql`select 1`;
    expect((await asked()).out).toMatch(/^warn +role signer +nobody says so, and an older release is connected, login sluice_test_signer$/m);
    await older.end();
    const standby = await world.startIndexer();
    expect((await asked()).out).toMatch(/^ok +indexers that stand by +alive since .*, login sluice_test_indexer$/m);
    await standby.kill();
    await indexer.kill();
    await waitFor(async () => /^FAIL +role indexer ethereum +nobody does it/m.test((await asked()).out), {
      what: 'the dead indexer to be missed',
      timeoutMs: 60_000,
    });
    indexer = await world.startIndexer();
  });

  it('names the version of Redis, how it keeps what it has, and the user it came as, and warns where it forgets', async () => {
    expect((await asked()).out).toMatch(
      /^ok +redis +127\.0\.0\.1:\d+, (Redis|Valkey) \d+\.\d+\.\d+, appendonly (on|off).*, noeviction, .*, as user sluice-http$/m,
    );
    expect((await asked({ REDIS_URL: world.redis.url })).out).toMatch(/^warn +redis .*as user default\n +fix: this user may do everything/m);
    const wrong = new URL(world.redis.url);
    Object.assign(wrong, { username: 'sluice-http', password: 'wrong' });
    expect((await asked({ REDIS_URL: wrong.href })).out).toMatch(/^FAIL +redis .*WRONGPASS/m);
    expect((await asked({ REDIS_URL: 'redis://127.0.0.1:1' })).out).toMatch(/^FAIL +redis .*ECONNREFUSED/m);
    expect((await asked({ REDIS_URL: '' })).out).toMatch(/^warn +redis +not looked at: REDIS_URL is not set here/m);
  });

  it('names what the wallets hold and for how long there is gas, warns when that is little, and fails when there is none', async () => {
    expect((await asked()).out).toMatch(/^ok +wallets ethereum +hot .*; funding 100 ETH, gas for \d+ transfers \(50 are enough\); held /m);
    const { node } = world.chain;
    const { address } = world.network.wallets.funding;
    const before = await node.call('eth_getBalance', [address, 'latest']);
    await node.call('anvil_setBalance', [address, '0x0']);
    const empty = await asked();
    await node.call('anvil_setBalance', [address, '0x38d7ea4c68000']);
    const little = await asked();
    await node.call('anvil_setBalance', [address, before]);
    expect(empty.out).toMatch(/^FAIL +wallets ethereum .*funding 0 ETH.*\n +fix: send ETH to the funding wallet 0x[0-9a-fA-F]{40}/m);
    expect(little.out).toMatch(/^warn +wallets ethereum .*funding 0\.001 ETH, gas for \d+ transfers.*\n +fix: send ETH to the funding wallet/m);
  });

  it('warns until a backup was made and when it is a day old, and tells whether it was verified', async () => {
    expect((await asked()).out).toMatch(/^warn +backup +none was ever made/m);
    const backups = await mkdtemp(join(inject('services').directory, 'backup-'));
    const owner = { DATABASE_OWNER_URL: world.database.url, SLUICE_DATA_DIR: tmpdir() };
    expect(await sluice(['backup', 'create', join(backups, 'one')], { env: owner })).toMatchObject({ code: 0 });
    expect((await asked()).out).toMatch(/^ok +backup +as of 20.*, \d+ s old, \d+ rows, never verified/m);
    expect((await sluice(['backup', 'verify', join(backups, 'one')], { env: owner })).out).not.toContain('not noted');
    expect((await asked()).out).toMatch(/^ok +backup .* verified 20\d\d-/m);
    // Where the database cannot be written, what matters is made all the same.
    const reader = { DATABASE_OWNER_URL: urlFor(world.database.url, ['console']), SLUICE_DATA_DIR: tmpdir() };
    expect((await sluice(['backup', 'verify', join(backups, 'one')], { env: reader })).out).toMatch(
      /intact[\s\S]*not noted for sluice doctor: permission denied/,
    );
    await world.database.sql`update backups set taken_at = taken_at - interval '25 hours'`;
    expect((await asked()).out).toMatch(/^warn +backup .*, 25 h old, .*\n +fix: npx sluice backup create/m);
    await rm(backups, { recursive: true });
  });
});
