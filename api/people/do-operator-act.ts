import type { Deps } from '#api/deps.ts';
import { insertConsoleAction } from '#api/store/console-actions.ts';
import { lockMembership } from '#api/store/people.ts';
import { sessionLives } from '#api/store/sessions.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import type { OperatorActName } from './act-names.ts';
import { limitUnprovedAct } from './limit-acts.ts';
import { OPERATOR_ACTS } from './operator-acts.ts';
import { enterDeployment } from './places.ts';
import { doer, type Signed } from './signed.ts';
import { type Act, proveAct, stepUpOptions } from './step-up.ts';

/** What a person asks to have done at the deployment. */
export interface AskedOperatorAct {
  act: OperatorActName;
  /** As their form sent them. */
  fields: Readonly<Record<string, string>>;
}

/** What a person's browser is to sign so that this act is done. @throws not_found, forbidden, validation_error */
export async function operatorActOptions(deps: Deps, signed: Signed, asked: AskedOperatorAct): Promise<object> {
  const { agreed } = await prepare(deps, signed, asked);
  if (agreed === undefined) throw new ServiceError('not_found');
  return stepUpOptions(deps, signed.session, agreed);
}

/**
 * Does what an operator asks for, by the operation of the operator API, in whose log it stands in their name. Whatever takes a proof is done once for each: the proof is used up
 * whatever comes of it. Each of its transactions begins with whether they still may, and the first one notes it. A refund and a rejection always take two people here, however
 * few the deployment wants. Locks the membership, then what the operation locks, then the chain of acts.
 * @throws not_found for whoever is no operator; forbidden; rate_limit_exceeded for acts without a proof; validation_error naming the field; whatever the operation throws
 */
export async function doOperatorAct(deps: Deps, signed: Signed, { proof, ...asked }: AskedOperatorAct & { proof: string }): Promise<object> {
  const { act, fields, agreed, role } = await prepare(deps, signed, asked);
  if (agreed !== undefined) await proveAct(deps, signed.session, { act: agreed, proof });
  else await limitUnprovedAct(deps, signed.session.personId, asked.act === 'dispatch-freeze' ? 'urgentAct' : 'unprovedAct');
  const { personId, email } = signed.session;
  let noted = false;
  const transaction = (async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    const done = await deps.db.transaction(async (tx) => {
      const membership = await lockMembership(tx, personId, null);
      if (membership?.role !== role || !(await sessionLives(tx, signed.session.id))) throw new ServiceError('forbidden');
      const result = await work(tx);
      const after = agreed?.content ?? (fields as Record<string, string>);
      if (!noted) await insertConsoleAction(tx, doer(signed), { act: actNameOf(asked.act), target: act.target(fields), gatewayId: null, after });
      return result;
    });
    // Not before it is committed: one that lost a deadlock is run again.
    noted = true;
    return done;
  }) as Deps['db']['transaction'];
  const own: Deps = {
    ...deps,
    db: { ...deps.db, transaction },
    config: { ...deps.config, SLUICE_TWO_PEOPLE_FOR: ['refund', 'reject'] },
    operator: { person: { name: email }, name: null, clientIp: signed.address, token: 'person', requestId: null },
  };
  return act.run(own, { signed, fields });
}

async function prepare(deps: Deps, { session }: Signed, { act: name, fields: given }: AskedOperatorAct) {
  const { role, permissions } = await enterDeployment(deps, { personId: session.personId });
  const act = OPERATOR_ACTS[name];
  if (!permissions.includes(act.permission)) throw new ServiceError('forbidden', { message: `The role ${role} lacks the permission ${act.permission}.` });
  const parsed = act.fields.safeParse(given);
  if (!parsed.success) throw invalid(parsed.error.issues[0]?.path.join('.') || 'body', parsed.error.issues[0]?.message ?? 'is not valid');
  const fields = parsed.data;
  const content = await act.agreed?.(deps, fields, permissions);
  const agreed: Act | undefined = content === undefined ? undefined : { name: actNameOf(name), gatewayId: null, target: act.target(fields), content };
  return { act, fields, agreed, role };
}

/** As the log of people's acts calls it: `settlement.reject`. Pure. */
function actNameOf(name: OperatorActName): string {
  return name.replace('-', '.');
}
