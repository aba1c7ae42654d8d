import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { axeFindings } from '#test/harness/tab.ts';
import { overflowing } from './overflowing.ts';

const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 900 };

/**
 * What is wrong with the page that is open, one line each: what axe finds and what does not fit, on a phone and on a desk, and which colours
 * are too near each other in the dark. One visit serves for all of it, as a style follows its window at once. Where SLUICE_TEST_SCREENSHOTS
 * names a folder, a picture of each is kept there under this name. `fits` says what reaches beyond a window.
 */
export async function findingsOf(page: Page, name: string, fits = overflowing): Promise<string[]> {
  const found: string[] = [];
  for (const [where, size] of [
    ['phone', PHONE],
    ['desk', DESK],
  ] as const) {
    await page.setViewportSize(size);
    found.push(...[...(await axeFindings(page)), ...(await fits(page))].map((what) => `${name}, ${where}: ${what}`));
    await keepPicture(page, `${name}-${where}`);
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  found.push(...(await axeFindings(page, ['color-contrast'])).map((what) => `${name}, dark: ${what}`));
  await keepPicture(page, `${name}-dark`);
  await page.emulateMedia({ colorScheme: 'light' });
  return found;
}

/** Opens whatever is folded: it has to fit as well. */
export async function unfold(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true;
  });
}

/** Runs in a page: some frames of it are enough for whatever can be pressed to be pressed. */
export async function framesGoBy(): Promise<void> {
  for (let frame = 0; frame < 20; frame++) await new Promise(requestAnimationFrame);
}

/** Fails where a page that somebody is in the middle of has anything that axe finds, or does not fit. */
export async function look(page: Page, name: string): Promise<void> {
  expect(await axeFindings(page), name).toEqual([]);
  for (const [where, size] of [
    ['phone', PHONE],
    ['desk', DESK],
  ] as const) {
    await page.setViewportSize(size);
    expect(await overflowing(page), `${name}, ${where}`).toEqual([]);
    await keepPicture(page, `${name}-${where}`);
  }
}

async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env.SLUICE_TEST_SCREENSHOTS;
  if (folder) await page.screenshot({ path: `${folder}/${name.replaceAll(/[0-9a-f-]{36}/g, 'id').replaceAll(/\W+/g, '-')}.png`, fullPage: true });
}
