import type { Commit, Deps, Gateway, Reply } from '#api/deps.ts';
import { post } from '#api/ledger/post.ts';
import { upsertAddressBookEntry } from '#api/store/address-book.ts';
import { appendEvent } from '#api/store/advance.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { drawCredits } from '#api/store/credit-draws.ts';
import { findAccounts, insertZeroAccounts, lockAccounts, readBalance } from '#api/store/ledger.ts';
import { insertOutbox } from '#api/store/outbox.ts';
import { countParked, insertSettlement } from '#api/store/settlements.ts';
import { Invariant, invalid, ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { amount, type Coins, formatAmount, parseTrusted, zero } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { withdrawableAccount } from '#state-machines/ledger/accounts.ts';
import { reserve } from '#state-machines/ledger/postings.ts';
import { decide } from '#state-machines/settlement/decide.ts';
import type { Claim, Decision, Route, SettlementRequest } from '#state-machines/settlement/settlement.ts';
import { type Destination, readAmount, readAsset, readDestination } from './destination.ts';
import { intentMac } from './intent.ts';
import { freshPrice, quoteFee } from './quote-fee.ts';
import { settlementView } from './view.ts';

const ROUTES: readonly Route[] = ['GREEN', 'AML_HELD', 'SMART'];
const LABEL_LENGTH = 255;

/** Body of `POST /merchant/settlements` (contract 4.3); every rule about it is checked here again. */
export interface CreateSettlementBody {
  assetId: string;
  amount: string;
  route?: string | null | undefined;
  address: string;
  label?: string | null | undefined;
  metadata?: Record<string, unknown> | null | undefined;
  /** Removed in revision 2.0.0; sending it is an error that names `route`. */
  isQuarantined?: unknown;
}

export interface CreateSettlement {
  gateway: Gateway;
  body: CreateSettlementBody;
  commit: Commit;
}

interface Request {
  asset: StoredAsset;
  destination: Destination;
  amountText: string;
  label: string;
  metadata: Record<string, unknown> | null;
}

/**
 * Creates a cashout: asks the gates with everything they need fetched beforehand, then decides a last time under the
 * pool's lock and claims the amount in that same transaction (contract 4.3, decisions 10).
 * Locks the pool's ledger account, then the credits it draws.
 * @throws validation_error, below_minimum_settlement, amount_below_network_fee, insufficient_balance,
 * fee_estimation_unavailable, not_implemented for what a later revision of this service brings
 */
export async function createSettlement(deps: Deps, { gateway, body, commit }: CreateSettlement): Promise<Reply> {
  if (body.isQuarantined !== undefined) throw invalid('route', 'replaces isQuarantined, which was removed');
  const { asset, chain } = await readAsset(deps, body.assetId);
  const { coins, raw } = readAmount(body.amount, asset.decimals);
  const route = readRoute(body.route);
  const destination = await readDestination(deps, asset, chain, body.address);
  const label = readLabel(deps, body.label);
  const metadata = readMetadata(body.metadata);
  if (route !== 'GREEN') throw new ServiceError('not_implemented', { message: `The ${route} route is not available yet.` });

  const { cashout, screening } = gateway.settings;
  const base: SettlementRequest = {
    amount: coins,
    decimals: asset.decimals,
    route,
    minimumSettlement: asset.minimumSettlement,
    screening,
    parkingEnabled: cashout.parkingEnabled,
    parkedCap: cashout.parkedCap,
    approvalCapUsd: cashout.approvalCapUsd === null ? null : parseTrusted(cashout.approvalCapUsd),
    parkedAs: null,
  };
  const facts = await fetchFacts(base, {
    price: () => freshPrice(deps, asset.symbol),
    fee: () => quoteFee(deps, { gateway, asset, chain, pool: 'green', recipient: destination.canonical, rawAmount: raw }),
  });
  const reply = await commit((tx) => claim(tx, deps, gateway, { asset, destination, amountText: body.amount, label, metadata }, facts));
  deps.wake();
  return reply;
}

/**
 * Fetches what the gates ask for, with no transaction open. What changes from one moment to the next (the pool, the count
 * of parked ones) is left for the transaction: a duplicate of a call that just claimed everything must replay that call's
 * reply rather than be refused.
 */
async function fetchFacts(
  base: SettlementRequest,
  fetch: { price: () => Promise<SettlementRequest['priceUsd']>; fee: () => Promise<Coins> },
): Promise<SettlementRequest> {
  let facts: SettlementRequest = { ...base, pools: { green: base.amount, held: base.amount } };
  for (;;) {
    const decision = decide(facts);
    if (decision.outcome !== 'needs') {
      if (decision.outcome === 'refuse') refuse(decision);
      return facts;
    }
    if (decision.fact === 'price') facts = { ...facts, priceUsd: await fetch.price() };
    else if (decision.fact === 'fee') facts = { ...facts, feeLocked: await fetch.fee() };
    else if (decision.fact === 'screen') throw new ServiceError('not_implemented', { message: 'Screening of destinations is not available yet.' });
    else throw new Invariant(`decide asked for ${decision.fact} before the pool was short`);
  }
}

async function claim(tx: Tx, deps: Deps, gateway: Gateway, request: Request, fetched: SettlementRequest): Promise<Reply> {
  const available = await lockPool(tx, gateway.id, request.asset.id);
  const parkedCount = fetched.parkingEnabled ? await countParked(tx, gateway.id) : 0;
  const facts: SettlementRequest = { ...fetched, pools: { green: available, held: zero }, parkedCount };
  const decision = decide(facts);
  if (decision.outcome === 'refuse') refuse(decision);
  if (decision.outcome === 'needs') throw new Invariant(`decide still needs ${decision.fact} under the pool's lock`);
  if (decision.outcome === 'park') throw new ServiceError('not_implemented', { message: 'Parking a cashout is not available yet.' });

  const id = uuidFrom(deps.randomBytes(16));
  const addressId = await upsertAddressBookEntry(tx, {
    id: uuidFrom(deps.randomBytes(16)),
    gatewayId: gateway.id,
    networkId: request.asset.networkId,
    address: request.destination.canonical,
    label: request.label,
  });
  await drawCredits(tx, { settlementId: id, gatewayId: gateway.id, assetId: request.asset.id, pool: 'green', total: facts.amount });
  await post(tx, {
    sourceKey: `settlement:${id}:reserve`,
    kind: 'reserve',
    postings: reserve({ gatewayId: gateway.id, assetId: request.asset.id, settlementId: id, pool: 'green', amount: facts.amount }),
  });
  const hold = decision.outcome === 'hold' ? decision.reason : null;
  const settlement = await insertSettlement(tx, {
    id,
    gatewayId: gateway.id,
    assetId: request.asset.id,
    networkId: request.asset.networkId,
    status: hold === null ? 'REQUESTED' : 'PENDING_APPROVAL',
    addressId,
    address: request.destination.display,
    amountText: request.amountText,
    amount: facts.amount,
    route: 'GREEN',
    pool: 'green',
    metadata: request.metadata,
    feeLocked: decision.feeLocked,
    netAmount: decision.netAmount,
    dispatchDelaySeconds: gateway.settings.cashout.dispatchDelaySeconds,
    holdReason: hold,
    intentMac: intentMac(deps.config.SLUICE_MASTER_KEY, {
      settlementId: id,
      gatewayId: gateway.id,
      assetId: request.asset.id,
      networkId: request.asset.networkId,
      recipient: request.destination.canonical,
      pool: 'green',
      amount: facts.amount,
      feeLocked: decision.feeLocked,
    }),
  });
  await appendEvent(tx, 'settlement', { id, event: 'CREATED', from: null, to: settlement.status, facts: recordOf(facts, decision), actor: 'merchant' });
  if (settlement.dispatchAt !== null) {
    await insertOutbox(tx, { id: uuidFrom(deps.randomBytes(16)), topic: 'settlement.dispatch', refId: id, dueAt: settlement.dispatchAt });
  }
  deps.metrics?.settlementTransitions.inc({ from: 'none', to: settlement.status, route: 'GREEN' });
  crashPoint('settle.reserved');
  return { status: 200, data: settlementView(deps, settlement), resourceId: id };
}

/** Locks a gateway's green pool of an asset until commit and reads what it holds; claims of one pool queue here. */
async function lockPool(tx: Tx, gatewayId: string, assetId: string): Promise<Coins> {
  const key = { ...withdrawableAccount('green', gatewayId), assetId };
  let accounts = await findAccounts(tx, [key]);
  if (accounts.length === 0) {
    await insertZeroAccounts(tx, [key]);
    accounts = await findAccounts(tx, [key]);
  }
  await lockAccounts(
    tx,
    accounts.map((account) => account.id),
  );
  return amount(await readBalance(tx, key));
}

function recordOf(facts: SettlementRequest, claimed: Claim): Record<string, unknown> {
  return {
    available: formatAmount(facts.pools?.green ?? 0n),
    feeLocked: formatAmount(claimed.feeLocked),
    ...(facts.priceUsd !== undefined && { priceUsd: formatAmount(facts.priceUsd) }),
  };
}

function refuse(decision: Extract<Decision, { outcome: 'refuse' }>): never {
  throw new ServiceError(decision.code, { field: 'amount', ...(decision.message !== undefined && { message: decision.message }) });
}

function readRoute(route: string | null | undefined): Route {
  if (route === undefined || route === null) return 'GREEN';
  const known = ROUTES.find((one) => one === route);
  if (known === undefined) throw invalid('route', `must be one of ${ROUTES.join(', ')}`);
  return known;
}

function readLabel(deps: Deps, label: string | null | undefined): string {
  if (label === undefined || label === null) return `api-${Buffer.from(deps.randomBytes(8)).toString('hex')}`;
  if (typeof label !== 'string' || label === '' || label.length > LABEL_LENGTH) throw invalid('label', `must be a text of 1 to ${LABEL_LENGTH} characters`);
  if (!isStorable(label)) throw invalid('label', 'holds a character that cannot be stored');
  return label;
}

/** A one-level object of at most 4 KB of UTF-8 (contract 4.3). */
function readMetadata(metadata: Record<string, unknown> | null | undefined): Record<string, unknown> | null {
  if (metadata === undefined || metadata === null) return null;
  if (typeof metadata !== 'object' || Array.isArray(metadata)) throw invalid('metadata', 'must be an object');
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value === 'object' && value !== null) throw invalid('metadata', `must be one level deep; ${key.slice(0, 40)} holds an object or a list`);
    if (!isStorable(key) || (typeof value === 'string' && !isStorable(value))) throw invalid('metadata', 'holds a character that cannot be stored');
  }
  const bytes = Buffer.byteLength(JSON.stringify(metadata), 'utf8');
  if (bytes > POLICY.metadataBytes) throw invalid('metadata', `is ${bytes} bytes long; at most ${POLICY.metadataBytes} are allowed`);
  return metadata;
}

/** Postgres holds neither NUL nor half a surrogate pair. */
function isStorable(text: string): boolean {
  return !text.includes('\u0000') && !/\p{Surrogate}/u.test(text);
}
