import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deliverWebhook, resendWebhook } from '#api/jobs/deliver-webhook.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { DEV_FILE, type DevFile, writeDevFile } from '#ops/dev/dev-file.ts';
import { freePort, waitFor } from '#ops/dev/services/wait.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { aService, type Service, type Shop } from '#test/contract/service.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';

const LAUNCHER = resolve('ops/cli/sluice.mjs');

let service: Service;
let shop: Shop;
let webhookSecret: string;
/** What npm start runs beside the service. */
let builtIn: WebhookReceiver;
/** The merchant's own server. */
let own: WebhookReceiver;
let folder: string;

beforeAll(async () => {
  service = await aService();
  shop = await service.aShop();
  const rotated = await service.ask('POST', `/operator/v1/gateways/${shop.id}/secrets/webhook/rotate`, {
    headers: { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` },
    body: { overlapSeconds: 0 },
  });
  webhookSecret = String(rotated.data.secret);
});
afterAll(() => service.stop());

beforeEach(async () => {
  [builtIn, own] = await Promise.all([startWebhookReceiver(), startWebhookReceiver()]);
  folder = await mkdtemp(join(tmpdir(), 'sluice-cli-'));
  await mkdir(join(folder, '.sluice'));
  const dev = {
    api: { baseUrl: `${service.origin}/api/v1`, origin: service.origin, pid: 1 },
    operatorUrl: `${service.origin}/operator/v1`,
    operatorToken: TEST_SECRETS.SLUICE_OPERATOR_TOKEN,
    gateway: { id: shop.id, apiKey: shop.apiKey, cashoutSigningSecret: shop.cashoutSecret, webhookSecret, totpSecret: '' },
    webhookReceiver: { origin: new URL(builtIn.url).origin, url: builtIn.url, log: builtIn.logUrl },
  } as DevFile;
  await writeDevFile(join(folder, DEV_FILE), dev);
});
const listeners: ChildProcess[] = [];
afterEach(async () => {
  for (const listener of listeners.splice(0)) listener.kill('SIGKILL');
  await Promise.all([builtIn.stop(), own.stop(), rm(folder, { recursive: true, force: true })]);
});

interface Ran {
  code: number;
  out: string;
  err: string;
}

function sluice(...args: string[]): Promise<Ran> {
  return new Promise((done) => {
    execFile(process.execPath, [LAUNCHER, ...args], { cwd: folder, env: { PATH: process.env.PATH } }, (error, out, err) => {
      done({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, out, err });
    });
  });
}

interface Listener {
  lines: string[];
  notes: string[];
  /** The webhookUrl it opened. */
  url: string;
  /** Ctrl+C. */
  interrupt(): void;
  ended: Promise<number | null>;
}

async function listen(...args: string[]): Promise<Listener> {
  const child = spawn(process.execPath, [LAUNCHER, 'listen', ...args], { cwd: folder, env: { PATH: process.env.PATH } });
  listeners.push(child);
  const [lines, notes]: [string[], string[]] = [[], []];
  const split = (into: string[]) => (text: Buffer) =>
    into.push(
      ...text
        .toString()
        .split('\n')
        .filter((line) => line !== ''),
    );
  child.stdout.on('data', split(lines));
  child.stderr.on('data', split(notes));
  const ended = new Promise<number | null>((done) => child.on('exit', (code) => done(code)));
  const url = await waitFor(() => /http:\/\/127\.0\.0\.1:\d+\//.exec(notes.join('\n'))?.[0], { what: `listen to be ready: ${notes.join(' ')}` });
  return { lines, notes, url, ended, interrupt: () => child.kill('SIGINT') };
}

/** A payment that expired, its webhook sent. */
async function expired(webhookUrl: string): Promise<string> {
  const { paymentUid } = await shop.payment({ timeoutSeconds: 1, webhookUrl });
  await service.world.advance(2);
  await service.ask('POST', `/api/v1/public/payments/${paymentUid}/expire`);
  await work();
  return paymentUid;
}
const work = (): Promise<number> => runDueJobs(service.worker, [deliverWebhook, resendWebhook]);
const lineWith = (listener: Listener, text: string | RegExp): Promise<string> =>
  waitFor(() => listener.lines.find((line) => (typeof text === 'string' ? line.includes(text) : text.test(line))), { what: `a line with ${text}` });

describe('sluice webhook', () => {
  it('lists the webhooks of a payment and sends the newest again', async () => {
    const paymentId = await expired(own.url);
    const listed = await sluice('webhook', 'list', '--payment', paymentId);
    expect(listed.out).toMatch(new RegExp(`${paymentId} +EXPIRED +delivered +1`));
    const queued = await sluice('webhook', 'resend', paymentId, '--reason', 'asked for by phone');
    expect(queued).toMatchObject({ code: 0, out: expect.stringMatching(new RegExp(`payment +${paymentId}\\nstatus +EXPIRED`)) });
    await work();
    expect(own.received.map((webhook) => webhook.body)).toEqual(Array.from({ length: 2 }, () => `{"paymentId":"${paymentId}","status":"EXPIRED"}`));
    const [action] = await service.world.database.sql`select action, reason from operator_actions where action = 'webhook.resend' order by at desc limit 1`;
    expect(action).toEqual({ action: 'webhook.resend', reason: 'asked for by phone' });
  });

  it('takes the id of a webhook as well, and says when there is none', async () => {
    const paymentId = await expired(own.url);
    const { out } = await sluice('webhook', 'list', '--payment', paymentId, '--json');
    const [{ id }] = JSON.parse(out) as [{ id: string }];
    const resent = await sluice('webhook', 'resend', id, '--json');
    expect(JSON.parse(resent.out)).toMatchObject({ id, paymentId, status: 'EXPIRED', state: 'delivered' });
    for (const unknown of ['7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44', 'x'])
      expect(await sluice('webhook', 'resend', unknown)).toMatchObject({ code: 1, err: expect.stringContaining('not_found') });
  });
});

describe('sluice listen', () => {
  it('shows what the built-in receiver gets, checks the signatures and passes it on byte for byte', async () => {
    await expired(builtIn.url);
    const listener = await listen('--forward-to', own.url);
    const paymentId = await expired(builtIn.url);
    const line = await lineWith(listener, paymentId);
    expect(line).toMatch(new RegExp(`^\\d\\d:\\d\\d:\\d\\d --> EXPIRED ${paymentId}  signature ok  POST ${own.url} \\[200\\] \\d+ ms$`));
    const sent = builtIn.received.at(-1);
    expect(own.received).toHaveLength(1);
    expect(own.received[0]?.body).toBe(sent?.body);
    for (const header of ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-webhook-signature', 'content-type'])
      expect(own.received[0]?.headers[header]).toBe(sent?.headers[header]);
    expect(listener.lines).toHaveLength(1);
    listener.interrupt();
    expect(await listener.ended).toBe(0);
  });

  it('shows resends', async () => {
    const listener = await listen('--forward-to', own.url);
    const paymentId = await expired(builtIn.url);
    await lineWith(listener, paymentId);
    await sluice('webhook', 'resend', paymentId);
    await work();
    await waitFor(() => listener.lines.length === 2, { what: 'the resend' });
    expect(listener.lines[1]).toContain(`EXPIRED ${paymentId}  signature ok`);
  });

  it('is a webhookUrl of its own that answers what the server behind it answers', async () => {
    const listener = await listen('--forward-to', own.url, '--count', '2', '--json');
    own.answerWith(() => ({ status: 503 }));
    const paymentId = await expired(listener.url);
    await lineWith(listener, paymentId);
    expect(JSON.parse(listener.lines[0] ?? '')).toMatchObject({
      body: `{"paymentId":"${paymentId}","status":"EXPIRED"}`,
      signature: 'ok',
      forwardedTo: own.url,
      status: 503,
    });
    expect(
      await service.world.database.sql`select http_status from webhook_attempts a join webhook_events e on e.id = a.event_id where e.payment_id = ${paymentId}`,
    ).toEqual([{ httpStatus: 503 }]);
    own.answerWith(() => ({ status: 200 }));
    await sluice('webhook', 'resend', paymentId);
    await work();
    expect(await listener.ended).toBe(0);
    expect(listener.lines).toHaveLength(2);
    expect(JSON.parse(listener.lines[1] ?? '')).toMatchObject({ signature: 'ok', status: 200 });
  });

  it('says so when a signature is wrong or the server behind it is away', async () => {
    const listener = await listen('--forward-to', `127.0.0.1:${await freePort()}`, '--secret', `whsec_${Buffer.alloc(32).toString('base64')}`);
    const paymentId = await expired(listener.url);
    expect(await lineWith(listener, paymentId)).toMatch(/SIGNATURE WRONG {2}POST http:\/\/127\.0\.0\.1:\d+\/ \[ECONNREFUSED\]/);
    await fetch(listener.url, { method: 'POST', body: 'hello' });
    expect(await lineWith(listener, 'not JSON: hello')).toContain('SIGNATURE WRONG');
    expect((await fetch(listener.url)).status).toBe(405);
  });

  it('says when the built-in receiver goes away, and goes on when it is back', async () => {
    const { port } = new URL(builtIn.url);
    const first = await listen();
    await lineWith(first, await expired(builtIn.url));
    await builtIn.stop();
    await waitFor(() => first.notes.some((note) => note.includes('does not answer; waiting for it')), { what: 'a remark' });
    builtIn = await startWebhookReceiver({ port: Number(port) });
    const paymentId = await expired(builtIn.url);
    await lineWith(first, paymentId);
    expect(first.notes.at(-1)).toContain('is back');
    expect(first.lines.filter((line) => line.includes(paymentId))).toHaveLength(1);
  });

  it('prints the secret, and refuses what it cannot use', async () => {
    expect(await sluice('listen', '--print-secret')).toMatchObject({ code: 0, out: `${webhookSecret}\n` });
    for (const wrong of [
      ['--forward-to', 'ftp://shop.example'],
      ['--forward-to', 'http://'],
      ['--count', '0'],
      ['--port', '99999'],
    ])
      expect(await sluice('listen', ...wrong)).toMatchObject({ code: 2, err: expect.stringContaining(wrong[0] ?? '') });
  });
});
