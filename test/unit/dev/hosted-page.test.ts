import { describe, expect, it } from 'vitest';
import type { PageModel } from '#api/checkout/page/model.ts';
import type { Catalogue } from '#api/page/catalogue.ts';
import { renderPage } from '#api/checkout/page/render.tsx';
import { readPage } from '#ops/dev/hosted-page.ts';
import { readCatalogues } from '#test/fixtures/catalogues.ts';
import { CHECKOUT_SCENES, checkoutScene, type Scene } from '#test/fixtures/checkout-scenes.ts';

const FRAME = {
  language: { tag: 'en', direction: 'ltr' as const, messages: readCatalogues().get('en') as Catalogue },
  languages: [{ tag: 'en', name: 'English' }],
  languageAsked: false,
  assets: { script: null, style: '/assets/a.css', icon: '/favicon.svg' },
  path: '/p/1',
};

function htmlOf({ snapshot, choosing }: Scene): string {
  const model: PageModel = { ...FRAME, kind: 'payment', snapshot, choosing: choosing === true, problem: null, socketUrl: 'ws://checkout.test/ws/payments/1' };
  return renderPage(model);
}

describe('who reads the hosted page', () => {
  it.each(CHECKOUT_SCENES.map((scene) => [scene.name, scene] as const))('sees which screen it is: %s', (_, scene) => {
    expect(readPage(htmlOf(scene)).state).toBe(scene.state);
  });

  it('sees the exact amount, the whole address and the way back', () => {
    const { snapshot, ...scene } = checkoutScene('pay');
    const returnUrl = 'https://shop.example/thanks?a=1&status=PENDING&note="<b>"';
    const chosen = snapshot.payment.offers.find(({ id }) => id === snapshot.payment.selectedOfferId);
    expect(readPage(htmlOf({ ...scene, snapshot: { ...snapshot, returnUrl } }))).toEqual({
      state: 'pay',
      amount: expect.stringMatching(new RegExp(`^${chosen?.totalValue}\\s${chosen?.assetSymbol}$`)),
      address: chosen?.depositAddress,
      returnUrl,
    });
  });

  it('is told when it is no page of a payment', () => {
    expect(() => readPage('<h1>Bad Gateway</h1>')).toThrow('this is no page of a payment');
  });
});
