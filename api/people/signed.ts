import type { Doer } from '#api/store/console-actions.ts';
import type { Session } from '#api/store/sessions.ts';

/** Somebody who is signed in, and where from. */
export interface Signed {
  session: Session;
  address: string;
}

/** The same as whoever makes a change. Pure. */
export function doer({ session, address }: Signed): Doer {
  return { kind: 'person', personId: session.personId, name: session.email, address };
}
