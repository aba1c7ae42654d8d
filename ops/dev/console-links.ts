import { randomBytes } from 'node:crypto';
import { invitePerson, recoverPerson } from '#api/people/invitations.ts';
import { findPersonByEmail } from '#api/store/people.ts';
import { connect } from '#shared/platform/postgres.ts';
import type { DevFile } from './dev-file.ts';

/** Links by which the demo's people come into the console, each good once. */
export interface ConsoleLinks {
  owner: string;
  operator: string;
}

/** Invites the demo's owner and operator; whoever accepted at an earlier start is let in anew, in whatever browser opens the link. */
export async function consoleLinks(dev: DevFile): Promise<ConsoleLinks> {
  const db = connect(dev.databaseUrl, { name: 'sluice-setup', max: 1 });
  const by = { kind: 'command', name: 'npm start' } as const;
  const linkOf = async (email: string, gatewayId: string | null, role: string): Promise<string> => {
    const known = await findPersonByEmail(db.sql, email);
    const { token } = await (known === undefined
      ? invitePerson({ db, randomBytes }, { email, gatewayId, role, by })
      : recoverPerson({ db, randomBytes }, { email, by }));
    return `${dev.dashboardUrl}/invitations/${token}`;
  };
  try {
    return { owner: await linkOf('owner@demo.example', dev.gateway.id, 'owner'), operator: await linkOf('operator@demo.example', null, 'operator') };
  } finally {
    await db.end();
  }
}
