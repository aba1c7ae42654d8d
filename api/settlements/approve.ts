import type { Commit, Deps, Gateway, Reply } from '#api/deps.ts';
import { sayApproved } from '#api/intents/approval.ts';
import { readCurrentSecret } from '#api/gateways/secrets.ts';
import { matchingSteps } from '#api/gateways/totp.ts';
import { acceptancesOf } from '#api/intents/cashout.ts';
import { advance } from '#api/store/advance.ts';
import { findAskingKey } from '#api/store/key-makers.ts';
import { insertApproval, listApprovals } from '#api/store/policies.ts';
import { readClock } from '#api/store/clock.ts';
import { findSettlement, lockSettlement, type StoredSettlement } from '#api/store/settlements.ts';
import { acceptTotpStep, clearTotpGuard, countTotpFailure, lockTotpGuard } from '#api/store/credentials.ts';
import { Invariant, invalid, ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { NO_SETTLEMENT_FACTS, type SettlementStatus } from '#state-machines/settlement/machine.ts';
import { ownSettlement } from './own.ts';
import { queueDispatch } from './queue-dispatch.ts';
import { settlementView } from './view.ts';

export interface ApproveSettlement {
  gateway: Gateway;
  /** As it came in the path. */
  id: string;
  totpCode: unknown;
  commit: Commit;
}

/** A correct code, the authenticator row it is correct for, and the time steps that it belongs to. */
interface RightCode {
  secretId: string;
  steps: number[];
}

/**
 * Approves a cashout that waits for a person; the gateway's dispatch delay starts now (contract 4.3, decisions 10).
 * A wrong code is counted in a transaction of its own, one code of a gateway at a time, so that any number of simultaneous requests can try at most
 * five codes. A right code is used up in the transaction that approves, so that a failed call does not lose it. Codes use the database's wall time,
 * the lockout uses service time. Locks the guard; then the settlement and the guard.
 * @throws validation_error, not_found, totp_not_enrolled, conflict, rate_limit_exceeded while locked, totp_required
 */
export async function approveSettlement(deps: Deps, { gateway, id, totpCode, commit }: ApproveSettlement): Promise<Reply> {
  if (typeof totpCode !== 'string' || !/^[0-9]{6}$/.test(totpCode)) throw invalid('totpCode', 'must be exactly 6 digits');
  const settlement = await ownSettlement(deps, gateway, id);
  if ((await readCurrentSecret(deps, gateway.id, 'totp')) === undefined) throw new ServiceError('totp_not_enrolled');
  // A cashout that is already decided is reported from inside the transaction, so that a duplicate of the deciding call gets that call's reply.
  const code = settlement.status === 'PENDING_APPROVAL' ? await tryCode(deps, gateway.id, totpCode) : null;
  const reply = await commit((tx) => approve(tx, deps, gateway, settlement.id, code));
  crashPoint('approve.committed');
  deps.wake();
  return reply;
}

/** Checks a code; one code of a gateway at a time. @throws rate_limit_exceeded, totp_required; both only after the count is committed */
async function tryCode(deps: Deps, gatewayId: string, code: string): Promise<RightCode> {
  const tried = await deps.db.transaction(async (tx): Promise<RightCode | { refused: ServiceError; result: 'locked' | 'wrong' }> => {
    const { lockedSeconds, unixSeconds } = await lockTotpGuard(tx, gatewayId);
    if (lockedSeconds > 0) return { refused: locked(lockedSeconds), result: 'locked' };
    const current = await readCurrentSecret(deps, gatewayId, 'totp', tx);
    const steps = current === undefined ? [] : matchingSteps(current.secret, code, unixSeconds);
    if (current !== undefined && steps.length > 0) return { secretId: current.id, steps };
    await countTotpFailure(tx, gatewayId, { limit: POLICY.totpFailuresUntilLock, seconds: POLICY.totpLockSeconds });
    return { refused: wrong(), result: 'wrong' };
  });
  if (!('refused' in tried)) return tried;
  deps.metrics?.totpChecks.inc({ result: tried.result });
  if (tried.result === 'wrong') deps.log.warn({ gateway: gatewayId }, 'a wrong authenticator code');
  throw tried.refused;
}

async function approve(tx: Tx, deps: Deps, gateway: Gateway, id: string, code: RightCode | null): Promise<Reply> {
  const locked = await lockWaiting(tx, id);
  if (code === null) throw notAwaiting(locked.status);
  if (locked.people > 1)
    throw new ServiceError('forbidden', { message: `A policy of this gateway has ${locked.people} people approve this cashout, each in the console.` });
  const step = await useUp(tx, deps, gateway.id, id, code);
  await sayApproved(tx, deps, locked, { authenticator: code.secretId, step, atMs: deps.wallClock() });
  crashPoint('approve.totp-consumed');
  const reply = await moveApproved(tx, deps, gateway, { id, record: { totpStep: step } });
  deps.metrics?.totpChecks.inc({ result: 'accepted' });
  return reply;
}

/**
 * Approves a cashout for a person who proved that they want this very one, by a step-up of their own (console 3). It moves on once as many approved it as have to, of whom only
 * those count who still may. The transaction is the caller's, in which this person still may. Locks the settlement.
 * @throws not_found; forbidden to whoever created it, or made the key that did; conflict when it no longer waits, or they approved it before
 */
export async function approveForPerson(tx: Tx, deps: Deps, { gateway, id, personId }: { gateway: Gateway; id: string; personId: string }): Promise<Reply> {
  const { id: settlementId } = await ownSettlement(deps, gateway, id);
  const locked = await lockWaiting(tx, settlementId);
  if (locked.createdBy === personId) throw new ServiceError('forbidden', { message: 'Whoever created a cashout does not approve it.' });
  // They have seen its text, and can ask for a cashout with it.
  if ((await findAskingKey(tx, settlementId))?.makerId === personId)
    throw new ServiceError('forbidden', { message: 'You made the key that asked for this cashout: somebody else approves it.' });
  if (!(await insertApproval(tx, { settlementId, personId })))
    throw new ServiceError('conflict', { message: 'You approved this cashout already; it waits for others.' });
  await sayApproved(tx, deps, locked, { authenticator: personId, step: null, atMs: deps.wallClock(), by: 'person' });
  const [approved, people] = [await listApprovals(tx, settlementId), await peopleFor(tx, deps, locked)];
  // Else one of them invites the others for it.
  if (people > 1 && approved.some((one) => one.personId === personId && one.newcomer))
    throw new ServiceError('forbidden', { message: 'You became a member after this cashout was created, and are not one of the people who approve it.' });
  // Of several nobody counts who was removed since and came back: their approval may be why.
  const counted = people > 1 ? approved.filter(({ newcomer }) => !newcomer) : approved;
  if (counted.length < people) return { status: 200, data: settlementView(deps, locked), resourceId: settlementId };
  return moveApproved(tx, deps, gateway, { id: settlementId, record: { personId } });
}

/** As many as were asked for when it was accepted or claimed, whichever is more. */
async function peopleFor(tx: Tx, deps: Deps, row: StoredSettlement): Promise<number> {
  const accepted = await acceptancesOf(tx, deps, row);
  return Math.max(row.people, ...(Array.isArray(accepted) ? [Math.min(...accepted.map(({ people }) => people))] : []));
}

async function lockWaiting(tx: Tx, id: string): Promise<StoredSettlement> {
  const locked = await lockSettlement(tx, id);
  if (locked === undefined) throw new Invariant(`settlement ${id} is gone`);
  if (locked.status !== 'PENDING_APPROVAL') throw notAwaiting(locked.status);
  return locked;
}

/** From now on only the gateway's delay stands before it is sent. */
async function moveApproved(
  tx: Tx,
  deps: Deps,
  gateway: Gateway,
  { id, record }: { id: string; record: Readonly<Record<string, string | number>> },
): Promise<Reply> {
  const { dispatchDelaySeconds } = gateway.settings.cashout;
  const { now } = await readClock(tx);
  const moved = await advance(tx, 'settlement', {
    id,
    event: 'APPROVED',
    actor: 'merchant',
    facts: () => ({
      facts: NO_SETTLEMENT_FACTS,
      record: { dispatchAt: new Date(now.getTime() + dispatchDelaySeconds * 1_000).toISOString(), ...record },
    }),
    effects: { dispatch: () => queueDispatch(tx, deps, { settlementId: id, delaySeconds: dispatchDelaySeconds }) },
  });
  const approved = await findSettlement(tx, id);
  if (approved === undefined) throw new Invariant(`settlement ${id} is gone`);
  deps.metrics?.settlementTransitions.inc({ from: moved.from, to: moved.to, route: approved.pool === 'held' ? 'AML_HELD' : 'GREEN' });
  return { status: 200, data: settlementView(deps, approved), resourceId: id };
}

/**
 * Uses the code's time step up for this cashout and resets the count of wrong codes. @throws totp_required when the step already approved
 * something; rate_limit_exceeded
 */
async function useUp(tx: Tx, deps: Deps, gatewayId: string, settlementId: string, { secretId, steps }: RightCode): Promise<number> {
  // Since the check, other wrong codes may have locked the account, and the authenticator may have been replaced.
  const { lockedSeconds } = await lockTotpGuard(tx, gatewayId);
  if (lockedSeconds > 0) throw locked(lockedSeconds);
  const current = await readCurrentSecret(deps, gatewayId, 'totp', tx);
  const step = current?.id === secretId ? await acceptTotpStep(tx, { secretId, steps, settlementId }) : undefined;
  if (step === undefined) {
    deps.metrics?.totpChecks.inc({ result: 'reused' });
    throw wrong();
  }
  await clearTotpGuard(tx, gatewayId);
  return step;
}

function notAwaiting(status: SettlementStatus): ServiceError {
  return new ServiceError('conflict', { message: `The cashout is ${status} and does not wait for an approval.` });
}

function wrong(): ServiceError {
  return new ServiceError('totp_required', { message: 'The authenticator code is wrong, or it approved something already.' });
}

function locked(seconds: number): ServiceError {
  return new ServiceError('rate_limit_exceeded', {
    message: 'There were too many wrong authenticator codes; retry after the time in Retry-After.',
    retryAfterSeconds: seconds,
  });
}
