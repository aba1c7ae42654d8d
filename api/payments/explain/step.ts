import type { StoredAsset } from '#api/store/assets.ts';
import type { ExpectedArrival } from '#api/store/deposit-addresses.ts';
import type { PaymentEventRow } from '#api/store/payments.ts';
import type { WebhookAttempt, WebhookEvent } from '#api/store/webhook-events.ts';
import { formatAmount } from '#shared/core/money.ts';
import type { FeePayer } from '#state-machines/payment/offer.ts';
import type { Pending } from '../pending-deposit.ts';
import type { PaymentParts } from '../view.ts';
import type { ExplanationRule } from './rules.ts';

/** Kind of a step; several steps of one kind may follow each other. */
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
  rule: ExplanationRule;
  /** Service time, RFC 3339. */
  at: string;
  /** What happened and why, in one sentence. */
  text: string;
  /** Every figure of the sentence, exact; a figure that does not exist is absent. */
  figures: Record<string, string>;
}

/** The facts that explain a payment, all read in one snapshot. */
export interface ExplainedPayment {
  /** Service time of the reading. */
  now: Date;
  parts: PaymentParts;
  events: readonly PaymentEventRow[];
  webhooks: readonly WebhookEvent[];
  attempts: readonly WebhookAttempt[];
  /** Every configured asset, because one may arrive that was not offered. */
  assets: readonly StoredAsset[];
  /** Transfers that were seen before a block held them. */
  expected: readonly ExpectedArrival[];
  /** What each open deposit waits for, by its id. */
  pending: ReadonlyMap<string, Pending>;
}

/** Figures before formatting: money in 18-place integers, times, counts; null is left out. */
export type Figures = Record<string, bigint | number | boolean | string | Date | null | undefined>;

/** Makes a step, with its figures written as the contract writes them. */
export function step(at: Date, name: StepName, rule: ExplanationRule, text: string, figures: Figures): ExplanationStep {
  const present = Object.entries(figures).flatMap(([key, value]) => (value === null || value === undefined ? [] : [[key, written(value)]]));
  return { step: name, rule, at: at.toISOString(), text, figures: Object.fromEntries(present) };
}

function written(value: bigint | number | boolean | string | Date): string {
  if (typeof value === 'bigint') return formatAmount(value);
  return value instanceof Date ? value.toISOString() : String(value);
}

/** How old a price was at a moment, in whole seconds; never below 0. */
export function ageSeconds(taken: Date, at: Date): number {
  return Math.max(0, Math.round((at.getTime() - taken.getTime()) / 1_000));
}

/** Who bears a fee, inside a sentence. */
export function bearer(payer: FeePayer): string {
  return { MERCHANT: 'the merchant', CUSTOMER: 'the customer', PLATFORM: 'the platform' }[payer];
}
