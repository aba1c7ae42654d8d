import type { Deps, Reply } from '#api/deps.ts';
import { isProposed } from '#api/intents/proposal.ts';
import {
  insertOperatorAction,
  decideProposal,
  findProposal,
  listProposals,
  lockProposal,
  PROPOSAL_STATUSES,
  type StoredProposal,
  walkProposals,
} from '#api/store/proposals.ts';
import { findNewOperator } from '#api/store/people.ts';
import { Invariant, ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { ACTS } from './acts.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readFilter, readId, readPage, readReason } from './input.ts';
import { cameByConsole, isOfTwo, personOf, personOfTwo } from './person.ts';
import { countedReply, readWalk, walkReply } from './read-walk.ts';

/** GET /proposals, such as `?status=open`. @throws validation_error naming what cannot be read */
export async function showProposals(deps: Deps, call: OperatorCall): Promise<Reply> {
  const { sql } = deps.db;
  const status = readFilter(call.query, 'status', PROPOSAL_STATUSES) ?? null;
  const asked = readWalk(deps, call.query);
  if (asked === undefined) {
    const page = readPage(call.query);
    const { items, total } = await listProposals(sql, { status, limit: page.limit, offset: page.offset });
    return countedReply(items, total, page);
  }
  const { sought, ...walk } = asked;
  const looksFor = sought === null ? null : { id: sought.id, text: sought.text ?? '' };
  const { rows, lastLooked } = await walkProposals(sql, { ...walk, gatewayId: null, status, ids: null }, looksFor);
  return walkReply(rows, walk, lastLooked);
}

/** GET /proposals/{id}. @throws not_found */
export async function showProposal(deps: Deps, call: OperatorCall): Promise<Reply> {
  const found = await findProposal(deps.db.sql, readId(call.params));
  if (found === undefined) throw new ServiceError('not_found');
  return { status: 200, data: found };
}

/**
 * POST /proposals/{id}/confirm: does what somebody else proposed, exactly once, in the transaction that marks it confirmed (decision 0032).
 * Locks the proposal, then what the act locks.
 * @throws not_found; conflict when the caller proposed it or has no name while others have, whoever proposed it has no token any more, one of the two became an operator within a day, it is not open any more, was not proposed through this api, or cannot be done now
 */
export async function confirmProposal(deps: Deps, call: OperatorCall): Promise<Reply> {
  const id = readId(call.params);
  const { name } = personOfTwo(deps);
  const remark = readReason(fieldsOf(call.body));
  const confirmed = await deps.db.transaction(async (tx) => {
    const proposal = await lockProposal(tx, id);
    if (proposal === undefined) throw new ServiceError('not_found');
    refuseDecided(proposal);
    if (proposal.proposedBy === name)
      throw new ServiceError('conflict', { message: `This was proposed by ${name}; it takes a second person, with a token of their own, to confirm it.` });
    if (!(await isProposed(tx, deps, proposal))) {
      deps.log.error({ proposal: id }, 'a proposal is not what anybody proposed: somebody changed its row');
      throw new ServiceError('conflict', { message: 'This is not what was proposed: withdraw it, and find out who changed it.' });
    }
    // Nobody knows whether a token and an address are two people.
    if (cameByConsole(proposal.proposedBy) !== cameByConsole(name))
      throw new ServiceError('conflict', {
        message: `${proposal.proposedBy} proposed this ${cameByConsole(name) ? 'with a token' : 'in the console'}: a second person confirms it in the same way.`,
      });
    if (!(await isOfTwo(deps, tx, proposal.proposedBy)))
      throw new ServiceError('conflict', {
        message: `${proposal.proposedBy}, who proposed this, ${cameByConsole(name) ? 'is no operator' : 'has no token'} any more; withdraw it, and propose it anew.`,
      });
    // Else whoever is one operator makes themselves another one.
    const isNew = cameByConsole(name) ? await findNewOperator(tx, [name, proposal.proposedBy], POLICY.newOperatorSeconds) : undefined;
    if (isNew !== undefined)
      throw new ServiceError('conflict', {
        message: `${isNew} became an operator within a day, by a link that another one made, and is not one of two people until then.`,
      });
    const act = ACTS[proposal.act];
    if (act === undefined) throw new ServiceError('conflict', { message: `This release does not know the act ${proposal.act}.` });
    const outcome = await act.execute(tx, deps, { proposal, confirmedBy: name });
    await decideProposal(tx, id, { by: name, outcome });
    await insertOperatorAction(tx, deps.operator, {
      action: 'proposal.confirm',
      target: id,
      reason: proposal.reason,
      details: { ...saidOf(proposal), confirmedBy: name, outcome, ...(remark !== undefined && { remark }) },
    });
    crashPoint('proposal.executed');
    return findProposal(tx, id);
  });
  crashPoint('proposal.confirmed');
  deps.wake();
  return { status: 200, data: found(confirmed) };
}

/** POST /proposals/{id}/withdraw: it can never be confirmed after; whoever calls, its proposer or anybody else. Locks the proposal. @throws not_found; conflict when it is decided */
export async function withdrawProposal(deps: Deps, call: OperatorCall): Promise<Reply> {
  const id = readId(call.params);
  const { name } = personOf(deps);
  const reason = readReason(fieldsOf(call.body));
  const withdrawn = await deps.db.transaction(async (tx) => {
    const proposal = await lockProposal(tx, id);
    if (proposal === undefined) throw new ServiceError('not_found');
    refuseDecided(proposal);
    await decideProposal(tx, id, { by: name, outcome: null });
    await insertOperatorAction(tx, deps.operator, { action: 'proposal.withdraw', target: id, reason, details: { ...saidOf(proposal), withdrawnBy: name } });
    return findProposal(tx, id);
  });
  crashPoint('proposal.withdrawn');
  return { status: 200, data: found(withdrawn) };
}

function refuseDecided({ status, decidedBy, expiresAt }: StoredProposal): void {
  if (status === 'open') return;
  const how = status === 'expired' ? `It expired at ${expiresAt.toISOString()}; propose it anew.` : `It was ${status} by ${decidedBy} already.`;
  throw new ServiceError('conflict', { message: how });
}

function saidOf({ act, target, content, proposedBy }: StoredProposal): Record<string, unknown> {
  return { act, target, content, proposedBy };
}

function found(proposal: StoredProposal | undefined): StoredProposal {
  if (proposal === undefined) throw new Invariant('a proposal is gone');
  return proposal;
}
