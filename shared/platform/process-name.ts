/** What a process calls itself in `pg_stat_activity`, which every login may read of every other: what it does, and since when. */
export interface ProcessName {
  program: 'api' | 'indexer';
  /** Roles of an api process; empty for an indexer. */
  roles: readonly string[];
  /** Tells this process from all others, 8 characters: what ties an indexer to the lease it holds. */
  id: string;
  startedAt: Date;
}

/** Written so that a person understands it too; Postgres cuts names after 63 bytes, which this never reaches. */
export function processName({ program, roles, id, startedAt }: ProcessName): string {
  const what = roles.length === 0 ? `sluice-${program}` : `sluice-${program} ${roles.join('+')}`;
  return `${what} ${id} ${startedAt.toISOString().replace(/\.\d+Z$/, 'Z')}`;
}

/** Reads such a name; undefined for any other, such as that of an older release or of a command line. */
export function readProcessName(name: string): ProcessName | undefined {
  const [, program, roles, id, at] = /^sluice-(api|indexer)(?: ([a-z+]+))? ([0-9a-f]{8}) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/.exec(name) ?? [];
  if (program === undefined || id === undefined || at === undefined) return undefined;
  return { program: program as ProcessName['program'], roles: roles?.split('+') ?? [], id, startedAt: new Date(at) };
}
