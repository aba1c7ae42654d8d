import { invalid } from '#shared/core/errors.ts';
import { patchOfWritten, refuseMoved, type WrittenChange, type WrittenSetting, writeSetting } from './written-setting.ts';

/**
 * The terms of a gateway that operators change by a form, by the name of its field. From what value on a cashout needs approval is a matter of its policies (decision 0079); what
 * owners set is theirs (decision 0085); addresses and assets are lists, which `npx sluice gateway set` takes.
 */
export const OPERATOR_TERMS = {
  billing: { path: ['billing'], kind: 'text' },
  commissionBps: { path: ['settings', 'commissionBps'], kind: 'count' },
  commissionMinUsd: { path: ['settings', 'commissionMinUsd'], kind: 'text' },
  maturityMinutes: { path: ['settings', 'maturitySeconds'], kind: 'minutes' },
  inquiryAttempts: { path: ['settings', 'inquiryAttempts'], kind: 'count' },
  openAmount: { path: ['openAmount', 'enabled'], kind: 'flag' },
  minAmountUsd: { path: ['openAmount', 'minAmountUsd'], kind: 'text' },
  cashouts: { path: ['cashout', 'enabled'], kind: 'flag' },
  parking: { path: ['cashout', 'parkingEnabled'], kind: 'flag' },
  parkedCap: { path: ['cashout', 'parkedCap'], kind: 'count' },
  dailyCapUsd: { path: ['cashout', 'dailyCapUsd'], kind: 'text' },
  dispatchDelay: { path: ['cashout', 'dispatchDelaySeconds'], kind: 'count' },
  screening: { path: ['screening', 'enabled'], kind: 'flag' },
  screeningThreshold: { path: ['screening', 'threshold'], kind: 'count' },
} as const satisfies Record<string, WrittenSetting>;

export type OperatorTermName = keyof typeof OPERATOR_TERMS;
export const OPERATOR_TERM_NAMES = Object.keys(OPERATOR_TERMS) as OperatorTermName[];
export type TermsChange = WrittenChange<OperatorTermName>;

/** Every term as the form writes it, of a gateway as the operator API shows it. Pure. */
export function writtenTerms(gateway: object): Record<OperatorTermName, string> {
  return Object.fromEntries(OPERATOR_TERM_NAMES.map((name) => [name, writeSetting(gateway, OPERATOR_TERMS[name])])) as Record<OperatorTermName, string>;
}

/**
 * What a form changes: every field that differs from what it was drawn with, which is `seen`; a box that is not ticked is not sent, and a field that is empty takes the default. Pure.
 * @throws validation_error where `seen` is no form's, or nothing differs
 */
export function readTermsChange(seen: string, fields: Readonly<Partial<Record<OperatorTermName, string | undefined>>>): TermsChange {
  const drawn = readSeen(seen);
  const change: Partial<Record<OperatorTermName, readonly [string, string]>> = {};
  for (const name of OPERATOR_TERM_NAMES) {
    const to = OPERATOR_TERMS[name].kind === 'flag' ? String(fields[name] === 'on') : (fields[name] ?? '').trim();
    if (to !== drawn[name]) change[name] = [drawn[name], to];
  }
  if (Object.keys(change).length === 0) throw invalid('seen', 'nothing is changed');
  return change;
}

/** The same change as the operator API takes it. Pure. @throws validation_error naming the term */
export function patchOfTerms(change: TermsChange): Record<string, unknown> {
  return patchOfWritten(OPERATOR_TERMS, change);
}

/** @throws conflict naming what is there now, where that is not what whoever asks saw */
export function refuseMovedTerms(gateway: object, change: TermsChange): void {
  refuseMoved(writtenTerms(gateway), change);
}

function readSeen(text: string): Record<OperatorTermName, string> {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw invalid('seen', 'must be JSON');
  }
  const drawn = given as Record<OperatorTermName, string>;
  if (typeof given !== 'object' || given === null || OPERATOR_TERM_NAMES.some((name) => typeof drawn[name] !== 'string'))
    throw invalid('seen', 'must be the terms that the form was drawn with');
  return drawn;
}
