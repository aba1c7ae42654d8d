import type { Locator, Page } from 'playwright-core';
import type { CheckoutState } from '#api/checkout/page/state.ts';
import type { Tab } from '#test/harness/tab.ts';

/** Parts of the page that tests look at: `data-part`. */
export type Part =
  | 'test-mode'
  | 'connection'
  | 'problem'
  | 'chooser'
  | 'amount'
  | 'copy-amount'
  | 'network-warning'
  | 'qr'
  | 'address'
  | 'copy-address'
  | 'wallets'
  | 'timer'
  | 'status'
  | 'spoken'
  | 'details'
  | 'copy-payment-id'
  | 'contact'
  | 'return'
  | 'returning'
  | 'stop-returning'
  | 'choose-again'
  | 'sandbox'
  | 'language'
  | 'transaction'
  | 'copy-transaction'
  | 'received'
  | 'requested'
  | 'refresh';

/** The page as the payer in front of it has it. */
export interface Payer {
  page: Page;
  part(name: Part): Locator;
  title: Locator;
  /** Waits until the page shows one of these states. */
  shows(state: CheckoutState | CheckoutState[], timeoutMs?: number): Promise<void>;
  /** Waits until updates come over the socket. */
  isLive(): Promise<void>;
  /** Picks an offer by what its button says, and goes on. */
  choose(label: string | RegExp): Promise<void>;
  /** Presses a copy button and returns what is in the clipboard then. */
  copy(name: 'copy-amount' | 'copy-address' | 'copy-payment-id' | 'copy-transaction'): Promise<string>;
  /** Opens the list of languages and takes one. */
  speak(language: string): Promise<void>;
  /** Goes to another app: the tab is hidden, its program goes on. Nobody is taken back to the shop meanwhile, however slow this machine is. */
  leave(): Promise<void>;
  comeBack(): Promise<void>;
  /** Everything the polite region said so far, in order. */
  spoken(): Promise<string[]>;
}

/** Opens a payment's page in a tab that may use the clipboard, and listens to what it says. */
export async function openPayer(tab: Tab, paymentUrl: string): Promise<Payer> {
  const { page } = tab;
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(paymentUrl).origin });
  await page.addInitScript(listenToNotices);
  await page.goto(paymentUrl);
  return payerAt(page);
}

/** The payer at a page that is open. */
export function payerAt(page: Page): Payer {
  const part = (name: Part): Locator => page.locator(`[data-part="${name}"]`);
  return {
    page,
    part,
    title: page.locator('h1#title'),
    async shows(state, timeoutMs = 30_000) {
      const wanted = [state].flat().map((one) => `main[data-state="${one}"]`);
      await page.locator(wanted.join(', ')).waitFor({ timeout: timeoutMs });
    },
    async isLive() {
      await page.locator('html[data-live="socket"]').waitFor();
    },
    async choose(label) {
      const chooser = part('chooser');
      await chooser.getByRole('radio', { name: label }).check();
      await chooser.getByRole('button').click();
    },
    async copy(name) {
      await page.evaluate(() => navigator.clipboard.writeText('nothing was copied'));
      await part(name).click();
      return page.evaluate(() => navigator.clipboard.readText());
    },
    async speak(language) {
      await part('language').locator('summary').click();
      await part('language').locator(`a[hreflang="${language}"]`).click();
      await page.locator(`html[lang="${language}"]`).waitFor();
    },
    leave: () => page.evaluate(setVisibility, 'hidden'),
    comeBack: () => page.evaluate(setVisibility, 'visible'),
    spoken: () => page.evaluate(() => [...(window as unknown as Listening).notices]),
  };
}

interface Listening {
  notices: string[];
}

/** Runs in the page before its own program: keeps each text that appears in the polite region. */
function listenToNotices(): void {
  const listening = window as unknown as Listening;
  listening.notices = [];
  let before = '';
  const hear = (): void => {
    const text = document.querySelector('[data-part="spoken"]')?.textContent?.trim() ?? '';
    if (text !== '' && text !== before) listening.notices.push(text);
    before = text;
  };
  new MutationObserver(hear).observe(document, { childList: true, subtree: true, characterData: true });
}

/** Runs in the page: a browser without windows never hides a tab by itself. */
function setVisibility(state: string): void {
  Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => state === 'hidden' });
  document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
}
