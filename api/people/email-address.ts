import { invalid } from '#shared/core/errors.ts';

const MAX_LENGTH = 254;

/**
 * An e-mail address as it is kept: trimmed and in lower case, so that one person is not two. ASCII only: what looks the same is the same. Pure.
 * @throws validation_error for anything that mail could not be sent to
 */
export function readEmail(text: string): string {
  const told = text.trim();
  // Before its case: the sign of the kelvin becomes a k of ASCII.
  if (told.length > MAX_LENGTH || !/^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/.test(told))
    throw invalid('email', 'must be an e-mail address');
  return told.toLowerCase();
}
