import type { ApprovalCard } from '#api/console/page/model.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { findLikeAddress } from '#api/store/address-book.ts';
import { findAskingKey } from '#api/store/key-makers.ts';
import { findPersonEmail } from '#api/store/people.ts';
import { findSettlementPolicy, listApprovals, readKnownDays } from '#api/store/policies.ts';
import { findSettlement } from '#api/store/settlements.ts';
import { coinsToUsd, formatCents } from '#shared/core/money.ts';

/** What somebody who approves has to see of a cashout that waits for people; null for any other. Locks nothing. */
export async function approvalView(deps: Deps, { gateway, id, personId }: { gateway: Gateway; id: string; personId: string }): Promise<ApprovalCard | null> {
  const { sql } = deps.db;
  const row = await findSettlement(sql, id);
  if (row === undefined || row.gatewayId !== gateway.id || row.status !== 'PENDING_APPROVAL') return null;
  const at = { gatewayId: gateway.id, networkId: row.networkId, address: row.canonicalAddress };
  const [approved, policy, knownForDays, like, createdBy, key] = await Promise.all([
    listApprovals(sql, id),
    findSettlementPolicy(sql, id),
    readKnownDays(sql, at),
    findLikeAddress(sql, at),
    row.createdBy === null ? null : findPersonEmail(sql, row.createdBy),
    findAskingKey(sql, id),
  ]);
  return {
    people: row.people,
    policy,
    approved: approved.map(({ email, at: when }) => ({ email, at: when.toISOString() })),
    own: ownPart(personId, { createdBy: row.createdBy, makerId: key?.makerId, approved }),
    createdBy,
    key: key === undefined ? null : { name: key.name ?? key.keyId, maker: key.makerEmail },
    amountUsd: row.priceUsd === null ? null : formatCents(coinsToUsd(row.amount, row.priceUsd, 'half-up')),
    capUsd: gateway.settings.cashout.approvalCapUsd,
    knownForDays,
    riskScore: row.destinationRiskScore,
    like: like === null ? null : { label: like.label, address: deps.chains.get(row.networkName)?.codec.display(like.address) ?? like.address },
    delaySeconds: gateway.settings.cashout.dispatchDelaySeconds,
  };
}

/** What somebody did of a cashout already, after which they do not approve it. Pure. */
function ownPart(
  personId: string,
  { createdBy, makerId, approved }: { createdBy: string | null; makerId: string | null | undefined; approved: readonly { personId: string }[] },
): ApprovalCard['own'] {
  if (createdBy === personId) return 'created';
  if (makerId === personId) return 'key';
  return approved.some((one) => one.personId === personId) ? 'approved' : null;
}
