import { formatLocale } from '#api/page/locale.ts';
import type { Translate } from './messages.ts';
import { ENDING_MS } from './state.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * A moment as a time of day with the name of its zone, `14:32 CET`; with its date when that is not today's there (ux 3).
 * @param ms and `now`: milliseconds of service time
 * @param timeZone IANA name; undefined is the browser's own
 */
export function formatClock(ms: number, tag: string, timeZone: string | undefined, { now }: { now: number }): string {
  const locale = formatLocale(tag);
  const zone = timeZone === undefined ? {} : { timeZone };
  const day = new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'short', day: 'numeric', ...zone });
  return new Intl.DateTimeFormat(locale, {
    ...(day.format(ms) === day.format(now) ? {} : { year: 'numeric', month: 'short', day: 'numeric' }),
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
    ...zone,
  }).format(ms);
}

/** The time that is left, never more than there is: days from a day on, a clock in the last five minutes, seconds in the last one (ux C5). */
export function formatRemaining(ms: number, translate: Translate): string {
  const left = Math.max(0, ms);
  if (left >= DAY) return translate('timer.days', { count: Math.floor(left / DAY) });
  if (left >= 2 * HOUR) return translate('timer.hours', { count: Math.floor(left / HOUR) });
  if (left >= ENDING_MS) return translate('timer.minutes', { count: Math.floor(left / MINUTE) });
  const seconds = Math.floor(left / 1_000);
  if (left < MINUTE) return translate('timer.seconds', { count: seconds });
  return translate('timer.clock', { clock: `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}` });
}
