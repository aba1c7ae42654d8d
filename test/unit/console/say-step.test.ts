import { describe, expect, it } from 'vitest';
import { SAID_FIGURES, sayStep } from '#api/console/page/say-step.ts';
import { translator } from '#api/console/page/texts.ts';
import { EXPLANATION_RULES } from '#api/payments/explain/rules.ts';
import { placeholders } from '#test/fixtures/catalogues.ts';
import { CONSOLE_CATALOGUES, consoleLanguage } from '#test/fixtures/console-texts.ts';

/** What webhooks and verify did, is told by moments of their own. */
const SAID = EXPLANATION_RULES.filter((rule) => !/^(webhook_|verified$)/.test(rule));
/** What is read off figures, and the payment's own status. */
const DERIVED = ['offUsd', 'side', 'withFees', 'underTolerated', 'overTolerated', 'underPercent', 'overPercent', 'required', 'status'];

describe.each([...CONSOLE_CATALOGUES])('the reasons in %s', (tag, catalogue) => {
  const t = translator(consoleLanguage(tag));

  it('have a sentence for every rule that explains a payment, which names no figure that nobody fills in', () => {
    const keys = Object.keys(catalogue).filter((key) => key.startsWith('explain.'));
    expect(keys.toSorted()).toEqual(SAID.map((rule) => `explain.${rule}`).toSorted());
    const named = new Set(keys.flatMap((key) => placeholders(catalogue[key] ?? '').map((one) => one.split(' ')[0] ?? '')));
    expect([...named].filter((one) => !DERIVED.includes(one) && !(SAID_FIGURES as readonly string[]).includes(one))).toEqual([]);
  });

  it.each(SAID)('say %s in words also where no figure is known', (rule) => {
    const said = sayStep(t, { step: 'next', rule, at: '', text: '?', figures: {} }, { status: 'PENDING', networks: {} });
    expect(said).toMatch(/^\S.*\.$/);
    expect(said).not.toContain('?');
  });
});

it('says the side and the size of what was too little, and what was not tolerated, in the words of the reader', () => {
  const said = (tag: string, figures: Record<string, string>) =>
    sayStep(
      translator(consoleLanguage(tag)),
      { step: 'decision', rule: 'outside_tolerance', at: '', text: '', figures: { underUsd: '1.00', overUsd: '2.00', ...figures } },
      { status: 'MISMATCH', networks: {} },
    );
  expect(said('en', { deviationUsd: '-10.00' })).toBe('10.00 USD too little is more than the tolerated 1.00 USD.');
  expect(said('es', { deviationUsd: '-10.00' })).toBe('10.00 USD de menos es más que los 1.00 USD tolerados.');
  expect(said('es', { deviationUsd: '3.00', depositPath: 'manual_inquiry', claimedBy: 'operator' })).toBe(
    '3.00 USD de más es más que los 2.00 USD tolerados. El operador asignó el depósito a este pago.',
  );
  expect(said('en', { deviationUsd: '0.00' })).toContain('too little for cents to tell');
});

it('leaves the English text of a rule that it does not know', () => {
  const step = { step: 'next', rule: 'of_another_release', at: '', text: 'It waits.', figures: {} } as const;
  expect(sayStep(translator(consoleLanguage('es')), step, { status: 'PENDING', networks: {} })).toBe('It waits.');
});
