import type { Commit, Deps, Gateway } from '#api/deps.ts';
import { insertConsoleAction } from '#api/store/console-actions.ts';
import { lockMembership } from '#api/store/people.ts';
import { sessionLives } from '#api/store/sessions.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { reviewSettlement, type SettlementReview } from '#api/settlements/review.ts';
import type { GatewayActName } from './act-names.ts';
import { newCashout } from './gateway-acts/cashout-acts.ts';
import { GATEWAY_ACTS } from './gateway-acts/gateway-acts.ts';
import { limitUnprovedAct } from './limit-acts.ts';
import { enterGateway } from './places.ts';
import { doer, type Signed } from './signed.ts';
import { type Act, proveAct, stepUpOptions } from './step-up.ts';

/** What a person asks to have done at a gateway. */
export interface AskedAct {
  gateway: string;
  act: GatewayActName;
  /** As their form sent them. */
  fields: Readonly<Record<string, string>>;
}

/** What a person's browser is to sign so that this act is done. @throws not_found, forbidden, validation_error */
export async function gatewayActOptions(deps: Deps, signed: Signed, asked: AskedAct): Promise<object> {
  const { agreed } = await prepare(deps, signed, asked);
  if (agreed === undefined) throw new ServiceError('not_found');
  return stepUpOptions(deps, signed.session, agreed);
}

/**
 * Does what a person asks for at a gateway of theirs, by the use case that answers the merchant operation. Whatever takes a proof is done once for each: the proof is used up
 * whatever comes of it. Who lost the role or the session since is refused in the transaction that does it. Locks the membership, then what the use case locks, then the chain of
 * acts.
 * @throws not_found for a gateway that is not theirs; forbidden, also at one that is suspended; validation_error naming the field; whatever the use case throws
 */
export async function doGatewayAct(deps: Deps, signed: Signed, { proof, ...asked }: AskedAct & { proof: string }): Promise<object> {
  const { gateway, fields, act, agreed, role, permissions } = await prepare(deps, signed, asked);
  if (agreed !== undefined) await proveAct(deps, signed.session, { act: agreed, proof });
  else await limitUnprovedAct(deps, signed.session.personId, 'unprovedAct');
  const { personId, email } = signed.session;
  const commit: Commit = (work) =>
    deps.db.transaction(async (tx) => {
      const membership = await lockMembership(tx, personId, gateway.id);
      // Another role is another limit of what may be given away, also where it allows this act.
      if (membership?.role !== role || !(await sessionLives(tx, signed.session.id))) throw new ServiceError('forbidden');
      const reply = await work(tx);
      const noted = { act: actNameOf(asked.act), target: reply.resourceId ?? act.target(fields), gatewayId: gateway.id };
      await insertConsoleAction(tx, doer(signed), { ...noted, ...(agreed !== undefined && { after: agreed.content }), ...act.noted?.(fields) });
      return reply;
    });
  return act.run(deps, { gateway, fields, agreed: agreed?.content ?? {}, personId, email, role, permissions, address: signed.address, commit });
}

interface Prepared {
  gateway: Gateway;
  fields: unknown;
  act: (typeof GATEWAY_ACTS)[GatewayActName];
  agreed: Act | undefined;
  role: string;
  permissions: readonly string[];
}

async function prepare(deps: Deps, { session }: Signed, { gateway: gatewayId, act: name, fields: given }: AskedAct): Promise<Prepared> {
  const { gateway, permissions, role } = await enterGateway(deps, { personId: session.personId, gatewayId });
  const act = GATEWAY_ACTS[name];
  // Its keys do nothing either.
  if (gateway.status !== 'VERIFIED') throw new ServiceError('forbidden', { message: `The gateway is ${gateway.status}: nothing can be done there.` });
  if (!permissions.includes(act.permission)) throw new ServiceError('forbidden', { message: `The role ${role} lacks the permission ${act.permission}.` });
  const parsed = act.fields.safeParse(given);
  if (!parsed.success) throw invalid(parsed.error.issues[0]?.path.join('.') || 'body', parsed.error.issues[0]?.message ?? 'is not valid');
  const fields = parsed.data;
  const content = await act.agreed?.(deps, { gateway, fields, personId: session.personId });
  const agreed = content === undefined ? undefined : { name: actNameOf(name), gatewayId: gateway.id, target: act.target(fields), content };
  return { gateway, fields, act, agreed, role, permissions };
}

/** As the log of people's acts calls it: `settlement.approve`. Pure. */
function actNameOf(name: GatewayActName): string {
  return name.replace('-', '.');
}

/** Shows a person what a cashout would be that they may ask for. @throws not_found, forbidden, and what `reviewSettlement` does */
export async function reviewCashout(deps: Deps, signed: Signed, { gateway, fields }: Omit<AskedAct, 'act'>): Promise<SettlementReview> {
  const prepared = await prepare(deps, signed, { gateway, act: 'settlement-create', fields });
  return reviewSettlement(deps, { gateway: prepared.gateway, body: newCashout.parse(prepared.fields) });
}
