import { describe, expect, it } from 'vitest';
import { describeCatalogues } from '#test/fixtures/catalogue-checks.ts';
import { CONSOLE_CATALOGUES } from '#test/fixtures/console-texts.ts';

describe('the console', () => {
  describeCatalogues(CONSOLE_CATALOGUES, ['api/console', 'api/http/console-app.ts', 'api/http/catalogues.ts']);

  it('is there in English and in Spanish', () => {
    expect([...CONSOLE_CATALOGUES.keys()]).toEqual(expect.arrayContaining(['en', 'es']));
  });
});
