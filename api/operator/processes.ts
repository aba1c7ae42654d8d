import type { Deps, Reply } from '#api/deps.ts';
import { type Connected, listConnected, listIndexers } from '#api/store/processes.ts';
import { ROLES } from '#shared/platform/config.ts';
import { type ProcessName, readProcessName } from '#shared/platform/process-name.ts';

/** How every api called itself in releases that did not say more. */
const NAME_BEFORE = 'sluice-api';

interface Running extends ProcessName {
  login: string;
}

/** GET /processes: every role, the console's where there is one, with the processes that do it now, by their connections to Postgres and the leases of indexers. */
export async function showProcesses(deps: Deps): Promise<Reply> {
  const [connected, indexers] = await Promise.all([listConnected(deps.db.sql), listIndexers(deps.db.sql)]);
  const running = connected.flatMap(named);
  const standby = running.filter(({ program, id }) => program === 'indexer' && !indexers.some((one) => holds(one.holder, id)));
  const items = [
    ...ROLES.filter((role) => role !== 'console' || deps.config.SLUICE_CONSOLE_URL !== undefined).map((role) => {
      const own = running.filter(({ roles }) => roles.includes(role));
      return { role, network: null, alive: own.length > 0, processes: own.map(view) };
    }),
    ...indexers.map(({ network, holder }) => {
      const own = running.filter(({ program, id }) => program === 'indexer' && holds(holder, id));
      return { role: 'indexer', network, alive: holder !== null, processes: own.map(view) };
    }),
  ];
  const silent = connected.filter(({ name }) => name === NAME_BEFORE).map(({ login }) => login);
  return { status: 200, data: { items, standby: standby.map(view), silent } };
}

function named({ name, login }: Connected): Running[] {
  const read = readProcessName(name);
  return read === undefined ? [] : [{ ...read, login }];
}

/** An indexer holds its leases under a name that ends in the id of the process. */
function holds(holder: string | null, id: string): boolean {
  return holder?.split(':').at(-1)?.startsWith(id) ?? false;
}

function view({ login, startedAt }: Running): { login: string; since: string } {
  return { login, since: startedAt.toISOString() };
}
