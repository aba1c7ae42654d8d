import type { Deps } from '#api/deps.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { EDGE_RATE_LIMITS } from '#shared/core/policy.ts';
import { limitOf } from '#shared/core/token-bucket.ts';

/**
 * Takes an act that a session alone allows from what one person does by hand: each is a row of a record that nobody can shorten. To stop cashouts has a budget of its own, so
 * that whoever uses the other one up keeps nobody from it. @throws rate_limit_exceeded
 */
export async function limitUnprovedAct(deps: Pick<Deps, 'config' | 'limiter'>, personId: string, operation: 'unprovedAct' | 'urgentAct'): Promise<void> {
  const limit = limitOf(EDGE_RATE_LIMITS[operation] * deps.config.SLUICE_RATE_LIMIT_SCALE);
  const { waitMs } = await deps.limiter.take({ client: personId, operation, small: limit, large: limit, credential: undefined });
  if (waitMs > 0) throw new ServiceError('rate_limit_exceeded', { retryAfterSeconds: Math.ceil(waitMs / 1_000) });
}
