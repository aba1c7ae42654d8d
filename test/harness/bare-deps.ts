import { randomBytes } from 'node:crypto';
import type { Deps } from '#api/deps.ts';
import { createLimiter } from '#shared/platform/limiter.ts';
import { absent } from './absent.ts';

/** Dependencies with nothing behind them: whoever asks the database, prices, screening or mail fails. */
export function bareDeps({ config, log }: Pick<Deps, 'config' | 'log'>): Deps {
  return {
    db: absent('database'),
    config,
    log,
    chains: new Map(),
    prices: absent('prices'),
    screening: absent('screening'),
    mail: absent('mail'),
    limiter: createLimiter({ now: Date.now }),
    randomBytes: (length) => randomBytes(length),
    wallClock: Date.now,
    wake: () => undefined,
    nudgeIndexer: () => undefined,
    announce: () => undefined,
  };
}
