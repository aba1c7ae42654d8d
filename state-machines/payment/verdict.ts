/** The statuses a judged deposit leads to. */
export type Verdict = 'SUCCESS' | 'ACCEPTABLE' | 'MISMATCH';

/** The rule of contract 3.1 or decisions 3 that applies to a deposit; the first that applies, in this order. */
export type JudgingRule =
  | 'exact_total_value'
  | 'deviation_not_checked'
  | 'no_deviation'
  | 'within_over_tolerance'
  | 'within_under_tolerance'
  | 'outside_tolerance'
  | 'open_amount_minimum_met'
  | 'open_amount_below_minimum';

const VERDICTS: Readonly<Record<JudgingRule, Verdict>> = {
  exact_total_value: 'SUCCESS',
  deviation_not_checked: 'SUCCESS',
  no_deviation: 'SUCCESS',
  within_over_tolerance: 'ACCEPTABLE',
  within_under_tolerance: 'ACCEPTABLE',
  outside_tolerance: 'MISMATCH',
  open_amount_minimum_met: 'SUCCESS',
  open_amount_below_minimum: 'MISMATCH',
};

/** The verdict that a rule leads to (contract 3.1). */
export function verdictOf(rule: JudgingRule): Verdict {
  return VERDICTS[rule];
}
