import { type Logger, pino } from 'pino';
import { traceIds } from './tracing.ts';

export type { Logger } from 'pino';

/** Paths that may hold a secret if somebody logs a whole object by mistake; their values never reach the output. */
const SECRET_PATHS = ['secret', 'apiKey', 'seed', 'mnemonic', 'privateKey', 'authorization', 'totpCode', 'password', 'databaseUrl', 'redisUrl'];

/** Makes the process's JSON logger; children carry request and trace ids. Bodies and secrets are never logged (operability 6). */
export function createLogger(options: { component: string; level: string }): Logger {
  return pino({
    level: options.level,
    base: { component: options.component, pid: process.pid },
    mixin: traceIds,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: SECRET_PATHS.flatMap((path) => [path, `*.${path}`]), censor: '[redacted]' },
    serializers: { err: pino.stdSerializers.err, error: pino.stdSerializers.err },
  });
}
