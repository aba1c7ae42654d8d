import type { Deps, Gateway } from '#api/deps.ts';
import { gatewayBalances } from '#api/ledger/balances.ts';
import { findPrice } from '#api/store/prices.ts';
import type { operations } from '#api/contract/types.ts';
import {
  countNarrowedSettlements,
  countSettlements,
  findLastLookedSettlement,
  findSettlement,
  listSettlementRows,
  type SettlementNarrowing,
  type StoredSettlement,
} from '#api/store/settlements.ts';
import { invalid } from '#shared/core/errors.ts';
import { amount, type Coins, coinsToUsd, formatAmount, formatCents, zero } from '#shared/core/money.ts';
import type { SentJson } from '#shared/core/sent-json.ts';
import { POLICY } from '#shared/core/policy.ts';
import { readTime } from '#shared/core/read-time.ts';
import { badCursor, paginate, paginateLooked, type Pagination, readPage } from '#shared/platform/page.ts';
import { SETTLEMENT_STATUSES, type SettlementStatus } from '#state-machines/settlement/machine.ts';
import { ownSettlement } from './own.ts';

/** The slim settlement object (contract 2.8); a field that is optional there is absent rather than null. */
export interface SettlementView {
  id: string;
  address: string;
  assetName: string;
  network: string;
  source: 'API';
  status: SettlementStatus;
  route: 'GREEN' | 'AML_HELD' | 'SMART';
  routedBy?: 'SMART_ROUTE';
  destinationRiskScore?: number;
  metadata?: SentJson;
  amount: string;
  feeLocked: string;
  netAmount: string;
  receivedAmount: string;
  feeCharged?: string;
  shortfall?: string;
  shortfallUsd?: string;
  expiresAt?: string;
  txHash: string;
  blockchainUrl: string;
  createdAt: string;
  dispatchAt?: string;
  settledAt?: string;
  rejectedAt?: string;
  rejectReason?: 'CANCELLED' | 'PARKING_EXPIRED' | 'OPERATOR';
  amountUsd?: string;
  holdReason?: string;
}

/** Turns a row into the contract's object. Only reads add `shortfall`, never create (contract 2.8). */
export function settlementView(deps: Pick<Deps, 'chains'>, row: StoredSettlement): SettlementView {
  const parked = row.status === 'UNDERFUNDED' || row.status === 'WAITING_AML_CREDIT';
  const txHash = row.status === 'SETTLED' ? (row.txid ?? '') : '';
  const link = deps.chains.get(row.networkName)?.config.explorerTxUrl;
  return {
    id: row.id,
    address: row.address,
    assetName: row.assetSymbol,
    network: row.networkName,
    source: 'API',
    status: row.status,
    route: routeOf(row),
    ...(row.routedByService && { routedBy: 'SMART_ROUTE' as const }),
    ...(row.routedByService && row.destinationRiskScore !== null && { destinationRiskScore: row.destinationRiskScore }),
    ...(row.metadata !== null && { metadata: row.metadata }),
    amount: row.amountText,
    feeLocked: textOf(row.feeLocked),
    netAmount: textOf(row.netAmount),
    receivedAmount: row.status === 'SETTLED' ? textOf(row.receivedAmount) : '',
    ...(row.charged > 0n && { feeCharged: formatAmount(row.charged) }),
    ...(parked && row.expiresAt !== null && { expiresAt: row.expiresAt.toISOString() }),
    txHash,
    blockchainUrl: txHash === '' || link === undefined ? '' : link.replace('{txHash}', txHash),
    createdAt: row.createdAt.toISOString(),
    ...(row.dispatchAt !== null && { dispatchAt: row.dispatchAt.toISOString() }),
    ...(row.settledAt !== null && { settledAt: row.settledAt.toISOString() }),
    ...(row.rejectedAt !== null && { rejectedAt: row.rejectedAt.toISOString() }),
    // What the operator wrote about it is the operator's.
    ...(row.rejectedBy !== null && { rejectReason: row.rejectedBy === 'OPERATOR_REJECTED' ? 'OPERATOR' : row.rejectedBy }),
    ...(row.priceUsd !== null && { amountUsd: formatCents(coinsToUsd(row.amount, row.priceUsd, 'half-up')) }),
    ...(row.holdReason !== null && { holdReason: row.holdReason }),
  };
}

/** SMART while no verdict has chosen the pool. A cashout that ended without a pool never drew from any (contract 2.8). */
function routeOf({ status, pool }: StoredSettlement): SettlementView['route'] {
  if (pool === null) return status === 'WAITING_AML_CREDIT' ? 'SMART' : 'GREEN';
  return pool === 'held' ? 'AML_HELD' : 'GREEN';
}

/** One settlement of this gateway. @throws not_found for an unknown id and for another gateway's alike (contract 5.3) */
export async function getSettlement(deps: Deps, { gateway, id }: { gateway: Gateway; id: string }): Promise<SettlementView> {
  const row = await ownSettlement(deps, gateway, id);
  const [view] = await readViews(deps, gateway, [row]);
  return view as SettlementView;
}

/** The query as the contract file lets it through. */
export type ListSettlements = { gateway: Gateway } & NonNullable<operations['listSettlements']['parameters']['query']>;

export interface SettlementList {
  items: SettlementView[];
  pagination: Pagination;
}

/**
 * Settlements of this gateway, newest first; `after` wins over `page` (contract 4.3, decisions 8). Narrowed by more than their status, a page looks through so
 * many rows and no more (decision 0065).
 * @throws validation_error for an unknown status, an unreadable time, a limit or page below 1, or a cursor this gateway was never given
 */
export async function listSettlements(deps: Deps, query: ListSettlements): Promise<SettlementList> {
  const { sql } = deps.db;
  const status = query.status === undefined ? null : SETTLEMENT_STATUSES.find((one) => one === query.status);
  if (status === undefined) throw invalid('status', `must be one of ${SETTLEMENT_STATUSES.join(', ')}`);
  const narrowing: SettlementNarrowing = {
    createdFrom: readTime('createdFrom', query.createdFrom),
    createdTo: readTime('createdTo', query.createdTo),
    settledFrom: readTime('settledFrom', query.settledFrom),
    settledTo: readTime('settledTo', query.settledTo),
    asset: query.asset ?? null,
    network: query.network ?? null,
  };
  const page = readPage(query);
  if (page.afterId !== null && (await findSettlement(sql, page.afterId))?.gatewayId !== query.gateway.id) throw badCursor();
  const isNarrowed = Object.values(narrowing).some((one) => one !== null);
  // Without a limit of its own an unnarrowed list reaches as far back as its pages do.
  const window = isNarrowed ? POLICY.listLookedThrough : page.offset + page.limit + 1;
  const list = { gatewayId: query.gateway.id, status, narrowing, after: page.afterId, window };
  const rows = await listSettlementRows(sql, { ...list, limit: page.limit, offset: page.offset });
  if (!isNarrowed) {
    const { shown, pagination } = paginate(rows, page, await countSettlements(sql, query.gateway.id, status));
    return { items: await readViews(deps, query.gateway, shown), pagination };
  }
  const counted = await countNarrowedSettlements(sql, { ...list, after: null });
  const lastLooked = rows.length > page.limit ? undefined : await findLastLookedSettlement(sql, list);
  const { shown, pagination } = paginateLooked(rows, page, { ...counted, lastLooked });
  return { items: await readViews(deps, query.gateway, shown), pagination };
}

/** Views of rows, with the field that only reads have: how much an UNDERFUNDED cashout lacks by the current balances (contract 2.8). */
async function readViews(deps: Deps, gateway: Gateway, rows: readonly StoredSettlement[]): Promise<SettlementView[]> {
  const short = rows.filter((row) => row.status === 'UNDERFUNDED');
  if (short.length === 0) return rows.map((row) => settlementView(deps, row));
  // The shortfall is omitted, never 0, when the balance cannot be read.
  const balances = await gatewayBalances(deps.db.sql, gateway.id).catch(() => undefined);
  const symbols = [...new Set(short.map((row) => row.assetSymbol))];
  const prices = new Map(
    await Promise.all(symbols.map(async (symbol) => [symbol, (await findPrice(deps.db.sql, symbol).catch(() => undefined))?.usd] as const)),
  );
  return rows.map((row) => {
    const view = settlementView(deps, row);
    if (row.status !== 'UNDERFUNDED' || balances === undefined) return view;
    const balance = balances.find((one) => one.assetId === row.assetId);
    const available = row.pool === 'held' ? heldNow(gateway, balance?.held) : (balance?.available ?? zero);
    const missing: Coins = amount(row.amount > available ? row.amount - available : 0n);
    const price = prices.get(row.assetSymbol);
    return { ...view, shortfall: formatAmount(missing), ...(price !== undefined && { shortfallUsd: formatCents(coinsToUsd(missing, price, 'half-up')) }) };
  });
}

/** The amount that a held pool can pay out now: nothing while screening is off (contract 4.3, route rule 4). */
function heldNow(gateway: Gateway, held: Coins | undefined): Coins {
  return gateway.settings.screening.enabled ? (held ?? zero) : zero;
}

function textOf(value: Coins | null): string {
  return value === null ? '' : formatAmount(value);
}
