import * as z from 'zod';
import { invalid } from '#shared/core/errors.ts';
import { isMoney, parseTrusted } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { PolicyBook, WrittenPolicy } from '#shared/core/written-policies.ts';
import type { Policy } from '#state-machines/settlement/policies.ts';

const usd = z.string().max(40).refine(isMoney, 'must be a decimal string such as "10000"');

/** A policy as it is stored and sent: dollars as decimal text. */
const policySchema = z.strictObject({
  when: z.strictObject({
    aboveUsd: usd.optional(),
    dayAboveUsd: usd.optional(),
    assetIds: z.array(z.uuid()).min(1).max(50).optional(),
    destination: z.enum(['known', 'unknown']).optional(),
    youngerThanDays: z.int().min(1).max(3_650).optional(),
    initiator: z.enum(['key', 'person']).optional(),
    route: z.enum(['GREEN', 'AML_HELD', 'SMART']).optional(),
  }),
  outcome: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('allow') }),
    z.strictObject({ kind: z.literal('approve'), people: z.int().min(1).max(POLICY.approversMaximum) }),
    z.strictObject({ kind: z.literal('refuse') }),
  ]),
});
const policiesSchema = z.array(policySchema).max(POLICY.policiesPerGateway, `must be at most ${POLICY.policiesPerGateway}`);

/** Reads policies that somebody wrote. Pure. @throws validation_error naming the one at fault */
export function readPolicyBook(given: unknown): PolicyBook {
  const parsed = z.strictObject({ policies: policiesSchema, capUsd: usd.nullable() }).safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(issue?.path.join('.') || 'policies', issue?.message ?? 'is not valid');
}

/** Reads policies as they are stored; none where there are none. Pure. @throws when somebody stored what are no policies: then nothing is decided */
export function readPolicies(stored: unknown): Policy[] {
  return policiesSchema.parse(stored ?? []).map(asPolicy);
}

/** A written policy as the gates judge by it. Pure. */
export function asPolicy({ when: { aboveUsd, dayAboveUsd, ...when }, outcome }: WrittenPolicy): Policy {
  const amounts = {
    ...(aboveUsd !== undefined && { aboveUsd: parseTrusted<'usd'>(aboveUsd) }),
    ...(dayAboveUsd !== undefined && { dayAboveUsd: parseTrusted<'usd'>(dayAboveUsd) }),
  };
  return { when: { ...when, ...amounts }, outcome };
}
