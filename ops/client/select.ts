import { setTimeout as pause } from 'node:timers/promises';
import type { Calls, DataOf, InputOf } from './calls.ts';

export interface SelectOptions {
  /** Milliseconds after which the answer is taken as it is; 60,000 when absent. */
  timeoutMs?: number;
  wait?: (ms: number) => Promise<unknown>;
}

const TIMEOUT_MS = 60_000;

/**
 * Selects an offer of an API-mode payment and asks again for as long as its address is not watched yet (contract 4.2):
 * 202 means "call again after `retryAfterMs`". Repeating it is free: the address stays the same.
 * Answers `PENDING` when the time is over; show no address then, and try again later.
 */
export async function selectAddress(
  client: Pick<Calls, 'selectOffer'>,
  input: InputOf<'selectOffer'>,
  options: SelectOptions = {},
): Promise<DataOf<'selectOffer'>> {
  const { timeoutMs = TIMEOUT_MS, wait = pause } = options;
  for (let left = timeoutMs; ; ) {
    const answer = await client.selectOffer(input);
    const pauseMs = answer.retryAfterMs ?? 0;
    if (answer.assignmentStatus === 'ASSIGNED' || pauseMs > left) return answer;
    left -= Math.max(pauseMs, 1);
    await wait(pauseMs);
  }
}
