import { readPage, type ShownPage } from './hosted-page.ts';
import { presentChromium } from './services/chromium.ts';

/** Somebody in front of a payment's hosted page. */
export interface Payer {
  /** What they have it open in. */
  means: string;
  open(url: string): Promise<void>;
  /** What the page shows now. */
  read(): Promise<ShownPage>;
  choose(offerId: string): Promise<void>;
  /** Presses the sandbox button of a scenario. */
  play(scenario: string): Promise<void>;
  /** Comes back to the merchant from a payment that succeeded; answers where that is and what was shown there. */
  comeBack(): Promise<{ url: URL; html: string }>;
  close(): Promise<void>;
}

/** A payer with the Chromium of this machine; without one, a payer whose browser runs no programs: links, forms, reloading. */
export async function openPayer(): Promise<Payer> {
  const chromium = await presentChromium();
  return chromium === null ? plainPayer() : browserPayer(chromium);
}

/** How long the page may take for what it does by itself, such as returning after five seconds. */
const PATIENCE_MS = 30_000;

async function browserPayer(executablePath: string): Promise<Payer> {
  const { chromium } = await import('playwright-core');
  // Root, as in a container, has no sandbox to run it in.
  const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  let checkout = '';
  return {
    means: `Chromium ${browser.version()}`,
    async open(url) {
      checkout = new URL(url).origin;
      await page.goto(url);
    },
    read: async () => readPage(await page.content()),
    async choose(offerId) {
      await page.locator(`label:has(input[name="offerId"][value="${offerId}"])`).click();
      await page.locator('[data-part="chooser"] button[type="submit"]').click();
    },
    play: (scenario) => page.locator(`[data-part="sandbox"] button[value="${scenario}"]`).click(),
    async comeBack() {
      await page.waitForURL(({ origin }) => origin !== checkout);
      return { url: new URL(page.url()), html: await page.content() };
    },
    close: () => browser.close(),
  };
}

/** A payer whose browser runs no programs. */
export function plainPayer(): Payer {
  let address = '';
  const ask = async (form?: Record<string, string>): Promise<string> => {
    const request = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) };
    const response = await fetch(address, { ...request, headers: { accept: 'text/html' }, signal: AbortSignal.timeout(PATIENCE_MS) });
    return response.text();
  };
  return {
    means: 'forms and links alone: there is no Chromium here',
    async open(url) {
      address = url;
      await ask();
    },
    read: async () => readPage(await ask()),
    choose: async (offerId) => void (await ask({ action: 'select', offerId })),
    play: async (scenario) => void (await ask({ action: 'simulate', scenario })),
    async comeBack() {
      const { returnUrl = '' } = readPage(await ask());
      return { url: new URL(returnUrl), html: await (await fetch(returnUrl)).text() };
    },
    close: async () => undefined,
  };
}
