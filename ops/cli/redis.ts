import { writeFile } from 'node:fs/promises';
import { redisAclFile, redisUser } from '#shared/platform/redis-acl.ts';
import { type Command, textOption, UsageError } from './command.ts';

export const redisCommands: readonly Command[] = [
  {
    name: 'redis acl',
    args: '<user …>',
    summary: 'print an ACL file for Redis or Valkey with a user per process: http worker api signer indexer, or indexer-ethereum for one network',
    options: { out: { type: 'string', help: 'file to write instead, readable by everybody: it holds hashes of passwords' } },
    arity: [1, 40],
    async run(_context, users, options) {
      const passwords = Object.fromEntries(users.map((user) => [user, passwordOf(user)] as const).filter(([, password]) => password !== ''));
      const file = aclFile(passwords);
      const out = textOption(options, 'out');
      if (out === undefined) return { data: { file, users: users.map(redisUser) }, text: file.trimEnd() };
      await writeFile(out, file, { mode: 0o644 });
      return { data: { out, users: users.map(redisUser) }, text: `${out}: ${users.map(redisUser).join(', ')}` };
    },
  },
];

function aclFile(passwords: Record<string, string>): string {
  try {
    return redisAclFile(passwords, process.env.SLUICE_REDIS_PASSWORD_DEFAULT || undefined);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** From `SLUICE_REDIS_PASSWORD_<USER>`; an empty one is none, and the user is left out. */
function passwordOf(user: string): string {
  const name = `SLUICE_REDIS_PASSWORD_${user.toUpperCase().replaceAll('-', '_')}`;
  const given = process.env[name];
  if (given === undefined) throw new UsageError(`${user}: set its password in ${name} (npx sluice secret generate)`);
  return given;
}
