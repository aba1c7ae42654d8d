import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

export interface TabOptions extends BrowserContextOptions {
  /** Origins beside that of the first page that may be asked; every other request is trouble. */
  origins?: string[];
  /** Messages of the console that a test brings about itself, such as that of a socket it cut. */
  tolerate?: RegExp;
}

/** A page in a browser context of its own: no cookie, cache or storage of another test. */
export interface Tab {
  page: Page;
  /** Every request so far, in order: assets and pages, not frames of a socket. */
  requests: { url: string; method: string; type: string }[];
  /** What no page of ours may do: CSP violations, errors in the console, uncaught exceptions, requests of other origins. */
  trouble: string[];
}

const require = createRequire(import.meta.url);
/** Less than half of what `axe.source` is, which every page that is looked at has to read. */
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** WCAG 2.2 at levels A and AA, with everything before it. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** What playwright itself has switched off: of two such lists Chromium reads the last. */
const OFF_IN_PLAYWRIGHT = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
];
/** The suggestions below the address bar are pages of their own, which each window loads in advance: a second of CPU, and nobody here types there. */
const OFF_HERE = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'];

/** Starts a Chromium; as root it refuses to run in its sandbox. */
export async function launchChromium(executablePath: string): Promise<Browser> {
  const args = [
    '--disable-background-timer-throttling',
    '--disable-renderer-backgrounding',
    '--disable-dev-shm-usage',
    `--disable-features=${[...OFF_IN_PLAYWRIGHT, ...OFF_HERE].join(',')}`,
  ];
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? [...args, '--no-sandbox'] : args });
}

/** Opens a page in a context of its own and watches what it does. */
export async function openTab(browser: Browser, { origins = [], tolerate, ...options }: TabOptions = {}): Promise<Tab> {
  const context = await browser.newContext({ timezoneId: 'Europe/Berlin', locale: 'en-GB', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const tab: Tab = { page, requests: [], trouble: [] };
  const report = (line: string): void => {
    if (!tolerate?.test(line)) tab.trouble.push(line);
  };
  const allowed = new Set(origins);
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    tab.requests.push({ url: request.url(), method: request.method(), type: request.resourceType() });
    if (!protocol.startsWith('http')) return;
    if (tab.requests.length === 1) allowed.add(origin);
    if (!allowed.has(origin)) report(`asked another origin: ${request.url()}`);
  });
  page.on('console', (message) => {
    if (message.type() === 'error') report(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => report(`exception: ${error.message}`));
  return tab;
}

/** What axe finds against WCAG 2.2 AA, or against these rules of it: one line per rule and element. */
export async function axeFindings(page: Page, rules?: string[]): Promise<string[]> {
  // Evaluated by the debugger: a script element would need a hole in the page's CSP.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  const runOnly = rules === undefined ? { type: 'tag', values: TAGS } : { type: 'rule', values: rules };
  return page.evaluate(async (wanted) => {
    const { axe } = window as unknown as { axe: { run(where: Document, options: object): Promise<{ violations: Violation[] }> } };
    interface Violation {
      id: string;
      help: string;
      nodes: { target: unknown; failureSummary?: string }[];
    }
    // It would read all styles for a rule that is not asked for.
    const { violations } = await axe.run(document, { runOnly: wanted, resultTypes: ['violations'], preload: { assets: ['media'] } });
    return violations.flatMap(({ id, help, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target} ${failureSummary ?? ''}`));
  }, runOnly);
}
