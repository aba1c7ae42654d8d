import type { Deps } from '#api/deps.ts';
import { CREDIT_STATES, creditView } from '#api/gateways/list-credits.ts';
import { cursorOf as entryCursorOf, entryView, nameOf as entryNameOf } from '#api/gateways/list-ledger.ts';
import { shownPayments } from '#api/payments/list-payments.ts';
import { settlementView } from '#api/settlements/view.ts';
import { listGatewayActions } from '#api/store/console-actions.ts';
import { listCreditValues } from '#api/store/credit-values.ts';
import {
  findCreditPlace,
  findEntryPlace,
  findLastLookedCredit,
  findLastLookedEntry,
  listGatewayCredits,
  listGatewayEntries,
} from '#api/store/gateway-ledger.ts';
import { findLastLooked, listNarrowed } from '#api/store/payment-search.ts';
import { findPaymentPlace } from '#api/store/payments.ts';
import { findLastLookedSettlement, listSettlementRows } from '#api/store/settlements.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { PAYMENT_STATUSES } from '#state-machines/payment/machine.ts';
import { SETTLEMENT_STATUSES } from '#state-machines/settlement/machine.ts';
import { AUDIT_COLUMNS, auditRow } from './audit-rows.ts';
import type { ExportRow } from './csv.ts';

/** What an export is narrowed to, by the names of the list's own filters. */
export type ExportFilter = Readonly<Record<string, string>>;

/** Which rows a part is made of. */
interface Stretch {
  gatewayId: string;
  filter: ExportFilter;
  from: Date | null;
  until: Date;
  /** Names the row that it begins behind; null for the first part. */
  after: string | null;
  limit: number;
}

/** Rows of a part, and the name of the last that was looked at; null when there are no more. */
interface Part {
  rows: ExportRow[];
  next: string | null;
}

/** One list that can be exported: what a row may have, what it can be narrowed to, and how a part is read. */
interface Kind {
  columns: readonly string[];
  /** By name: what a value must be, or null for any text. */
  filters: Readonly<Record<string, readonly string[] | null>>;
  read(deps: Pick<Deps, 'chains'>, sql: Reads, stretch: Stretch): Promise<Part>;
}

const FLAG = ['true', 'false'];
const PLACED = { asset: null, network: null };

/** What can be exported, by name. */
export const EXPORT_KINDS = {
  payments: {
    columns: words(`
      paymentUid status createdAt resolvedAt currencyCode amount amountUsd receivedAmount receivedAssetSymbol network txHash receivedAmountUsd
      txFee commissionFee net type checkoutMode paylinkId openAmount isSandbox isVerified verifiedAt expiresAt depositPath amlState callbackParams webhookParams`),
    filters: { ...PLACED, status: PAYMENT_STATUSES, sandbox: FLAG, verified: FLAG },
    read: readPayments,
  },
  settlements: {
    columns: words(`
      id status createdAt settledAt rejectedAt rejectReason assetName network amount amountUsd feeLocked netAmount receivedAmount feeCharged address txHash route
      dispatchAt holdReason metadata`),
    filters: { ...PLACED, status: SETTLEMENT_STATUSES },
    read: readSettlements,
  },
  ledger: {
    columns: words('at kind cause account asset network amount paymentUid settlementId'),
    filters: { ...PLACED, kind: null },
    read: readEntries,
  },
  credits: {
    columns: words(`
      creditId paymentUid creditedAt asset network state pool gross networkFee commission net remaining currencyCode grossUsd grossInvoice spent spentUsd maturesAt
      maturedAt taken`),
    filters: { ...PLACED, state: CREDIT_STATES },
    read: readCredits,
  },
  audit: { columns: AUDIT_COLUMNS, filters: {}, read: readActions },
} as const satisfies Record<string, Kind>;

export type ExportKind = keyof typeof EXPORT_KINDS;

/** One of them as any other. */
export function kindOf(kind: ExportKind): Kind {
  return EXPORT_KINDS[kind];
}

async function readPayments(_deps: unknown, sql: Reads, { gatewayId, filter, from, until, after, limit }: Stretch): Promise<Part> {
  const place = after === null ? null : await findPaymentPlace(sql, gatewayId, after);
  if (place === undefined) throw gone();
  const narrowing = {
    asset: filter.asset ?? null,
    network: filter.network ?? null,
    sandbox: flagOf(filter.sandbox),
    verified: flagOf(filter.verified),
    path: null,
    amlState: null,
    amountUsdFrom: null,
    amountUsdTo: null,
  };
  const status = PAYMENT_STATUSES.find((one) => one === filter.status) ?? null;
  const list = { gatewayId, status, createdFrom: from, createdTo: until, narrowing, ids: null, after: place, window: POLICY.listLookedThrough };
  const rows = await listNarrowed(sql, { ...list, limit, offset: 0 });
  const shown = rows.slice(0, limit);
  const next = rows.length > limit ? shown.at(-1)?.id : await findLastLooked(sql, list);
  return { rows: await shownPayments(sql, shown), next: next ?? null };
}

async function readSettlements(deps: Pick<Deps, 'chains'>, sql: Reads, { gatewayId, filter, from, until, after, limit }: Stretch): Promise<Part> {
  const status = SETTLEMENT_STATUSES.find((one) => one === filter.status) ?? null;
  const times = { createdFrom: from, createdTo: until, settledFrom: null, settledTo: null };
  const list = {
    gatewayId,
    status,
    narrowing: { ...times, asset: filter.asset ?? null, network: filter.network ?? null },
    after,
    window: POLICY.listLookedThrough,
  };
  const rows = await listSettlementRows(sql, { ...list, limit, offset: 0 });
  const shown = rows.slice(0, limit);
  const next = rows.length > limit ? shown.at(-1)?.id : await findLastLookedSettlement(sql, list);
  return { rows: shown.map((row) => ({ ...settlementView(deps, row) })), next: next ?? null };
}

async function readEntries(_deps: unknown, sql: Reads, { gatewayId, filter, from, until, after, limit }: Stretch): Promise<Part> {
  const place = after === null ? null : await findEntryPlace(sql, gatewayId, entryNameOf(after));
  if (place === undefined) throw gone();
  const { asset = null, network = null, kind = null } = filter;
  const list = { gatewayId, asset, network, kind, from, to: until, after: place, window: POLICY.listLookedThrough };
  const rows = await listGatewayEntries(sql, { ...list, limit });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : await findLastLookedEntry(sql, list);
  return { rows: shown.map((row) => ({ ...entryView(row) })), next: last === undefined ? null : entryCursorOf(last) };
}

async function readCredits(_deps: unknown, sql: Reads, { gatewayId, filter, from, until, after, limit }: Stretch): Promise<Part> {
  const place = after === null ? null : await findCreditPlace(sql, gatewayId, after);
  if (place === undefined) throw gone();
  const state = CREDIT_STATES.find((one) => one === filter.state) ?? null;
  const { asset = null, network = null } = filter;
  const list = { gatewayId, paymentId: null, asset, network, state, from, to: until, after: place, window: POLICY.listLookedThrough };
  const rows = await listGatewayCredits(sql, { ...list, limit });
  const shown = rows.slice(0, limit);
  const [values, last] = [
    await listCreditValues(
      sql,
      shown.map(({ id }) => id),
    ),
    rows.length > limit ? shown.at(-1) : await findLastLookedCredit(sql, list),
  ];
  return { rows: shown.map((row) => ({ ...creditView(row), ...values.get(row.id) })), next: last?.id ?? null };
}

async function readActions(_deps: unknown, sql: Reads, { gatewayId, from, until, after, limit }: Stretch): Promise<Part> {
  const rows = await listGatewayActions(sql, { gatewayId, from, until, before: after === null ? null : Number(after), limit: limit + 1 });
  const shown = rows.slice(0, limit);
  return { rows: shown.map(auditRow), next: rows.length > limit ? String(shown.at(-1)?.seq) : null };
}

function flagOf(text: string | undefined): boolean | null {
  return text === undefined ? null : text === 'true';
}

/** Rows of these lists are never deleted, so whatever says otherwise is to be looked at. */
function gone(): Error {
  return new Error('the row that an export stands at is gone');
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
