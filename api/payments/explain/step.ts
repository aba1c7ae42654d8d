import type { StoredAsset } from '#api/store/assets.ts';
import type { ExpectedArrival } from '#api/store/deposit-addresses.ts';
import type { PaymentEventRow } from '#api/store/payments.ts';
import type { WebhookAttempt, WebhookEvent } from '#api/store/webhook-events.ts';
import { formatAmount } from '#shared/core/money.ts';
import type { FeePayer } from '#state-machines/payment/offer.ts';
import type { Pending } from '../pending-deposit.ts';
import type { PaymentParts } from '../view.ts';

/** What a step is about; several steps of one kind may follow each other. */
export type StepName =
  | 'invoice'
  | 'terms'
  | 'offer'
  | 'select'
  | 'address'
  | 'deposit'
  | 'finality'
  | 'price'
  | 'value'
  | 'tolerance'
  | 'decision'
  | 'record'
  | 'fees'
  | 'expiry'
  | 'webhook'
  | 'verify'
  | 'next';

/** One step of a payment's explanation, as the contract shows it. */
export interface ExplanationStep {
  step: StepName;
  /** Name of the rule that applied. */
  rule: string;
  /** Service time, RFC 3339. */
  at: string;
  /** What happened and why, as a sentence. */
  text: string;
  /** Every figure of the sentence, exact; what does not exist is absent. */
  figures: Record<string, string>;
}

/** Everything a payment's explanation is made of, read at one moment. */
export interface ExplainedPayment {
  /** Service time of the reading. */
  now: Date;
  parts: PaymentParts;
  events: readonly PaymentEventRow[];
  webhooks: readonly WebhookEvent[];
  attempts: readonly WebhookAttempt[];
  /** Every configured asset, for those that arrived without having been offered. */
  assets: readonly StoredAsset[];
  /** What was seen on its way before a block held it. */
  expected: readonly ExpectedArrival[];
  /** What each deposit that is still open waits for, by its id. */
  pending: ReadonlyMap<string, Pending>;
}

/** Figures as they come: money in 18-place integers, times, counts; null is left out. */
export type Figures = Record<string, bigint | number | boolean | string | Date | null | undefined>;

/** Makes a step, its figures written the way the contract writes them. */
export function step(at: Date, name: StepName, rule: string, text: string, figures: Figures): ExplanationStep {
  const present = Object.entries(figures).flatMap(([key, value]) => (value === null || value === undefined ? [] : [[key, written(value)]]));
  return { step: name, rule, at: at.toISOString(), text, figures: Object.fromEntries(present) };
}

function written(value: bigint | number | boolean | string | Date): string {
  if (typeof value === 'bigint') return formatAmount(value);
  return value instanceof Date ? value.toISOString() : String(value);
}

/** Whole seconds a price was old at a moment; never below 0. */
export function ageSeconds(taken: Date, at: Date): number {
  return Math.max(0, Math.round((at.getTime() - taken.getTime()) / 1_000));
}

/** Who bears a fee, inside a sentence. */
export function bearer(payer: FeePayer): string {
  return { MERCHANT: 'the merchant', CUSTOMER: 'the customer', PLATFORM: 'the platform' }[payer];
}
