import type { Deps, Reply } from '#api/deps.ts';
import { sayProposed } from '#api/intents/proposal.ts';
import { insertOperatorAction, findProposal, insertProposal, type Proposal } from '#api/store/proposals.ts';
import { Invariant } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { masterKeys } from '#shared/platform/key-ring.ts';
import { personOfTwo } from './person.ts';
import { proposalMac } from './proposal-mac.ts';

/**
 * Stores an act for a second person to confirm, in the name of whoever calls, with an audit row; answers 202 with the proposal. `content` is flat.
 * @throws conflict when the caller has no name while others have
 */
export async function propose(deps: Deps, act: Pick<Proposal, 'act' | 'target' | 'content' | 'reason'>): Promise<Reply> {
  const proposal: Proposal = { ...act, id: uuidFrom(deps.randomBytes(16)), proposedBy: personOfTwo(deps).name };
  const stored = await deps.db.transaction(async (tx) => {
    await insertProposal(tx, { ...proposal, mac: proposalMac(masterKeys(deps.config).current, proposal), seconds: POLICY.proposalSeconds });
    const inserted = await findProposal(tx, proposal.id);
    if (inserted === undefined) throw new Invariant(`proposal ${proposal.id} is gone`);
    await sayProposed(tx, deps, inserted);
    const { id, reason, proposedBy, content, target } = proposal;
    await insertOperatorAction(tx, deps.operator, {
      action: 'proposal.create',
      target: id,
      reason,
      details: { act: act.act, target, content, proposedBy },
    });
    return inserted;
  });
  crashPoint('proposal.created');
  return { status: 202, data: stored, resourceId: stored.id };
}
