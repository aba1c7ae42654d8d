import { describe, expect, it } from 'vitest';
import { translator } from '#api/checkout/page/messages.ts';
import type { Catalogue } from '#api/page/catalogue.ts';
import { formatClock, formatRemaining } from '#api/checkout/page/times.ts';
import { readCatalogues } from '#test/fixtures/catalogues.ts';

const NOON = Date.parse('2026-03-28T12:00:00.000Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const english = translator({ tag: 'en', direction: 'ltr', messages: readCatalogues().get('en') as Catalogue });

describe('a time of day', () => {
  it.each([
    ['in UTC before the page knows the payer’s zone', NOON + 152 * MINUTE, 'en', 'UTC', '14:32 UTC'],
    ['in the payer’s zone with its name', NOON + 92 * MINUTE, 'en', 'Europe/Berlin', '14:32 GMT+1'],
    ['with two digits and no half of the day after midnight', NOON - 12 * HOUR + 5 * MINUTE, 'en', 'UTC', '00:05 UTC'],
    ['with its date on another day', NOON + 24 * HOUR, 'en', 'UTC', 'Mar 29, 2026, 12:00 UTC'],
    ['with the date of the payer’s own day', NOON + 11 * HOUR, 'en', 'Europe/Berlin', 'Mar 29, 2026, 00:00 GMT+1'],
    ['across the change of summer time', NOON + 20 * HOUR, 'en', 'Europe/Berlin', 'Mar 29, 2026, 10:00 GMT+2'],
    ['in the calendar of the networks wherever Arabic is spoken', NOON + 24 * HOUR, 'ar-SA', 'UTC', '29 مارس 2026، 12:00 UTC'],
    ['in Chinese', NOON, 'zh-CN', 'UTC', 'UTC 12:00'],
  ])('is written %s', (_how, ms, tag, zone, text) => {
    expect(formatClock(ms, tag, zone, { now: NOON }).replace(/[\u200e\u200f\u061c]/g, '')).toBe(text);
  });

  it('is written in the browser’s own zone when none is given', () => {
    expect(formatClock(NOON, 'en', undefined, { now: NOON })).toBe(formatClock(NOON, 'en', Intl.DateTimeFormat().resolvedOptions().timeZone, { now: NOON }));
  });
});

describe('the time that is left', () => {
  it.each([
    [7 * 24 * HOUR, '7 days left'],
    [48 * HOUR - 1, '1 day left'],
    [24 * HOUR, '1 day left'],
    [24 * HOUR - 1, '23 hours left'],
    [2 * HOUR, '2 hours left'],
    [2 * HOUR - 1, '119 min left'],
    [12 * MINUTE, '12 min left'],
    [5 * MINUTE, '5 min left'],
    [5 * MINUTE - 1, '4:59 left'],
    [MINUTE + 9_500, '1:09 left'],
    [MINUTE - 1, '59 seconds left'],
    [1_999, '1 second left'],
    [999, '0 seconds left'],
    [-HOUR, '0 seconds left'],
  ])('of %d ms is never more than there is: %s', (ms, text) => {
    expect(formatRemaining(ms, english)).toBe(text);
  });
});
