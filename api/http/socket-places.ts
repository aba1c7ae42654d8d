import { ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { subscriberOf } from '#shared/platform/ip.ts';

/** Long enough for somebody else's page to be closed. */
const RETRY_SECONDS = 30;

/** How many sockets this process holds, together and of one client (an IPv6 network of one subscriber is one client). */
export interface Places {
  /** Takes a place and answers how to give it back. @throws rate_limit_exceeded when this client has its share, service_unavailable when all are taken */
  take(clientIp: string): () => void;
}

/** Counts the sockets of one process. */
export function openPlaces(limits: { perClient: number; together: number } = { perClient: POLICY.socketsPerClient, together: POLICY.sockets }): Places {
  const byClient = new Map<string, number>();
  let taken = 0;
  return {
    take(clientIp) {
      const client = subscriberOf(clientIp);
      const own = byClient.get(client) ?? 0;
      if (own >= limits.perClient)
        throw new ServiceError('rate_limit_exceeded', { message: 'Too many sockets are open from this address.', retryAfterSeconds: RETRY_SECONDS });
      if (taken >= limits.together) throw new ServiceError('service_unavailable', { retryAfterSeconds: RETRY_SECONDS });
      byClient.set(client, own + 1);
      taken += 1;
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        taken -= 1;
        const left = (byClient.get(client) ?? 1) - 1;
        if (left === 0) byClient.delete(client);
        else byClient.set(client, left);
      };
    },
  };
}
