import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { must, operator } from '#ops/dev/client.ts';
import type { DevFile } from '#ops/dev/dev-file.ts';
import { type Service, startService } from '#ops/dev/services/child.ts';
import { bitcoinNode } from '#ops/dev/services/bitcoin-node.ts';
import { evmNode } from '#ops/dev/services/evm-node.ts';
import { tronNode } from '#ops/dev/services/tron-node.ts';
import { plainPayer } from '#ops/dev/hosted-payers.ts';
import { hostedStories } from '#ops/dev/hosted-story.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { planDay } from '#ops/dev/history-plan.ts';
import { playHistory } from '#ops/dev/history.ts';
import { setScene } from '#ops/dev/scene.ts';
import { payAndCashOut, payInTwoOutputs } from '#ops/dev/story.ts';

/** `npm start` without npm: what its script runs once the packages are there. */
interface Runner {
  service: Service;
  lines: string[];
  dev: DevFile;
}

let directory: string;
const environment = (): Record<string, string | undefined> => ({ PATH: process.env.PATH, HOME: process.env.HOME, SLUICE_DATA_DIR: directory });

async function launch(...flags: string[]): Promise<{ service: Service; lines: string[] }> {
  const lines: string[] = [];
  const service = await startService({
    name: 'start',
    command: process.execPath,
    args: ['dist/start.js', ...flags],
    cwd: process.cwd(),
    env: environment(),
    onLine: (line) => lines.push(line),
  });
  return { service, lines };
}

async function start(...flags: string[]): Promise<Runner> {
  const { service, lines } = await launch(...flags);
  const dev = await waitFor(
    async () => {
      if (!service.running()) return 'gone';
      return JSON.parse(await readFile(join(directory, 'dev.json'), 'utf8')) as DevFile;
    },
    { what: 'npm start to be ready', timeoutMs: 240_000 },
  );
  if (dev === 'gone') throw new Error(`npm start stopped:\n${lines.join('\n')}`);
  return { service, lines, dev };
}

/** What the audit found, with the rows that show it. */
async function dirtyChecks(control: ReturnType<typeof operator>): Promise<unknown[]> {
  const { checks } = (await control.must('GET', '/audit')) as { checks: { rows: unknown[] }[] };
  return checks.filter(({ rows }) => rows.length > 0);
}

const environmentOf = async (pid: number): Promise<string[]> => (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0');

describe('npm start', () => {
  let runner: Runner;
  beforeAll(async () => {
    directory = join(inject('services').directory, `start-${randomUUID()}`);
    runner = await start('--json');
  });
  afterAll(() => runner?.service.stop(60_000));

  it('ends its output with one JSON object, the content of dev.json, which only its owner may read', async () => {
    await waitFor(() => runner.lines.at(-1)?.startsWith('{'), { what: 'the last line' });
    expect(JSON.parse(runner.lines.at(-1) as string)).toEqual(runner.dev);
    expect((await stat(join(directory, 'dev.json'))).mode & 0o077).toBe(0);
    expect(Object.keys(runner.dev)).toEqual(
      expect.arrayContaining([
        'api',
        'checkoutUrl',
        'dashboardUrl',
        'operatorUrl',
        'operatorToken',
        'metrics',
        'databaseUrl',
        'redisUrl',
        'gateway',
        'webhookReceiver',
        'networks',
        'assets',
      ]),
    );
    expect(runner.dev.networks.ethereum).toMatchObject({ family: 'evm', chainId: 31_337, faucetPrivateKey: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
    expect(runner.dev.networks.tron).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      family: 'tron',
      rpcUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      faucetPrivateKey: expect.stringMatching(/^[0-9a-f]{64}$/),
      indexerPid: expect.any(Number),
    });
    // No key: the node keeps the faucet's.
    expect(runner.dev.networks.bitcoin).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      family: 'bitcoin',
      rpcUrl: expect.stringMatching(/^http:\/\/sluice:sluice@127\.0\.0\.1:\d+$/),
      indexerPid: expect.any(Number),
    });
    expect(runner.dev.localNetworks).toEqual(['bitcoin', 'ethereum', 'tron']);
    expect(Object.keys(runner.dev.metrics.indexers)).toEqual(['ethereum', 'tron', 'bitcoin']);
    expect(runner.dev.assets.map(({ symbol, network, type }) => `${symbol} ${network} ${type}`).sort()).toEqual([
      'BTC bitcoin NATIVE',
      'ETH ethereum NATIVE',
      'TRX tron NATIVE',
      'USDC ethereum ERC20',
      'USDT ethereum ERC20',
      'USDT tron TRC20',
    ]);
    expect(runner.dev.operatorToken).toContain('demo');
  });

  it('gives the seed to the signer and to nobody else, the indexer no secret but the stream key, and the console none but the key that it is known by', async () => {
    const { dev } = runner;
    const indexers = Object.values(dev.networks).map(({ indexerPid }) => indexerPid);
    expect(new Set(indexers).size).toBe(3);
    const holders = await Promise.all([dev.signer.pid, dev.api.pid, ...indexers, dev.console.pid].map(environmentOf));
    expect(holders.map((entries) => entries.some((entry) => entry.startsWith('SLUICE_SIGNER_SEED=')))).toEqual([true, false, false, false, false, false]);
    const secretsOf = (entries: string[]) => entries.map((entry) => entry.split('=')[0]).filter((name) => /KEY|TOKEN|PEPPER|SEED/.test(name ?? ''));
    for (const indexer of holders.slice(2, -1)) expect(secretsOf(indexer)).toEqual(['SLUICE_STREAM_KEY']);
    expect(secretsOf(holders.at(-1) ?? [])).toEqual(['SLUICE_INTERNAL_KEY']);
  });

  it('has a payment paid on its hosted page by a payer without scripts, who then comes back to the shop with what the callback carries', async () => {
    const [paid] = hostedStories(plainPayer());
    expect(await paid?.tell(setScene(runner.dev, 'ethereum'))).toMatch(/saw choose → pay → (seen → )?success, back at \/thanks\?…status=SUCCESS$/);
  });

  it('refuses to run twice on the same data', async () => {
    const second = await launch();
    expect((await second.service.exited).code).toBe(1);
    expect(second.lines.join('\n')).toContain(`already runs on this data (process ${runner.service.pid};`);
  });

  it('starts an indexer and an api again that were killed, and says so in dev.json', async () => {
    const { dev } = runner;
    const before = [dev.api.pid, dev.networks.ethereum?.indexerPid as number];
    for (const pid of before) process.kill(pid, 'SIGKILL');
    runner.dev = await waitFor(
      async () => {
        const now = JSON.parse(await readFile(join(directory, 'dev.json'), 'utf8')) as DevFile;
        return !before.includes(now.api.pid) && !before.includes(now.networks.ethereum?.indexerPid as number) && now;
      },
      { what: 'new processes', timeoutMs: 120_000 },
    );
    await waitFor(async () => (await fetch(new URL('/readyz', runner.dev.metrics.api))).ok, { what: 'the api to be ready again', timeoutMs: 120_000 });
  });

  it('starts a Redis again that was killed, at the same address, and everybody finds it', async () => {
    const servers = async (): Promise<number[]> => {
      const pids = (await readFile(join(directory, 'children'), 'utf8'))
        .split('\n')
        .filter(Boolean)
        .map((line) => Number(line.split(' ')[0]));
      const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
      return pids.filter((_, at) => /redis|valkey/.test(commands[at] ?? ''));
    };
    const [before] = await servers();
    process.kill(before as number, 'SIGKILL');
    await waitFor(async () => (await servers()).some((pid) => pid !== before), { what: 'another Redis', timeoutMs: 120_000 });
    const [indexer] = Object.values(runner.dev.metrics.indexers) as [string];
    await waitFor(async () => (await fetch(indexer.replace('/metrics', '/readyz'))).ok, { what: 'the indexer to find it', timeoutMs: 120_000 });
    expect(runner.lines.filter((line) => line.includes('redis stopped'))).toHaveLength(1);
  });

  it('serves the documentation, from what the build made of it', async () => {
    for (const path of ['/docs', '/docs/quickstart', '/docs/search.json', '/docs/api', '/docs/api/create-payment', '/llms.txt'])
      expect([path, (await fetch(runner.dev.api.origin + path)).status]).toEqual([path, 200]);
  });

  it('pays, is paid, and cashes out on every chain, and judges two outputs of one Bitcoin transaction by their sum', async () => {
    const paid = await Promise.all(['ethereum', 'tron', 'bitcoin'].map((network) => payAndCashOut(setScene(runner.dev, network))));
    for (const said of paid) expect(said).toContain('cashed out');
    expect(await payInTwoOutputs(setScene(runner.dev, 'bitcoin'))).toContain('in one transaction');
  });

  it('shows what happened on each chain where explorerTxUrl points', async () => {
    const { api, gateway, networks } = runner.dev;
    const { items } = (await must(`${api.baseUrl}/payments`, 'GET', { headers: { 'x-api-key': gateway.apiKey } })) as {
      items: { paymentUid: string; status: string }[];
    };
    const verified = await Promise.all(
      items
        .filter(({ status }) => status === 'SUCCESS')
        .map(({ paymentUid }) => must(`${api.baseUrl}/payments/${paymentUid}/verify`, 'POST', { headers: { 'x-api-key': gateway.apiKey } })),
    );
    expect(new Set(verified.map(({ network }) => network))).toEqual(new Set(Object.keys(networks)));
    for (const { explorerTxUrl, txHash } of verified) {
      const response = await fetch(String(explorerTxUrl));
      expect(response.status).toBe(200);
      expect(await response.text()).toContain(String(txHash));
    }
  });

  it('moves the clock of every chain with the service clock', async () => {
    const control = operator(runner.dev.operatorUrl, runner.dev.operatorToken);
    const tron = tronNode(runner.dev.networks.tron?.rpcUrl as string);
    const before = (await tron.head()).block_header.raw_data.timestamp as number;
    await control.must('POST', '/clock/advance', { body: { seconds: 86_400 } });
    expect((await tron.head()).block_header.raw_data.timestamp).toBeGreaterThanOrEqual(before + 86_400_000);
    const ethereum = await evmNode(runner.dev.networks.ethereum?.rpcUrl as string).call<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false]);
    expect(Number(ethereum.timestamp)).toBeGreaterThanOrEqual(Math.floor(before / 1_000) + 86_400);
    const bitcoin = bitcoinNode(runner.dev.networks.bitcoin?.rpcUrl as string);
    const timeOf = async (): Promise<number> => (await bitcoin.call<{ time: number }>('getblockchaininfo')).time;
    expect(await timeOf()).toBeGreaterThanOrEqual(Math.floor(before / 1_000) + 86_400);
    // The blocks that npm start mines go on from there.
    const height = await bitcoin.height();
    await waitFor(async () => (await bitcoin.height()) >= height + 2, { what: 'two more blocks' });
    expect(await timeOf()).toBeGreaterThanOrEqual(Math.floor(before / 1_000) + 86_400);
  });

  it('plays days of a shop through its own API, each a day after the other, with clean books', async () => {
    const { api, gateway } = runner.dev;
    const headers = { 'x-api-key': gateway.apiKey };
    const control = operator(runner.dev.operatorUrl, runner.dev.operatorToken);
    const began = await control.must('GET', '/clock');
    await playHistory(runner.dev, { days: 4, say: () => undefined, signal: new AbortController().signal });
    const { items } = (await must(`${api.baseUrl}/payments?limit=100&createdFrom=${String(began.now)}`, 'GET', { headers })) as {
      items: { status: string; createdAt: string; isVerified: boolean; webhookParams: { order: string } }[];
    };
    const planned = [0, 1, 2, 3].flatMap((day) => planDay(day, runner.dev.localNetworks.length).payments);
    expect(items.map(({ webhookParams }) => webhookParams.order).sort()).toEqual(planned.map(({ order }) => order).sort());
    const expected = { paid: 'SUCCESS', short: 'MISMATCH', over: 'MISMATCH', left: 'EXPIRED', unopened: 'EXPIRED' } as const;
    for (const { order, outcome } of planned) {
      const found = items.find(({ webhookParams }) => webhookParams.order === order);
      expect([order, found?.status, found?.isVerified]).toEqual([order, expected[outcome], expected[outcome] !== 'EXPIRED']);
    }
    expect(new Set(items.map(({ createdAt }) => createdAt.slice(0, 10))).size).toBeGreaterThanOrEqual(4);
    // What somebody has to look at is left: webhooks that nobody took, and a cashout that waits.
    const webhooks = (await must(`${api.baseUrl}/webhooks?limit=100`, 'GET', { headers })) as { items: { url: string; lastHttpStatus: number | null }[] };
    const unheard = webhooks.items.filter(({ url }) => url.endsWith('/moved'));
    expect(new Set(unheard.map(({ lastHttpStatus }) => lastHttpStatus))).toEqual(new Set([404]));
    expect(await control.must('GET', '/settlements?status=UNDERFUNDED')).toMatchObject({ items: [{ status: 'UNDERFUNDED' }] });
    expect(await dirtyChecks(control)).toEqual([]);
  });

  it('continues on the same chain, data and keys after Ctrl+C, with clean books', async () => {
    const { gateway } = runner.dev;
    const { paymentUid } = (await must(`${runner.dev.api.baseUrl}/payments`, 'POST', {
      body: { currencyCode: 'USD', amount: '10', checkoutMode: 'API', webhookUrl: runner.dev.webhookReceiver.url },
      headers: { 'x-api-key': gateway.apiKey },
    })) as { paymentUid: string };
    await runner.service.stop(60_000);
    await expect(stat(join(directory, 'dev.json'))).rejects.toThrow('ENOENT');
    runner = await start();
    expect(runner.dev.gateway).toEqual(gateway);
    expect(await must(`${runner.dev.api.baseUrl}/public/payments/${paymentUid}?statusOnly=true`, 'GET')).toMatchObject({ status: 'PENDING' });
    const paid = await Promise.all(['ethereum', 'bitcoin'].map((network) => payAndCashOut(setScene(runner.dev, network))));
    for (const said of paid) expect(said).toContain('cashed out');
    expect(await dirtyChecks(operator(runner.dev.operatorUrl, runner.dev.operatorToken))).toEqual([]);
  });
});
