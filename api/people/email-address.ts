import { invalid } from '#shared/core/errors.ts';

const MAX_LENGTH = 254;

/**
 * An e-mail address as it is kept: trimmed and in lower case, so that one person is not two. ASCII only: what looks the same is the same. Pure.
 * @throws validation_error for anything that mail could not be sent to
 */
export function readEmail(text: string): string {
  const email = text.trim().toLowerCase();
  if (email.length > MAX_LENGTH || !/^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(email))
    throw invalid('email', 'must be an e-mail address');
  return email;
}
