import type { WebhookPolicy } from '#api/clients/webhook-target.ts';
import type { ApiConfig } from '#shared/platform/config.ts';

/** What this deployment allows a webhook to reach: in production https on public addresses, unless it says otherwise (decisions 6). */
export function webhookPolicy(config: Pick<ApiConfig, 'NODE_ENV' | 'privateWebhookTargets'>): WebhookPolicy {
  return { privateTargets: config.privateWebhookTargets, requireHttps: config.NODE_ENV === 'production' };
}
