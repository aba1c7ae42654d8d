import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { expect, it } from 'vitest';
import type { ReportsScreen, Surroundings } from '#api/console/page/model.ts';
import { Reports } from '#api/console/page/reports.tsx';
import { Texts } from '#api/console/page/texts.ts';
import { columnsOf, kindsFor } from '#api/exports/chosen-columns.ts';
import { GATEWAY_ACTS } from '#api/people/gateway-acts/gateway-acts.ts';
import { inEnglish } from '#test/fixtures/console-texts.ts';

const choices = kindsFor(['team:manage']).map((kind) => ({ kind, columns: columnsOf(kind, kind === 'ledger' ? ['asset', 'amount'] : undefined) }));
const screen = {
  kind: 'reports',
  items: [],
  filter: {},
  months: [],
  choices,
  monthly: choices.map((one) => ({ ...one, format: 'csv' })),
} as unknown as ReportsScreen;
const place = { href: '/g/x', permissions: ['report:export'] } as unknown as Surroundings;
const page = renderToString(h(Texts.Provider, { value: inEnglish }, h(Reports, { screen, place, language: 'en' })));

/** What a browser sends of a form as it is shown: the first choice of a list where none is selected, and boxes that are checked. */
function sentBy(act: string): Record<string, string> {
  const form = page.split(`/acts/${act}"`)[1]?.split('</form>')[0] ?? '';
  const valueIn = (text: string) => /value="([^"]*)"/.exec(text)?.[1] ?? '';
  const lists = [...form.matchAll(/<select name="([^"]+)">(.*?)<\/select>/gs)].map(([, name = '', options = '']) => {
    const all = [...options.matchAll(/<option[^>]*>/g)].map(([one]) => one);
    return [name, valueIn(all.find((one) => one.includes(' selected')) ?? all[0] ?? '')];
  });
  const inputs = [...form.matchAll(/<input[^>]*>/g)].map(([one]) => one).filter((one) => /type="hidden"/.test(one) || / checked/.test(one));
  return Object.fromEntries([...lists, ...inputs.map((one) => [/name="([^"]*)"/.exec(one)?.[1] ?? '', valueIn(one)])]);
}

it.each(['export-create', 'export-monthly'] as const)('the form of %s sends what the act takes, with the columns that were chosen', (act) => {
  const sent = sentBy(act);
  expect(GATEWAY_ACTS[act].fields.safeParse(sent)).toMatchObject({ success: true });
  expect(Object.keys(sent).filter((name) => name.startsWith('column:ledger:'))).toEqual(['column:ledger:asset', 'column:ledger:amount']);
  expect(Object.keys(sent).filter((name) => name.startsWith('column:credits:'))).toHaveLength(columnsOf('credits', undefined).length);
});
