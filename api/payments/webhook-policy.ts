import type { WebhookPolicy } from '#api/clients/webhook-target.ts';
import type { ApiConfig } from '#shared/platform/config.ts';

/** The targets that webhooks may reach: in production only https on public addresses, unless the configuration says otherwise (decisions 6). */
export function webhookPolicy(config: Pick<ApiConfig, 'NODE_ENV' | 'privateWebhookTargets'>): WebhookPolicy {
  return { privateTargets: config.privateWebhookTargets, requireHttps: config.NODE_ENV === 'production' };
}
