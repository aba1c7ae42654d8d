import { randomBytes } from 'node:crypto';
import type { HostedCheckout } from '#api/checkout/hosted.ts';
import { openLive } from '#api/checkout/live.ts';
import type { Scenario, Snapshot } from '#api/checkout/page/snapshot.ts';
import type { Deps } from '#api/deps.ts';
import { createCheckoutApp } from '#api/http/checkout-app.ts';
import { openPaymentSockets } from '#api/http/payment-socket.ts';
import { closeHttpServer, createHttpServer } from '#api/http/server.ts';
import { freePort } from '#ops/dev/services/wait.ts';
import { type ErrorCode, ServiceError } from '#shared/core/errors.ts';
import { readApiConfig } from '#shared/platform/config.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { watched } from '#test/fixtures/checkout-scenes.ts';
import { bareDeps } from './bare-deps.ts';

/** A disc, 64 × 64, as PNG. */
const LOGO = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAYAAACqaXHeAAAAwUlEQVR42u3b2RGCUAxAUcqxEuu1Q63AEfAtWU5mLOCeL4TkOIxZNq/n433m1y64FMio6HQYs8PDQqwODwWxO34bQpTwLRBR45cgRI+fipAlfgpCtvihCFnjhyG0Bsge/xdClfjbCK0BqsVfRmgNUDX+NAKAzgDV438iAADQGKBL/FcEAAAAAAAAAAAAT4P+CwAA4K2Qd4IA+gL4MgTAx1EAFiSsyACwJmdR0qqsZWnr8g4mnMw4mnI253DS6awpPR9IKFm23eeByQAAAABJRU5ErkJggg==',
  'base64',
);

/** What a page asked its payment to do. */
export type Asked = { paymentId: string } & ({ offerId: string } | { scenario: Scenario });

/** The checkout as it is served, pages, assets and sockets, with snapshots in place of a database. */
export interface CheckoutStage {
  origin: string;
  /** Puts a payment on the stage, at the moment of its snapshot, however often it was there before. Answers its page's address. */
  show(snapshot: Snapshot): string;
  /** Changes a payment that is there: its time goes on, and whoever follows it gets an update. */
  change(snapshot: Snapshot): void;
  /** From now on reading this payment fails so; answers its page's address. */
  fail(paymentId: string, code: ErrorCode): string;
  /** Every select and simulate so far. A select is obeyed at once, unless `deaf`; a simulation is only noted. */
  asked: Asked[];
  /** While true a select changes nothing, as if nobody watched the address yet. */
  deaf: boolean;
  stop(): Promise<void>;
}

export interface StageOptions {
  /** Folder of manifest, assets and catalogues, instead of the one that was built. */
  pageFolder?: string;
}

interface Shown {
  snapshot: Snapshot;
  /** Monotonic time at which the moment of the snapshot was. */
  since: number;
}

/** Opens a stage on a port of its own. */
export async function aCheckoutStage(options: StageOptions = {}): Promise<CheckoutStage> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const deps = stageDeps(origin);
  const shown = new Map<string, Shown>();
  const failing = new Map<string, ErrorCode>();
  const asked: Asked[] = [];

  const read = async (paymentId: string): Promise<Snapshot> => {
    const code = failing.get(paymentId);
    if (code !== undefined) throw new ServiceError(code, code === 'rate_limit_exceeded' ? { retryAfterSeconds: 7 } : {});
    const found = shown.get(paymentId);
    if (found === undefined) throw new ServiceError('not_found');
    return { ...found.snapshot, serverTime: timeOf(found) };
  };
  const hosted: HostedCheckout = {
    read: async (_deps, paymentId) => ({ snapshot: await read(paymentId), languages: [] }),
    async select(_deps, { paymentId, offerId }) {
      asked.push({ paymentId, offerId });
      const { snapshot } = shown.get(paymentId) as Shown;
      stage.change(stage.deaf ? { ...snapshot, payment: { ...snapshot.payment, selectedOfferId: offerId } } : watched(snapshot, offerId));
      return { status: stage.deaf ? 202 : 200, data: {} };
    },
    async simulate(_deps, { paymentId, simulation }) {
      asked.push({ paymentId, scenario: simulation.scenario });
    },
    logo: async () => ({ type: 'image/png', body: LOGO }),
    mailsReceiptOf: ({ payment }) => !payment.isSandbox,
    mailReceipt: async () => true,
  };
  const live = openLive({ read, log: deps.log });
  const sockets = openPaymentSockets(deps, { live, hosted });
  const app = await createCheckoutApp(deps, { hosted, ...options });
  const server = createHttpServer(app);
  sockets.attach(server, '');
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));

  const put = (snapshot: Snapshot, since: number): void => {
    const { id } = snapshot.payment;
    failing.delete(id);
    shown.set(id, { snapshot, since });
    live.look([id]);
  };
  const stage: CheckoutStage = {
    origin,
    asked,
    deaf: false,
    show(snapshot) {
      put(snapshot, performance.now());
      return `${origin}/p/${snapshot.payment.id}`;
    },
    change(snapshot) {
      put(snapshot, (shown.get(snapshot.payment.id) as Shown).since);
    },
    fail(paymentId, code) {
      failing.set(paymentId, code);
      return `${origin}/p/${paymentId}`;
    },
    async stop() {
      await sockets.close();
      live.stop();
      await closeHttpServer(server);
    },
  };
  return stage;
}

/** Time passes on the stage as it does elsewhere; each payment's begins when it is shown. */
function timeOf({ snapshot, since }: Shown): string {
  return new Date(Date.parse(snapshot.serverTime) + performance.now() - since).toISOString();
}

function stageDeps(origin: string): Deps {
  const secret = (): string => randomBytes(32).toString('hex');
  const config = readApiConfig({
    NODE_ENV: 'test',
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    REDIS_URL: 'redis://127.0.0.1:1',
    SLUICE_NETWORKS: 'ops/dev/networks.json',
    SLUICE_ROLES: 'http',
    SLUICE_LOG_LEVEL: 'silent',
    SLUICE_RATE_LIMIT_SCALE: '1000',
    SLUICE_CHECKOUT_URL: origin,
    SLUICE_STREAM_KEY: secret(),
    SLUICE_API_KEY_PEPPER: secret(),
    SLUICE_OPERATOR_TOKEN: secret(),
    SLUICE_MASTER_KEY: secret(),
    SLUICE_INTENT_KEY: randomBytes(32).toString('hex'),
  });
  return bareDeps({ config, log: createLogger({ component: 'stage', level: process.env.SLUICE_TEST_LOGS ? 'debug' : 'silent' }) });
}
