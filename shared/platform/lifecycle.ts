import type { Logger } from './logger.ts';

const GRACE_MILLISECONDS = 9_000;

export interface Lifecycle {
  /** Registers a stop step; steps run in reverse order of registration, each awaited. */
  onStop(name: string, stop: () => Promise<void> | void): void;
  /** The same for what takes its time and needs no step before it: it begins when stopping begins, and its step only waits for it. */
  onStopAtOnce(name: string, stop: () => Promise<void>): void;
  /** Runs the stop steps once; later calls await the same run. */
  stop(reason: string): Promise<void>;
  /** Aborted as soon as stopping begins. */
  signal: AbortSignal;
}

/**
 * Ties a process's parts to its signals: SIGTERM or SIGINT stops accepting, finishes what is in flight, and exits
 * within 10 s; a step that hangs or fails never keeps the others from running (operability 6).
 */
export function createLifecycle(log: Logger): Lifecycle {
  const steps: { name: string; stop: () => Promise<void> | void }[] = [];
  const abort = new AbortController();
  let running: Promise<void> | undefined;

  const run = async (reason: string): Promise<void> => {
    log.info({ reason }, 'stopping');
    abort.abort();
    for (const step of steps.reverse()) {
      try {
        await step.stop();
      } catch (error) {
        log.error({ err: error, step: step.name }, 'stop step failed');
      }
    }
    log.info('stopped');
  };

  const lifecycle: Lifecycle = {
    onStop: (name, stop) => void steps.push({ name, stop }),
    onStopAtOnce(name, stop) {
      let stopped: Promise<void> | undefined;
      const begin = (): Promise<void> => (stopped ??= stop());
      // Whether it failed is the step's to say.
      abort.signal.addEventListener('abort', () => void begin().catch(() => undefined));
      steps.push({ name, stop: begin });
    },
    stop: (reason) => (running ??= run(reason)),
    signal: abort.signal,
  };
  const exit = (reason: string, code: number): void => {
    const late = setTimeout(() => process.exit(1), GRACE_MILLISECONDS);
    late.unref();
    void lifecycle.stop(reason).then(() => process.exit(code));
  };
  process.on('SIGTERM', () => exit('SIGTERM', 0));
  process.on('SIGINT', () => exit('SIGINT', 0));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception');
    exit('uncaughtException', 1);
  });
  process.on('unhandledRejection', (error) => {
    log.fatal({ err: error }, 'unhandled rejection');
    exit('unhandledRejection', 1);
  });
  return lifecycle;
}
