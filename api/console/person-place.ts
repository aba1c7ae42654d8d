import { isUuid } from '#shared/core/ids.ts';
import { badCursor } from '#shared/platform/page.ts';

/** Where a list of people goes on: behind an address, and a row of it. */
interface PersonPlace {
  email: string;
  id: string;
}

/** A place in a list of people, as a cursor. Pure. */
export function personPlace({ email, id }: PersonPlace): string {
  return Buffer.from(`${email}|${id}`).toString('base64url');
}

/** The place that a cursor names; null at the beginning. @throws validation_error naming after */
export function readPersonPlace(after: string | undefined): PersonPlace | null {
  if (after === undefined) return null;
  const [email = '', id = '', ...rest] = Buffer.from(after, 'base64url').toString('utf8').split('|');
  if (rest.length > 0 || !isUuid(id) || /\p{Cc}/u.test(email)) throw badCursor();
  return { email, id };
}
