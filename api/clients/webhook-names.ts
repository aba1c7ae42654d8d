import { lookup, Resolver } from 'node:dns/promises';

/** Every address of a name, those of CNAMEs included; gives up when the signal says so. */
export type ResolveName = (hostname: string, signal: AbortSignal) => Promise<string[]>;

const TRY_MILLISECONDS = 1_500;
const TRIES = 2;

/**
 * Asks the machine: hosts file, search domains and all, so that names of a private network are found. It runs on a few
 * threads that all lookups of the process share, so names whose servers never answer can hold up every other one.
 */
export const systemNames: ResolveName = async (hostname) => {
  const found = await lookup(hostname, { all: true, verbatim: true });
  return found.map((one) => one.address);
};

/**
 * Asks the name servers directly, each lookup on sockets of its own, so that a name whose servers never answer holds up
 * nothing but itself. IPv4 first. `servers` in place of the machine's own, as `address:port`.
 */
export function nameServers(servers?: readonly string[]): ResolveName {
  return async (hostname, signal) => {
    const resolver = new Resolver({ timeout: TRY_MILLISECONDS, tries: TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
      const found = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      if (found.length === 0 && v4.status === 'rejected') throw v4.reason;
      return found;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}
