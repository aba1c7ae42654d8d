import { invalid } from './errors.ts';
import { POLICY } from './policy.ts';

/**
 * Reads a time of a query, clamped to 1970 to 9999, which every calendar here can hold: nothing was made before or will be after. Null when it was left out.
 * @throws validation_error naming `field` when the text is not one
 */
export function readTime(field: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw invalid(field, 'must be an RFC 3339 time such as "2026-11-21T10:00:00Z"');
  return new Date(Math.min(Math.max(time, 0), Date.parse(POLICY.latestDeadline)));
}
