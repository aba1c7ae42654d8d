import { afterEach, beforeEach, vi } from 'vitest';
import { type LivePage, openLivePage } from '#api/checkout/page/browser/live-page.ts';
import type { WalletProvider } from '#api/checkout/page/browser/injected-wallets.ts';
import { tabMemory } from '#api/checkout/page/browser/memory.ts';
import type { CommandAnswer } from '#api/checkout/page/browser/wire.ts';
import type { CheckoutProps, HydrationData } from '#api/checkout/page/model.ts';
import type { Snapshot } from '#api/checkout/page/snapshot.ts';
import { shownState } from '#api/checkout/page/state.ts';
import { readCatalogues } from '#test/fixtures/catalogues.ts';
import { checkoutScene, SCENE_TIME } from '#test/fixtures/checkout-scenes.ts';
import { type FakeNetwork, fakeNetwork, pass, snapshotAt } from './fake-browser.ts';

export const MINUTE = 60_000;
export const MESSAGES = readCatalogues().get('en')!;
/** The payer's own clock is wrong by this much in every test. */
export const FAST_MS = 7 * MINUTE;

/** A live page in a fake browser, and all that it did there. */
export interface Opened {
  page: LivePage;
  network: FakeNetwork;
  draws: CheckoutProps[];
  props(): CheckoutProps;
  state(): string;
  /** What a screen reader said, in order. */
  spoken(): string[];
  /** The server's snapshot from now on; told over the socket too if there is one. */
  show(snapshot: Snapshot): void;
  sent: { command: string; body: object; at: number }[];
  /** What the next commands are answered; the last answer stays. */
  answers: (CommandAnswer | (() => CommandAnswer))[];
  clipboard: string[];
  left: string[];
  urls: string[];
  setVisible(visible: boolean): void;
}

let pages: LivePage[] = [];
let store: Map<string, string>;

/** Gives each test of a file a tab of its own whose clock goes only when it is wound. */
export function useFakeTab(): void {
  beforeEach(() => {
    vi.useFakeTimers({ now: SCENE_TIME + FAST_MS });
    pages = [];
    store = new Map();
  });
  afterEach(() => {
    for (const page of pages) page.left();
    vi.useRealTimers();
  });
}

const storage = {
  getItem: (key: string) => store.get(key) ?? null,
  setItem: (key: string, value: string) => {
    store.set(key, value);
  },
};
/** Service time. */
export const serviceNow = () => Date.now() - FAST_MS;
export const scene = (name: string) => checkoutScene(name).snapshot;

/** Opens the page of a snapshot in the tab. */
export function open(snapshot: Snapshot, over: Partial<HydrationData> = {}, wallets: Readonly<Record<string, WalletProvider>> = {}): Opened {
  const network = fakeNetwork();
  const draws: CheckoutProps[] = [];
  const sent: Opened['sent'] = [];
  const answers: Opened['answers'] = [{ kind: 'done' }];
  const clipboard: string[] = [];
  const left: string[] = [];
  const urls: string[] = [];
  let current = snapshot;
  let isVisible = true;
  network.answer(() => ({ kind: 'snapshot', snapshot: snapshotAt(current, serviceNow()) }));
  const page = openLivePage(
    {
      ...network.effects,
      draw: (props) => draws.push(props),
      send: async (command, body) => {
        sent.push({ command, body, at: Date.now() });
        const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
        return typeof answer === 'function' ? answer() : answer;
      },
      copyText: async (text) => {
        clipboard.push(text);
        return text !== '';
      },
      isVisible: () => isVisible,
      memory: tabMemory(() => storage, snapshot.payment.id),
      findWallets: () => ({ listed: () => Object.keys(wallets).map((id) => ({ id, name: id })), provider: (id) => wallets[id] }),
      leaveFor: (url) => left.push(url),
      reload: () => left.push('reload'),
      openIn: (language, choosing) => urls.push(`${language} ${choosing}`),
      rememberChoosing: (choosing) => urls.push(choosing ? 'choosing' : 'chosen'),
      tellHealth: () => {},
    },
    {
      language: { tag: 'en', direction: 'ltr', messages: MESSAGES },
      languages: [],
      languageAsked: false,
      path: `/p/${snapshot.payment.id}`,
      snapshot: snapshotAt(snapshot, serviceNow()),
      choosing: false,
      problem: null,
      socketUrl: 'wss://pay.example/ws',
      ...over,
    },
    Date.now(),
  );
  pages.push(page);
  const props = () => draws.at(-1)!;
  return {
    page,
    network,
    draws,
    props,
    state: () => shownState(props()),
    spoken: () => draws.map((one) => one.spoken).filter((text, index, all) => text !== '' && text !== all[index - 1]),
    show: (next) => {
      current = next;
      network.socket().say({ type: 'update', ...snapshotAt(next, serviceNow()) });
    },
    sent,
    answers,
    clipboard,
    left,
    urls,
    setVisible: (visible) => {
      isVisible = visible;
    },
  };
}

/** The server's word that all is as it was, as it comes every 25 s. */
export async function passWithPings(opened: Opened, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 20_000) {
    await pass(Math.min(left, 20_000));
    opened.network.socket().say({ type: 'ping', serverTime: new Date(serviceNow()).toISOString() });
  }
}
