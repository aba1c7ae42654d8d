import type { InjectedWallet } from '../model.ts';

/** A wallet as EIP-1193 has it. What it answers may be anything. */
export interface WalletProvider {
  request(call: { method: string; params?: unknown[] }): Promise<unknown>;
}

/** The wallets that an extension, or the browser itself, put into the page. */
export interface InjectedWallets {
  /** In the order in which they said so. */
  listed(): readonly InjectedWallet[];
  provider(id: string): WalletProvider | undefined;
}

/** More buttons are no choice. */
const MOST = 4;
const LONGEST_NAME = 32;
const ANNOUNCED = 'eip6963:announceProvider';
const ASK = 'eip6963:requestProvider';

/**
 * Asks for wallets (EIP-6963), and tells when there are more. One that only sets `ethereum` is listed without a name. Names are somebody else's text: one short line.
 * Icons are not shown at all: the page loads no image but the merchant's logo.
 */
export function findWallets(target: Window, changed: () => void): InjectedWallets {
  const found = new Map<string, { name: string | null; provider: WalletProvider }>();
  target.addEventListener(ANNOUNCED, (event) => {
    const { info, provider } = readAnnouncement((event as CustomEvent<unknown>).detail);
    const id = `wallet-${String(info.uuid).slice(0, 64)}`;
    if (provider === null || found.has(id) || found.size >= MOST) return;
    found.set(id, { name: readName(info.name), provider });
    changed();
  });
  target.dispatchEvent(new Event(ASK));
  const old = (target as { ethereum?: unknown }).ethereum;
  const all = (): Map<string, { name: string | null; provider: WalletProvider }> =>
    found.size > 0 || !isProvider(old) ? found : new Map([['wallet', { name: null, provider: old }]]);
  return {
    listed: () => [...all()].map(([id, { name }]) => ({ id, name })),
    provider: (id) => all().get(id)?.provider,
  };
}

function readAnnouncement(detail: unknown): { info: { uuid?: unknown; name?: unknown }; provider: WalletProvider | null } {
  const { info, provider } = (detail ?? {}) as { info?: object | null; provider?: unknown };
  return { info: info ?? {}, provider: isProvider(provider) ? provider : null };
}

function isProvider(value: unknown): value is WalletProvider {
  return typeof (value as { request?: unknown } | null | undefined)?.request === 'function';
}

/** Null where nothing is left of it. */
function readName(name: unknown): string | null {
  if (typeof name !== 'string') return null;
  const line = name.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  const letters = [...line];
  if (letters.length <= LONGEST_NAME) return line || null;
  return `${letters
    .slice(0, LONGEST_NAME - 1)
    .join('')
    .trim()}…`;
}
