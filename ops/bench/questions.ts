import { createHash } from 'node:crypto';
import { type ExportKind, kindOf } from '#api/exports/kinds.ts';
import { listBook } from '#api/store/address-book.ts';
import { listUnexplained } from '#api/store/adopted.ts';
import { readChanged, readHorizon } from '#api/store/audit-marks.ts';
import { readChangeMarks } from '#api/store/change-marks.ts';
import { listConsoleActions, listGatewayActions, listWholeChain } from '#api/store/console-actions.ts';
import { listCreditAsks } from '#api/store/credit-asks.ts';
import { listCreditValues } from '#api/store/credit-values.ts';
import { listMaturingCredits, summariseCredits } from '#api/store/credits.ts';
import { type Days, listDayFigures, readFunnel } from '#api/store/day-figures.ts';
import { listDepositCandidates, listPaymentsWithOpenDeposits } from '#api/store/deposits.ts';
import {
  findLastLookedCredit,
  findLastLookedEntry,
  listGatewayCredits,
  listGatewayEntries,
  type LookedCredits,
  type LookedEntries,
} from '#api/store/gateway-ledger.ts';
import { findMonthPlace, listMonths, listMonthSums } from '#api/store/gateway-months.ts';
import { findLastLookedWebhook, listGatewayWebhooks, type LookedWebhooks } from '#api/store/gateway-webhooks.ts';
import { listBookedBalances, listHeldOutputs, listUnopenedHoldings, readBookedOutputs } from '#api/store/holdings.ts';
import { deleteOldReplies } from '#api/store/idempotency.ts';
import { listDueMonths, listExpensesForOperator } from '#api/store/invoices.ts';
import { keepReadings, readLooks } from '#api/store/kept-readings.ts';
import { listGatewayBalances, listImbalances } from '#api/store/ledger.ts';
import { listMisplaced } from '#api/store/misplaced-coins.ts';
import { noteHeld, noteSettlements, noteWebhooks } from '#api/store/notifications.ts';
import {
  type ListFilter,
  listDepositsForOperator,
  listPaymentsForOperator,
  listSettlementsForOperator,
  listWebhooksForOperator,
  walkDeposits,
  walkFlagged,
  walkJobs,
  walkPayments,
  walkSettlements,
  walkWebhooks,
} from '#api/store/operator-lists.ts';
import { searchAddresses, searchPayouts, seekAmount } from '#api/store/operator-search.ts';
import { seekDeposits, seekGateways, seekPayments, seekSettlements, type Sought } from '#api/store/operator-seeks.ts';
import {
  findPaymentDetail,
  findSettlementDetail,
  listCreditDetails,
  listDepositDetails,
  listOfferDetails,
  listPayoutDetails,
  listSettlementEventDetails,
} from '#api/store/operator-timelines.ts';
import type { Walk } from '#api/store/operator-walks.ts';
import { countOutbox, handOverDue } from '#api/store/outbox.ts';
import { keepWatchingOutputs, listSpendable, sumSpendable } from '#api/store/outputs.ts';
import { hasFailedMove, listSweepable, readSweepAllowance, sumBlocked, sumClaimed } from '#api/store/own-moves.ts';
import { countNarrowed, findLastLooked, findSought, listNarrowed, listReceived, type LookedThrough } from '#api/store/payment-search.ts';
import { countOverduePayments, countPayments, listPaymentRows, lockExpirable } from '#api/store/payments.ts';
import { listTendable, listUnsent } from '#api/store/payout-attempts.ts';
import { listSignable, listUnderWay, sumOutgoing, sumPaidOut } from '#api/store/payouts.ts';
import { listPastCashouts, sumDayUsd } from '#api/store/policies.ts';
import { walkOperatorActions } from '#api/store/proposals.ts';
import { listUnreviewedOutgoing } from '#api/store/reconciliations.ts';
import { listRefusedRequests } from '#api/store/refused-requests.ts';
import { readScreeningBurn } from '#api/store/screenings.ts';
import {
  countNarrowedSettlements,
  countSettlements,
  listForgotten,
  listSettlementRows,
  type SettlementNarrowing,
  summariseOpenSettlements,
} from '#api/store/settlements.ts';
import { listUndelivered, listWebhookAttempts } from '#api/store/webhook-events.ts';
import { takePulse } from '#indexer/lease.ts';
import { loadWatches } from '#indexer/truth.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { SHARED_QUESTIONS } from './shared-questions.ts';
import type { Subject } from './subject.ts';

const ANY: SettlementNarrowing = { createdFrom: null, createdTo: null, settledFrom: null, settledTo: null, asset: null, network: null };
const PAGE: ListFilter = { gatewayId: null, status: null, limit: 50, offset: 0 };
const WALK: Walk = { gatewayId: null, status: null, from: null, to: null, oldest: false, after: null, limit: 50, ids: null };
const WINDOW = POLICY.listLookedThrough;

/** What the product asks, by what it asks for; each runs the product's own function. */
export const QUESTIONS: Readonly<Record<string, (subject: Subject) => Promise<unknown>>> = {
  ...SHARED_QUESTIONS,
  'list of payments': ({ database: { sql }, gatewayId }) =>
    listPaymentRows(sql, { gatewayId, status: null, createdFrom: null, createdTo: null, limit: 50, offset: 0, after: null }),
  'total of a list of payments': ({ database: { sql }, gatewayId }) => countPayments(sql, { gatewayId, status: null, createdFrom: null, createdTo: null }),
  'total of payments of a status': ({ database: { sql }, gatewayId }) =>
    countPayments(sql, { gatewayId, status: 'SUCCESS', createdFrom: null, createdTo: null }),
  'list of cashouts': ({ database: { sql }, gatewayId }) =>
    listSettlementRows(sql, { gatewayId, status: null, narrowing: ANY, limit: 50, offset: 0, after: null, window: 51 }),
  'total of a list of cashouts': ({ database: { sql }, gatewayId }) => countSettlements(sql, gatewayId, null),
  'balances: accounts': ({ database: { sql }, gatewayId }) => listGatewayBalances(sql, gatewayId),
  'balances: summary of credits': ({ database: { sql }, gatewayId }) => summariseCredits(sql, gatewayId),
  'operator: payments': ({ database: { sql } }) => listPaymentsForOperator(sql, PAGE),
  'operator: deposits': ({ database: { sql } }) => listDepositsForOperator(sql, PAGE),
  'operator: cashouts': ({ database: { sql } }) => listSettlementsForOperator(sql, PAGE),
  'operator: webhooks': ({ database: { sql } }) => listWebhooksForOperator(sql, { ...PAGE, paymentId: null }),
  'operator: expenses': ({ database: { sql } }) => listExpensesForOperator(sql, { ...PAGE, month: null, billing: null }),
  'payments that are due': ({ database }) => database.transaction((tx) => lockExpirable(tx, { limit: 100, except: [], patienceSeconds: 900 })),
  'payments overdue': ({ database: { sql } }) => countOverduePayments(sql, 60),
  'deposits of new blocks': ({ database: { sql }, networks, height }) => listDepositCandidates(sql, networks.ethereum, height, height + 1),
  'deposits that became final': ({ database: { sql }, networks, height }) => listPaymentsWithOpenDeposits(sql, networks.ethereum, height),
  'credits that mature': ({ database: { sql } }) => listMaturingCredits(sql, 100),
  'sweeps: what lies at addresses': ({ database: { sql }, networks, usdt }) =>
    listSweepable(sql, { networkId: networks.ethereum, assetId: usdt, pool: 'green', above: 0n, limit: 25 }),
  'sweeps: what one address allows': ({ database: { sql }, networks, usdt, address }) =>
    readSweepAllowance(sql, { networkId: networks.ethereum, assetId: usdt, pool: 'green', address }),
  'sweeps: what is blocked': ({ database: { sql }, networks, usdt }) => sumBlocked(sql, { networkId: networks.ethereum, assetId: usdt, pool: 'green' }),
  'coins in the wrong pool': ({ database: { sql }, networks }) => listMisplaced(sql, networks.ethereum),
  'outputs: to spend': ({ database: { sql }, networks }) => listSpendable(sql, { networkId: networks.bitcoin, address: 'bitcoin-hot', pool: 'green' }),
  'outputs: worth of what can be spent': ({ database: { sql }, networks }) =>
    sumSpendable(sql, { networkId: networks.bitcoin, address: 'bitcoin-hot', pool: 'green' }),
  'outputs: to be kept watched': ({ database: { sql }, networks }) => keepWatchingOutputs(sql, networks.bitcoin),
  'outputs: held': ({ database: { sql }, networks }) => listHeldOutputs(sql, networks.bitcoin),
  'outputs: by the books': ({ database: { sql }, networks }) => readBookedOutputs(sql, networks.bitcoin),
  'holdings: what is asked, and kept': ({ database: { transaction }, networks, usdt }) =>
    transaction(async (tx) => {
      const at = { networkId: networks.ethereum, assetId: usdt, finalHeight: Number.MAX_SAFE_INTEGER };
      const look = (await readLooks(tx, [at], POLICY.holdingsAsked)).get(usdt);
      if (look === undefined) throw new Error('nothing was compared yet');
      return keepReadings(tx, [{ ...look, assetId: usdt, height: 0, addresses: look.addresses.map((one) => ({ ...one, rawAmount: 0n })) }]);
    }),
  'holdings: by the books': ({ database: { sql }, networks }) => listBookedBalances(sql, networks.ethereum),
  'holdings: not opened': ({ database: { sql }, networks }) => listUnopenedHoldings(sql, [networks.ethereum]),
  'outgoing nobody knows': ({ database: { sql }, networks }) => listUnexplained(sql, networks.ethereum),
  'outgoing not reviewed': ({ database: { sql }, networks }) => listUnreviewedOutgoing(sql, Object.values(networks)),
  'cold storage: claimed': ({ database: { sql }, usdt }) => sumClaimed(sql, usdt),
  'cold storage: failed': ({ database: { sql }, usdt }) => hasFailedMove(sql, usdt, 3_600),
  'payouts: under way': ({ database: { sql }, networks }) => listUnderWay(sql, { networkId: networks.ethereum, purpose: 'sweep' }),
  'payouts: to sign': ({ database: { sql }, networks }) => listSignable(sql, Object.values(networks)),
  'payouts: to tend': ({ database: { sql }, networks }) => listTendable(sql, Object.values(networks)),
  'payouts: not sent': ({ database: { sql } }) => listUnsent(sql, 60),
  'payouts: of an hour': ({ database: { sql }, networks }) => sumOutgoing(sql, { networkId: networks.ethereum, seconds: 3_600, planned: true }),
  'payouts: of a gateway in a day': ({ database: { sql }, gatewayId }) => sumPaidOut(sql, { gatewayId, seconds: 86_400 }),
  'cashouts forgotten': ({ database: { sql } }) => listForgotten(sql),
  'cashouts open': ({ database: { sql } }) => summariseOpenSettlements(sql),
  'jobs due': ({ database: { sql } }) => handOverDue(sql, 'webhook.deliver', 100, 30),
  'jobs counted': ({ database: { sql } }) => countOutbox(sql),
  'replies forgotten': ({ database: { sql } }) => deleteOldReplies(sql, 1_000),
  'months to close': ({ database: { sql } }) => listDueMonths(sql),
  'indexer: watches': ({ database, networks }) => loadWatches(database.snapshot, networks.ethereum, () => undefined),
  'indexer: pulse': ({ database: { sql }, networks }) =>
    takePulse(sql, { networkId: networks.ethereum, holder: 'nobody', epoch: 0 }, { publishedHeight: null, caughtUpSecondsAgo: null }),
  'audit: what changed': async ({ database: { sql, transaction } }) => {
    const { since } = await readHorizon(sql);
    await transaction((tx) => readChanged(tx, (BigInt(since) - 30n).toString()));
  },
  'audit: sum of each asset': ({ database: { sql } }) => listImbalances(sql, ['1', '2', '3']),
  'payments: of an asset': ({ database: { sql }, gatewayId }) => listNarrowed(sql, { ...lookedPayments(gatewayId), limit: 50, offset: 0 }),
  'payments: how many of an asset': ({ database: { sql }, gatewayId }) => countNarrowed(sql, lookedPayments(gatewayId)),
  'payments: where the window ends': ({ database: { sql }, gatewayId }) => findLastLooked(sql, lookedPayments(gatewayId)),
  'payments: by an order number': ({ database: { sql }, gatewayId }) => findSought(sql, { ...NOBODY, gatewayId, ...FIRST, digest: digestOf('order-1000') }),
  'payments: by what nobody stored': ({ database: { sql }, gatewayId }) =>
    findSought(sql, { ...NOBODY, gatewayId, ...FIRST, digest: digestOf('no such order') }),
  'payments: by a hash': ({ database: { sql }, gatewayId, txid }) => findSought(sql, { ...NOBODY, gatewayId, ...FIRST, txids: [txid] }),
  'payments: by an address': ({ database: { sql }, gatewayId, address }) => findSought(sql, { ...NOBODY, gatewayId, ...FIRST, addresses: [address] }),
  'payments: by an amount that many have': ({ database: { sql }, gatewayId }) =>
    findSought(sql, { ...NOBODY, gatewayId, ...FIRST, amounts: ['100', '100.0', '100.00'] }),
  'payments: what decided them': ({ database: { sql }, paymentId }) => listReceived(sql, [paymentId]),
  'cashouts: of an asset': ({ database: { sql }, gatewayId }) =>
    listSettlementRows(sql, { gatewayId, status: null, narrowing: { ...ANY, asset: 'ETH' }, after: null, window: WINDOW, limit: 50, offset: 0 }),
  'cashouts: how many of an asset': ({ database: { sql }, gatewayId }) =>
    countNarrowedSettlements(sql, { gatewayId, status: null, narrowing: { ...ANY, asset: 'ETH' }, after: null, window: WINDOW }),
  'credits: all, of a payment, held': async ({ database: { sql }, gatewayId, paymentId }) => {
    for (const narrowed of [{}, { paymentId }, { state: 'held' as const }])
      await listGatewayCredits(sql, { ...lookedCredits(gatewayId), ...narrowed, limit: 50 });
  },
  'credits: where the window ends': ({ database: { sql }, gatewayId }) => findLastLookedCredit(sql, lookedCredits(gatewayId)),
  'credits: what they were worth': ({ database: { sql }, creditId }) => listCreditValues(sql, [creditId]),
  'ledger: all, of a kind, of an asset': async ({ database: { sql }, gatewayId }) => {
    for (const narrowed of [{}, { kind: 'settle' }, { asset: 'ETH' }]) await listGatewayEntries(sql, { ...lookedEntries(gatewayId), ...narrowed, limit: 50 });
  },
  'ledger: where the window ends': ({ database: { sql }, gatewayId }) => findLastLookedEntry(sql, lookedEntries(gatewayId)),
  'statement of a month': async ({ database: { sql }, gatewayId }) => {
    const [month] = await listMonths(sql, gatewayId, 12);
    await listMonthSums(sql, { gatewayId, month: `${month}-01` });
    await findMonthPlace(sql, { gatewayId, month: `${month}-01` });
  },
  'deliveries: all, dead, of a payment': async ({ database: { sql }, gatewayId, paymentId }) => {
    for (const narrowed of [{}, { state: 'dead' }, { paymentId }]) await listGatewayWebhooks(sql, { ...lookedWebhooks(gatewayId), ...narrowed, limit: 50 });
  },
  'deliveries: where the window ends': ({ database: { sql }, gatewayId }) => findLastLookedWebhook(sql, lookedWebhooks(gatewayId)),
  'series of 30 days': ({ database: { sql }, gatewayId }) => listDayFigures(sql, lastDays(gatewayId)),
  'funnel of 30 days': ({ database: { sql }, gatewayId }) => readFunnel(sql, lastDays(gatewayId)),
  'address book': ({ database: { sql }, gatewayId }) => listBook(sql, { gatewayId, limit: 50, after: null }),
  'refusals of 7 days': ({ database: { sql }, gatewayId }) => listRefusedRequests(sql, { gatewayId, days: 7, limit: 50, after: null }),
  'screening: what was spent': ({ database: { sql }, gatewayId }) => readScreeningBurn(sql, { gatewayId, days: 30 }),
  'export: a part of payments': ({ database: { sql }, gatewayId }) => readPart('payments', sql, gatewayId),
  'export: a part of the ledger': ({ database: { sql }, gatewayId }) => readPart('ledger', sql, gatewayId),
  'export: a part of credits': ({ database: { sql }, gatewayId }) => readPart('credits', sql, gatewayId),
  'operator: walk of payments': ({ database: { sql } }) => walkPayments(sql, WALK),
  'operator: walk of payments of a status': ({ database: { sql } }) => walkPayments(sql, { ...WALK, status: 'MISMATCH' }),
  'operator: walk of flagged payments': ({ database: { sql } }) => walkFlagged(sql, { ...WALK, amlState: 'HELD' }),
  'operator: walk of deposits': ({ database: { sql } }) => walkDeposits(sql, WALK),
  'operator: walk of unallocated deposits': ({ database: { sql } }) => walkDeposits(sql, { ...WALK, status: 'unallocated' }),
  'operator: walk of cashouts': ({ database: { sql } }) => walkSettlements(sql, WALK),
  'operator: walk of webhooks': ({ database: { sql } }) => walkWebhooks(sql, { ...WALK, paymentId: null }),
  'operator: walk of jobs': ({ database: { sql } }) => walkJobs(sql, { ...WALK, status: null, topic: null }),
  'operator: walk of acts': ({ database: { sql } }) => walkOperatorActions(sql, { ...WALK, action: null, target: null }, null),
  'operator: search of a hash': ({ database: { sql }, txid }) => searchAll(sql, { ...NOTHING, txids: [txid] }),
  'operator: search of an address': ({ database: { sql }, address }) => searchAll(sql, { ...NOTHING, addresses: [address], shownAddresses: [address] }),
  'operator: search of an order number': ({ database: { sql } }) => searchAll(sql, { ...NOTHING, text: 'order-1000', digest: digestOf('order-1000') }),
  'operator: search of an amount': ({ database: { sql } }) => seekAmount(sql, '60', ['60', '60.0', '60.00']),
  'operator: search of an amount that many have': ({ database: { sql } }) => seekAmount(sql, '100', ['100', '100.0', '100.00']),
  'what changed of pages that are followed': async ({ database: { sql }, paymentId, settlementId }) => {
    await readChangeMarks(sql, 'payment', [paymentId]);
    await readChangeMarks(sql, 'cashout', [settlementId]);
  },
  'policies: the last cashouts': ({ database: { sql }, gatewayId }) => listPastCashouts(sql, gatewayId, 100),
  'policies: what was asked for in a day': ({ database: { sql }, gatewayId }) => sumDayUsd(sql, { gatewayId, except: null }),
  'webhooks: a hundred to be told again': ({ database: { sql }, gatewayId }) => listUndelivered(sql, { gatewayId, state: 'exhausted', limit: 100 }),
  'mail: what happened to cashouts and payments': async ({ database: { transaction } }) => {
    for (const note of [noteSettlements, noteHeld, noteWebhooks]) await transaction((tx) => note(tx, { notesOfPerson: POLICY.notesInMail }));
  },
  'record of acts: of a gateway, newest, oldest': async ({ database: { sql }, gatewayId }) => {
    await listGatewayActions(sql, { gatewayId, from: null, until: new Date(), before: null, limit: 50 });
    await listConsoleActions(sql, { before: null, limit: 50 });
    await listWholeChain(sql, { after: 0, limit: 50 });
  },
  'screening: who asked for credit': ({ database: { sql } }) => listCreditAsks(sql),
  'operator: a payment': async ({ database: { sql }, paymentId }) => {
    for (const read of [findPaymentDetail, listOfferDetails, listDepositDetails, listCreditDetails, listWebhookAttempts]) await read(sql, paymentId);
  },
  'operator: a cashout': async ({ database: { sql }, settlementId }) => {
    for (const read of [findSettlementDetail, listSettlementEventDetails, listPayoutDetails]) await read(sql, settlementId);
  },
};

/**
 * What a statement reads at most, whatever the history: of those alone that a history as long as a bench has may not fill. A window of cashouts takes
 * 300,000 payments and more, and the watches of an indexer are read by stretches of the table, the last of which is as long as it happens to be.
 */
export const BOUNDS: Readonly<Record<string, { rows: number; pages: number }>> = {
  'cashouts: of an asset': { rows: WINDOW + 1_000, pages: WINDOW + 1_000 },
  'cashouts: how many of an asset': { rows: WINDOW + 50, pages: WINDOW + 50 },
  'operator: walk of unallocated deposits': { rows: WINDOW + 1_000, pages: WINDOW + 1_000 },
  // 512 pages, and what finds them and tells the time.
  'indexer: watches': { rows: 50_000, pages: 550 },
};

/** A digest under which nothing is stored, no id, no transaction and no address. */
const NOBODY = { id: null, digest: digestOf(''), txids: [], addresses: [], amounts: [] };
const FIRST = { after: null, window: WINDOW };
const NOTHING: Sought = { id: null, digest: null, text: null, txids: [], addresses: [], shownAddresses: [] };

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

function lookedPayments(gatewayId: string): LookedThrough {
  const narrowing = { asset: 'ETH', network: null, sandbox: null, verified: null, path: null, amlState: null, amountUsdFrom: null, amountUsdTo: null };
  return { gatewayId, status: null, createdFrom: null, createdTo: null, narrowing, ids: null, ...FIRST };
}

function lookedCredits(gatewayId: string): LookedCredits {
  return { gatewayId, from: null, to: null, ...FIRST, paymentId: null, asset: null, network: null, state: null };
}

function lookedEntries(gatewayId: string): LookedEntries {
  return { gatewayId, from: null, to: null, ...FIRST, asset: null, network: null, kind: null };
}

function lookedWebhooks(gatewayId: string): LookedWebhooks {
  return { gatewayId, from: null, to: null, ...FIRST, state: null, status: null, paymentId: null };
}

function lastDays(gatewayId: string): Days {
  const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  return { gatewayId, sandbox: false, from: day(29), to: day(0) };
}

function readPart(kind: ExportKind, sql: Reads, gatewayId: string): Promise<unknown> {
  return kindOf(kind).read({ chains: new Map() }, sql, { gatewayId, filter: {}, from: null, until: new Date(), after: null, limit: 1_000 });
}

/** What a search of the operator asks but for amounts. */
async function searchAll(sql: Reads, sought: Sought): Promise<void> {
  await seekPayments(sql, sought, WALK);
  await seekSettlements(sql, sought, WALK);
  await seekDeposits(sql, sought, [], WALK);
  await seekGateways(sql, sought, WALK);
  await searchPayouts(sql, sought);
  await searchAddresses(sql, sought.addresses);
}
