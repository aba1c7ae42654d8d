import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { injectedTransfer } from '#api/checkout/page/injected-transfer.ts';
import { checkoutScene } from '#test/fixtures/checkout-scenes.ts';
import { describeInBrowser } from '#test/harness/browser.ts';
import { aCheckoutStage, type CheckoutStage } from '#test/harness/checkout-stage.ts';
import { axeFindings } from '#test/harness/tab.ts';
import { payerAt } from './payer.ts';

const ACCOUNT = '0x00000000000000000000000000000000000a11ce';
const EVIL = '\u202e<img src=x onerror=alert(1)>\u0000 Fox\nWallet'.padEnd(200, '!');

/** How a wallet in the page behaves. */
interface Behaviour {
  /** Null sets `ethereum` and announces nothing. */
  name: string | null;
  chainId?: string;
  /** Whether it goes where it is asked to. */
  switches?: boolean;
  /** What it answers to a transaction: a hash, or an error with this code. */
  answers?: 'hash' | number;
}

/** Puts a wallet into each page that is opened from now on; answers what it was asked. */
async function install(page: Page, behaviour: Behaviour): Promise<() => Promise<{ method: string; params?: unknown[] }[]>> {
  await page.addInitScript(
    ({ behaviour: { name, chainId = '0x1', switches = true, answers = 'hash' }, account }) => {
      const asked: { method: string; params?: unknown[] }[] = [];
      let at = chainId;
      const provider = {
        async request(call: { method: string; params?: unknown[] }) {
          asked.push(JSON.parse(JSON.stringify(call)));
          if (call.method === 'eth_requestAccounts') return [account];
          if (call.method === 'eth_chainId') return at;
          if (call.method === 'wallet_switchEthereumChain') {
            if (!switches) throw Object.assign(new Error('unknown'), { code: 4902 });
            [{ chainId: at }] = call.params as [{ chainId: string }];
            return null;
          }
          if (call.method === 'eth_sendTransaction' && answers === 'hash') return '0x01';
          throw Object.assign(new Error('no'), { code: answers });
        },
      };
      Object.assign(window, { asked });
      if (name === null) Object.assign(window, { ethereum: provider });
      else {
        const detail = { info: { uuid: 'a', name, icon: 'https://evil.example/icon.svg', rdns: 'x' }, provider };
        const announce = (): void => void window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
        window.addEventListener('eip6963:requestProvider', announce);
        // What is no wallet does no harm.
        for (const wrong of [null, {}, { info: null, provider: null }, { info: { name: 1 }, provider: {} }])
          window.addEventListener('eip6963:requestProvider', () => void window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: wrong })));
      }
    },
    { behaviour, account: ACCOUNT },
  );
  return () => page.evaluate(() => (window as unknown as { asked: { method: string; params?: unknown[] }[] }).asked);
}

describeInBrowser('a payer whose browser has a wallet', (open) => {
  let stage: CheckoutStage;
  beforeAll(async () => {
    stage = await aCheckoutStage();
  });
  afterAll(() => stage?.stop());

  const { snapshot } = checkoutScene('pay-token-evm');
  const transfer = injectedTransfer(snapshot, 'pay');
  const show = async (page: Page): Promise<void> => {
    await page.goto(stage.show(snapshot));
    await payerAt(page).isLive();
  };
  const buttons = (page: Page) => page.locator('[data-part="injected"] button');

  it('has the exact transfer in it with one press, on the right network, and nothing else is asked', async () => {
    const { page, trouble, requests } = await open();
    const asked = await install(page, { name: 'Fox Wallet', chainId: '0x5' });
    await show(page);
    expect(await buttons(page).allInnerTexts()).toEqual(['Pay with Fox Wallet']);
    expect(await axeFindings(page)).toEqual([]);
    await buttons(page).click();
    await page.locator('[data-part="wallet-sent"]').waitFor();
    const calls = await asked();
    expect(calls.map(({ method }) => method)).toEqual([
      'eth_requestAccounts',
      'eth_chainId',
      'wallet_switchEthereumChain',
      'eth_chainId',
      'eth_sendTransaction',
    ]);
    expect(calls.at(-1)?.params).toEqual([{ from: ACCOUNT, ...transfer }]);
    // Sent once: a reload does not offer it again.
    await show(page);
    expect([await buttons(page).count(), await page.locator('[data-part="wallet-sent"]').count()]).toEqual([0, 1]);
    expect(trouble).toEqual([]);
    expect(requests.filter(({ url }) => !url.startsWith(stage.origin))).toEqual([]);
  });

  it('reads a wallet’s name as one short line of text, and sees no picture of it', async () => {
    const { page, requests } = await open();
    await install(page, { name: EVIL });
    await show(page);
    const text = (await buttons(page).innerText()).replace('Pay with ', '');
    expect(text).toBe('<img src=x onerror=alert(1)> Fo…');
    expect(await buttons(page).locator('img').count()).toBe(0);
    expect(requests.filter(({ url }) => !url.startsWith(stage.origin))).toEqual([]);
  });

  it('is asked by a wallet that only says it is there', async () => {
    const { page } = await open();
    await install(page, { name: null });
    await show(page);
    expect(await buttons(page).allInnerTexts()).toEqual(['Pay with the wallet in this browser']);
  });

  it.each([
    ['says no', { answers: 4001 }, null],
    ['fails', { answers: -32603 }, 'Your wallet did not say that it sent anything.'],
    ['does not know the network', { chainId: '0x5', switches: false }, 'Your wallet is on another network.'],
  ] as const)('may try again when the wallet %s, and reads what happened', async (_what, behaviour, told) => {
    const { page } = await open();
    const asked = await install(page, { name: 'Fox', ...behaviour });
    await show(page);
    await buttons(page).click();
    if (told !== null) await expect.poll(() => payerAt(page).part('problem').allInnerTexts()).toEqual([expect.stringContaining(told)]);
    await expect.poll(() => buttons(page).allInnerTexts()).toEqual(['Pay with Fox']);
    if ('switches' in behaviour) expect((await asked()).map(({ method }) => method)).not.toContain('eth_sendTransaction');
    else expect((await payerAt(page).part('problem').allInnerTexts()).join('')).toContain(told ?? '');
    if (told === null) expect((await payerAt(page).part('problem').allInnerTexts()).join('')).toBe('');
  });

  it('is offered none where the coin is on another family of chains, in the sandbox, or where nobody should pay', async () => {
    const { page } = await open();
    await install(page, { name: 'Fox' });
    for (const name of ['pay', 'pay-bitcoin', 'pay-sandbox', 'success', 'choose']) {
      await page.goto(stage.show(checkoutScene(name).snapshot));
      await payerAt(page).isLive();
      expect([name, await buttons(page).count()]).toEqual([name, 0]);
    }
  });
});
