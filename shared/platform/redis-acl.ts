import { createHash } from 'node:crypto';
import type { LimitNames } from './limiter.ts';

/**
 * What each process may do in Redis: the only place where it is said. `sluice redis acl` prints it as a file for Redis or Valkey, 7 or
 * newer (decision 0035). Redis holds nothing that is true by itself, so this bounds who can hold others up, and who can speak to whom.
 */

/** The users, by what a process does; an indexer may have one for its network alone, named `indexer-<network>`. */
export const REDIS_USERS = ['http', 'worker', 'api', 'signer', 'indexer', 'console'] as const;

/** Every connection says who it is and picks its database. */
const BASICS = ['+auth', '+hello', '+select', '+ping', '+quit', '+client|setname', '+client|id', '+client|getname'];
const LISTENS = ['+subscribe', '+unsubscribe'];
const SPEAKS = ['+publish'];
/** Rate limits: scripts, and what they call. */
const LIMITS = limitsOf('sluice');
/** Figures of the whole server, which hold nothing that anybody wrote: `sluice doctor` runs beside an api, and the job queue asks for the policy. */
const LOOKS = ['+info'];
/** Reads what indexers wrote, and never writes it: nobody else than an indexer appends. */
const CONSUMES = ['~sluice:blocks:*', '~sluice:mempool:*', '~sluice:rescans:*', '+xreadgroup', '+xautoclaim', '+xack', '+xgroup|create', ...LOOKS];
/** The job queue's own keys, named after the database: whatever its scripts do there. */
const QUEUES = '(~sluice-*:* +@read +@write +@scripting +@connection +@blocking +time -@dangerous -@admin)';
const NEWS = '&sluice:nudge:payments';
const WORKERS = '&sluice:nudge:worker';
const INDEXERS = '&sluice:nudge:indexer:*';

const OF_HTTP = [...LIMITS, ...LOOKS, NEWS, WORKERS, INDEXERS, ...SPEAKS, ...LISTENS];
const OF_WORKER = [...CONSUMES, NEWS, WORKERS, INDEXERS, ...SPEAKS, ...LISTENS, QUEUES];

function limitsOf(names: LimitNames): string[] {
  return [`~${names}:limit:*`, `~${names}:proof:*`, '+eval', '+evalsha', '+script|load', '+get', '+set', '+del', '+exists', '+time'];
}

/** What a user may do. @throws Error for a name that is none of ours */
function rulesOf(user: string): string[] {
  if (user === 'http') return OF_HTTP;
  if (user === 'worker') return OF_WORKER;
  if (user === 'api') return [...new Set([...LIMITS, ...OF_WORKER])];
  // Whoever takes it over can hold up nothing but its own callers.
  if (user === 'console') return limitsOf('sluice:console');
  if (user === 'signer') return [NEWS, WORKERS, ...SPEAKS, ...LISTENS];
  const network = user === 'indexer' ? '*' : /^indexer-([a-z0-9-]+)$/.exec(user)?.[1];
  if (network === undefined) throw new Error(`${user}: there is ${REDIS_USERS.join(', ')} and indexer-<network>`);
  return [
    ...['blocks', 'mempool', 'rescans'].map((stream) => `~sluice:${stream}:${network}`),
    '+xadd',
    '+xrange',
    `&sluice:nudge:indexer:${network}`,
    ...LISTENS,
  ];
}

/** Name of a user in Redis. */
export function redisUser(user: string): string {
  return `sluice-${user}`;
}

/**
 * The file that `aclfile` names: these users with their passwords, and nobody else; `default`, who may do everything, only where a
 * password of its own is given (null: without any, for tests). Passwords are in it as hashes.
 * @throws Error for a user that is none of ours
 */
export function redisAclFile(users: Readonly<Record<string, string>>, administrator?: string | null): string {
  const hash = (password: string): string => `#${createHash('sha256').update(password).digest('hex')}`;
  const lines = Object.entries(users).map(([user, password]) =>
    ['user', redisUser(user), 'on', hash(password), '-@all', ...BASICS, ...rulesOf(user)].join(' '),
  );
  const everything = administrator === undefined ? 'off' : `on ${administrator === null ? 'nopass' : hash(administrator)} ~* &* +@all`;
  return `${[`user default ${everything}`, ...lines].join('\n')}\n`;
}
