import type { Deps, Gateway } from '#api/deps.ts';
import { poolBalance } from '#api/ledger/balances.ts';
import { findPrice } from '#api/store/prices.ts';
import { countSettlements, findSettlement, listSettlementRows, type StoredSettlement } from '#api/store/settlements.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import { amount, type Coins, coinsToUsd, formatAmount, formatCents } from '#shared/core/money.ts';
import { badCursor, type PageQuery, paginate, type Pagination, readPage } from '#shared/platform/page.ts';
import { SETTLEMENT_STATUSES, type SettlementStatus } from '#state-machines/settlement/machine.ts';

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
  metadata?: Record<string, unknown>;
  amount: string;
  feeLocked: string;
  netAmount: string;
  receivedAmount: string;
  shortfall?: string;
  shortfallUsd?: string;
  expiresAt?: string;
  txHash: string;
  blockchainUrl: string;
}

/** Turns a row into the contract's object; `shortfall` is added by reads only, never by create (contract 2.8). */
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
    route: row.pool === null ? 'SMART' : row.pool === 'held' ? 'AML_HELD' : 'GREEN',
    ...(row.routedByService && { routedBy: 'SMART_ROUTE' as const }),
    ...(row.routedByService && row.destinationRiskScore !== null && { destinationRiskScore: row.destinationRiskScore }),
    ...(row.metadata !== null && { metadata: row.metadata }),
    amount: row.amountText,
    feeLocked: textOf(row.feeLocked),
    netAmount: textOf(row.netAmount),
    receivedAmount: row.status === 'SETTLED' ? textOf(row.receivedAmount) : '',
    ...(parked && row.expiresAt !== null && { expiresAt: row.expiresAt.toISOString() }),
    txHash,
    blockchainUrl: txHash === '' || link === undefined ? '' : link.replace('{txHash}', txHash),
  };
}

/** One settlement of this gateway. @throws not_found for an unknown id and for another gateway's alike (contract 5.3) */
export async function getSettlement(deps: Deps, { gateway, id }: { gateway: Gateway; id: string }): Promise<SettlementView> {
  const row = isUuid(id) ? await findSettlement(deps.db.sql, id) : undefined;
  if (row === undefined || row.gatewayId !== gateway.id) throw new ServiceError('not_found');
  return readView(deps, row);
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
  return { items: await Promise.all(shown.map((row) => readView(deps, row))), pagination };
}

async function readView(deps: Deps, row: StoredSettlement): Promise<SettlementView> {
  const view = settlementView(deps, row);
  if (row.status !== 'UNDERFUNDED' || row.pool === null) return view;
  // Omitted, never 0, when the balance cannot be read (contract 2.8).
  const available = await poolBalance(deps.db.sql, row.gatewayId, row.assetId, row.pool).catch(() => undefined);
  if (available === undefined) return view;
  const missing: Coins = amount(row.amount > available ? row.amount - available : 0n);
  const price = (await findPrice(deps.db.sql, row.assetSymbol))?.usd;
  return {
    ...view,
    shortfall: formatAmount(missing),
    ...(price !== undefined && { shortfallUsd: formatCents(coinsToUsd(missing, price, 'half-up')) }),
  };
}

function textOf(value: Coins | null): string {
  return value === null ? '' : formatAmount(value);
}
