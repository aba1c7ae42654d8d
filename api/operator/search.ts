import type { Deps, Reply } from '#api/deps.ts';
import { walkDeposits, walkPayments, walkSettlements } from '#api/store/operator-lists.ts';
import { walkGateways } from '#api/store/gateways.ts';
import { type FoundAddress, HITS, type OfAmount, seekAmount, searchAddresses, searchPayouts } from '#api/store/operator-search.ts';
import { seekDeposits, seekGateways, seekPayments, seekSettlements, type Sought } from '#api/store/operator-seeks.ts';
import type { Walk } from '#api/store/operator-walks.ts';
import { invalid } from '#shared/core/errors.ts';
import { amountSpellings } from '#shared/core/amount-spellings.ts';
import { formatAmount, isMoney, parseTrusted } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import type { OperatorCall } from './deps.ts';
import { readTextFilter } from './input.ts';
import { soughtBy } from './read-walk.ts';

/** One thing that a search found, with what tells it from others in a line. */
interface Hit {
  kind: 'payment' | 'settlement' | 'deposit' | 'payout' | 'gateway' | 'address';
  id: string;
  gatewayId: string | null;
  line: string;
  at: string | null;
}

const EVERYWHERE: Walk = { gatewayId: null, status: null, from: null, to: null, oldest: false, after: null, limit: HITS, ids: null };
const NO_AMOUNT: OfAmount = { payments: [], deposits: [], settlements: [] };

/**
 * GET /search: whatever is known by exactly this, of each kind the newest and of all at most 20, taken from each kind in turn. Each kind is asked of its indexes alone
 * (decision 0069). @throws validation_error naming q
 */
export async function search(deps: Deps, call: OperatorCall): Promise<Reply> {
  const q = readTextFilter(call.query, 'q');
  if (q === undefined || q === '') throw invalid('q', 'is required');
  const { sql } = deps.db;
  const sought = soughtBy(deps, 'q', q);
  const amounts = isMoney(q) ? await seekAmount(sql, formatAmount(parseTrusted(q)), amountSpellings(q)) : NO_AMOUNT;
  const payments = [...new Set([...(await seekPayments(sql, sought, EVERYWHERE)).map(({ id }) => id), ...amounts.payments])];
  const kinds = [
    await paymentHits(sql, payments),
    await settlementHits(sql, sought, amounts),
    await depositHits(sql, sought, amounts),
    (await searchPayouts(sql, sought)).map(
      ({ id, gatewayId, purpose, status, amount, assetSymbol, network, createdAt }): Hit => ({
        kind: 'payout',
        id,
        gatewayId,
        line: `${purpose} ${amount} ${assetSymbol} on ${network}, ${status}`,
        at: createdAt.toISOString(),
      }),
    ),
    await gatewayHits(sql, sought),
    (await searchAddresses(sql, sought.addresses)).map((one) => addressHit(deps, one)),
  ];
  const hits = inTurn(kinds);
  return { status: 200, data: { items: hits.slice(0, HITS), more: hits.length > HITS } };
}

async function paymentHits(sql: Reads, ids: readonly string[]): Promise<Hit[]> {
  if (ids.length === 0) return [];
  return (await walkPayments(sql, { ...EVERYWHERE, ids })).map(
    ({ id, gatewayId, amount, currencyCode, status, receivedAmount, receivedAssetSymbol, createdAt }) => ({
      kind: 'payment',
      id,
      gatewayId,
      line: `${amount} ${currencyCode}, ${status}${receivedAmount === null ? '' : `, received ${receivedAmount} ${receivedAssetSymbol}`}`,
      at: createdAt.toISOString(),
    }),
  );
}

async function settlementHits(sql: Reads, sought: Sought, amounts: OfAmount): Promise<Hit[]> {
  const ids = [...(await seekSettlements(sql, sought, EVERYWHERE)).map(({ id }) => id), ...amounts.settlements];
  if (ids.length === 0) return [];
  return (await walkSettlements(sql, { ...EVERYWHERE, ids })).map(({ id, gatewayId, amount, assetSymbol, network, address, status, createdAt }) => ({
    kind: 'settlement',
    id,
    gatewayId,
    line: `${amount} ${assetSymbol} on ${network} to ${address}, ${status}`,
    at: createdAt.toISOString(),
  }));
}

async function depositHits(sql: Reads, sought: Sought, amounts: OfAmount): Promise<Hit[]> {
  const ids = [...(await seekDeposits(sql, sought, [], EVERYWHERE)).map(({ id }) => id), ...amounts.deposits];
  if (ids.length === 0) return [];
  return (await walkDeposits(sql, { ...EVERYWHERE, ids })).rows.map(({ id, gatewayId, amount, assetSymbol, network, txHash, state, seenAt }) => ({
    kind: 'deposit',
    id,
    gatewayId,
    line: `${amount} ${assetSymbol} on ${network} by ${txHash}, ${state}`,
    at: seenAt.toISOString(),
  }));
}

async function gatewayHits(sql: Reads, sought: Sought): Promise<Hit[]> {
  const ids = (await seekGateways(sql, sought, EVERYWHERE)).map(({ id }) => id);
  if (ids.length === 0) return [];
  return (await walkGateways(sql, { ...EVERYWHERE, ids })).map(({ id, name, status, createdAt }) => ({
    kind: 'gateway',
    id,
    gatewayId: id,
    line: `${name}, ${status}`,
    at: createdAt.toISOString(),
  }));
}

function addressHit(deps: Pick<Deps, 'chains'>, { id, gatewayId, address, network, role, paymentId, at }: FoundAddress): Hit {
  const shown = deps.chains.get(network)?.codec.display(address) ?? address;
  const owner = paymentId === null ? `the ${role} wallet` : `payment ${paymentId}`;
  return { kind: 'address', id, gatewayId, line: `${shown} on ${network}, of ${owner}`, at: at?.toISOString() ?? null };
}

/** One of each list after the other, for as long as there are any. Pure. */
function inTurn<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}
