import type { DatabaseRole } from '#shared/platform/database-rights.ts';
import type { Login } from '#shared/platform/database-roles.ts';
import { REDIS_USERS, redisAclFile, redisUser } from '#shared/platform/redis-acl.ts';

/** Opens nothing but databases of tests. */
const PASSWORD = 'password-of-test-logins';

/** What one api process that plays every role is: what several processes do, done in one. */
export const ALL_WORK: readonly DatabaseRole[] = ['http', 'worker', 'signer'];

const COMBINATIONS: readonly (readonly DatabaseRole[])[] = [
  ['http'],
  ['worker'],
  ['signer'],
  ['indexer'],
  ['console'],
  ['readonly'],
  ['http', 'worker'],
  ALL_WORK,
];

/** A login for every set of roles that a process of the tests has; made once per run, because a cluster's databases share them. */
export const TEST_LOGINS: readonly Login[] = COMBINATIONS.map((roles) => ({ name: nameOf(roles), roles, networks: [], password: PASSWORD }));

/** The same database, as a process of these roles reaches it; as one that plays every role of the api when none is named. */
export function urlFor(ownerUrl: string, roles: readonly DatabaseRole[] = ALL_WORK): string {
  const url = new URL(ownerUrl);
  url.username = nameOf(roles);
  url.password = PASSWORD;
  return url.href;
}

/** What the users of the tests' Redis may do; tests themselves may do everything. */
export const TEST_REDIS_ACL = redisAclFile(Object.fromEntries(REDIS_USERS.map((user) => [user, PASSWORD])), null);

/** The same Redis, as a process of these roles reaches it. */
export function redisUrlFor(openUrl: string, roles: readonly DatabaseRole[]): string {
  const url = new URL(openUrl);
  // One process that does everything has no user of its own: that is for development.
  const user = roles.length === 2 ? 'api' : roles.length === 1 ? (roles[0] as string) : undefined;
  if (user === undefined) return openUrl;
  url.username = redisUser(user);
  url.password = PASSWORD;
  return url.href;
}

function nameOf(roles: readonly DatabaseRole[]): string {
  return `sluice_test_${[...roles].sort().join('_')}`;
}
