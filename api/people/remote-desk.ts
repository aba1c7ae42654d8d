import { DESK_CALLS, type PeopleDesk } from './desk.ts';
import { post } from '#shared/chains/post.ts';
import { type ErrorCode, ERRORS, ServiceError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/platform/logger.ts';

/** Longer than a webhook that is tried. */
const TIMEOUT_MS = 15_000;
const LARGEST_BYTES = 256 * 1024;

/**
 * The people's desk of the http role, from a process that is another one. What it refuses is thrown as it is there; while nobody answers, service_unavailable. No call
 * is repeated: an answer that was lost is asked for again by the person.
 */
export function remotePeopleDesk({ url, key, log }: { url: string; key: string; log: Logger }): PeopleDesk {
  const call = async (name: string, asked: unknown): Promise<object> => {
    const target = new URL(`/internal/v1/people/${name}`, url);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const reply = await post(target, { headers, body: JSON.stringify(asked), timeoutMs: TIMEOUT_MS, largestBytes: LARGEST_BYTES }).catch((error: unknown) => {
      throw unavailable(error);
    });
    const told = read(reply.body);
    if (told?.success === true) return told.data as object;
    const code = told?.error?.code;
    if (reply.status !== 401 && code !== undefined && Object.hasOwn(ERRORS, code) && code !== 'internal_error')
      throw new ServiceError(code as ErrorCode, {
        ...(told?.error?.message !== undefined && { message: told.error.message }),
        ...(reply.retryAfter !== null && /^\d{1,6}$/.test(reply.retryAfter) && { retryAfterSeconds: Number(reply.retryAfter) }),
      });
    log.error({ call: name, status: reply.status, code }, 'the http role refuses the console: is SLUICE_INTERNAL_KEY the same in both?');
    throw unavailable(undefined);
  };
  return Object.fromEntries(Object.keys(DESK_CALLS).map((name) => [name, (asked: unknown) => call(name, asked)])) as unknown as PeopleDesk;
}

function unavailable(cause: unknown): ServiceError {
  return new ServiceError('service_unavailable', { retryAfterSeconds: 1, ...(cause !== undefined && { cause }) });
}

interface Told {
  success?: boolean;
  data?: unknown;
  error?: { code?: string; message?: string };
}

function read(body: Buffer): Told | undefined {
  try {
    return JSON.parse(body.toString('utf8')) as Told;
  } catch {
    return undefined;
  }
}
