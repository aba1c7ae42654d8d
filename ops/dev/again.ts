import { setTimeout as pause } from 'node:timers/promises';
import type { Operator } from './client.ts';
import { unlessAborted } from './services/wait.ts';

/** Milliseconds between the tries; as many tries as pauses, and one. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000];

export interface Patience {
  /** Hears what failed and is tried again. */
  say(line: string): void;
  /** Ends the trying with its reason. */
  signal: AbortSignal;
}

/** Does `work` again when it fails, six times with growing pauses; what is done twice by that must do no harm. @throws what the last try threw */
export async function again<T>(what: string, work: () => Promise<T>, { say, signal }: Patience, pausesMs: readonly number[] = PAUSES_MS): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await unlessAborted(signal, work);
    } catch (error) {
      signal.throwIfAborted();
      say(`${what} failed and is tried again: ${error instanceof Error ? error.message : String(error)}`);
    }
    await pause(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
  return unlessAborted(signal, work);
}

/** An operator API whose calls are made again when nobody answers, or somebody who cannot now (429, 5xx); a refusal is an answer. */
export function persistent(control: Operator, patience: Patience): Operator {
  const call: Operator['call'] = (method, path, options) =>
    again(
      `${method} ${path}`,
      async () => {
        const answer = await control.call(method, path, options);
        if (answer.status === 429 || answer.status >= 500) throw new Error(`${answer.status} ${answer.error.code}: ${answer.error.message}`);
        return answer;
      },
      patience,
    );
  return {
    call,
    async must(method, path, options) {
      const answer = await call(method, path, options);
      if (!answer.success) throw new Error(`${method} ${path}: ${answer.status} ${answer.error.code}: ${answer.error.message}`);
      return answer.data;
    },
  };
}
