import * as z from 'zod';

/** A role that a claim of an identity provider gives. */
export interface ProviderRule {
  /** Name of a claim of the ID token: a text, or a list of them. */
  claim: string;
  /** What it is, or holds. */
  value: string;
  /** Where; null for the deployment itself. */
  gateway: string | null;
  role: string;
}

const rule = z.union([
  z.strictObject({ claim: z.string().min(1), value: z.string().min(1), gateway: z.uuid(), role: z.string().min(1) }),
  z.strictObject({ claim: z.string().min(1), value: z.string().min(1), operator: z.literal(true), role: z.string().min(1) }),
]);

/** A JSON list of `{claim, value, gateway, role}` or, for the deployment, `{claim, value, operator: true, role}`. */
export const providerRules = z.string().transform((text, context): ProviderRule[] => {
  let told: unknown;
  try {
    told = JSON.parse(text);
  } catch {
    context.addIssue('must be a JSON list');
    return [];
  }
  const read = z.array(rule).max(100).safeParse(told);
  if (!read.success) {
    context.addIssue('must be a list of at most 100 rules, each {claim, value, gateway, role} or {claim, value, operator: true, role}');
    return [];
  }
  return read.data.map((one) => ({ claim: one.claim, value: one.value, gateway: 'gateway' in one ? one.gateway : null, role: one.role }));
});
