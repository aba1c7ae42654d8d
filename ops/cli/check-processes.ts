import type { Context } from './command.ts';
import { age, bad, type Finding, good, warn } from './finding.ts';

interface Running {
  login: string;
  since: string;
}

interface Role {
  role: 'http' | 'worker' | 'signer' | 'indexer';
  network: string | null;
  alive: boolean;
  processes: Running[];
}

const STARTS: Readonly<Record<Role['role'], string>> = {
  http: 'start an api with SLUICE_ROLES=http: without it nobody is answered',
  worker: 'start an api with SLUICE_ROLES=worker: without it nothing is credited, and no webhook is sent',
  signer: 'start an api with SLUICE_ROLES=signer: without it no cashout is sent',
  indexer: 'start one: node dist/indexer.js (npm start does): without it no payment of this network is seen',
};

/** A line for every role: whether anybody does it, since when, and with which login of Postgres. */
export async function checkProcesses(context: Context): Promise<Finding[]> {
  const { items, standby, silent } = (await context.operator.must('GET', '/processes')) as unknown as { items: Role[]; standby: Running[]; silent: string[] };
  return [
    ...items.map(({ role, network, alive, processes }) => {
      const check = network === null ? `role ${role}` : `role ${role} ${network}`;
      if (!alive && network === null && silent.length > 0)
        return warn(
          check,
          `nobody says so, and an older release is connected, login ${silent.join(', ')}`,
          'go on with the upgrade: its processes do not say what they do',
        );
      if (!alive) return bad(check, 'nobody does it', STARTS[role]);
      // The lease says that it lives; a release that does not say who it is, is older than this one.
      return processes.length === 0 ? good(check, 'alive, and of a release that says no more') : good(check, processes.map(describe).join('; '));
    }),
    ...(standby.length === 0 ? [] : [good('indexers that stand by', standby.map(describe).join('; '))]),
  ];
}

function describe({ login, since }: Running): string {
  return `alive since ${since} (${age((Date.now() - Date.parse(since)) / 1_000)}), login ${login}`;
}

/** What older than this is not in the newest backup is a day that could be lost. */
const OLD_SECONDS = 86_400;

interface Backup {
  takenAt: string;
  rows: number;
  verifiedAt: string | null;
  ageSeconds: number;
}

/** How old the newest backup is that this deployment knows of. */
export async function checkBackup(context: Context): Promise<Finding> {
  const { items } = (await context.operator.must('GET', '/backups')) as unknown as { items: Backup[] };
  const check = 'backup';
  const [newest] = items;
  if (newest === undefined) {
    // What npm start holds may be lost, and is made anew by --reset.
    if (context.dev !== undefined) return good(check, 'none was ever made; a development deployment does without');
    return warn(check, 'none was ever made by sluice backup create', 'make one every hour (ops/docs/backup.md); what another tool makes is not known here');
  }
  const verified = newest.verifiedAt === null ? 'never verified (npx sluice backup verify)' : `verified ${newest.verifiedAt}`;
  const seen = `as of ${newest.takenAt}, ${age(newest.ageSeconds)} old, ${newest.rows} rows, ${verified}`;
  return newest.ageSeconds > OLD_SECONDS
    ? warn(check, seen, 'npx sluice backup create <folder>: whatever makes them has stopped (ops/docs/backup.md)')
    : good(check, seen);
}
