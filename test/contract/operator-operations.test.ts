import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { operations } from '#api/contract/operator-types.ts';
import type { Deps } from '#api/deps.ts';
import { screenCredit } from '#api/aml/screen-credit.ts';
import { createApp } from '#api/http/app.ts';
import { merchantOperations } from '#api/operations/merchant-operations.ts';
import { operatorOperations } from '#api/operations/operator-operations.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { readClock } from '#api/store/clock.ts';
import { closeMonth } from '#api/store/invoices.ts';
import { upsertScreeningScore } from '#api/store/screenings.ts';
import { evmNode } from '#ops/dev/services/evm-node.ts';
import { createLimiter } from '#shared/platform/limiter.ts';
import { connect, type Database } from '#shared/platform/postgres.ts';
import { forgetMadeUp, makeStuck } from '#test/fixtures/stuck-coins.ts';
import { TEST_PEOPLE, TEST_SECRETS } from '#test/harness/world.ts';
import { type Entry, OPERATOR_CATALOGUE } from './catalogue.ts';
import type { Answer, Ask, Client } from './client.ts';
import { aService, type Listening, listen, payTo, selectAddress, serve, type Service, type Shop } from './service.ts';

interface Request {
  /** By name in the path template. */
  params?: Record<string, string>;
  body?: Record<string, unknown>;
  /** Over those of the shared token. */
  headers?: Record<string, string>;
}

/** What is special about one operation: a request that succeeds, and what causes the errors that are not the same everywhere. */
interface Special {
  request(): Promise<Request>;
  /** A request that conflicts with what is there. */
  409?(): Promise<Request>;
  /** A request that a deployment which wants two people for it takes for a proposal. */
  202?(): Promise<Request>;
  /** Whose own token the request comes with, where the shared one is not enough. */
  by?: keyof typeof TEST_PEOPLE;
  /** It belongs to development, and production refuses it. */
  403?: true;
  /** What every request of it asks with. */
  query?: string;
  /** The listener it succeeds on, where that is not the service's. */
  through?(): Client;
}

const TOKEN = { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` };

let service: Service;
let shop: Shop;
let production: Listening;
/** With local chains to move, of which there are none. */
let development: Listening;
let limited: Listening;
let crashing: Listening;
/** Wants two people for whatever it can. */
let cautious: Listening;
let stranded: Listening;
let away: Database;
const lines: string[] = [];
beforeAll(async () => {
  service = await aService();
  const { deps } = service;
  shop = await service.aShop({ settings: { lateCaptureGraceSeconds: 0 } });
  production = await listen({ ...deps, config: { ...deps.config, NODE_ENV: 'production', SLUICE_PRICE_SOURCE: 'http' } });
  limited = await listen({ ...deps, config: { ...deps.config, SLUICE_RATE_LIMIT_SCALE: 1e-9 }, limiter: createLimiter({ now: Date.now }) });
  away = connect('postgres://nobody@127.0.0.1:1/nothing', { name: 'away', max: 1 });
  stranded = await serve(await movable({ ...deps, db: away }));
  development = await serve(await movable(deps));
  crashing = await crashingListener();
  cautious = await listen({ ...deps, config: { ...deps.config, SLUICE_TWO_PEOPLE_FOR: ['refund', 'reject'] } });
});
afterAll(async () => {
  await Promise.all([production, development, limited, crashing, stranded, cautious].map((one) => one.close()));
  await away.end();
  // What is left unpaid ends before the books are audited, and what is left unknown is known by then.
  const { data } = await service.ask('GET', '/operator/v1/outgoing', { headers: TOKEN });
  for (const { network, txid } of data.items as { network: string; txid: string }[])
    await service.ask('POST', '/operator/v1/outgoing/adopt', { headers: TOKEN, body: { network, txid, reason: 'left by a test' } });
  await forgetMadeUp(service.world.database.sql);
  await service.wait(86_400);
  await service.stop();
});

function movable(deps: Deps): ReturnType<typeof createApp> {
  const tools = { devChains: { warp: async () => undefined }, runDue: async () => undefined };
  return createApp(deps, { merchantOperations, operatorOperations: operatorOperations(tools) });
}

async function crashingListener(): Promise<Listening> {
  const crash = async (): Promise<never> => {
    throw new Error('canary: postgres://user:secret@db');
  };

  const all = operatorOperations({ devChains: null, runDue: async () => undefined });
  const log = pino({ serializers: { error: pino.stdSerializers.err } }, { write: (line: string) => void lines.push(line) });
  const broken = Object.fromEntries(Object.keys(all).map((id) => [id, crash])) as unknown as typeof all;
  return serve(await createApp({ ...service.deps, log }, { merchantOperations, operatorOperations: broken }));
}

const nothing = async (): Promise<Request> => ({});
const ofShop = async (body?: Record<string, unknown>): Promise<Request> => ({ params: { id: shop.id }, ...(body === undefined ? {} : { body }) });
const ofNetwork = async (): Promise<Request> => ({ params: { network: 'ethereum' }, body: { reason: 'maintenance' } });

async function aSettlement(): Promise<Request> {
  await shop.fund('USDT', '10');
  const body = { assetId: service.world.assets.USDT?.id, amount: '2', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
  return { params: { id: String((await shop.signed('POST', '/merchant/settlements', { body })).data.id) } };
}

/** A payment whose only deposit was flagged. */
async function aHeldPayment(): Promise<Request> {
  const screened = await service.aShop({ screening: { enabled: true, credits: 5 } });
  const { paymentUid, payment } = await screened.payment({ checkAmountDeviation: false });
  const address = await selectAddress(service, paymentUid, payment.offers.find((offer) => offer.assetSymbol === 'USDT')?.id ?? '');
  await upsertScreeningScore(service.deps.db.sql, { address: address.toLowerCase(), score: 90 });
  await service.mine([payTo(address, service.world.assets.USDT as StoredAsset, '10')]);
  await service.mine();
  for (const { id } of await service.world.database.sql<{ id: string }[]>`select id from credits where payment_id = ${paymentUid}`)
    await screenCredit(service.worker, id);
  return { params: { id: paymentUid } };
}

const as = (name: keyof typeof TEST_PEOPLE): Record<string, string> => ({ authorization: `Bearer ${TEST_PEOPLE[name]}` });

/** A gateway some of whose coins are withheld: enough for every request here. */
let keeping: Promise<string> | undefined;
async function aKeptGateway(): Promise<string> {
  const { params } = await aHeldPayment();
  await service.ask('POST', `/operator/v1/payments/${params?.id}/aml`, { headers: TOKEN, body: { action: 'WITHHOLD', reason: 'ordered to' } });
  const [row] = await service.world.database.sql<{ id: string }[]>`select gateway_id as id from payments where id = ${params?.id ?? ''}`;
  return row?.id ?? '';
}

/** What to ask for so that some of them are sent. */
async function someKept(): Promise<Request> {
  keeping ??= aKeptGateway();
  const body = { assetId: service.world.assets.USDT?.id, amount: '0.01', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', reason: 'a court order' };
  return { params: { id: await keeping }, body };
}

/** A proposal of somebody. */
async function aProposal(by: Record<string, string>): Promise<Request> {
  const { params, body } = await someKept();
  const { data } = await service.ask('POST', `/operator/v1/gateways/${params?.id}/withheld`, { headers: by, body });
  return { params: { id: String(data.id) } };
}

/** A transfer of withheld coins that two people want, and nobody has planned yet. */
async function anOrderedTransfer(): Promise<Request> {
  const { params } = await aProposal(as('anna'));
  const { data } = await service.ask('POST', `/operator/v1/proposals/${params?.id}/confirm`, { headers: as('ben') });
  return { params: { id: String((data.outcome as { transferId: string }).transferId) }, body: { reason: 'it was a mistake' } };
}

/** What a monthly-billed gateway was closed into before its month is over. */
async function anInvoice(): Promise<Request> {
  const monthly = await service.aShop({ billing: 'MONTHLY' });
  await monthly.fund('USDT', '10');
  const { db } = service.worker;
  const month = `${(await readClock(db.sql)).now.toISOString().slice(0, 7)}-01`;
  const id = randomUUID();
  await db.transaction((tx) => closeMonth(tx, { id, gatewayId: monthly.id, month }));
  return { params: { id } };
}

/** A deposit that came after grace, and the payment it was meant for. */
async function aSetAsideDeposit(): Promise<Request> {
  const { paymentUid, payment } = await shop.payment({ timeoutSeconds: 60 });
  const address = await selectAddress(service, paymentUid, payment.offers.find((offer) => offer.assetSymbol === 'USDT')?.id ?? '');
  await service.wait(2_000);
  expect((await service.ask('POST', `/api/v1/public/payments/${paymentUid}/expire`)).data.status).toBe('EXPIRED');
  const time = Math.floor(Date.now() / 1000) + 1_000_000;
  await service.mine([{ ...payTo(address, service.world.assets.USDT as StoredAsset, '10'), time }]);
  await service.mine();
  const { data } = await service.ask('GET', '/operator/v1/deposits?state=unallocated&limit=1', { headers: TOKEN });
  return { params: { id: (data.items as { id: string }[])[0]?.id ?? '' }, body: { paymentId: paymentUid, reason: 'the payer wrote in' } };
}

/** A final transaction of the hot wallet that nothing in the books explains, or that was adopted since. */
async function anUnknownTransaction({ adopted = false } = {}): Promise<Request> {
  await service.mine();
  const txid = `0x${randomUUID().replaceAll('-', '').repeat(2)}`;
  await service.world.database.sql`
    insert into sightings (network_id, kind, txid, ordinal, height, block_hash, position, block_time, sender, nonce, succeeded, raw_fee, booked_at)
    select w.network_id, 'sent', ${txid}, 0, t.final_height, ${txid}, 0, sluice_now(), w.address, null, true, 0, sluice_now()
    from wallets w join chain_tips t on t.network_id = w.network_id where w.role = 'hot'`;
  const body = { network: 'ethereum', txid, reason: 'the restored database lost it' };
  if (adopted) await service.ask('POST', '/operator/v1/outgoing/adopt', { headers: TOKEN, body });
  return { body };
}

const furtherBody = async (): Promise<Record<string, unknown>> => ({ assetId: service.world.assets.USDT?.id, reason: 'the contract works again' });

/** A released payment whose coins are in the held wallet, after two transfers to the hot one have failed; its payouts exist in these rows alone. */
async function stuckCoins(): Promise<Request> {
  const { params } = await aHeldPayment();
  const id = params?.id ?? '';
  await service.ask('POST', `/operator/v1/payments/${id}/aml`, { headers: TOKEN, body: { action: 'RELEASE', reason: 'cleared' } });
  await makeStuck(service.world.database.sql, id);
  return { params: { id }, body: await furtherBody() };
}

async function aWebhook(): Promise<Request> {
  const { paymentUid } = await shop.payment({ timeoutSeconds: 1 });
  await service.wait(2);
  await service.ask('POST', `/api/v1/public/payments/${paymentUid}/expire`);
  const { data } = await service.ask('GET', `/operator/v1/webhooks?paymentId=${paymentUid}`, { headers: TOKEN });
  return { params: { id: (data.items as { id: string }[])[0]?.id ?? '' }, body: { reason: 'lost' } };
}

/** A job that nothing is behind. */
async function aJob({ state, topic = 'settlement.mail' }: { state: string; topic?: string }): Promise<Request> {
  const [row] = await service.world.database.sql<{ id: string }[]>`
    insert into outbox (id, topic, ref_id, state, due_at, failures, last_error)
    values (gen_random_uuid(), ${topic}, gen_random_uuid(), ${state}, sluice_now(), 30, 'the mail server is away') returning id`;
  return { params: { id: row?.id ?? '' }, body: { reason: 'the mail server is back' } };
}

/** A token whose contract has just been put on the chain. */
async function aToken(): Promise<Record<string, unknown>> {
  const contract = `0x${randomUUID().replaceAll('-', '')}12345678`;
  const [url = ''] = service.deps.chains.get('ethereum')?.config.rpcUrls ?? [];
  await evmNode(url).call('anvil_setCode', [contract, '0x00']);
  return { network: 'ethereum', symbol: 'EURX', contract, decimals: 2 };
}

/** What two people want of the signer; the token that is shared is none of them. */
const aReseal = { body: { journalId: '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44', signatures: 3, hash: 'ab'.repeat(32), reason: 'its disk was lost' } };
const aField = { body: { network: 'ethereum', field: 'shinyRoot', reason: 'the fork of this morning; two explorers show the same hash' } };
const aDeath = { body: { network: 'ethereum', slot: `nonce:0x${'ab'.repeat(20)}:7`, reason: 'the endpoint of our second provider is gone' } };

/** Every operation of the operator contract; one that is missing here does not compile. */
const SPECIAL: Record<keyof operations, Special> = {
  listGateways: { request: nothing },
  createGateway: { request: async () => ({ body: { name: 'Another' } }) },
  getGateway: { request: () => ofShop() },
  changeGateway: { request: () => ofShop({ contactEmail: 'ops@example.com', reason: 'asked for' }) },
  createApiKey: { request: () => ofShop({ permissions: ['payment:read'] }) },
  revokeApiKey: {
    request: async () => {
      const { data } = await service.ask('POST', `/operator/v1/gateways/${shop.id}/api-keys`, { headers: TOKEN, body: {} });
      return { params: { id: shop.id, keyId: String(data.keyId) } };
    },
  },
  rotateSecret: { request: async () => ({ params: { id: shop.id, kind: 'webhook' }, body: { overlapSeconds: 60 } }) },
  enrolTotp: { request: () => ofShop({}) },
  addScreeningCredits: { request: () => ofShop({ add: 5 }) },
  getSignerJournal: { request: nothing },
  resealSignerJournal: { request: async () => ({ ...aReseal, headers: as('anna') }), 409: async () => aReseal, by: 'anna' },
  getWithheld: { request: async () => ({ params: { id: (await someKept()).params?.id ?? '' } }) },
  payWithheld: { request: async () => ({ ...(await someKept()), headers: as('anna') }), 409: someKept, by: 'anna' },
  cancelWithheld: {
    request: anOrderedTransfer,
    409: async () => {
      const request = await anOrderedTransfer();
      await service.ask('POST', `/operator/v1/withheld/${request.params?.id}/cancel`, { headers: TOKEN, body: request.body });
      return request;
    },
  },
  listProposals: { request: nothing },
  getProposal: { request: () => aProposal(as('anna')) },
  confirmProposal: {
    request: async () => ({ ...(await aProposal(as('anna'))), headers: as('ben') }),
    409: async () => ({ ...(await aProposal(as('ben'))), headers: as('ben') }),
    by: 'ben',
  },
  withdrawProposal: {
    request: () => aProposal(as('anna')),
    409: async () => {
      const request = await aProposal(as('anna'));
      await service.ask('POST', `/operator/v1/proposals/${request.params?.id}/withdraw`, { headers: as('ben') });
      return request;
    },
  },
  listNetworks: { request: nothing },
  listWallets: { request: nothing },
  listProcesses: { request: nothing },
  listBackups: { request: nothing },
  rescanNetwork: {
    request: async () => {
      await service.mine();
      const [tip] = await service.world.database.sql<{ final: number }[]>`select final_height as final from chain_tips`;
      return { params: { network: 'ethereum' }, body: { from: tip?.final, to: tip?.final } };
    },
  },
  listRescans: { request: async () => ({ params: { network: 'ethereum' } }) },
  consolidateOutputs: { request: async () => ({ body: { network: 'ethereum', pool: 'green' } }) },
  pauseNetwork: { request: ofNetwork },
  resumeNetwork: { request: ofNetwork },
  listCurrencies: { request: nothing },
  setCurrency: { request: async () => ({ params: { code: 'EUR' }, body: { active: true } }) },
  listAssets: { request: nothing },
  addAsset: {
    request: async () => ({ body: await aToken() }),
    409: async () => {
      const body = await aToken();
      await service.ask('POST', '/operator/v1/assets', { headers: TOKEN, body });
      return { body };
    },
  },
  listPayments: { request: nothing },
  getPayment: { request: async () => ({ params: { id: (await shop.payment()).paymentUid } }) },
  resolveAml: {
    202: async () => ({
      ...(await aHeldPayment()),
      body: { action: 'REFUND', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', reason: 'theirs' },
      headers: as('anna'),
    }),
    request: async () => ({ ...(await aHeldPayment()), body: { action: 'RELEASE', reason: 'cleared' } }),
    409: async () => {
      const request = { ...(await aHeldPayment()), body: { action: 'WITHHOLD', reason: 'cleared' } };
      await service.ask('POST', `/operator/v1/payments/${request.params?.id}/aml`, { headers: TOKEN, body: request.body });
      return request;
    },
  },
  allowTransfer: { request: () => stuckCoins(), 409: async () => ({ ...(await aHeldPayment()), body: await furtherBody() }) },
  listSettlements: { request: nothing },
  getSettlement: { request: aSettlement },
  rejectSettlement: {
    202: async () => ({ ...(await aSettlement()), body: { reason: 'asked for' }, headers: as('anna') }),
    request: async () => ({ ...(await aSettlement()), body: { reason: 'asked for' } }),
    409: async () => {
      const request = { ...(await aSettlement()), body: { reason: 'asked for' } };
      await service.ask('POST', `/operator/v1/settlements/${request.params?.id}/reject`, { headers: TOKEN, body: request.body });
      return request;
    },
  },
  resetInquiries: {
    request: async () => ({ params: { id: (await shop.payment({})).paymentUid }, body: { reason: 'the payer found the right hash' } }),
  },
  listDeposits: { request: nothing },
  allocateDeposit: {
    request: aSetAsideDeposit,
    409: async () => {
      const request = await aSetAsideDeposit();
      await service.ask('POST', `/operator/v1/deposits/${request.params?.id}/allocate`, { headers: TOKEN, ...request });
      return request;
    },
  },
  listInvoices: { request: nothing },
  getInvoice: { request: anInvoice },
  listExpenses: { request: nothing },
  search: { request: nothing, query: '?q=nothing' },
  listWebhooks: { request: nothing },
  resendWebhook: { request: aWebhook },
  listJobs: { request: nothing },
  retryJob: { request: () => aJob({ state: 'dead' }), 409: () => aJob({ state: 'done' }) },
  retryJobs: {
    request: async () => {
      await aJob({ state: 'dead' });
      return { body: { topic: 'settlement.mail', reason: 'the mail server is back' } };
    },
  },
  discardJob: { request: () => aJob({ state: 'dead' }), 409: () => aJob({ state: 'dead', topic: 'payout.broadcast' }) },
  runAudit: { request: nothing },
  listActions: { request: nothing },
  getKeyStatus: { request: nothing },
  resealSecrets: { request: async () => ({ body: { reason: 'a new key' } }) },
  listFreezes: { request: nothing },
  listUnknownOutgoing: { request: nothing },
  adoptOutgoing: { request: anUnknownTransaction, 409: async () => anUnknownTransaction({ adopted: true }) },
  clearWallet: {
    request: async () => {
      await service.world.database.sql`update wallets set halted_reason = 'transaction 0x00: it moved something else than was meant' where role = 'held'`;
      return { body: { network: 'ethereum', wallet: 'held', reason: 'the transaction is known' } };
    },
    409: async () => ({ body: { network: 'ethereum', wallet: 'funding', reason: 'it is not halted' } }),
  },
  acceptHeaderField: { request: async () => ({ ...aField, headers: as('anna') }), 409: async () => aField, by: 'anna' },
  declareDead: { request: async () => ({ ...aDeath, headers: as('anna') }), 409: async () => aDeath, by: 'anna' },
  freeze: { request: async () => ({ body: { scope: 'network:ethereum', reason: 'strange blocks' } }) },
  unfreeze: { request: async () => ({ body: { scope: 'network:ethereum' } }) },
  listPrices: { request: nothing },
  setPrice: { request: async () => ({ params: { symbol: 'USDT' }, body: { usd: '1' } }), 403: true },
  getScreening: { request: nothing },
  setScreening: { request: async () => ({ params: { address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }, body: { score: 10 } }), 403: true },
  getClock: { request: nothing },
  advanceClock: { request: async () => ({ body: { seconds: 1 } }), 403: true, through: () => development.ask },
};

function ask(
  entry: Entry,
  { params = {}, body, headers }: Request,
  { through = service.ask, query = '', ...one }: Ask & { through?: Client; query?: string } = {},
): Promise<Answer> {
  const path = entry.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? randomUUID());
  const given = one.raw !== undefined || body === undefined ? {} : { body };
  const asked = query === '' ? (SPECIAL[entry.id as keyof operations].query ?? '') : query;
  return through(entry.method, `/operator/v1${path}${asked}`, { ...given, ...one, headers: { ...TOKEN, ...headers, ...one.headers } });
}

const codeOf = ({ status, error }: Answer): [number, string | undefined] => [status, error?.code];

/** What a listed status is proven with, by status; an operation that lists another has no case for it and fails. */
function cases(entry: Entry): Record<string, () => Promise<void>> {
  const special = SPECIAL[entry.id as keyof operations];
  const success = entry.statuses.find((status) => status.startsWith('2')) ?? '';
  const params = [...entry.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
  const { 202: proposed, 409: conflict, 403: refused } = special;
  return {
    [success]: async () => {
      const answer = await ask(entry, await special.request(), { through: special.through?.() ?? service.ask, headers: { 'x-operator': 'ada@console' } });
      expect(answer.status, answer.text).toBe(Number(success));
      const logged = await service.world.database.sql`
        select person, actor, client_ip, token from operator_actions where request_id = ${answer.headers.get('x-request-id')}`;
      expect(logged, 'every change leaves a line in the audit log, and nothing else does').toEqual(
        entry.method === 'GET'
          ? []
          : [{ person: special.by ?? 'operator', actor: 'ada@console', clientIp: '127.0.0.1', token: special.by === undefined ? 'current' : 'named' }],
      );
    },
    400: async () => {
      for (const raw of ['{"a":1,"a":2}', '{', '{}{}']) expect(codeOf(await ask(entry, {}, { raw }))).toEqual([400, 'malformed_json']);
    },
    401: async () => {
      for (const authorization of ['', 'Bearer wrong', `Basic ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}`])
        expect(codeOf(await ask(entry, {}, { headers: { authorization } }))).toEqual([401, 'operator_token_invalid']);
    },
    404: async () => {
      const request = await special.request();
      for (const name of params)
        for (const unknown of ['x'.repeat(200), `${randomUUID()}%20`, '%00'])
          expect([name, unknown, ...codeOf(await ask(entry, { ...request, params: { ...request.params, [name]: unknown } }))]).toEqual([
            name,
            unknown,
            404,
            'not_found',
          ]);
    },
    413: async () => expect(codeOf(await ask(entry, {}, { raw: JSON.stringify({ a: 'x'.repeat(65_536) }) }))).toEqual([413, 'payload_too_large']),
    415: async () => {
      expect(codeOf(await ask(entry, {}, { raw: '{}', headers: { 'content-encoding': 'gzip' } }))).toEqual([415, 'unsupported_media_type']);
      if (entry.takesBody)
        expect(codeOf(await ask(entry, {}, { raw: '{}', headers: { 'content-type': 'text/plain' } }))).toEqual([415, 'unsupported_media_type']);
    },
    422: async () => {
      const { params: known = {} } = await special.request();
      const answer = entry.takesBody
        ? await ask(entry, { params: known }, { raw: '[]' })
        : await ask(entry, { params: known }, { query: special.query === undefined ? '?limit=0' : '?q=' });
      expect(codeOf(answer)).toEqual([422, 'validation_error']);
      expect(answer.error.message).toMatch(entry.takesBody ? /^body: / : special.query === undefined ? /^limit: / : /^q: /);
    },
    429: async () => {
      const request = await special.request();
      const answers = [];
      for (let calls = 0; calls < 10; calls++) answers.push((await ask(entry, request, { through: limited.ask })).status);
      expect(answers).toContain(429);
    },
    500: async () => {
      const answer = await ask(entry, await special.request(), { through: crashing.ask });
      expect(codeOf(answer)).toEqual([500, 'internal_error']);
      expect(answer.text).not.toContain('canary');
      expect(lines.some((line) => line.includes(String(answer.headers.get('x-request-id'))) && line.includes('canary'))).toBe(true);
    },
    503: async () => expect(codeOf(await ask(entry, await special.request(), { through: stranded.ask }))).toEqual([503, 'service_unavailable']),
    ...(proposed === undefined || success === '202'
      ? {}
      : {
          202: async () => {
            const answer = await ask(entry, await proposed(), { through: cautious.ask });
            expect([answer.status, answer.data.status, answer.data.proposedBy], answer.text).toEqual([202, 'open', 'anna']);
          },
        }),
    ...(conflict === undefined ? {} : { 409: async () => expect(codeOf(await ask(entry, await conflict()))).toEqual([409, 'conflict']) }),
    ...(refused === undefined
      ? {}
      : { 403: async () => expect(codeOf(await ask(entry, await special.request(), { through: production.ask }))).toEqual([403, 'forbidden']) }),
  };
}

describe.each(OPERATOR_CATALOGUE.map((entry) => [entry.id, entry] as const))('%s', (_id, entry) => {
  const all = cases(entry);
  it.each(entry.statuses)('%s', async (status) => {
    expect(Object.keys(all), 'a listed status has a case').toContain(status);
    await all[status]?.();
  });
});
