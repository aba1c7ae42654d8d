import { invalid } from '#shared/core/errors.ts';

/** Longest that anything somebody looks for may be. */
const LONGEST = 255;

/** The filters that were filled in: an empty field of a form asks for nothing. @throws validation_error for what no list could hold */
export function filterOf<Name extends string>(query: URLSearchParams, names: readonly Name[]): Partial<Record<Name, string>> {
  const filter: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = query.get(name)?.trim();
    if (value === undefined || value === '') continue;
    if (value.length > LONGEST || /\p{Cc}/u.test(value)) throw invalid(name, `must be at most ${LONGEST} characters on one line`);
    filter[name] = value;
  }
  return filter;
}

export function afterOf(query: URLSearchParams): { after?: string } {
  const after = query.get('after');
  return after === null || after === '' ? {} : { after };
}
