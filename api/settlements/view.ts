import type { Deps, Gateway } from '#api/deps.ts';
import { gatewayBalances } from '#api/ledger/balances.ts';
import { findPrice } from '#api/store/prices.ts';
import { countSettlements, findSettlement, listSettlementRows, type StoredSettlement } from '#api/store/settlements.ts';
import { invalid } from '#shared/core/errors.ts';
import { amount, type Coins, coinsToUsd, formatAmount, formatCents, zero } from '#shared/core/money.ts';
import type { SentJson } from '#shared/core/sent-json.ts';
import { badCursor, type PageQuery, paginate, type Pagination, readPage } from '#shared/platform/page.ts';
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
}

/** Turns a row into the contract's object. Only reads add `shortfall`, never create (contract 2.8). */
export function settlementView(deps: Deps, row: StoredSettlement): SettlementView {
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

export interface ListSettlements extends PageQuery {
  gateway: Gateway;
  status?: string | undefined;
}

export interface SettlementList {
  items: SettlementView[];
  pagination: Pagination;
}

/**
 * Settlements of this gateway, newest first; `after` wins over `page` (contract 4.3, decisions 8).
 * @throws validation_error for an unknown status, a limit or page below 1, or a cursor this gateway was never given
 */
export async function listSettlements(deps: Deps, query: ListSettlements): Promise<SettlementList> {
  const status = query.status === undefined ? null : SETTLEMENT_STATUSES.find((one) => one === query.status);
  if (status === undefined) throw invalid('status', `must be one of ${SETTLEMENT_STATUSES.join(', ')}`);
  const page = readPage(query);
  if (page.afterId !== null && (await findSettlement(deps.db.sql, page.afterId))?.gatewayId !== query.gateway.id) throw badCursor();
  const rows = await listSettlementRows(deps.db.sql, {
    gatewayId: query.gateway.id,
    status,
    limit: page.limit,
    offset: page.offset,
    after: page.afterId,
  });
  const { shown, pagination } = paginate(rows, page, await countSettlements(deps.db.sql, query.gateway.id, status));
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
