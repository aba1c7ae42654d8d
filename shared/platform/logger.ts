import { type DestinationStream, type Logger, pino } from 'pino';
import { CENSORED, censored, SECRET_NAMES } from './censored.ts';
import { traceIds } from './tracing.ts';

export type { Logger } from 'pino';

const toldError = (error: Error): unknown => censored(pino.stdSerializers.err(error));

/**
 * Makes the process's JSON logger, on standard output unless told otherwise; children carry request and trace ids. Bodies and secrets are never logged
 * (operability 6).
 */
export function createLogger(options: { component: string; level: string }, to?: DestinationStream): Logger {
  return pino(
    {
      level: options.level,
      base: { component: options.component, pid: process.pid },
      mixin: traceIds,
      timestamp: pino.stdTimeFunctions.isoTime,
      // For names within objects it would read each of its paths anew for each word of a line; that is the formatter's.
      redact: { paths: [...SECRET_NAMES], censor: CENSORED },
      formatters: { log: censored },
      serializers: { err: toldError, error: toldError },
    },
    to,
  );
}
