import { hash } from 'node:crypto';
import type { Deps } from '#api/deps.ts';
import { Invariant, ServiceError } from '#shared/core/errors.ts';
import { EDGE_RATE_LIMITS, POLICY, RATE_LIMITS } from '#shared/core/policy.ts';
import { limitOf } from '#shared/core/token-bucket.ts';
import { subscriberOf } from '#shared/platform/ip.ts';
import type { Verdict } from '#shared/platform/limiter.ts';

/** One call, before anything about it is believed. */
export interface LimitedCall {
  /** Key of RATE_LIMITS or EDGE_RATE_LIMITS. */
  operationId: string;
  /** Canonical source address, from `clientIp`; the id of whoever is signed in, where their budget is their own. */
  clientIp: string;
  /** What `credentialOf` made of the key, token or payment id the call names; absent for a call that can prove nothing. */
  credential?: string | undefined;
}

/** A call that may go on, and the way to say that its credential was found genuine. */
export type Admission = Omit<Verdict, 'waitMs'>;

/**
 * The first check of every request, before its body is read or its key looked at (decisions 8): a token bucket per source
 * address (IPv6 per /64) and operation, of RATE_LIMITS a minute times SLUICE_RATE_LIMIT_SCALE, with a burst of the whole minute.
 *
 * A server gets ten times as much, but only once it proved to be one: a credential that was found genuine from this very
 * address within the last ten minutes draws on a second, larger bucket, and the call that proves it is paid for from
 * there. An invented key, a wrong secret or a random payment id stays in the small bucket, so guessing is never sped up
 * and never eats the budget of a proven server behind the same address. A proven server's calls of what is called often are taken several at
 * a time; what is guessed at or costs much (approvals, inquiries, sign-ins) is asked about each time.
 * @throws rate_limit_exceeded with the whole seconds after which one call passes
 */
export async function rateLimit(deps: Pick<Deps, 'config' | 'limiter'>, { operationId, clientIp, credential }: LimitedCall): Promise<Admission> {
  const calls = RATE_LIMITS[operationId] ?? EDGE_RATE_LIMITS[operationId as keyof typeof EDGE_RATE_LIMITS];
  if (calls === undefined) throw new Invariant(`operation ${operationId} has no rate limit`);
  const perMinute = calls * deps.config.SLUICE_RATE_LIMIT_SCALE;
  const { waitMs, ...admission } = await deps.limiter.take({
    client: subscriberOf(clientIp),
    operation: operationId,
    small: limitOf(perMinute),
    large: limitOf(perMinute * POLICY.rateLimitServerFactor),
    credential,
    ahead: calls >= POLICY.rateLimitAheadFrom,
  });
  if (waitMs > 0) throw new ServiceError('rate_limit_exceeded', { retryAfterSeconds: Math.ceil(waitMs / 1_000) });
  return admission;
}

/** What stands for a key, a token or a payment id in the limiter; the text itself is kept nowhere. */
export function credentialOf(kind: 'key' | 'token' | 'payment', text: string | undefined): string | undefined {
  return text === undefined ? undefined : hash('sha256', `${kind}:${text}`, 'base64url');
}
