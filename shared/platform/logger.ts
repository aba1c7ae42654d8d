import { type Bindings, type ChildLoggerOptions, type DestinationStream, type Logger, type LogFn, pino } from 'pino';
import { censored, censoredLine } from './censored.ts';
import { traceIds } from './tracing.ts';

export type { Logger } from 'pino';

/** Names under which an error is written with its message and stack. */
const ERRORS = ['err', 'error'];

const toldError = (error: Error): unknown => censored(pino.stdSerializers.err(error));

/**
 * Makes the process's JSON logger, on standard output unless told otherwise; children carry request and trace ids. Bodies and secrets are never logged
 * (operability 6): all that a call brings, the line, the message and what is put into it, is covered before Pino sees it, and so is what a child is made with.
 */
export function createLogger(options: { component: string; level: string }, to?: DestinationStream): Logger {
  const log = pino(
    {
      level: options.level,
      base: { component: options.component, pid: process.pid },
      mixin: traceIds,
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: {
        logMethod([first, ...rest], method) {
          const line: unknown = typeof first === 'object' && first !== null && !((first as unknown) instanceof Error) ? censoredLine(first, ERRORS) : first;
          method.apply(this, [line, ...rest.map((one) => censored(one))] as Parameters<LogFn>);
        },
      },
      serializers: Object.fromEntries(ERRORS.map((name) => [name, toldError])),
    },
    to,
  );
  // Pino's formatter for bindings is not asked about those of a child. Children of children inherit this.
  const { child } = log;
  return Object.assign(log, {
    child(this: Logger, bindings: Bindings, how?: ChildLoggerOptions): Logger {
      return Reflect.apply(child, this, [censoredLine(bindings, ERRORS), how]) as Logger;
    },
  });
}
