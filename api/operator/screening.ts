import { screeningProviderName } from '#api/clients/screening/registry.ts';
import type { Deps, Reply } from '#api/deps.ts';
import { anyAddress } from '#api/screening/any-address.ts';
import { insertOperatorAction } from '#api/store/proposals.ts';
import { countGatewaysThatScreen, upsertScreeningScore } from '#api/store/screenings.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readInteger } from './input.ts';

/** GET /screening: who gives verdicts here, how long the sanctions list is, and how many gateways screen without a credit left. */
export async function showScreening(deps: Deps): Promise<Reply> {
  const { provider, sanctioned } = deps.screening.sources();
  const screening = await countGatewaysThatScreen(deps.db.sql);
  return { status: 200, data: { provider, sanctionsList: sanctioned === null ? null : { addresses: sanctioned }, gateways: screening } };
}

/**
 * PUT /screening/{address}: what the development source says about an address from now on, or that it cannot be reached.
 * Verdicts that were given stay. Only where that source is the provider.
 */
export async function putScreening(deps: Deps, call: OperatorCall): Promise<Reply> {
  if (screeningProviderName(deps.config) !== 'development')
    throw new ServiceError('forbidden', { message: 'Verdicts come from a provider here; scores that somebody sets are a development tool.' });
  const address = anyAddress(deps.chains.values())(call.params.address ?? '');
  // As unknown as any other malformed name in a path (decisions 8).
  if (address === undefined) throw new ServiceError('not_found');
  const fields = fieldsOf(call.body);
  const unavailable = fields.unavailable ?? undefined;
  if (unavailable !== undefined && unavailable !== true) throw invalid('unavailable', 'must be true, or absent');
  if (unavailable === true && (fields.score ?? undefined) !== undefined) throw invalid('score', 'cannot be given by a source that is unavailable');
  const score = unavailable === true ? null : readInteger(fields, 'score', 0, 100);
  await deps.db.transaction(async (tx) => {
    await upsertScreeningScore(tx, { address, score });
    await insertOperatorAction(tx, deps.operator, { action: 'screening.set', target: address, details: { score } });
  });
  return { status: 200, data: score === null ? { address, unavailable: true } : { address, score } };
}
