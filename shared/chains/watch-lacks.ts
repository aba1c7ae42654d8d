import type { NetworkConfig } from '#shared/core/assets.ts';
import { POLICY } from '#shared/core/policy.ts';
import { lackingIn } from './network-warnings.ts';
import type { JoinedReader } from './join-readers.ts';

interface Log {
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Asks every minute what a network's nodes lack, and logs changes once, so that an operator learns it at the start and not from the first payment
 * that goes wrong. Returns how to stop it.
 */
export function watchLacks(network: NetworkConfig, reader: JoinedReader, log: Log): () => void {
  let told = '';
  const look = async (): Promise<void> => {
    const lacks = lackingIn(network, await reader.findLacks());
    const now = lacks.join('; ');
    if (now === told) return;
    if (now === '') log.info({ network: network.name }, 'its nodes offer everything now');
    else log.warn({ network: network.name, lacks }, 'nodes of a network lack something');
    told = now;
  };
  const lookOrTell = (): void => {
    look().catch((error: unknown) => log.error({ err: error, network: network.name }, 'what its nodes lack could not be found out'));
  };
  lookOrTell();
  const timer = setInterval(lookOrTell, POLICY.lacksWatchSeconds * 1_000);
  timer.unref();
  return () => clearInterval(timer);
}
