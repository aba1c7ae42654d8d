import type { operations } from '#api/contract/types.ts';
import type { Deps, Gateway, Reply } from '#api/deps.ts';
import { previewPayment as preview } from '#api/payments/preview.ts';
import type { Call } from './call.ts';

/** `POST /payments/preview`: create without creating. */
export async function previewPayment(deps: Deps, { gateway, body, sent, clientIp }: Call<operations['previewPayment'], Gateway>): Promise<Reply> {
  return preview(deps, { gateway, body, sent, clientIp });
}
