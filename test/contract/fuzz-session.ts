import { randomUUID } from 'node:crypto';
import { generateSync } from 'json-schema-faker';
import { expect } from 'vitest';
import { matureCredits } from '#api/ledger/mature-credits.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { CATALOGUE, type Entry } from './catalogue.ts';
import type { Answer, Client } from './client.ts';
import type { OperationId } from './examples.ts';
import type { Asked, Body, Paid, Step, Target } from './fuzz-steps.ts';
import { edgesOf, mutate, type Schema } from './hostile.ts';
import { callerOf, payTo, type Service, type Shop } from './service.ts';

/** One of the two gateways of a session, and everything the contract says only it may read. */
interface Party {
  shop: Shop;
  /** In everything it stores, so that it is noticed wherever it turns up. */
  mark: string;
  payments: { id: string; offers: string[] }[];
  settlements: string[];
  addresses: string[];
  cursors: string[];
  /** Ids, addresses, hashes and marks that no answer to the other gateway may hold. */
  owned: Set<string>;
  /** What no answer to anybody may hold. */
  secrets: string[];
  /** Successes that carried an Idempotency-Key. */
  kept: { entry: Entry; path: string; raw: string | Uint8Array<ArrayBuffer> | undefined; key: string; text: string }[];
}

/** A request as it goes out. */
interface Outgoing {
  entry: Entry;
  method: string;
  path: string;
  raw: string | Uint8Array<ArrayBuffer> | undefined;
  key: string | null;
  headers: Record<string, string>;
  /** It names something of the other gateway in its path. */
  foreign: boolean;
}

export interface Session {
  /** Does one step and checks everything that must hold after it; throws with the request when something does not. */
  run(step: Step): Promise<void>;
  /** Answers seen, by status. */
  statuses: Map<number, number>;
}

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const HOOK = 'http://127.0.0.1:8099/hook';
const CALLBACK = 'https://shop.example/thanks?a=1#b';
const entryOf = new Map(CATALOGUE.map((entry) => [entry.id, entry]));
const nth = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(list.length, 1)];

/** Opens a session with two fresh gateways that own a payment, an address, a balance and a cashout each. */
export async function openSession(service: Service, ask: Client, schemas: ReadonlyMap<string, Schema>): Promise<Session> {
  const everything = { openAmount: { enabled: true, minAmountUsd: '5', assetIds: null } };
  const parties = [
    await aParty(service, { ...everything, settings: { underAcceptableDiff: '1', acceptableDiffKind: 'PERCENTAGE', commissionBps: 100 } }),
    await aParty(service, { ...everything, cashout: { enabled: true, allowlist: ['127.0.0.1'], approvalCapUsd: '3' } }),
  ] as [Party, Party];
  const statuses = new Map<number, number>();
  const edges = new Map([...schemas].map(([id, schema]) => [id, edgesOf(schema)]));

  const request = async (step: Asked): Promise<void> => {
    const [me, other] = [parties[step.actor], parties[step.actor === 0 ? 1 : 0]];
    const outgoing = prepare(step, me, other, { service, schemas, edges });
    const story = () => `${outgoing.method} ${outgoing.path} ${JSON.stringify(outgoing.headers)} key ${outgoing.key}\n${String(outgoing.raw).slice(0, 4_000)}`;
    let heard = 'no answer';
    try {
      const answer = await selecting(service, outgoing, () => send(step, outgoing, me, other, ask));
      heard = `${answer.status} ${answer.text.slice(0, 2_000)}`;
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      examine(step, outgoing, answer, me, other);
      if (answer.status < 300) learn(outgoing, answer, ownerOf(outgoing, me, other));
    } catch (error) {
      throw new Error(`${story()}\n${heard}\n${(error as Error).message}`, { cause: error });
    }
  };

  return {
    statuses,
    async run(step) {
      if (step.kind === 'ask') await request(step);
      else if (step.kind === 'pay') await pay(service, parties[step.actor], step);
      else await service.wait(step.seconds);
    },
  };
}

async function aParty(service: Service, settings: Record<string, unknown>): Promise<Party> {
  const shop = await service.aShop(settings);
  const mark = `mark-${randomUUID()}`;
  const party: Party = {
    shop,
    mark,
    payments: [],
    settlements: [],
    addresses: [],
    cursors: [],
    owned: new Set([shop.id, mark]),
    secrets: [shop.apiKey, shop.cashoutSecret],
    kept: [],
  };
  await shop.fund('USDT', '500');
  const { paymentUid, payment } = await shop.payment({ webhookParams: { mark } });
  remember(party, { paymentUid, payment });
  const made = await shop.signed('POST', '/merchant/settlements', { body: { ...cashout(service), metadata: { mark } } });
  expect(made.status, made.text).toBe(200);
  party.settlements.push(String(made.data.id));
  party.owned.add(String(made.data.id));
  return party;
}

const cashout = (service: Service): Record<string, unknown> => ({ assetId: service.world.assets.USDT?.id, amount: '2', address: ADDRESS });

/** Bodies that an operation accepts, a few for each, all with the mark of their gateway. */
function accepted(id: OperationId, seed: number, { mark }: Party, service: Service): Record<string, unknown> {
  const { USDT, ETH } = service.world.assets as Record<'USDT' | 'ETH', StoredAsset>;
  const hosted = { currencyCode: 'USD', amount: '10', callbackUrl: CALLBACK, callbackParams: { mark }, webhookParams: { mark } };
  const api = { currencyCode: 'usd', amount: '10.50', checkoutMode: 'API', webhookUrl: HOOK, webhookParams: { mark } };
  const priced = { ...api, assets: [{ assetId: USDT.id, assetPriceUsd: '1' }] };
  const creates = [
    api,
    priced,
    hosted,
    { ...api, isSandbox: true },
    { ...api, timeoutSeconds: 60 },
    { ...hosted, webhookUrl: HOOK, timeoutSeconds: 1, language: 'de', txFeePayer: 'CUSTOMER', commissionFeePayer: 'CUSTOMER' },
    { ...api, overAcceptableDiff: '1', underAcceptableDiff: '1', acceptableDiffKind: 'ABSOLUTE' },
    { ...priced, checkAmountDeviation: false },
    { ...hosted, type: 'PAYLINK', paylinkId: randomUUID(), isSandbox: true },
  ];
  const open = { checkoutMode: 'API', webhookUrl: HOOK, webhookParams: { mark } };
  const bodies: Partial<Record<OperationId, Record<string, unknown>[]>> = {
    createPayment: creates,
    createOpenAmountPayment: [open, { callbackUrl: CALLBACK, callbackParams: { mark } }, { ...open, currencyCode: 'EUR', timeoutSeconds: 60 }],
    previewPayment: [...creates, { ...api, whatIf: { assetId: USDT.id, amount: '10.4' } }, { ...hosted, whatIf: { assetId: ETH.id, amount: '1' } }],
    inquirePayment: [{ txHash: `0x${'a'.repeat(64)}` }, { txHash: `0x${String(seed).padStart(64, '0')}`, network: 'ethereum' }],
    simulateSandboxPayment: ['success', 'acceptable', 'underpaid', 'overpaid', 'wrong_asset', 'seen_then_confirmed', 'late_capture', 'expired'].map(
      (scenario) => ({ scenario }),
    ),
    estimateSettlementFee: [cashout(service), { ...cashout(service), assetId: ETH.id, amount: '0.5' }],
    createSettlement: [
      { ...cashout(service), metadata: { mark } },
      { ...cashout(service), amount: '5', label: mark, route: null },
      { ...cashout(service), amount: '100000' },
      { ...cashout(service), route: 'SMART' },
    ],
    approveSettlement: [{ totpCode: '123456' }],
  };
  return nth(bodies[id] ?? [{}], seed) ?? {};
}

interface Means {
  service: Service;
  schemas: ReadonlyMap<string, Schema>;
  edges: ReadonlyMap<string, ReturnType<typeof edgesOf>>;
}

function prepare(step: Asked, me: Party, other: Party, means: Means): Outgoing {
  const entry = entryOf.get(step.operation) as Entry;
  const replayed = step.key.how === 'replay' ? nth(me.kept, step.key.index) : undefined;
  if (replayed !== undefined) {
    const { path, raw, key } = replayed;
    return { entry: replayed.entry, method: replayed.entry.method, path, raw, key, headers: {}, foreign: false };
  }
  const { path, foreign } = pathOf(step, entry, me, other);
  const search = step.query.map(([name, value]): [string, string] => [name, cursor(value, me, other)]);
  const query = search.length === 0 ? '' : `?${new URLSearchParams(search)}`;
  const whole = `${path}${query}`;
  return {
    entry,
    method: step.twist === 'method' ? (nth(['PUT', 'PATCH', 'DELETE', 'GET', 'POST', 'OPTIONS'], step.body.seed) ?? 'PUT') : entry.method,
    path:
      step.twist === 'path' ? (nth([`${path}/`, `${path}/x`, `/${whole}`, path.toUpperCase(), `${whole}//`, `${path}%2F`], step.body.seed) ?? whole) : whole,
    raw: entry.takesBody || step.body.seed % 5 === 0 ? textOf(step.body, step.operation, me, means) : undefined,
    key: keyOf(step, entry, me),
    headers: step.header === null ? {} : { [step.header[0]]: step.header[1] },
    foreign,
  };
}

function pathOf({ targets }: Asked, entry: Entry, me: Party, other: Party): { path: string; foreign: boolean } {
  let foreign = false;
  const payment = (target: Target, of: Party) => nth(of.payments, target.index);
  const path = entry.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const target = (name === 'offerId' ? targets[1] : targets[0]) as Target;
    const of = target.of === 'other' ? other : me;
    const known = {
      paymentId: payment(target, of)?.id,
      offerId: nth(payment(targets[0] as Target, of)?.offers ?? [], target.index),
      settlementId: nth(of.settlements, target.index),
    }[name];
    if (target.of === 'unknown') return randomUUID();
    if (target.of === 'hostile' || known === undefined) return target.text === '' ? 'x' : target.text;
    if (target.of === 'crossed') return nth([me.shop.id, me.settlements[0], me.payments[0]?.id, other.shop.id], target.index) ?? randomUUID();
    foreign ||= target.of === 'other';
    return target.index % 7 === 0 ? known.toUpperCase() : known;
  });
  return { path, foreign };
}

function cursor(value: string, me: Party, other: Party): string {
  if (value === '@own') return me.cursors.at(-1) ?? '';
  return value === '@other' ? (other.cursors.at(-1) ?? '') : value;
}

function keyOf({ key }: Asked, entry: Entry, me: Party): string | null {
  if (key.how === 'none') return null;
  if (key.how === 'odd') return key.text;
  if (key.how === 'reuse') return nth(me.kept, key.index)?.key ?? randomUUID();
  return entry.idempotencyKey === 'none' && key.index % 4 > 0 ? null : randomUUID();
}

/** The body in bytes: broken as a value first, then as text. */
function textOf(body: Body, id: OperationId, me: Party, { service, schemas, edges }: Means): string | Uint8Array<ArrayBuffer> {
  const made = {
    accepted: () => accepted(id, body.seed, me, service),
    schema: () => withAssets(generateSync(schemas.get(id) ?? {}, { seed: body.seed }), body.seed, service),
    value: () => body.value,
  }[body.from]();
  const value = body.mutations.reduce((broken, mutation) => mutate(broken, mutation, edges.get(id)), made);
  const text = JSON.stringify(value) ?? 'null';
  const inner = text.startsWith('{') && text !== '{}' ? text.slice(1) : '"a":1}';
  switch (body.text) {
    case 'as it is':
      return text;
    case 'duplicate':
      return `{"amount":"1","amount":"1",${inner}`;
    case 'cut':
      return text.slice(0, body.seed % Math.max(text.length, 1));
    case 'trailing':
      return `${text}${nth([' ', '\n', ',', '}', '\0', '{}', '//'], body.seed)}`;
    case 'deep':
      return `{"deep":${'['.repeat(body.seed % 3_000)}${']'.repeat(body.seed % 3_000)},${inner}`;
    case 'numbers':
      return `{"timeoutSeconds":${nth(['1e999', '-0', '01', '1e-400', '123456789012345678901234567890', 'NaN', '+1', '.5', '60.0'], body.seed)},${inner}`;
    case 'long':
      return `{"x":"${'é'.repeat(20_000)}",${inner}`;
    case 'too long':
      return `{"x":"${'x'.repeat(65_536)}",${inner}`;
    case 'bytes':
      return new Uint8Array([0x7b, 0x22, body.seed % 256, (body.seed >> 8) % 256, 0x22, 0x3a, 0x31, 0x7d]);
    case 'empty':
      return '';
    case 'spaced':
      return ` \n\t${text.replaceAll(',', ' , ')}\r\n`;
  }
}

/** A generated body names assets that exist, most of the time. */
function withAssets(value: unknown, seed: number, service: Service): unknown {
  if (seed % 4 === 0) return value;
  const text = JSON.stringify(value, (name, one: unknown) => (name === 'assetId' ? nth(Object.values(service.world.assets), seed)?.id : one));
  return text === undefined ? value : (JSON.parse(text) as unknown);
}

function send(step: Asked, { entry, method, path, raw, key, headers }: Outgoing, me: Party, other: Party, ask: Client): Promise<Answer> {
  const body = raw === undefined || method === 'GET' ? {} : { raw };
  const keyed: Record<string, string> = key === null ? {} : { 'idempotency-key': key };
  const all = { ...keyed, ...headers };
  if (entry.scheme === null || step.credentials === 'none') return ask(method, `/api/v1${path}`, { ...body, headers: all });
  const caller = callerOf(ask, me.shop);
  if (step.credentials === 'unknown')
    return caller.call(method, path, { ...body, headers: { ...all, 'x-api-key': `sluice_${'0'.repeat(16)}_${'0'.repeat(64)}` } });
  if (entry.scheme === 'apiKey' || step.credentials === 'unsigned') return caller.call(method, path, { ...body, headers: all });
  const signing = { 'other secret': { secret: other.shop.cashoutSecret }, stale: { timestamp: String(Math.floor(Date.now() / 1000) - 400) }, own: {} }[
    step.credentials
  ];
  return caller.signed(method, path, { ...body, ...signing, headers: all, idempotencyKey: null });
}

/** Plays the indexer while an offer is selected, which would otherwise wait for one. */
async function selecting<T>(service: Service, { entry }: Outgoing, run: () => Promise<T>): Promise<T> {
  const running = run();
  if (entry.id !== 'selectOffer') return running;
  const state = { waiting: true };
  const stop = (): void => {
    state.waiting = false;
  };
  running.then(stop, stop);
  while (state.waiting) await service.world.acknowledge();
  return running;
}

/** What must hold whatever was sent; the client has checked the contract file by now. */
function examine(step: Asked, outgoing: Outgoing, answer: Answer, me: Party, other: Party): void {
  const { entry, foreign } = outgoing;
  const { status, text, error } = answer;
  expect(status, 'nothing a caller sends is our fault').toBeLessThan(500);
  if (error?.code === 'validation_error') expect(error.message, 'a field is named').toMatch(/^.{1,260}: \S/s);
  if (entry.scheme !== null && !genuine(step, entry)) expect(status, 'credentials count').toBeGreaterThanOrEqual(400);
  if (entry.scheme !== null && foreign) expect(status, "another gateway's resource is unknown").toBeGreaterThanOrEqual(400);

  const sent = `${decodeURIComponentSafely(outgoing.path)} ${String(outgoing.raw)} ${JSON.stringify(outgoing.headers)}`.toLowerCase();
  const heard = text.toLowerCase();
  const leaked = (what: Iterable<string>): string[] => [...what].filter((one) => heard.includes(one.toLowerCase()) && !sent.includes(one.toLowerCase()));
  expect(leaked([...me.secrets, ...other.secrets]), 'no answer tells a secret').toEqual([]);
  const stranger = ownerOf(outgoing, me, other) === me ? other : me;
  expect(leaked(stranger.owned), 'no answer tells what belongs to another gateway').toEqual([]);

  const kept = me.kept.find((one) => one.entry.id === entry.id && one.key === outgoing.key);
  if (kept === undefined || status >= 300 || outgoing.method !== entry.method) return;
  expect(text, 'a repeated Idempotency-Key has one effect').toBe(kept.text);
  const sameness = ({ path, raw }: Pick<Outgoing, 'path' | 'raw'>): string[] => [path.replace(/\?.*/s, ''), String(raw)];
  expect(sameness(outgoing), 'only the same request is replayed').toEqual(sameness(kept));
  expect(answer.headers.get('idempotency-replayed')).toBe('true');
}

/** Whether the request carries what its scheme asks for. */
function genuine({ credentials }: Asked, { scheme }: Entry): boolean {
  return credentials === 'own' || (scheme === 'apiKey' && ['other secret', 'stale', 'unsigned'].includes(credentials));
}

/** Whose data an answer may hold: the caller's, or on a public operation that of the payment it names. */
function ownerOf({ entry, path }: Outgoing, me: Party, other: Party): Party {
  const named = decodeURIComponentSafely(path).toLowerCase();
  return entry.scheme === null && other.payments.some((payment) => named.includes(payment.id)) ? other : me;
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Notes what a success made or showed, so that later steps use it and no stranger may see it. */
function learn(outgoing: Outgoing, answer: Answer, owner: Party): void {
  remember(owner, answer.data);
  const { pagination } = answer.data as { pagination?: { nextCursor: string | null } };
  if (typeof pagination?.nextCursor === 'string') owner.cursors.push(pagination.nextCursor);
  if (outgoing.entry.id === 'createSettlement' && outgoing.method === 'POST' && !owner.settlements.includes(String(answer.data.id)))
    owner.settlements.push(String(answer.data.id));
  if (
    outgoing.key !== null &&
    outgoing.method === outgoing.entry.method &&
    outgoing.entry.idempotencyKey !== 'none' &&
    answer.headers.get('idempotency-replayed') === null
  )
    owner.kept.push({ entry: outgoing.entry, path: outgoing.path, raw: outgoing.raw, key: outgoing.key, text: answer.text });
}

/** Fields that name something of one gateway only. */
const OWNED = new Set(['id', 'paymentUid', 'depositAddress', 'selectedOfferId', 'nextCursor']);

/** What answers about one payment have in common. */
interface Shown {
  id?: string;
  paymentUid?: string;
  offers?: { id: string }[];
  payment?: { offers: { id: string }[] };
}

function remember(owner: Party, data: Record<string, unknown>): void {
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [name, value] of Object.entries(node)) {
      if (OWNED.has(name) && typeof value === 'string' && value !== '') owner.owned.add(value);
      if (name === 'depositAddress' && typeof value === 'string' && value.startsWith('0x') && !owner.addresses.includes(value)) owner.addresses.push(value);
      walk(value);
    }
  };
  walk(data);
  const { paymentUid, payment, id = paymentUid, offers = payment?.offers } = data as Shown;
  const known = owner.payments.find((one) => one.id === id);
  if (known !== undefined) known.offers = offers?.map((offer) => offer.id) ?? known.offers;
  else if (paymentUid !== undefined) owner.payments.push({ id: paymentUid, offers: offers?.map((offer) => offer.id) ?? [] });
}

async function pay(service: Service, party: Party, { index, symbol, amount }: Paid): Promise<void> {
  const address = nth(party.addresses, index);
  if (address === undefined) return;
  await service.mine([payTo(address, service.world.assets[symbol] as StoredAsset, amount)]);
  await service.mine();
  await matureCredits(service.worker);
}
