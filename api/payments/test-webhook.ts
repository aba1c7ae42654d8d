import { createWebhookHttp, type Failure, resultOf, type WebhookHttp } from '#api/clients/webhook-http.ts';
import { signedHeaders } from '#api/clients/webhook-signature.ts';
import { parseWebhookTarget } from '#api/clients/webhook-target.ts';
import type { components } from '#api/contract/types.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { readSecrets } from '#api/gateways/secrets.ts';
import { findNewestWebhookUrl } from '#api/store/payments.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { limitOf } from '#shared/core/token-bucket.ts';
import { webhookPolicy } from './webhook-policy.ts';

type Schemas = components['schemas'];

interface TestCall {
  gateway: Gateway;
  body: Schemas['TestWebhook'];
}

/** What a merchant is told of a failure: never the words of the system, which name addresses. */
const PROBLEMS: Record<Failure, string> = {
  timeout: `No status line came within ${POLICY.webhookDeadlineMs / 1_000} seconds.`,
  dns: 'The name in the URL leads to no address that a webhook may be sent to.',
  blocked: 'The name in the URL leads to no address that a webhook may be sent to.',
  tls: 'No TLS connection could be made: the certificate is not valid for this name, has ended, or is signed by nobody known.',
  refused: 'No connection could be made, it broke off, or what came back is not HTTP.',
};

/** Gateways that have a test under way in this process. */
const testing = new Set<string>();

/**
 * Sends the event of a payment that does not exist to a receiver of this gateway, as every webhook is sent and beside all of them: no lane, no outbox row, no attempt. Marked as
 * a test in its body. Waits for the answer, ten seconds at most; one at a time for a gateway.
 * @throws validation_error naming url; rate_limit_exceeded
 */
export async function testWebhook(
  deps: Deps,
  call: TestCall,
  http: WebhookHttp = createWebhookHttp({ policy: webhookPolicy(deps.config) }),
): Promise<Schemas['WebhookTest']> {
  const { id: gatewayId } = call.gateway;
  const url = await readUrl(deps, call);
  await limit(deps, gatewayId);
  if (testing.has(gatewayId)) throw new ServiceError('rate_limit_exceeded', { message: 'Another test of this gateway is under way.', retryAfterSeconds: 1 });
  testing.add(gatewayId);
  try {
    return await send(deps, http, { gatewayId, url, status: call.body.status ?? 'SUCCESS' });
  } finally {
    testing.delete(gatewayId);
  }
}

async function readUrl(deps: Deps, { gateway, body }: TestCall): Promise<string> {
  const url = body.url ?? (await findNewestWebhookUrl(deps.db.sql, gateway.id, POLICY.webhookTestLooksAt));
  if (url === undefined) throw invalid('url', 'is required while no recent payment has a webhookUrl');
  const target = parseWebhookTarget(url, webhookPolicy(deps.config));
  if (!target.ok) throw invalid('url', target.problem);
  return url;
}

/** Whoever has many addresses still has one gateway. */
async function limit({ limiter, config }: Deps, gatewayId: string): Promise<void> {
  const perMinute = limitOf(POLICY.webhookTestsPerMinute * config.SLUICE_RATE_LIMIT_SCALE);
  const { waitMs } = await limiter.take({ client: gatewayId, operation: 'testWebhook', small: perMinute, large: perMinute, credential: undefined });
  if (waitMs > 0) throw new ServiceError('rate_limit_exceeded', { retryAfterSeconds: Math.ceil(waitMs / 1_000) });
}

async function send(
  deps: Deps,
  http: WebhookHttp,
  { gatewayId, url, status }: { gatewayId: string; url: string; status: NonNullable<Schemas['TestWebhook']['status']> },
): Promise<Schemas['WebhookTest']> {
  const [id, paymentId] = [uuidFrom(deps.randomBytes(16)), uuidFrom(deps.randomBytes(16))];
  const body = JSON.stringify({ paymentId, status, test: true });
  const secrets = await readSecrets(deps, gatewayId, 'webhook');
  const outcome = await http.post(url, signedHeaders({ id, body, secrets, unixSeconds: Math.floor(deps.wallClock() / 1_000) }), body);
  const failed = outcome.kind === 'failed';
  deps.log.info({ gateway: gatewayId, result: resultOf(outcome), problem: failed ? outcome.problem : undefined }, 'webhook test');
  return {
    webhookId: id,
    url,
    body,
    // Whether a name that leads nowhere is unknown, or known inside and private, is nobody's to learn.
    result: (failed && outcome.result === 'blocked' ? 'dns' : resultOf(outcome)) as Schemas['WebhookTest']['result'],
    httpStatus: failed ? null : outcome.status,
    durationMs: outcome.durationMs,
    problem: failed ? PROBLEMS[outcome.result] : null,
    answer: failed ? null : (outcome.answer ?? null),
  };
}
