import type { Deps, Gateway } from '#api/deps.ts';
import { gatewayBalances } from '#api/ledger/balances.ts';
import { findBookAddress, findLikeAddress } from '#api/store/address-book.ts';
import { coinsToUsd, formatAmount, formatCents, parseTrusted, zero } from '#shared/core/money.ts';
import { exceedsCap } from '#state-machines/settlement/gates/approval-cap.ts';
import { judge } from '#state-machines/settlement/policies.ts';
import { askPolicies } from './gather-facts.ts';
import { estimateFee, type FeeEstimate } from './estimate-fee.ts';
import { type CreateSettlementBody, readOrder } from './read-request.ts';

/** What somebody sees of a cashout before they ask for it. */
export interface SettlementReview extends FeeEstimate {
  assetId: string;
  /** What the ordinary balance has now. */
  available: string;
  /** Whether that covers it. */
  covered: boolean;
  /** Null without a price. */
  amountUsd: string | null;
  /** How many people will have to approve it, as far as policies and the cap decide that; none of them whoever creates it. */
  people: number;
  /** Place of the policy that refuses it; null when none does. */
  refusedBy: number | null;
  /** What the address book calls the destination; null for one that was never used. */
  known: { label: string; lastUsedAt: string | null } | null;
  /** Another entry that begins and ends as the destination does, which is how people are led to the wrong address. */
  like: { label: string; address: string } | null;
}

/**
 * Shows what a cashout would be, and creates nothing: no claim, no entry of the book, no verdict that costs credit. What the gates decide, they decide when it is asked for.
 * @throws validation_error naming the field; fee_estimation_unavailable
 */
export async function reviewSettlement(deps: Deps, { gateway, body }: { gateway: Gateway; body: CreateSettlementBody }): Promise<SettlementReview> {
  const { asset, chain, destination, amount, route } = await readOrder(deps, body);
  const at = { gatewayId: gateway.id, networkId: chain.id, address: destination.canonical };
  const cap = gateway.settings.cashout.approvalCapUsd;
  const subject = { gateway, assetId: asset.id, networkId: chain.id, recipient: destination.canonical, initiator: 'person' as const };
  const [estimate, price, balances, known, like, { policies, ...asked }] = await Promise.all([
    estimateFee(deps, { gateway, body }),
    deps.prices.fresh(asset.symbol),
    gatewayBalances(deps.db.sql, gateway.id),
    findBookAddress(deps.db.sql, at),
    findLikeAddress(deps.db.sql, at),
    askPolicies(deps.db.sql, subject),
  ]);
  const priceUsd = price?.usd;
  const verdict = judge(policies, { ...asked, amount, priceUsd, route });
  const available = balances.find(({ assetId }) => assetId === asset.id)?.available ?? zero;
  return {
    ...estimate,
    assetId: asset.id,
    address: destination.display,
    available: formatAmount(available),
    covered: amount <= available,
    amountUsd: price === undefined ? null : formatCents(coinsToUsd(amount, price.usd, 'half-up')),
    people:
      verdict === null
        ? Number(exceedsCap({ amount, priceUsd, approvalCapUsd: cap === null ? null : parseTrusted(cap) }))
        : verdict.outcome.kind === 'approve'
          ? verdict.outcome.people
          : 0,
    refusedBy: verdict?.outcome.kind === 'refuse' ? verdict.policy : null,
    known: known && { label: known.label, lastUsedAt: known.lastUsedAt?.toISOString() ?? null },
    like: like === null ? null : { label: like.label, address: chain.codec.display(like.address) },
  };
}
