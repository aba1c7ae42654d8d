import { describe, expect, it } from 'vitest';
import { sayWaitReason } from '#api/console/page/say-wait-reason.ts';
import { translator } from '#api/console/page/texts.ts';
import { readWaitReason, WAIT_REASONS, waitReason } from '#shared/core/wait-reasons.ts';
import { placeholders } from '#test/fixtures/catalogues.ts';
import { CONSOLE_CATALOGUES, consoleLanguage } from '#test/fixtures/console-texts.ts';

const NAMES = Object.keys(WAIT_REASONS) as (keyof typeof WAIT_REASONS)[];
const valuesOf = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
const write = waitReason as (name: string, values: Record<string, string>) => string;

describe.each(NAMES)('the reason %s', (name) => {
  it('is read back from its own text with what it tells of, and by no other name', () => {
    const values = Object.fromEntries(valuesOf(WAIT_REASONS[name]).map((one) => [one, one === 'scope' ? ' for tokens' : `${one}-1.5`]));
    expect(readWaitReason(write(name, values))).toEqual({ name, values });
  });

  it.each([...CONSOLE_CATALOGUES])('has words in %s that tell the same', (_tag, catalogue) => {
    const told = placeholders(catalogue[`wait.${name}`] ?? '').map((one) => one.split(' ')[0]);
    expect([...new Set(told)].toSorted()).toEqual(valuesOf(WAIT_REASONS[name]).toSorted());
  });
});

it('is said in the language of the reader, reasons within reasons too, and left in English where it has no name', () => {
  const t = translator(consoleLanguage('es'));
  const limit = waitReason('limit_used', { window: 'daily', limit: '1000.00', scope: ' for tokens' });
  expect(limit).toBe('the daily limit of 1000.00 USD for tokens is used up');
  expect(sayWaitReason(t, waitReason('not_signed', { reason: limit }))).toEqual({
    text: 'Sin firmar: El límite de 1000.00 USD por día para los tokens está agotado',
    english: false,
  });
  expect(sayWaitReason(t, 'its_pool_is odd')).toEqual({ text: 'its pool is odd', english: true });
});

it.each([
  ['no_gas', waitReason('no_gas', { reason: waitReason('top_up_refused', { detail: 'x limit of 5.00 USD is used up' }) })],
  ['funding_halted', waitReason('funding_halted', { detail: 'x limit of 5.00 USD for tokens is used up' })],
  ['journal', waitReason('journal', { detail: 'x limit of 5.00 USD is used up' })],
])('is %s, whatever a node or a person says within it', (name, text) => {
  expect(readWaitReason(text)?.name).toBe(name);
});

it('has no name where it is longer than any that is stored', () => {
  expect(readWaitReason(waitReason('frozen', { detail: 'x'.repeat(5_000) }))).toBeUndefined();
});
