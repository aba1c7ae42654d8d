import { OpenAPIBackend } from 'openapi-backend';
import { expect } from 'vitest';
import { readContract } from '#api/http/read-contract.ts';
import type { ReceivedWebhook } from '#ops/dev/webhook-receiver.ts';
import { compiler } from './client.ts';

interface Schema {
  [keyword: string]: unknown;
}
interface WebhookOperation {
  parameters: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody: { content: { 'application/json': { schema: Schema } } };
}

let opened: Promise<WebhookOperation> | undefined;
const bodies = compiler({ coerceTypes: false });
const texts = compiler({ coerceTypes: true });

/** Fails unless a received webhook is what the `webhooks` section of the contract describes: every header, and the body to the field. */
export async function assertWebhook({ headers, body }: Pick<ReceivedWebhook, 'headers' | 'body'>): Promise<void> {
  opened ??= open();
  const operation = await opened;
  expect(headers['content-type']).toMatch(/^application\/json(; charset=utf-8)?$/);
  expect(bodies('body', operation.requestBody.content['application/json'].schema)(JSON.parse(body)), body).toEqual([]);
  for (const { name, schema } of operation.parameters.filter((parameter) => parameter.in === 'header'))
    expect(texts(name, schema)(headers[name.toLowerCase()]), `${name}: ${String(headers[name.toLowerCase()])}`).toEqual([]);
}

async function open(): Promise<WebhookOperation> {
  const backend = new OpenAPIBackend({ definition: readContract('api/contract/openapi.yaml'), quick: true, strict: true });
  await backend.init();
  const { webhooks } = backend.definition as unknown as { webhooks: { payment: { post: WebhookOperation } } };
  return webhooks.payment.post;
}
