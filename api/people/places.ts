import type { Deps, Gateway } from '#api/deps.ts';
import { findGateway } from '#api/store/gateways.ts';
import { findMembership } from '#api/store/people.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';

/** A gateway as one of its people finds it. */
export interface GatewayPlace {
  gateway: Gateway;
  role: string;
  /** What that role may do there, as the contract calls it. */
  permissions: readonly string[];
}

/** Lets a person into a gateway. One that they are no member of counts as one that does not exist (contract 5.3). @throws not_found */
export async function enterGateway({ db }: Pick<Deps, 'db'>, { personId, gatewayId }: { personId: string; gatewayId: string }): Promise<GatewayPlace> {
  if (!isUuid(gatewayId)) throw new ServiceError('not_found');
  const [membership, gateway] = await Promise.all([findMembership(db.sql, personId, gatewayId), findGateway(db.sql, gatewayId)]);
  if (membership === undefined || gateway === undefined) throw new ServiceError('not_found');
  return { gateway, ...membership };
}
