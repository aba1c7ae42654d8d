import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { applyMessage } from '#api/consumers/apply-message.ts';
import type { Chain, Deps } from '#api/deps.ts';
import { DEFAULT_PERMISSIONS } from '#api/gateways/keys.ts';
import { createApp } from '#api/http/app.ts';
import { createCheckoutApp } from '#api/http/checkout-app.ts';
import { createHttpServer } from '#api/http/server.ts';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import { matureCredits } from '#api/ledger/mature-credits.ts';
import { type HostedCheckout, openHostedCheckout } from '#api/checkout/hosted.ts';
import { merchantOperations } from '#api/operations/merchant-operations.ts';
import { operatorOperations } from '#api/operations/operator-operations.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { acquireConsumerLease } from '#test/fixtures/consumer-lease.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { seedWallets } from '#api/treasury/wallets.ts';
import { openPayer } from '#shared/chains/payers.ts';
import { openReader } from '#shared/chains/readers.ts';
import type { Transfer } from '#shared/core/chain-events.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { aChain, type TestChain } from '#test/harness/chain.ts';
import { type InProcess, inProcess } from '#test/harness/in-process.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';
import { type Answer, type Ask, type Client, openClient } from './client.ts';

export interface SignedAsk extends Ask {
  idempotencyKey?: string | null;
  timestamp?: string;
  secret?: string;
}

/** What a merchant's server can send. */
export interface Caller {
  call(method: string, path: string, ask?: Ask): Promise<Answer>;
  /** With the signing headers; POSTs get a fresh Idempotency-Key unless one (or null) is given. */
  signed(method: string, path: string, ask?: SignedAsk): Promise<Answer>;
}

export interface Credentials {
  id: string;
  apiKey: string;
  cashoutSecret: string;
}

/** A gateway made through the operator API, and what its server can do. */
export interface Shop extends Caller, Credentials {
  /** Creates an API-mode payment and answers its data. */
  payment(body?: Record<string, unknown>): Promise<{ paymentUid: string; payment: { offers: { id: string; assetId: string; assetSymbol: string }[] } }>;
  /** Has this much of an asset paid, credited and matured. */
  fund(symbol: string, amount: string): Promise<void>;
}

/** The http side in this process over a real database and a real chain node; every answer is held against the contract. */
export interface Service {
  world: InProcess;
  /** What the http side is given; its `db` may do what the http role may do. */
  deps: Deps;
  /** What consumers and jobs are given; its `db` may do what the worker role may do. */
  worker: Deps;
  origin: string;
  ask: Client;
  /** Its key has these permissions beside those that every new key has. */
  aShop(settings?: Record<string, unknown>, permissions?: readonly string[]): Promise<Shop>;
  /** Plays the chain: mines one block holding these transfers and applies it. */
  mine(transfers?: Partial<Transfer>[]): Promise<void>;
  /** Moves the service clock and lets workers do what that makes due. */
  wait(seconds: number): Promise<void>;
  stop(): Promise<void>;
}

/** What workers do that time asks for. */
const PERIODIC = (['expire-payments', 'credit-deposits', 'confirm-simulations', 'mature-credits'] as const).map((name) => periodicWork[name]);
const EVERYWHERE = ['127.0.0.1', '::1'];

/** Starts it; `tamper` may replace parts of what the operations are given. */
export async function aService(tamper: (deps: Deps) => Deps = (deps) => deps): Promise<Service> {
  const [world, chain] = await Promise.all([inProcess({ config: { SLUICE_RATE_LIMIT_SCALE: 1000 } }), aChain()]);
  const deps = tamper({ ...withNode(world, chain), db: world.database.as('http') });
  const worker: Deps = { ...deps, db: world.database.as('worker') };
  await seedWallets(deps);
  const { origin, ask, close } = await listen(deps);
  const mine = await aMiner(worker, world, chain);
  return {
    world,
    deps,
    worker,
    origin,
    ask,
    mine,
    aShop: (settings, permissions) => aShop({ world, ask, mine, worker }, settings, permissions),
    async wait(seconds) {
      await world.advance(seconds);
      for (const work of PERIODIC) while ((await work.run(worker)) > 0);
    },
    async stop() {
      await close();
      try {
        await assertCleanAudit(world.database);
      } finally {
        await Promise.all([chain.stop(), world.stop()]);
      }
    },
  };
}

export interface Listening {
  origin: string;
  ask: Client;
  close(): Promise<void>;
}

/** Serves the http side, with other operations if some are given. */
export async function listen(deps: Deps, answering = merchantOperations): Promise<Listening> {
  return serve(
    await createApp(deps, { merchantOperations: answering, operatorOperations: operatorOperations({ devChains: null, runDue: async () => undefined }) }),
  );
}

/** Serves the hosted checkout, over something else than the database if that is given. */
export async function listenCheckout(deps: Deps, hosted: HostedCheckout = openHostedCheckout(deps)): Promise<Listening> {
  return serve(await createCheckoutApp(deps, { hosted }));
}

/** Serves any app of the http side on a free port. */
export async function serve(app: Parameters<typeof createHttpServer>[0]): Promise<Listening> {
  const server = createHttpServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    ask: await openClient(origin),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function aShop(
  parts: Pick<Service, 'world' | 'ask' | 'mine' | 'worker'>,
  settings: Record<string, unknown> = {},
  permissions: readonly string[] = [],
): Promise<Shop> {
  const { ask } = parts;
  const headers = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };
  const made = await ask('POST', '/operator/v1/gateways', {
    headers,
    body: { name: 'Acme Books', apiAllowlist: EVERYWHERE, cashout: { enabled: true, allowlist: EVERYWHERE }, ...settings },
  });
  expect(made.status, made.text).toBe(201);
  const { gateway, apiKey, cashoutSigningSecret } = made.data as { gateway: { id: string }; apiKey: string; cashoutSigningSecret: string };
  const credentials = { id: gateway.id, apiKey, cashoutSecret: cashoutSigningSecret };
  if (permissions.length > 0) {
    const more = await ask('POST', `/operator/v1/gateways/${gateway.id}/api-keys`, {
      headers,
      body: { permissions: [...DEFAULT_PERMISSIONS, ...permissions] },
    });
    expect(more.status, more.text).toBe(201);
    credentials.apiKey = String(more.data.apiKey);
  }
  const shop: Shop = {
    ...credentials,
    ...callerOf(ask, credentials),
    async payment(body = {}) {
      const created = await shop.call('POST', '/payments', {
        body: { currencyCode: 'USD', amount: '10', checkoutMode: 'API', webhookUrl: 'http://127.0.0.1:8099/hook', ...body },
      });
      expect(created.status, created.text).toBe(201);
      return created.data as unknown as Awaited<ReturnType<Shop['payment']>>;
    },
    async fund(symbol, amount) {
      const asset = parts.world.assets[symbol] as StoredAsset;
      const { paymentUid, payment } = await shop.payment({ assets: [{ assetId: asset.id, assetPriceUsd: '1' }], checkAmountDeviation: false });
      const address = await selectAddress(parts, paymentUid, payment.offers[0]?.id ?? '');
      await parts.mine([payTo(address, asset, amount)]);
      await parts.mine();
      await matureCredits(parts.worker);
    },
  };
  return shop;
}

/** A merchant's server that speaks through `ask`. */
export function callerOf(ask: Client, { apiKey, cashoutSecret }: Credentials): Caller {
  return {
    call: (method, path, one = {}) => ask(method, `/api/v1${path}`, { ...one, headers: { 'x-api-key': apiKey, ...one.headers } }),
    signed(method, path, { idempotencyKey = randomUUID(), timestamp = String(Math.floor(Date.now() / 1000)), secret = cashoutSecret, ...one } = {}) {
      const raw = one.raw ?? (one.body === undefined ? '' : JSON.stringify(one.body));
      const key: Record<string, string> = method === 'POST' && idempotencyKey !== null ? { 'idempotency-key': idempotencyKey } : {};
      const signature = createHmac('sha256', secret).update(`${timestamp}.`).update(raw).digest('hex');
      const headers = { 'x-api-key': apiKey, 'x-timestamp': timestamp, 'x-signature': signature, ...key, ...one.headers };
      return ask(method, `/api/v1${path}`, raw.length === 0 ? { headers } : { raw, headers });
    },
  };
}

/** Selects an offer and plays the indexer that acknowledges the address. */
export async function selectAddress({ world, ask }: Pick<Service, 'world' | 'ask'>, paymentUid: string, offerId: string): Promise<string> {
  const selecting = ask('POST', `/api/v1/public/payments/${paymentUid}/offers/${offerId}/select`);
  let waiting = true;
  const stopWaiting = (): void => {
    waiting = false;
  };
  selecting.then(stopWaiting, stopWaiting);
  while (waiting) await world.acknowledge();
  const answer = await selecting;
  expect(answer.status, answer.text).toBe(200);
  return String(answer.data.depositAddress);
}

/** A transfer of `amount` coins to a deposit address. */
export function payTo(address: string, asset: StoredAsset, amount: string): Partial<Transfer> {
  const [whole = '0', fraction = ''] = amount.split('.');
  const rawAmount = BigInt(whole + fraction.padEnd(asset.decimals, '0')).toString();
  return { kind: asset.contract === null ? 'native' : 'token', recipient: address.toLowerCase(), contract: asset.contract, rawAmount };
}

/** Every block it makes up has one of the node's own beside it, so that the node is never behind what was applied. */
async function aMiner(deps: Deps, world: InProcess, chain: TestChain): Promise<Service['mine']> {
  const network = { id: world.network.id, name: world.network.config.name };
  const fence = (await acquireConsumerLease(deps.db.sql, { networkId: network.id, holder: 'test', seconds: 3_600 })) as number;
  let parentHash = hash();
  let height = Number(await chain.node.call<string>('eth_blockNumber', []));
  let seq = 0;
  return async (transfers = []) => {
    await chain.mine();
    height += 1;
    seq += 1;
    const blockHash = hash();
    const time = Math.floor(Date.now() / 1000);
    const sightings = transfers.map((transfer, position) => ({
      kind: 'token' as const,
      txid: hash(),
      ordinal: 0,
      height,
      blockHash,
      position,
      time,
      sender: '0x5700000000000000000000000000000000005700',
      recipient: '',
      contract: null,
      rawAmount: '0',
      ...transfer,
    }));
    await applyMessage(deps, network, fence, {
      network: network.name,
      epoch: 1,
      seq,
      from: height,
      to: height,
      parentHash,
      hash: blockHash,
      safeNumber: height,
      finalNumber: height - 1,
      headNumber: height,
      time,
      sightings,
      acks: [],
    });
    parentHash = blockHash;
    await creditFinalDeposits(deps, network.id);
  };
}

function hash(): string {
  return `0x${randomBytes(32).toString('hex')}`;
}

/** Gives the demo network a node to ask, and its token contracts real code at their configured addresses. */
function withNode(world: InProcess, chain: TestChain): Deps {
  const config = { ...world.network.config, rpcUrls: [chain.url] };
  const before = world.deps.chains.get(config.name) as Chain;
  const chains = new Map([...world.deps.chains, [config.name, { ...before, config, reader: openReader(config), payer: openPayer(config) }]]);
  return { ...world.deps, chains };
}
