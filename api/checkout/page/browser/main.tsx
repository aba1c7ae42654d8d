import { hydrate, render } from 'preact';
import { Checkout, titleOf } from '../checkout.tsx';
import type { CheckoutProps, HydrationData } from '../model.ts';
import { copyText } from './copy.ts';
import { keepingFocus } from './focus.ts';
import { findWallets } from './injected-wallets.ts';
import { type LivePage, openLivePage } from './live-page.ts';
import { tabMemory } from './memory.ts';
import { fetchSnapshot, openSocket, sendCommand } from './wire.ts';

/** The browser's part of the hosted checkout: takes over the page that the server rendered (ux C6, C14). */
const root = document.getElementById('checkout');
const page = root?.dataset.page;
if (root && page !== undefined) start(root, JSON.parse(page) as HydrationData);
else tryAgain(Number(document.querySelector<HTMLElement>('[data-retry-after]')?.dataset.retryAfter));

function start(place: HTMLElement, data: HydrationData): void {
  const live = openLivePage(
    {
      openSocket: (events) => openSocket(data.socketUrl, events),
      fetchSnapshot: (signal) => fetchSnapshot(`${data.path}/snapshot`, signal),
      send: (command, body) => sendCommand(`${data.path}/${command}`, body),
      after: (ms, run) => {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
      random: Math.random,
      clock: Date.now,
      draw: drawInto(place),
      copyText,
      isVisible: () => document.visibilityState === 'visible',
      memory: tabMemory(() => sessionStorage, data.snapshot.payment.id),
      findWallets: (changed) => findWallets(window, changed),
      leaveFor: (url) => {
        if (/^https?:/.test(url)) location.assign(url);
      },
      reload: () => location.reload(),
      openIn: (language, choosing) => location.replace(address({ lang: language, choose: choosing ? '' : null })),
      rememberChoosing: (choosing) => history.replaceState(null, '', address({ choose: choosing ? '' : null })),
      tellHealth: (health) => {
        document.documentElement.dataset.live = health;
      },
    },
    data,
    firstByteAt(),
  );
  watch(live);
}

/** Loads an error page again after the seconds that the server asked for, a little apart from all the others (ux E5). */
function tryAgain(seconds: number): void {
  if (seconds > 0) setTimeout(() => location.reload(), (seconds + Math.random() * 2) * 1_000);
}

/** Everything that tells of a return or a departure; several of them may tell of the same one. */
function watch(live: LivePage): void {
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') live.returned();
  });
  document.addEventListener('resume', live.returned);
  addEventListener('online', live.returned);
  addEventListener('offline', live.offline);
  // The first one only says that the page was loaded.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) live.returned();
  });
  addEventListener('pagehide', live.left);
}

/** Draws at once, so that whoever waits for an answer sees the page as it is with it. */
function drawInto(place: HTMLElement): (props: CheckoutProps) => void {
  let isFirst = true;
  return (props) => {
    const title = titleOf(props);
    if (document.title !== title) document.title = title;
    if (isFirst) hydrate(<Checkout {...props} />, place);
    else keepingFocus(place, () => render(<Checkout {...props} />, place));
    isFirst = false;
  };
}

/** This page's address with some of its parameters set, or removed (null). */
function address(parameters: Record<string, string | null>): string {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.pathname + url.search;
}

/** When the page's first byte came, by this browser's clock: what the server wrote into it was true then. */
function firstByteAt(): number {
  const [navigation] = performance.getEntriesByType('navigation');
  return navigation instanceof PerformanceNavigationTiming ? performance.timeOrigin + navigation.responseStart : Date.now();
}
