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
    afterEach(async () => {
      const trouble = tabs.flatMap((tab) => tab.trouble);
      await Promise.all(tabs.map((tab) => tab.page.context().close()));
      tabs = [];
      expect(trouble).toEqual([]);
    });
    afterAll(() => browser?.close());
    tests(async (options) => {
      const tab = await openTab(browser, options);
      tabs.push(tab);
      return tab;
    });
  });
}
