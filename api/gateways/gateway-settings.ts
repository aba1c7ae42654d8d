import * as z from 'zod';
import type { Gateway, GatewaySettings } from '#api/deps.ts';
import { CALLBACK_URL, isCallbackUrl } from '#shared/core/callback-url.ts';
import { isHexColour } from '#shared/core/accent.ts';
import { invalid } from '#shared/core/errors.ts';
import { isMoney } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { isIpRange } from '#shared/platform/ip.ts';

const DAY = 86_400;

const money = z.string('must be a decimal string such as "10.50"').refine(isMoney, 'must be a decimal string such as "10.50"');
/** A leading minus means no tolerance, as for a payment (decisions 1). */
const tolerance = z
  .string('must be a decimal string such as "0.50"')
  .refine((text) => isMoney(text.replace(/^-/, '')), 'must be a decimal string such as "0.50"')
  .transform((text) => (text.startsWith('-') ? '0' : text));
const seconds = (max = Number.MAX_SAFE_INTEGER) => z.int('must be a whole number of seconds').min(0, 'must not be negative').max(max, `must be at most ${max}`);
const count = (max: number) => z.int('must be a whole number').min(0, 'must not be negative').max(max, `must be at most ${max}`);
const flag = z.boolean('must be true or false');
const uuids = z.array(z.uuid('must be an asset id')).nullable();
const url = z
  .url({ protocol: /^https?$/, error: 'must be an absolute http or https URL' })
  .max(2_000, 'must be at most 2000 characters')
  .nullable();
/** Text that is shown within other text: nothing in it breaks a line or changes the direction of the text around it. */
export const ONE_LINE = /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+$/u;
const shownName = z.string().trim().max(120, 'must be at most 120 characters').regex(ONE_LINE, 'must be one line of text');
/** A language tag in its usual spelling. A language without checkout texts is allowed; the checkout then falls back to another (ux 3). */
const languageTag = z
  .string()
  .max(35, 'must be at most 35 characters')
  .refine((text) => canonicalTag(text) !== undefined, 'must be a language tag such as "es" or "zh-CN"')
  .transform((text) => canonicalTag(text) ?? text);
const cidrs = z.array(z.string().refine(isIpRange, 'must be an IP address or a CIDR range'));

/** The allowed values of each setting, and its default (operability 3). Null anywhere in the input means the default. */
const settingsSchema = z.object({
  assetIds: uuids.default(null),
  openAmount: z.object({ enabled: flag.default(false), minAmountUsd: money.default('1'), assetIds: uuids.default(null) }).prefault({}),
  settings: z
    .object({
      txFeePayer: z.enum(['MERCHANT', 'CUSTOMER']).default('MERCHANT'),
      commissionFeePayer: z.enum(['MERCHANT', 'CUSTOMER']).default('MERCHANT'),
      overAcceptableDiff: tolerance.default('0'),
      underAcceptableDiff: tolerance.default('0'),
      acceptableDiffKind: z.enum(['ABSOLUTE', 'PERCENTAGE']).default('ABSOLUTE'),
      checkAmountDeviation: flag.default(true),
      commissionBps: count(10_000).default(0),
      commissionMinUsd: money.default('0'),
      lateCaptureGraceSeconds: seconds(POLICY.lateCaptureGraceMaximumSeconds).default(POLICY.lateCaptureGraceSeconds),
      maturitySeconds: seconds(3650 * DAY)
        .nullable()
        .default(null),
      inquiryAttempts: count(1_000).default(POLICY.inquiryAttempts),
    })
    .prefault({}),
  defaults: z
    .object({
      timeoutSeconds: z
        .int('must be a whole number of seconds')
        .min(60, 'must be at least 60')
        .max(30 * DAY, `must be at most ${30 * DAY}`)
        .nullable()
        .default(null),
      callbackUrl: z.string().refine(isCallbackUrl, CALLBACK_URL).nullable().default(null),
    })
    .prefault({}),
  apiAllowlist: cidrs.default([]),
  cashout: z
    .object({
      enabled: flag.default(false),
      allowlist: cidrs.default([]),
      parkingEnabled: flag.default(false),
      parkedCap: count(100_000).default(POLICY.parkedCap),
      approvalCapUsd: money.nullable().default(null),
      dailyCapUsd: money.nullable().default(null),
      dispatchDelaySeconds: seconds(3650 * DAY).default(0),
    })
    .prefault({}),
  screening: z.object({ enabled: flag.default(false), threshold: count(100).default(POLICY.screeningThreshold) }).prefault({}),
  contactEmail: z.email('must be an e-mail address').nullable().default(null),
  strictSignatures: flag.default(false),
  branding: z
    .object({
      displayName: shownName.nullable().default(null),
      logoUrl: url.default(null),
      supportUrl: url.default(null),
      language: languageTag.nullable().default(null),
      qrMode: z.enum(['SAFE', 'URI']).default('SAFE'),
      accentColor: z.string().toLowerCase().refine(isHexColour, 'must be a colour such as "#1f5f4a"').nullable().default(null),
      theme: z.enum(['AUTO', 'LIGHT', 'DARK']).default('AUTO'),
      logo: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be the hash of a logo')
        .nullable()
        .default(null),
    })
    .prefault({}),
}) satisfies z.ZodType<GatewaySettings>;

const gatewaySchema = settingsSchema.extend({
  name: z.string('is required').trim().min(1, 'is required').max(200, 'must be at most 200 characters'),
  status: z.enum(['PENDING', 'VERIFIED', 'SUSPENDED']).default('VERIFIED'),
  billing: z.enum(['STANDARD', 'MONTHLY', 'PLATFORM']).default('STANDARD'),
});

/** Credits can be given with the settings, but are not a setting themselves, because screenings use them up. */
const creditsSchema = z.object({ screening: z.object({ credits: count(1_000_000_000).optional() }).optional() });

/** A gateway as the operator API accepts it, with every default filled in. Without `screeningCredits` the input named none. */
export type GatewayInput = Omit<Gateway, 'id'> & { screeningCredits?: number };

/**
 * Reads a whole gateway from a request body. Missing and null fields get their defaults; unknown fields are ignored.
 * @throws validation_error naming the first field at fault
 */
export function readGateway(body: unknown): GatewayInput {
  const given = withoutNulls(body);
  const { name, status, billing, ...settings } = parse(gatewaySchema, given);
  const credits = parse(creditsSchema, given).screening?.credits;
  return { name, status, billing, settings, ...(credits !== undefined && { screeningCredits: credits }) };
}

function parse<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw invalid(issue === undefined || issue.path.length === 0 ? 'body' : issue.path.join('.'), problemOf(issue));
}

/**
 * Applies a partial change to a gateway: objects merge, arrays replace, null restores the default.
 * @throws validation_error naming the first field at fault
 */
export function mergeGateway(current: GatewayInput, patch: unknown): GatewayInput {
  if (!isRecord(patch)) throw invalid('body', 'must be a JSON object');
  const { name, status, billing, settings } = current;
  return readGateway(merge({ name, status, billing, ...settings }, patch));
}

function merge(current: Record<string, unknown>, patch: Record<string, unknown>): Record<string, unknown> {
  const merged = new Map(Object.entries(current));
  for (const [key, value] of Object.entries(patch)) {
    const before = merged.get(key);
    merged.set(key, isRecord(value) && isRecord(before) ? merge(before, value) : value);
  }
  return Object.fromEntries(merged);
}

function canonicalTag(text: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch {
    return undefined;
  }
}

function withoutNulls(value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== null && one !== undefined)
      .map(([key, one]) => [key, withoutNulls(one)]),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function problemOf(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'is not valid';
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`;
  if (issue.code === 'invalid_type' && issue.path.length === 0) return 'must be a JSON object';
  return issue.message;
}
