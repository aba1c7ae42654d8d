import type { Deps } from '#api/deps.ts';
import { type Doer, insertConsoleAction } from '#api/store/console-actions.ts';
import { findGateway } from '#api/store/gateways.ts';
import { endMemberships, endMembershipsByRule, findRole, insertMembership, lockMemberships, type Membership } from '#api/store/people.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import type { ProviderRule } from '#shared/platform/provider-rules.ts';
import type { Tx } from '#shared/platform/postgres.ts';

type Needed = Pick<Deps, 'config' | 'log' | 'randomBytes'>;

/** Rules whose claim says so; of several for one place the first counts. Pure. */
export function rulesThatHold(rules: readonly ProviderRule[], claims: Readonly<Record<string, unknown>>): ProviderRule[] {
  const holds = ({ claim, value }: ProviderRule): boolean => [claims[claim]].flat().includes(value);
  const held = rules.filter(holds);
  return held.filter((rule, at) => held.findIndex(({ gateway }) => gateway === rule.gateway) === at);
}

/** The roles that a provider's claims give, as far as the deployment has them; a rule for what does not exist gives nothing, and the log says so. */
export async function grantsOf({ config, log }: Needed, tx: Tx, claims: Readonly<Record<string, unknown>>): Promise<Membership[]> {
  const grants: Membership[] = [];
  for (const { gateway: gatewayId, role } of rulesThatHold(config.SLUICE_OIDC_RULES, claims)) {
    const known = await findRole(tx, role);
    if (known?.operates === (gatewayId === null) && (gatewayId === null || (await findGateway(tx, gatewayId)) !== undefined)) grants.push({ gatewayId, role });
    else log.error({ gatewayId, role }, 'a rule of SLUICE_OIDC_RULES names a gateway or a role that is none there');
  }
  return grants;
}

/**
 * Gives a person what the rules give now, and takes what they gave before and do not any more. What an invitation gave stays as it is. Locks the person's memberships;
 * answers what the record of acts is to say, which comes last.
 */
export async function followRules(
  { randomBytes }: Needed,
  tx: Tx,
  { personId, grants, address }: { personId: string; grants: readonly Membership[]; address: string },
): Promise<() => Promise<void>> {
  const held = await lockMemberships(tx, personId);
  const at = ({ gatewayId }: Membership) => held.find((one) => one.gatewayId === gatewayId);
  const ended = held.filter(({ byRule, gatewayId }) => byRule && !grants.some((one) => one.gatewayId === gatewayId));
  const given = grants.filter((grant) => at(grant) === undefined || (at(grant)?.byRule === true && at(grant)?.role !== grant.role));
  for (const { gatewayId } of ended) await endMemberships(tx, personId, { gatewayId });
  for (const grant of given) await insertMembership(tx, { id: uuidFrom(randomBytes(16)), personId, ...grant, byRule: true });
  const by = byProvider(address);
  return async () => {
    for (const { gatewayId, role } of ended) await insertConsoleAction(tx, by, { act: 'membership.end', target: personId, gatewayId, before: { role } });
    for (const { gatewayId, role } of given) await insertConsoleAction(tx, by, { act: 'membership.give', target: personId, gatewayId, after: { role } });
  };
}

/**
 * Takes from a person what rules gave, where no provider signed them in for so many seconds: nobody says any more that its claim stands. Locks what it ends.
 */
export async function endUnspoken(tx: Tx, personId: string, { address, withinSeconds }: { address: string; withinSeconds: number }): Promise<void> {
  const ended = await endMembershipsByRule(tx, personId, withinSeconds);
  for (const { gatewayId, role } of ended)
    await insertConsoleAction(tx, byProvider(address), { act: 'membership.end', target: personId, gatewayId, before: { role } });
}

function byProvider(address: string): Doer {
  return { kind: 'service', name: 'identity provider', address };
}
