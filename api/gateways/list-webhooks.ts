import type { components, operations } from '#api/contract/types.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { findLastLookedWebhook, findWebhookPlace, type GatewayWebhook, listGatewayWebhooks } from '#api/store/gateway-webhooks.ts';
import { isUuid } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { readTime } from '#shared/core/read-time.ts';
import { badCursor, followLooked, type Following, readFollowing } from '#shared/platform/page.ts';

type Webhook = components['schemas']['GatewayWebhook'];

/** The query as the contract file lets it through. */
type ListWebhooks = { gateway: Gateway } & NonNullable<operations['listWebhooks']['parameters']['query']>;

/**
 * Webhooks of all payments of this gateway, newest first, each with its last attempt. A page looks through so many rows and no more (decision 0065).
 * @throws validation_error for an unreadable time, a limit below 1, or a cursor this gateway was never given
 */
export async function listWebhooks(deps: Deps, query: ListWebhooks): Promise<{ items: Webhook[]; pagination: Following }> {
  const { sql } = deps.db;
  const gatewayId = query.gateway.id;
  const { limit, after } = readFollowing(query);
  const place = after === null ? null : isUuid(after) ? await findWebhookPlace(sql, gatewayId, after) : undefined;
  if (place === undefined) throw badCursor();
  const page = {
    gatewayId,
    state: query.state ?? null,
    status: query.status ?? null,
    paymentId: query.payment ?? null,
    from: readTime('from', query.from),
    to: readTime('to', query.to),
    after: place,
    window: POLICY.listLookedThrough,
  };
  const rows = await listGatewayWebhooks(sql, { ...page, limit });
  const { shown, pagination } = await followLooked(rows, {
    limit,
    idOf: ({ id }: { id: string }) => id,
    lastLooked: () => findLastLookedWebhook(sql, page),
  });
  return { items: shown.map(webhookView), pagination };
}

function webhookView({
  id,
  paymentId,
  status,
  url,
  state,
  createdAt,
  nextAttemptAt,
  deliveredAt,
  resendRequestedAt,
  attempts,
  ...last
}: GatewayWebhook): Webhook {
  return {
    id,
    paymentUid: paymentId,
    status: status as Webhook['status'],
    url,
    state,
    createdAt: createdAt.toISOString(),
    nextAttemptAt: state === 'pending' ? nextAttemptAt.toISOString() : null,
    deliveredAt: deliveredAt?.toISOString() ?? null,
    resendRequestedAt: resendRequestedAt?.toISOString() ?? null,
    attempts,
    lastAttemptAt: last.lastStartedAt?.toISOString() ?? null,
    lastResult: last.lastResult as Webhook['lastResult'],
    lastHttpStatus: last.lastHttpStatus,
  };
}
