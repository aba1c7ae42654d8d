import { expect, it } from 'vitest';
import { amountSpellings } from '#shared/core/amount-spellings.ts';

it.each([
  ['49.9', ['49.9', '49.90']],
  ['49,90', ['49.90', '49.9']],
  ['10', ['10', '10.00', '10.0']],
  ['0.12345', ['0.12345']],
  ['B-2294', []],
  ['1,234.50', []],
  ['', []],
])('%j is looked for as shops may have written it', (text, spellings) => {
  expect(amountSpellings(text)).toEqual(spellings);
});
