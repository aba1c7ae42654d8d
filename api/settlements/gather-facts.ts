import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { readPolicies } from '#api/gateways/read-policies.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { findPolicies, lockPolicies, readKnownDays, sumDayUsd } from '#api/store/policies.ts';
import { Invariant } from '#shared/core/errors.ts';
import { type Coins, coinsToUsd, parseTrusted, zero } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { decide } from '#state-machines/settlement/decide.ts';
import { likelyPool } from '#state-machines/settlement/gates/route.ts';
import type { Decision, PolicyQuestion, Route, Screen, SettlementRequest } from '#state-machines/settlement/settlement.ts';
import { freshPrice, type QuotedFee, quoteFee } from '#api/treasury/quote-fee.ts';

/** The facts about a cashout that the gates look at: whose it is, the asset, the amount and the destination. */
export interface Cashout {
  gateway: Gateway;
  asset: StoredAsset;
  chain: Chain;
  /** Destination, canonical. */
  recipient: string;
  amount: Coins;
  rawAmount: bigint;
  route: Route;
  initiator: 'key' | 'person';
}

/** The facts that a decision under lock needs beforehand. */
export interface Gathered {
  facts: SettlementRequest;
  decision: Decision;
  quote: QuotedFee['quote'];
}

/** The request that the gates decide on, with the gateway's current settings and no fact fetched yet. */
export function askAbout({ gateway, asset, amount, route }: Cashout, parked: Pick<SettlementRequest, 'parkedAs' | 'parkedPool'>): SettlementRequest {
  const { cashout, screening } = gateway.settings;
  return {
    amount,
    decimals: asset.decimals,
    route,
    minimumSettlement: asset.minimumSettlement,
    screening: { enabled: screening.enabled, threshold: screening.threshold },
    parkingEnabled: cashout.parkingEnabled,
    parkedCap: cashout.parkedCap,
    approvalCapUsd: cashout.approvalCapUsd === null ? null : parseTrusted(cashout.approvalCapUsd),
    ...parked,
  };
}

/** Screens a cashout's destination; called once per creation and once per activation. */
export async function screenDestination(
  deps: Deps,
  { gateway, asset, chain, recipient, amount }: Cashout,
  priceUsd: SettlementRequest['priceUsd'],
): Promise<Screen> {
  return deps.screening.destination({
    gateway,
    chain,
    address: recipient,
    assetId: asset.id,
    ...(priceUsd !== undefined && { amountUsd: coinsToUsd(amount, priceUsd, 'half-up') }),
  });
}

/**
 * Fetches the facts that the gates ask for, with no transaction open.
 * The pool's balance and the number of parked cashouts are assumed to be sufficient, and checked later in the transaction. Otherwise a duplicate of
 * a call that just claimed everything would be refused instead of getting that call's reply.
 * @returns the facts, the decision of the gates on them, and the network's quote for the fee
 * @throws fee_estimation_unavailable; validation_error when the network refuses the transfer
 */
export async function gatherFacts(deps: Deps, cashout: Cashout, asked: SettlementRequest): Promise<Gathered> {
  const { gateway, asset, chain, recipient, rawAmount } = cashout;
  let facts: SettlementRequest = { ...asked, pools: { green: asked.amount, held: asked.amount }, parkedCount: 0 };
  let quote: QuotedFee['quote'] = null;
  for (;;) {
    const decision = decide(facts);
    if (decision.outcome !== 'needs') return { facts, decision, quote };
    if (decision.fact === 'policies')
      facts = { ...facts, policies: await previewPolicies(deps.db.sql, { ...cashout, assetId: asset.id, networkId: asset.networkId }) };
    else if (decision.fact === 'price') facts = { ...facts, priceUsd: await freshPrice(deps, asset.symbol) };
    else if (decision.fact === 'fee') {
      const fee = await quoteFee(deps, { gateway, asset, chain, pool: likelyPool(facts), recipient, rawAmount });
      facts = { ...facts, feeLocked: fee.locked };
      ({ quote } = fee);
    } else if (decision.fact === 'screen') {
      const screened = { ...facts, screen: await screenDestination(deps, cashout, facts.priceUsd) };
      // The fee is quoted for the pool that pays, and the verdict may have chosen another pool.
      facts = likelyPool(screened) === likelyPool(facts) ? screened : { ...screened, feeLocked: undefined };
    } else throw new Invariant(`the gates ask for ${decision.fact}, which they were given`);
  }
}

/** What policies look at that a cashout itself does not say. */
export interface PolicySubject {
  gateway: Pick<Gateway, 'id'>;
  assetId: string;
  networkId: string;
  /** Destination, canonical. */
  recipient: string;
  initiator: 'key' | 'person';
}

/** A gateway's policies before anything is locked. The day counts as empty, as the pool counts as full: both are looked at under the lock. */
export async function previewPolicies(sql: Reads, { gateway, assetId, networkId, recipient, initiator }: PolicySubject): Promise<PolicyQuestion> {
  const policies = readPolicies((await findPolicies(sql, gateway.id))?.policies);
  const knownForDays = policies.length === 0 ? null : await readKnownDays(sql, { gatewayId: gateway.id, networkId, address: recipient });
  return { policies, final: false, assetId, knownForDays, initiator, dayUsd: zero };
}

/** A gateway's policies as they would decide a cashout now, its day included; what is asked for at the same time is not in it. Locks nothing. */
export async function askPolicies(sql: Reads, subject: PolicySubject): Promise<PolicyQuestion> {
  const asked = await previewPolicies(sql, subject);
  const day = asksOfDay(asked.policies) ? await sumDayUsd(sql, { gatewayId: subject.gateway.id, except: null }) : '0';
  return { ...asked, dayUsd: day === null ? null : parseTrusted(day) };
}

/**
 * The policies of a gateway as they decide a cashout, which is itself left out of its day. Where one looks at the day, cashouts of the gateway wait for each other from here on until
 * commit: of two at once the second one sees the first.
 */
export async function lockedPolicies(
  tx: Tx,
  { gatewayId, assetId, networkId, recipient, initiator, except }: Omit<PolicySubject, 'gateway'> & { gatewayId: string; except: string | null },
): Promise<PolicyQuestion> {
  let policies = readPolicies((await findPolicies(tx, gatewayId))?.policies);
  const daily = asksOfDay(policies);
  if (daily) {
    await lockPolicies(tx, gatewayId);
    policies = readPolicies((await findPolicies(tx, gatewayId))?.policies);
  }
  const knownForDays = policies.length === 0 ? null : await readKnownDays(tx, { gatewayId, networkId, address: recipient });
  const day = daily ? await sumDayUsd(tx, { gatewayId, except }) : '0';
  return { policies, final: true, assetId, knownForDays, initiator, dayUsd: day === null ? null : parseTrusted(day) };
}

function asksOfDay(policies: PolicyQuestion['policies']): boolean {
  return policies.some(({ when }) => when.dayAboveUsd !== undefined);
}
