import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { countCashingOut, findGateway } from '#api/store/gateways.ts';
import { type OutgoingSum, sumOutgoing, sumPaidOut } from '#api/store/payouts.ts';
import { sumFeesBeyondLocked } from '#api/store/settlement-fees.ts';
import type { Bound } from '#shared/chains/chain.ts';
import { formatCents, parseTrusted, type Usd } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { dollarsOf, dollarsOfAll, dollarsOfEarlier } from '#api/treasury/limits.ts';
import { type LimitedTransfer, type LimitProblem, movedBy, noPrice, scopesOf, WINDOWS } from '#api/payouts/rules/limits.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';

const DAY_SECONDS = 86_400;
const TOO_DEAR: LimitProblem = { problem: waitReason('fees_risen'), lasting: false };

/**
 * Checks a cashout against its gateway's daily cap, and against the part of each network limit that is not reserved for other gateways (decisions
 * 10).
 * Reads what was sent before; call it under the locks of gateway and wallet for a verdict that still holds at commit.
 */
export async function checkGatewayLimits(deps: Deps, sql: Reads, chain: Chain, gatewayId: string, transfer: LimitedTransfer): Promise<LimitProblem | null> {
  return (await checkDailyCap(deps, sql, gatewayId, transfer)) ?? (await checkFairShare(deps, sql, chain, gatewayId, transfer));
}

async function checkDailyCap(deps: Deps, sql: Reads, gatewayId: string, transfer: LimitedTransfer): Promise<LimitProblem | null> {
  const capText = capOf(await findGateway(sql, gatewayId));
  if (capText === null) return null;
  const cap = parseTrusted<'usd'>(capText);
  const alone = await dollarsOf(deps, transfer);
  if (alone === null) return noPrice(transfer.symbol);
  const earlier = await dollarsOfEarlier(deps, sql, await sumPaidOut(sql, { gatewayId, seconds: DAY_SECONDS }));
  if (typeof earlier === 'object') return earlier;
  return alone + earlier > cap ? { problem: waitReason('own_daily_limit', { limit: formatCents(cap) }), lasting: alone > cap } : null;
}

function capOf(gateway: Gateway | undefined): string | null {
  return gateway?.settings.cashout.dailyCapUsd ?? null;
}

/**
 * Part of every limit is reserved in equal shares for the gateways that may cash out; the rest goes to the gateway that asks first. So each gateway
 * can always send its share.
 */
async function checkFairShare(deps: Deps, sql: Reads, chain: Chain, gatewayId: string, transfer: LimitedTransfer): Promise<LimitProblem | null> {
  const gateways = await countCashingOut(sql);
  if (gateways < 2) return null;
  for (const window of WINDOWS) {
    const query = { networkId: chain.id, seconds: window.seconds, planned: transfer.planned, byGateway: true, except: transfer.except } as const;
    const before = await sumOutgoing(sql, query);
    for (const scope of scopesOf(chain)) {
      const own = movedBy(transfer).filter((moved) => scope.counts(moved));
      if (own.length === 0) continue;
      const alone = await dollarsOfAll(deps, own);
      if (typeof alone === 'object') return alone;
      const used = await usage(
        deps,
        sql,
        before.filter((moved) => scope.counts(moved)),
      );
      if (isProblem(used)) return used;
      const limit = parseTrusted<'usd'>(scope.limits[window.limit]);
      const fits = fitsFairly({ limit, gateways, used, gatewayId, alone });
      if (!fits)
        return {
          problem: waitReason('fair_share', { window: window.name, limit: formatCents(limit), scope: scope.name }),
          lasting: scope.counts(transfer) && !fitsFairly({ limit, gateways, used: new Map(), gatewayId, alone }),
        };
    }
  }
  return null;
}

function isProblem(answer: Used | LimitProblem): answer is LimitProblem {
  return 'problem' in answer;
}

/** US dollars sent before, by gateway; the key null is for transfers other than cashouts. */
type Used = ReadonlyMap<string | null, bigint>;

async function usage(deps: Deps, sql: Reads, before: readonly OutgoingSum[]): Promise<Used | LimitProblem> {
  const used = new Map<string | null, bigint>();
  for (const moved of before) {
    const dollars = await dollarsOfEarlier(deps, sql, [moved]);
    if (typeof dollars === 'object') return dollars;
    used.set(moved.gatewayId, (used.get(moved.gatewayId) ?? 0n) + dollars);
  }
  return used;
}

/**
 * Whether a gateway may send `alone` US dollars more, from its own reserved share or from the part that is for everybody. Pure; shares are rounded
 * down.
 */
export function fitsFairly({
  limit,
  gateways,
  used,
  gatewayId,
  alone,
}: {
  limit: Usd;
  gateways: number;
  used: Used;
  gatewayId: string;
  alone: bigint;
}): boolean {
  const kept = limit / BigInt(POLICY.limitKeptForAll);
  const share = kept / BigInt(gateways);
  const before = used.get(gatewayId) ?? 0n;
  const beyond = (sum: bigint, of: bigint): bigint => (sum > of ? sum - of : 0n);
  const more = beyond(before + alone, share) - beyond(before, share);
  if (more === 0n) return true;
  let common = 0n;
  for (const [whose, sum] of used) common += whose === null ? sum : beyond(sum, share);
  return common + more <= limit - kept;
}

/**
 * Checks a fee against what the cashout locked for it (decisions 10). The deployment pays what fees have risen since from a budget, of which one
 * gateway may use a part; beyond that the cashout waits until fees fall.
 * Extra cost that the destination causes is charged to its gateway when the cashout is paid, so here it is allowed for, at the quoted price per
 * unit.
 */
export async function checkFeeExpense(
  deps: Deps,
  sql: Reads,
  chain: Chain,
  fee: { rawFee: bigint; units: bigint | undefined; native: { symbol: string; decimals: number }; gatewayId: string; bound: Bound; except?: string },
): Promise<LimitProblem | null> {
  const { rawFee, units, native, bound } = fee;
  const allowed = units !== undefined && bound.units !== undefined && units > bound.units ? (bound.rawFee * units) / bound.units : bound.rawFee;
  if (rawFee <= allowed) return null;
  const spent = await sumFeesBeyondLocked(sql, { networkId: chain.id, seconds: DAY_SECONDS, except: fee.except });
  const budget = parseTrusted<'usd'>(chain.config.limits.dailyFeeExpenseUsd ?? POLICY.feeExpenseDailyUsd);
  const share = budget / BigInt(POLICY.feeExpensePerGateway);
  spent.set(fee.gatewayId, (spent.get(fee.gatewayId) ?? 0n) + rawFee - allowed);
  let all = 0n;
  for (const [gatewayId, rawAmount] of spent) {
    const dollars = await dollarsOf(deps, { ...native, rawAmount });
    if (dollars === null) return noPrice(native.symbol);
    if (gatewayId === fee.gatewayId && dollars > share) return TOO_DEAR;
    // Signed bytes may be raised beyond their gateway's part; the excess does not reduce the budget of others.
    all += dollars < share ? dollars : share;
  }
  if (all <= budget) return null;
  return TOO_DEAR;
}
