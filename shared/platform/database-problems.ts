import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from './logger.ts';
import type { Database } from './postgres.ts';

/** Postgres and connection failures that pass by themselves: SQLSTATEs and codes of Node and of our connections. */
const PASSING = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECTION_SILENT',
  'CONNECT_TIMEOUT',
  'POOL_EXHAUSTED',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  // A server that turned read-only, has no connection left, no memory, no disk, or cannot read it.
  '25006',
  '53300',
  '53200',
  '53100',
  '53400',
  '58030',
  // One that is stopping or starting.
  '57P01',
  '57P02',
  '57P03',
  // A race or a deadlock lost five times; a deadline for a statement, a lock, a pause inside a transaction.
  '40001',
  '40P01',
  '57014',
  '55P03',
  '25P03',
]);
const RETRY_MS = 500;

/** True when a failed statement says nothing about what was asked: the database is away or busy, or the link to it broke. */
export function isPassing(error: unknown): boolean {
  return PASSING.has(String((error as { code?: unknown } | null)?.code));
}

const PERMISSION_DENIED = '42501';

/** What a log line says of an error: of one that passes by itself its message, of any other everything, and what helps where a right is missing. */
export function toldOf(error: unknown): { reason: string } | { err: unknown; fix?: string } {
  if ((error as { code?: unknown } | null)?.code === PERMISSION_DENIED) return { err: error, fix: 'sluice db roles apply' };
  if (!isPassing(error)) return { err: error };
  const { message, code } = error as { message?: string; code?: unknown };
  return { reason: message || String(code) };
}

/**
 * Does what a process cannot start without as often as it takes the database to be there.
 * @throws what `work` throws when waiting would not help, and the signal's reason once it has aborted
 */
export async function onceReachable<T>(log: Logger, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let told = false; ; told = true) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
      if (!told) log.warn(toldOf(error), 'waiting for the database');
      await pause(RETRY_MS, undefined, { signal });
    }
  }
}

/** For `/readyz`: null while the database answers and takes writes. @throws when it does not answer */
export async function isWritable(db: Database): Promise<string | null> {
  const [row] = await db.sql<[{ readOnly: boolean }]>`select current_setting('transaction_read_only') = 'on' as "readOnly"`;
  return row.readOnly ? 'the database is read-only' : null;
}
