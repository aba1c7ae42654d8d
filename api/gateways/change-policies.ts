import type { Gateway } from '#api/deps.ts';
import { findGateway, lockGateway, updateGateway } from '#api/store/gateways.ts';
import { countApprovers, countMembersWho } from '#api/store/people.ts';
import {
  cameAfterProposal,
  decidePolicyVersion,
  findPolicies,
  insertPolicyVersion,
  listApprovingKeys,
  listPolicyVersions,
  lockPolicies,
  type PolicyVersion,
  proposerOwns,
} from '#api/store/policies.ts';
import { Invariant, invalid, ServiceError } from '#shared/core/errors.ts';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { PolicyBook } from '#shared/core/written-policies.ts';
import { mostPeople } from '#state-machines/settlement/policies.ts';
import { asPolicy, readPolicies, readPolicyBook } from './read-policies.ts';

/**
 * Proposes policies for a gateway, in the caller's transaction, which notes it. Where the gateway has one owner they are in force at once; where it has more, another one has to agree.
 * Locks the gateway's policies, then its row.
 * @throws conflict while a key may approve what more than one person has to, or when the gateway's cap is not `capNow` any more; validation_error when more people have to approve
 * than may
 */
export async function proposePolicies(
  tx: Tx,
  { gateway, personId, book, capNow }: { gateway: Gateway; personId: string; book: PolicyBook; capNow: string | null },
): Promise<{ version: number; inForce: boolean }> {
  await lockPolicies(tx, gateway.id);
  await refuseWhatCannotHold(tx, gateway.id, book);
  await lockWithCap(tx, gateway.id, capNow);
  const capUsd = book.capUsd === null ? null : formatAmount(parseTrusted(book.capUsd));
  const version = await insertPolicyVersion(tx, { gatewayId: gateway.id, policies: book.policies, capUsd, personId });
  if ((await countMembersWho(tx, gateway.id, 'settings:write')) > 1) return { version, inForce: false };
  await putInForce(tx, { gatewayId: gateway.id, version, personId, capUsd });
  return { version, inForce: true };
}

/**
 * Agrees to policies that somebody else proposed, in the caller's transaction. Locks the gateway's policies, then its row.
 * @throws not_found when this version does not wait; forbidden to whoever proposed it; conflict and validation_error as when proposing
 */
export async function agreeToPolicies(
  tx: Tx,
  { gateway, personId, version, capNow }: { gateway: Gateway; personId: string; version: number; capNow: string | null },
): Promise<void> {
  await lockPolicies(tx, gateway.id);
  const { proposedBy, policies, capUsd } = await findWaiting(tx, gateway.id, version);
  if (proposedBy === personId)
    throw new ServiceError('forbidden', { message: 'Whoever proposed a change of policies does not agree to it: another owner does.' });
  // Else whoever wants a change invites themselves a second owner for it.
  if (await cameAfterProposal(tx, { gatewayId: gateway.id, version, personId }))
    throw new ServiceError('forbidden', { message: 'You became an owner after this was proposed: another owner agrees to it, or it is proposed anew.' });
  if (!(await proposerOwns(tx, { gatewayId: gateway.id, version })))
    throw new ServiceError('conflict', { message: 'Whoever proposed this is no owner any more: it has to be proposed anew.' });
  await refuseWhatCannotHold(tx, gateway.id, readPolicyBook({ policies, capUsd }));
  await lockWithCap(tx, gateway.id, capNow);
  await putInForce(tx, { gatewayId: gateway.id, version, personId, capUsd });
}

/** Declines policies that wait, or takes one's own back, in the caller's transaction. Locks the gateway's policies. @throws not_found when this version does not wait */
export async function declinePolicies(tx: Tx, { gateway, personId, version }: { gateway: Gateway; personId: string; version: number }): Promise<void> {
  await lockPolicies(tx, gateway.id);
  if (!(await decidePolicyVersion(tx, { gatewayId: gateway.id, version, personId, state: 'declined' }))) throw new ServiceError('not_found');
}

/** The version of a gateway's policies that waits for another owner. Locks nothing. @throws not_found */
export async function findWaiting(sql: Reads, gatewayId: string, version: number): Promise<PolicyVersion> {
  const found = (await listPolicyVersions(sql, gatewayId, 1)).find((one) => one.version === version && one.state === 'proposed');
  if (found === undefined) throw new ServiceError('not_found');
  return found;
}

/** Refuses to let a key approve while policies have more than one person approve. Locks the gateway's policies until commit. @throws conflict */
export async function refuseApprovingKey(tx: Tx, gatewayId: string, permissions: readonly string[]): Promise<void> {
  if (!permissions.includes('settlement:approve')) return;
  await lockPolicies(tx, gatewayId);
  if (mostPeople(readPolicies((await findPolicies(tx, gatewayId))?.policies)) > 1)
    throw new ServiceError('conflict', { message: 'A policy of this gateway has more than one person approve, so that no key may have settlement:approve.' });
}

async function putInForce(
  tx: Tx,
  { gatewayId, version, personId, capUsd }: { gatewayId: string; version: number; personId: string; capUsd: string | null },
): Promise<void> {
  if (!(await decidePolicyVersion(tx, { gatewayId, version, personId, state: 'in_force' }))) throw new ServiceError('not_found');
  const gateway = await gatewayOf(tx, gatewayId);
  const { settings } = gateway;
  await updateGateway(tx, { ...gateway, settings: { ...settings, cashout: { ...settings.cashout, approvalCapUsd: capUsd } } });
}

/** Locks a gateway whose cap whoever decides saw: an operator may have changed it since, which is not to be undone unseen. @throws conflict */
async function lockWithCap(tx: Tx, gatewayId: string, capNow: string | null): Promise<void> {
  await lockGateway(tx, gatewayId);
  const { approvalCapUsd } = (await gatewayOf(tx, gatewayId)).settings.cashout;
  const same = approvalCapUsd === null || capNow === null ? approvalCapUsd === capNow : parseTrusted(approvalCapUsd) === parseTrusted(capNow);
  if (!same)
    throw new ServiceError('conflict', {
      message: `The gateway's cap was changed meanwhile, to ${approvalCapUsd === null ? 'none' : `${approvalCapUsd} USD`}: look at what this would make of it.`,
    });
}

async function gatewayOf(tx: Tx, gatewayId: string): Promise<Gateway> {
  const gateway = await findGateway(tx, gatewayId);
  if (gateway === undefined) throw new Invariant(`gateway ${gatewayId} is gone`);
  return gateway;
}

/**
 * Changes somebody's membership, unless fewer would be left who approve than a policy in force asks for: it could never be met. The caller holds `lockPolicies`.
 * @throws conflict naming the policy
 */
export async function keepingApprovers<T>(tx: Tx, gatewayId: string, change: () => Promise<T>): Promise<T> {
  const policies = readPolicies((await findPolicies(tx, gatewayId))?.policies);
  const people = mostPeople(policies);
  const before = await countApprovers(tx, gatewayId);
  const changed = await change();
  const left = await countApprovers(tx, gatewayId);
  if (people <= 1 || left >= people || left >= before) return changed;
  const at = policies.findIndex(({ outcome }) => outcome.kind === 'approve' && outcome.people === people);
  throw new ServiceError('conflict', {
    message: `Policy ${at + 1} of this gateway asks for ${people} people who approve, and fewer would be left beside whoever creates a cashout: change it first.`,
  });
}

async function refuseWhatCannotHold(tx: Tx, gatewayId: string, { policies }: PolicyBook): Promise<void> {
  const people = mostPeople(policies.map(asPolicy));
  if (people <= 1) return;
  const keys = await listApprovingKeys(tx, gatewayId);
  if (keys.length > 0)
    throw new ServiceError('conflict', {
      message: `The key ${keys[0]} may approve cashouts by itself (settlement:approve): revoke such keys before more than one person has to approve.`,
    });
  const may = await countApprovers(tx, gatewayId);
  if (may < people) throw invalid('policies', `asks for ${people} people who approve, and beside whoever creates a cashout ${may} may`);
}
