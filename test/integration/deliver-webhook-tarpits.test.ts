import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createWebhookHttp, type WebhookOutcome } from '#api/clients/webhook-http.ts';
import type { Gateway } from '#api/deps.ts';
import { webhookJobs } from '#api/jobs/deliver-webhook.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { runJob } from '#api/jobs/run-job.ts';
import { type Jobs, startJobs } from '#api/jobs/start.ts';
import { createPayment } from '#api/payments/create.ts';
import { enqueuePaymentWebhook } from '#api/payments/enqueue-webhook.ts';
import { resendPaymentWebhook } from '#api/payments/resend-webhook.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { POLICY } from '#shared/core/policy.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { type InProcess, inProcess, plainCommit } from '#test/harness/in-process.ts';

interface Tarpit {
  url: string;
  sockets: Set<Socket>;
  /** Most connections it ever had at once. */
  most: number;
  server: Server;
}

let world: InProcess;
let receiver: WebhookReceiver;
let greedy: Gateway;
let honest: Gateway;
let jobs: Jobs | undefined;
const tarpits: Tarpit[] = [];

beforeEach(async () => {
  [world, receiver] = await Promise.all([inProcess(), startWebhookReceiver()]);
  [greedy, honest] = [await world.aGateway({ name: 'Tar' }), await world.aGateway({ name: 'Acme Books' })];
});
afterEach(async () => {
  for (const { server, sockets } of tarpits.splice(0)) {
    server.close();
    for (const socket of sockets) socket.destroy();
  }
  await jobs?.stop();
  jobs = undefined;
  await Promise.all([world.stop(), receiver.stop()]);
});

async function aTarpit(answer: (socket: Socket) => void = () => undefined): Promise<Tarpit> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    tarpit.most = Math.max(tarpit.most, sockets.size);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const tarpit: Tarpit = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, sockets, most: 0, server };
  tarpits.push(tarpit);
  return tarpit;
}

/** Announces the result of `count` payments of a gateway to a URL; their ids. */
async function announce(gateway: Gateway, url: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  const one = async (): Promise<void> => {
    const body = { currencyCode: 'USD', amount: '25', checkoutMode: 'API' as const, webhookUrl: url };
    const reply = await createPayment(world.deps, { gateway, body, clientIp: '127.0.0.1', commit: plainCommit(world.deps) });
    const { paymentUid: paymentId } = reply.data as { paymentUid: string };
    await world.deps.db.transaction((tx) => enqueuePaymentWebhook(tx, world.deps, { paymentId, gatewayId: gateway.id, status: 'SUCCESS', webhookUrl: url }));
    ids.push(paymentId);
  };
  for (let made = 0; made < count; made += 10) await Promise.all(Array.from({ length: Math.min(10, count - made) }, one));
  return ids;
}

/** Starts the workers; an attempt may take `deadlineMs`. */
async function work(deadlineMs: number): Promise<void> {
  const { deliver, resend } = webhookJobs(() => createWebhookHttp({ policy: { privateTargets: true, requireHttps: false }, deadlineMs }));
  jobs = await startJobs(world.deps, { jobs: [deliver, resend], periodic: {} });
}

const states = () => world.database.sql<{ gatewayId: string; state: string; n: number }[]>`
  select gateway_id, state, count(*)::int as n from webhook_events group by gateway_id, state`;

it("three hundred webhooks for a receiver that never answers hold up nobody else's, and it is never sent more than four at once", async () => {
  const tarpit = await aTarpit();
  await announce(greedy, tarpit.url, 300);
  await announce(honest, receiver.url, 20);
  // Nothing of the tar pit ends while the others are delivered: that they arrive at all is the proof.
  await work(600_000);
  await waitFor(() => receiver.received.length === 20, { what: "the other gateway's webhooks", timeoutMs: 60_000 });
  await waitFor(() => tarpit.sockets.size === POLICY.webhookLanes.perTarget, { what: 'the tar pit to have its share' });
  await announce(honest, receiver.url, 5);
  await waitFor(() => receiver.received.length === 25, { what: 'later webhooks', timeoutMs: 60_000 });
  await waitFor(async () => (await states()).some((row) => row.gatewayId === honest.id && row.state === 'delivered' && row.n === 25), {
    what: 'it all recorded',
  });
  const ended = world.database.sql`
    select 1 from webhook_attempts a join webhook_events e on e.id = a.event_id where e.gateway_id = ${greedy.id} and a.finished_at is not null`;
  expect(await ended).toHaveLength(0);
  expect(tarpit.most).toBe(POLICY.webhookLanes.perTarget);
});

it('the next webhook of a receiver is sent once it has answered one, whatever it takes to write that answer down', async () => {
  const answers: (() => void)[] = [];
  const held = await aTarpit((socket) => void answers.push(() => socket.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n')));
  await announce(honest, held.url, POLICY.webhookLanes.perTarget + 1);
  await work(600_000);
  await waitFor(() => answers.length === POLICY.webhookLanes.perTarget, { what: 'every lane to be taken' });
  await world.database.transaction(async (tx) => {
    const locked = await tx`select 1 from webhook_events where id in (select event_id from webhook_attempts) for no key update`;
    expect(locked).toHaveLength(POLICY.webhookLanes.perTarget);
    for (const answer of answers) answer();
    await waitFor(() => answers.length > POLICY.webhookLanes.perTarget, { what: 'the next one to be sent' });
  });
  answers.at(-1)?.();
  await waitFor(async () => (await states()).every(({ state }) => state === 'delivered'), { what: 'it all recorded' });
});

it('a gateway whose answers nobody can write down keeps its share of the places, and the rest serves the others', async () => {
  const { places, perTenant, together } = POLICY.webhookLanes;
  const share = (places * perTenant) / together;
  for (let host = 0; host < 20; host++) await announce(greedy, `http://127.0.0.1:${9_000 + host}/hook`, 5);
  await announce(honest, receiver.url, 1);
  const sent = new Set<string>();
  const { deliver } = webhookJobs(() => ({
    post: (_url, headers) => {
      sent.add(String(headers['webhook-id']));
      return Promise.resolve({ kind: 'answered', status: 204, retryAfter: null, durationMs: 1 });
    },
  }));
  const runs: Promise<unknown>[] = [];
  /** Begins what is due of a gateway; how many were sent and not written down, at most. */
  const begin = async (gateway: Gateway): Promise<number> => {
    let most = 0;
    const unwritten = new Set<string>();
    const rows = await world.database.sql<{ id: string; refId: string }[]>`
      select o.id, o.ref_id from outbox o join webhook_events e on e.id = o.ref_id where o.topic = 'webhook.deliver' and o.state = 'due' and e.gateway_id = ${gateway.id}`;
    for (const { id, refId } of rows) {
      let ended = false;
      const run = runJob(world.deps, deliver, id).finally(() => {
        ended = true;
        unwritten.delete(refId);
      });
      runs.push(run);
      await waitFor(() => ended || sent.has(refId), { what: 'it to be sent, or sent away' });
      if (!ended) unwritten.add(refId);
      most = Math.max(most, unwritten.size);
    }
    return most;
  };
  const locked = world.database.transaction(async (tx) => {
    await tx`select 1 from webhook_events where gateway_id = ${greedy.id} for no key update`;
    const most = await begin(greedy);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(share);
    const ofGreedy = sent.size;
    await begin(honest);
    expect(sent.size).toBe(ofGreedy + 1);
  });
  await locked.finally(() => Promise.allSettled(runs));
});

it('one gateway with dozens of such receivers has a share of the attempts in flight, and the rest serves the others', async () => {
  const many = await Promise.all(Array.from({ length: 40 }, () => aTarpit()));
  for (const tarpit of many) await announce(greedy, tarpit.url, 3);
  await announce(honest, receiver.url, 20);
  await work(600_000);
  await waitFor(() => receiver.received.length === 20, { what: "the other gateway's webhooks", timeoutMs: 60_000 });
  const held = (): number => many.reduce((sum, { sockets }) => sum + sockets.size, 0);
  await waitFor(() => held() === POLICY.webhookLanes.perTenant, { what: 'the greedy gateway to have its share' });
  await announce(honest, receiver.url, 5);
  await waitFor(() => receiver.received.length === 25, { what: 'later webhooks', timeoutMs: 60_000 });
  expect(held()).toBe(POLICY.webhookLanes.perTenant);
});

it('one gateway that resends to dozens of such receivers does not hold up the resends of others', async () => {
  const greedily: string[] = [];
  for (let tarpit = 0; tarpit < 20; tarpit++) greedily.push(...(await announce(greedy, (await aTarpit()).url, 2)));
  const [honestly = ''] = await announce(honest, receiver.url, 1);
  await world.database.sql`update webhook_events set state = 'exhausted'`;
  for (const paymentId of greedily) await resendPaymentWebhook(world.deps, { gateway: greedy, paymentId });
  await resendPaymentWebhook(world.deps, { gateway: honest, paymentId: honestly });
  await work(600_000);
  await waitFor(() => receiver.received.length === 1, { what: "the other gateway's resend" });
});

it('forty answers without end are all cut off, are all deliveries, and leave no socket open', async () => {
  const endless = await aTarpit((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const more = (): void => {
      while (!socket.destroyed && socket.write('x'.repeat(4_096)));
      if (!socket.destroyed) socket.once('drain', more);
    };
    more();
  });
  await announce(greedy, endless.url, 40);
  await work(10_000);
  await waitFor(async () => (await states()).every((row) => row.state === 'delivered'), { what: 'every webhook to be delivered', timeoutMs: 60_000 });
  expect(endless.most).toBeLessThanOrEqual(POLICY.webhookLanes.perTarget);
  await waitFor(() => endless.sockets.size === 0, { what: 'the sockets to be gone' });
});

it('a receiver that keeps running into the deadline is tried one at a time, and gets everything once it answers', async () => {
  let mute = true;
  const slow = await aTarpit((socket) => void (mute || socket.end('HTTP/1.1 204 No Content\r\n\r\n')));
  const { deliver } = webhookJobs(() => createWebhookHttp({ policy: { privateTargets: true, requireHttps: false }, deadlineMs: 1_000 }));
  await announce(greedy, slow.url, 30);
  jobs = await startJobs(world.deps, { jobs: [deliver], periodic: {} });
  const finished = async (): Promise<number> => (await world.database.sql`select 1 from webhook_attempts where finished_at is not null`).length;
  await waitFor(async () => (await finished()) >= 8, { what: 'some attempts to time out', timeoutMs: 60_000 });
  slow.most = 0;
  const before = await finished();
  await waitFor(async () => (await finished()) >= before + 3, { what: 'some more', timeoutMs: 60_000 });
  expect(slow.most).toBe(1);
  mute = false;
  // The schedule's pauses are minutes long: let them pass.
  await waitFor(
    async () => {
      await world.advance(60);
      return (await states()).every((row) => row.state === 'delivered');
    },
    { what: 'every webhook to be delivered', timeoutMs: 60_000 },
  );
});

it('a webhook that waits for room at its own receiver is counted as late from when it had to be sent, and any other from its result', async () => {
  const metrics = createApiMetrics('test');
  const deps = { ...world.deps, metrics };
  let answer = (): void => undefined;
  const answered = new Promise<WebhookOutcome>((resolve) => {
    answer = () => resolve({ kind: 'answered', status: 200, retryAfter: null, durationMs: 1 });
  });
  const { deliver } = webhookJobs(() => ({ post: () => answered }));
  const most = POLICY.webhookLanes.perTarget;
  await announce(greedy, 'http://127.0.0.1:9999/hook', most + 1);
  const rows = await world.database.sql<{ id: string }[]>`select id from outbox where state = 'due' order by ref_id`;
  const begun = rows.slice(0, most).map(({ id }) => runJob(deps, deliver, id));
  await waitFor(async () => (await world.database.sql`select 1 from webhook_attempts`).length === most, { what: 'every place at the receiver to be taken' });
  await world.advance(120);
  await runDueJobs(deps, [deliver]);
  answer();
  await Promise.all(begun);
  // It was sent away until now.
  await world.database.sql`update outbox set due_at = sluice_now() where state = 'due'`;
  await runDueJobs(deps, [deliver]);
  const inTime = async () => {
    const { body } = await metrics.scrape();
    return [/first_attempt_delay_seconds_bucket\{le="15"\} (\d+)/, /first_attempt_delay_seconds_count (\d+)/].map((figure) => Number(figure.exec(body)?.[1]));
  };
  expect(await inTime()).toEqual([most + 1, most + 1]);
  await announce(honest, 'http://127.0.0.1:9999/hook', 1);
  await world.advance(120);
  await runDueJobs(deps, [deliver]);
  expect(await inTime()).toEqual([most + 1, most + 2]);
});
