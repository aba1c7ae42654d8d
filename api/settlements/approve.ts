import type { Commit, Deps, Gateway, Reply } from '#api/deps.ts';
import { sayApproved } from '#api/intents/approval.ts';
import { readCurrentSecret } from '#api/gateways/secrets.ts';
import { matchingSteps } from '#api/gateways/totp.ts';
import { advance } from '#api/store/advance.ts';
import { readClock } from '#api/store/clock.ts';
import { findSettlement, lockSettlement } from '#api/store/settlements.ts';
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

/** A code that is right for the authenticator of its row, and the time steps it is the code of. */
interface RightCode {
  secretId: string;
  steps: number[];
}

/**
 * Lets a cashout go that waits for a person: the gateway's delay starts now (contract 4.3, decisions 10). A wrong code is
 * counted in a transaction of its own, one at a time per gateway, so that no number of requests at once can try more codes
 * than five; a right one is used up in the transaction of the approval, so that it is never lost to a call that failed.
 * Codes go by the wall time of the database, the lock by service time. Locks the guard; then the settlement and the guard.
 * @throws validation_error, not_found, totp_not_enrolled, conflict, rate_limit_exceeded while locked, totp_required
 */
export async function approveSettlement(deps: Deps, { gateway, id, totpCode, commit }: ApproveSettlement): Promise<Reply> {
  if (typeof totpCode !== 'string' || !/^[0-9]{6}$/.test(totpCode)) throw invalid('totpCode', 'must be exactly 6 digits');
  const settlement = await ownSettlement(deps, gateway, id);
  if ((await readCurrentSecret(deps, gateway.id, 'totp')) === undefined) throw new ServiceError('totp_not_enrolled');
  // What is decided already is told from inside the transaction: a duplicate of the call that decided it gets that call's reply.
  const code = settlement.status === 'PENDING_APPROVAL' ? await tryCode(deps, gateway.id, totpCode) : null;
  const reply = await commit((tx) => approve(tx, deps, gateway, settlement.id, code));
  crashPoint('approve.committed');
  deps.wake();
  return reply;
}

/** Checks a code; one code of a gateway is checked at a time. @throws rate_limit_exceeded, totp_required; either after what it changed is committed */
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
  const locked = await lockSettlement(tx, id);
  if (locked === undefined) throw new Invariant(`settlement ${id} is gone`);
  if (code === null || locked.status !== 'PENDING_APPROVAL') throw notAwaiting(locked.status);
  const step = await useUp(tx, deps, gateway.id, id, code);
  await sayApproved(tx, deps, locked, { authenticator: code.secretId, step, atMs: deps.wallClock() });
  crashPoint('approve.totp-consumed');
  const { dispatchDelaySeconds } = gateway.settings.cashout;
  const { now } = await readClock(tx);
  const moved = await advance(tx, 'settlement', {
    id,
    event: 'APPROVED',
    actor: 'merchant',
    facts: () => ({
      facts: NO_SETTLEMENT_FACTS,
      record: { dispatchAt: new Date(now.getTime() + dispatchDelaySeconds * 1_000).toISOString(), totpStep: step },
    }),
    effects: { dispatch: () => queueDispatch(tx, deps, { settlementId: id, delaySeconds: dispatchDelaySeconds }) },
  });
  const approved = await findSettlement(tx, id);
  if (approved === undefined) throw new Invariant(`settlement ${id} is gone`);
  deps.metrics?.totpChecks.inc({ result: 'accepted' });
  deps.metrics?.settlementTransitions.inc({ from: moved.from, to: moved.to, route: approved.pool === 'held' ? 'AML_HELD' : 'GREEN' });
  return { status: 200, data: settlementView(deps, approved), resourceId: id };
}

/** Takes the code's time step for this cashout and forgets the wrong codes before it. @throws totp_required when it approved something already; rate_limit_exceeded */
async function useUp(tx: Tx, deps: Deps, gatewayId: string, settlementId: string, { secretId, steps }: RightCode): Promise<number> {
  // Guesses of others may have locked the account since, and the authenticator may have been replaced.
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
