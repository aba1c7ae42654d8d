import { isIP, type LookupFunction, Socket } from 'node:net';
import { vi } from 'vitest';

export interface Canary {
  /** Every address this process tried to connect to, in order; a connection may try several. */
  attempts: string[];
  restore(): void;
}

/** Keeps this process from connecting anywhere and notes where it would have: what a lookup gives it is where it would go. */
export function watchConnections(): Canary {
  const attempts: string[] = [];
  const spy = vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...args: unknown[]) {
    const { host, lookup } = ((Array.isArray(args[0]) ? args[0][0] : args[0]) ?? {}) as { host?: string; lookup?: LookupFunction };
    const stop = (): void => void this.destroy(Object.assign(new Error('nobody connects here'), { code: 'ECONNREFUSED' }));
    if (host === undefined || isIP(host) !== 0 || lookup === undefined) {
      attempts.push(host ?? 'unknown');
      queueMicrotask(stop);
    } else
      lookup(host, { all: true }, (_error, found) => {
        attempts.push(...(Array.isArray(found) ? found.map((one) => one.address) : [String(found)]));
        queueMicrotask(stop);
      });
    return this;
  });
  return { attempts, restore: () => spy.mockRestore() };
}
