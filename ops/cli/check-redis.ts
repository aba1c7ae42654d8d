import { askRedis } from '#shared/platform/redis-connection.ts';
import { bad, type Finding, good, warn } from './finding.ts';

const CHECK = 'redis';
const FIX = 'start it, or let npm start bring one (unset REDIS_URL)';
const KEEP = 'set maxmemory-policy noeviction: what is evicted is work that nobody is told of until periodic work finds it';

/** Whether Redis answers, what it is, how it keeps what it has, and as which of its users we came; `administers` may come as one who may do everything. */
export async function checkRedis(url: string, { administers }: { administers: boolean }): Promise<Finding> {
  const { host, username } = new URL(url);
  const user = decodeURIComponent(username) || 'default';
  try {
    const [, info = ''] = await askRedis(url, 'sluice-doctor', [['PING'], ['INFO']]);
    const fields = new Map(info.split('\r\n').map((line) => line.split(':', 2) as [string, string]));
    const field = (name: string): string => fields.get(name) ?? 'unknown';
    const valkey = fields.get('valkey_version');
    const kept = field('aof_enabled') === '1' ? 'appendonly on' : `appendonly off, last snapshot ${field('rdb_last_bgsave_status')}`;
    const policy = field('maxmemory_policy');
    const seen = `${host}, ${valkey === undefined ? `Redis ${field('redis_version')}` : `Valkey ${valkey}`}, ${kept}, ${policy}, ${field('used_memory_human')} in use, as user ${user}`;
    if (field('role') !== 'master') return bad(CHECK, `${seen}: it is a ${field('role')}`, 'point REDIS_URL at the primary: nothing can be written here');
    if (policy !== 'noeviction') return warn(CHECK, seen, KEEP);
    if (user === 'default' && !administers) return warn(CHECK, seen, 'this user may do everything: give each process its own (npx sluice redis acl)');
    return good(CHECK, seen);
  } catch (error) {
    const { message } = error as Error;
    if (/^NOPERM/.test(message))
      return warn(CHECK, `${host} answers ${user}, who may not ask how it is`, 'npx sluice redis acl of this release gives every api that right');
    if (/^(NOAUTH|WRONGPASS)/.test(message)) return bad(CHECK, `${host}: ${message}`, 'REDIS_URL needs the user and password of its process');
    return bad(CHECK, message, FIX);
  }
}
