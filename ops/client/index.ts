// biome-ignore-all lint/performance/noBarrelFile: this is the entry of the package that `npm run client` makes.
export { createClient, type ClientOptions, NoAnswer, SluiceError } from './client.ts';
export type { Calls, DataOf, InputOf } from './calls.ts';
export { selectAddress, type SelectOptions } from './select.ts';
export { cashoutSignature, signedHeaders } from './sign.ts';
export { type ArrivedWebhook, readWebhook, type WebhookEvent, type WebhookOptions, WebhookRefused } from './webhooks.ts';
