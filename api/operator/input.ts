import { invalid, ServiceError } from '#shared/core/errors.ts';
import { isUuid } from '#shared/core/ids.ts';
import { isMoney, parseTrusted, type Usd } from '#shared/core/money.ts';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const MAX_REASON = 500;

/** The fields of a body; a missing body has none. @throws validation_error when it is not a JSON object */
export function fieldsOf(body: unknown): Record<string, unknown> {
  if (body === undefined) return {};
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('body', 'must be a JSON object');
  return body as Record<string, unknown>;
}

/** A required text of 1 to `max` characters. */
export function readText(fields: Record<string, unknown>, field: string, max = 200): string {
  const value = fields[field];
  if (typeof value !== 'string' || value.trim() === '') throw invalid(field, 'is required');
  if (value.length > max) throw invalid(field, `must be at most ${max} characters`);
  return value.trim();
}

/** The reason of a change, when one was given. */
export function readReason(fields: Record<string, unknown>): string | undefined {
  return fields.reason === undefined || fields.reason === null ? undefined : readText(fields, 'reason', MAX_REASON);
}

/** A required whole number between `min` and `max`. */
export function readInteger(fields: Record<string, unknown>, field: string, min: number, max: number): number {
  const value = fields[field];
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw invalid(field, 'must be a whole number');
  if (value < min || value > max) throw invalid(field, `must be between ${min} and ${max}`);
  return value;
}

/** A money text, or undefined when it is absent or null. */
export function readMoney(fields: Record<string, unknown>, field: string): string | undefined {
  const value = fields[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || !isMoney(value)) throw invalid(field, 'must be a decimal string such as "10.50"');
  return value;
}

/** A required US dollar amount above zero. */
export function readPositiveUsd(fields: Record<string, unknown>, field: string): Usd {
  const text = readMoney(fields, field);
  if (text === undefined) throw invalid(field, 'is required');
  const usd = parseTrusted<'usd'>(text);
  if (usd <= 0n) throw invalid(field, 'must be greater than 0');
  return usd;
}

/** An id from a path; a malformed one is as unknown as any other (decisions 8). @throws not_found */
export function readId(params: Readonly<Record<string, string>>, name = 'id'): string {
  const value = params[name] ?? '';
  if (!isUuid(value)) throw new ServiceError('not_found');
  return value.toLowerCase();
}

export interface Page {
  limit: number;
  page: number;
  offset: number;
}

/** Page of a list: 20 items unless asked otherwise, 100 at most, newest first (decisions 8). @throws validation_error below 1 */
export function readPage(query: Readonly<Record<string, unknown>>): Page {
  const limit = Math.min(readCount(query, 'limit', DEFAULT_LIMIT), MAX_LIMIT);
  const page = readCount(query, 'page', 1);
  return { limit, page, offset: (page - 1) * limit };
}

/** One of the words a filter may take, or undefined when it is absent. */
export function readFilter<W extends string>(query: Readonly<Record<string, unknown>>, field: string, words: readonly W[]): W | undefined {
  const value = query[field];
  if (value === undefined) return undefined;
  const word = words.find((one) => one === value);
  if (word === undefined) throw invalid(field, `must be one of ${words.join(', ')}`);
  return word;
}

/** A text filter, or undefined when it is absent. */
export function readTextFilter(query: Readonly<Record<string, unknown>>, field: string): string | undefined {
  const value = query[field];
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw invalid(field, 'must be a text');
  return value;
}

/** A gateway id filter, or undefined when it is absent. */
export function readIdFilter(query: Readonly<Record<string, unknown>>, field: string): string | undefined {
  const value = query[field];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !isUuid(value)) throw invalid(field, 'must be an id');
  return value.toLowerCase();
}

/** A list as the operator API answers it. */
export function listReply<T>(items: T[], total: number, page: Page): { status: 200; data: object } {
  return { status: 200, data: { items, pagination: { total, limit: page.limit, page: page.page, hasMore: page.offset + items.length < total } } };
}

function readCount(query: Readonly<Record<string, unknown>>, field: string, fallback: number): number {
  const value = query[field];
  if (value === undefined) return fallback;
  const count = typeof value === 'number' ? value : typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(count) || count < 1 || count > 999_999_999) throw invalid(field, 'must be a whole number of at least 1');
  return count;
}
