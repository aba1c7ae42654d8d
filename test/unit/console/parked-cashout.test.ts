import { expect, it } from 'vitest';
import { renderConsole } from '#api/console/page/render.tsx';
import { ALL_PAGES } from '#test/fixtures/console-screens.ts';
import { consoleLanguage } from '#test/fixtures/console-texts.ts';

it('a parked cashout offers what helps it on: another try where a balance lacks, asking for credit where screening does', () => {
  const page = { language: consoleLanguage('en'), languages: [], person: null, follows: null, notice: null, assets: { script: '', style: '', icon: '' } };
  const acts: Record<string, string[]> = {};
  for (const { screen, place } of ALL_PAGES)
    if (screen.kind === 'cashout' && screen.approval === null && !(screen.item.status in acts))
      acts[screen.item.status] = [...renderConsole({ ...page, screen, place }).matchAll(/\/acts\/([a-z-]+)"/g)].map(([, act]) => String(act));
  expect(acts).toMatchObject({
    UNDERFUNDED: ['settlement-retry', 'settlement-cancel'],
    WAITING_AML_CREDIT: ['credits-ask', 'settlement-cancel'],
    REQUESTED: [],
    SETTLED: [],
  });
});
