import type { TestProject } from 'vitest/node';
import { findChromium } from '#ops/dev/services/chromium.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Path of the Chromium to test with; null where there is none. */
    chromium: string | null;
  }
}

/** Looks for a Chromium once a run. Without one the files that need it are reported as skipped, unless `SLUICE_REQUIRE_CHROMIUM` is set. */
export default async function setup(project: TestProject): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const chromium = await findChromium(say);
  if (chromium === null && process.env.SLUICE_REQUIRE_CHROMIUM) throw new Error('no Chromium: install chromium, or Google Chrome');
  if (chromium === null) say('no Chromium: the files of test/browser are skipped');
  project.provide('chromium', chromium);
}
