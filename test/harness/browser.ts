import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject } from 'vitest';
import { launchChromium, openTab, type Tab, type TabOptions } from './tab.ts';

/** Opens tabs; each is closed after its test, and the test fails when there was trouble in one. */
export type OpenTab = (options?: TabOptions) => Promise<Tab>;

/**
 * Declares tests that need a browser: one Chromium serves them all, and they are skipped by name where there is none. A hidden
 * tab is as good as the one in front: nothing slows its timers down.
 */
export function describeInBrowser(name: string, tests: (open: OpenTab) => void): void {
  const executable = inject('chromium');
  describe.skipIf(executable === null)(name, () => {
    let browser: Browser;
    let tabs: Tab[] = [];
    beforeAll(async () => {
      browser = await launchChromium(executable as string);
    });
    afterEach(async ({ task }) => {
      const trouble = tabs.flatMap((tab) => tab.trouble);
      // Whoever reads of a failure has no browser to look into.
      if (task.result?.state === 'fail') for (const tab of tabs) trouble.push(await whatIsShown(tab));
      await Promise.all(tabs.map((tab) => tab.page.context().close()));
      tabs = [];
      expect(trouble.join('\n')).toBe('');
    });
    afterAll(() => browser?.close());
    tests(async (options) => {
      const tab = await openTab(browser, options);
      tabs.push(tab);
      return tab;
    });
  });
}

/** Where a tab is and what it says there, in a few lines. */
async function whatIsShown({ page }: Tab): Promise<string> {
  const text = await page.evaluate(() => document.body.innerText).catch((error: Error) => error.message);
  return `at ${page.url()}: ${text.replaceAll(/\s+/g, ' ').slice(0, 2_000)}`;
}
