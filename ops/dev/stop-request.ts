/** Asked so often to stop, a process ends at once; what it started is sent its stop signal then. */
const AT_ONCE = 3;

/** Aborts when this process is asked to stop, by Ctrl+C or by whoever runs it; `first` hears of it. */
export function stopRequest(first: () => void): AbortSignal {
  const stopping = new AbortController();
  let asked = 0;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      asked += 1;
      if (asked === 1) first();
      stopping.abort(new Stopped());
      if (asked === AT_ONCE) process.exit(1);
    });
  return stopping.signal;
}

/** Why something ended that was under way: somebody asked for it. */
export class Stopped extends Error {
  constructor() {
    super('asked to stop');
  }
}

/** Rejects with the reason once `signal` aborts. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
