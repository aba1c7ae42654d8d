import { describe, expect, it } from 'vitest';
import { scenariosFor } from '#api/checkout/page/forms.tsx';
import { contactHref, ownHref } from '#api/checkout/page/links.tsx';
import { translator } from '#api/checkout/page/messages.ts';
import type { PageFrame, PaymentModel, Problem } from '#api/checkout/page/model.ts';
import { renderPage } from '#api/checkout/page/render.tsx';
import { sentence } from '#api/page/sentence.ts';
import type { Snapshot } from '#api/checkout/page/snapshot.ts';
import { readCatalogues } from '#test/fixtures/catalogues.ts';
import { CHECKOUT_SCENES, checkoutScene } from '#test/fixtures/checkout-scenes.ts';

const CATALOGUES = readCatalogues();

const frame: PageFrame = {
  language: { tag: 'en', direction: 'ltr', messages: CATALOGUES.get('en')! },
  languages: [
    { tag: 'en', name: 'English' },
    { tag: 'ar', name: 'العربية' },
  ],
  languageAsked: false,
  path: '/p/7d9f2c1e',
  assets: { script: '/assets/checkout-1.js', style: '/assets/checkout-1.css', icon: '/favicon.svg' },
};

const modelOf = (snapshot: Snapshot, rest: Partial<PaymentModel> = {}): PaymentModel => ({
  ...frame,
  kind: 'payment',
  snapshot,
  choosing: false,
  problem: null,
  socketUrl: 'wss://pay.example/ws/payments/7d9f2c1e',
  ...rest,
});
const pageOf = (name: string, rest: Partial<PaymentModel> = {}): string => renderPage(modelOf(checkoutScene(name).snapshot, rest));

const unescaped = (html: string): string => html.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
const textOf = (html: string): string => unescaped(html.replace(/<head>[\s\S]*<\/head>/, '').replace(/<[^>]*>/g, '')).replace(/\s+/g, ' ');
/** The HTML from the element with this `data-part` on. */
const from = (html: string, part: string): string => html.slice(html.search(new RegExp(`<[a-z0-9]+[^>]* data-part="${part}"`)));
const dataOf = (html: string): unknown => JSON.parse(unescaped(/ data-page="([^"]*)"/.exec(html)?.[1] ?? ''));

describe('the page as the server sends it', () => {
  it('says everything that is needed to pay without a program (ux C14)', () => {
    const html = pageOf('pay');
    const text = textOf(html);
    for (const part of [
      'Order A-1001 · Moby-Dick, hardcover$49.90',
      'Acme Booksacme.example',
      'Send exactly50.33 USDT= $49.90 + $0.40 network fee',
      'To this address, TRON (TRC-20)TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
      'Send only USDT on TRON. Anything else may be lost.',
      '15 min left until 13:32 UTC',
      'Waiting for your payment',
    ])
      expect(text).toContain(part);
    expect(html).toContain('<title>Pay $49.90 · Acme Books</title>');
    expect(html).toContain('aria-label="Pay $49.90"');
    expect(textOf(from(html, 'address'))).toMatch(/^TJRabPrwbZy45sbavfcjinPJC18kjpRTv8/);
    expect(html).toContain('aria-label="QR code: 50.33 USDT on TRON (TRC-20) to address ending pRTv8"');
  });

  it('sends nobody to look for a transaction of the sandbox, which no explorer has', () => {
    const { snapshot } = checkoutScene('success');
    const inSandbox = { ...snapshot, payment: { ...snapshot.payment, isSandbox: true } };
    expect(textOf(from(pageOf('success'), 'transaction'))).toContain('View transaction');
    expect(textOf(renderPage(modelOf(inSandbox)))).not.toContain('View transaction');
  });

  it.each(CHECKOUT_SCENES)(
    '$name: has one heading, one status region and the payment id, and no script or style of its own',
    ({ snapshot, choosing, state }) => {
      const html = renderPage(modelOf(snapshot, { choosing: choosing ?? false }));
      expect(html).toContain(`data-state="${state}"`);
      expect(html.match(/<h1/g)).toHaveLength(1);
      expect(html.match(/role="status"/g)).toHaveLength(1);
      expect(textOf(html)).toContain(snapshot.payment.id);
      expect(textOf(html)).toContain(snapshot.merchant.name);
      expect(html).not.toMatch(/<style|\sstyle=|<script(?![^>]*\ssrc=)|\son[a-z]+=/);
    },
  );

  it('gives the browser the very model it was drawn from, whatever a merchant is called', () => {
    const snapshot = {
      ...checkoutScene('pay').snapshot,
      merchant: { name: `"><script>alert('&amp;')</script>`, host: null, logoPath: null, supportUrl: null },
    };
    const html = renderPage(modelOf(snapshot));
    const { kind: _, assets: __, ...data } = modelOf(snapshot);
    expect(dataOf(html)).toEqual(data);
    expect(html).not.toContain('<script>');
  });

  it('is in the language and the direction it says', () => {
    const html = pageOf('pay', { language: { tag: 'ar', direction: 'rtl', messages: CATALOGUES.get('ar')! } });
    expect(html).toMatch(/^<!doctype html><html lang="ar" dir="rtl">/);
    expect(html).toContain('<bdi dir="ltr" Translate="no" class="exact exact-amount" data-part="amount">50.33 USDT</bdi>');
  });

  it('says what the coins of an amount come from: its price, or the fees that the payer bears (commerce 2)', () => {
    const sum = (name: string) => textOf(from(pageOf(name), 'sum')).split('Copy')[0];
    expect(['pay', 'pay-token-evm', 'pay-bitcoin'].map(sum)).toEqual(['= $49.90 + $0.40 network fee', '= $49.90 + $1.50 fees', '1 BTC = $113,391.10']);
  });

  it('shows what is paid for as text, whatever it is, and never in the title of the document', () => {
    const title = '<img src=x onerror=alert(1)> "quoted" \u202e';
    for (const name of ['choose', 'pay', 'under', 'expired']) {
      const scene = checkoutScene(name).snapshot;
      const html = renderPage(modelOf({ ...scene, payment: { ...scene.payment, title, reference: title } }));
      expect(textOf(from(html, 'for')), name).toContain(`${title} · ${title}`.replace(/\s+/g, ' '));
      expect(html).not.toContain('<img src=x');
      expect(/<title>(.*)<\/title>/.exec(html)?.[1]).not.toContain('onerror');
    }
  });

  it('lists the ways to pay by what they cost in all, and marks the one that is cheapest or fastest, where one is', () => {
    const { snapshot } = checkoutScene('choose');
    const { offers } = snapshot.payment;
    const dear = offers.map((offer, index) => ({ ...offer, totalValue: (Number(offer.totalValue) * (index === 1 ? 1 : 1.1 + index / 100)).toFixed(8) }));
    const rows = (html: string) => [...html.matchAll(/<label class="way"[^>]*>(.*?)<\/label>/gs)].map(([, row]) => textOf(row ?? ''));
    const shown = rows(renderPage(modelOf({ ...snapshot, payment: { ...snapshot.payment, offers: dear } })));
    expect(shown[0]).toContain('USDC on Base (ERC-20)≈ $49.90 · under 1 minLowest costFastest');
    const prices = shown.map((row) => Number(/≈ \$([\d.]+)/.exec(row)?.[1]));
    expect(prices).toEqual([...prices].sort((a, b) => a - b));
    expect(shown.filter((row) => row.includes('Lowest cost'))).toHaveLength(1);
    expect(rows(pageOf('choose')).join()).not.toContain('Lowest cost');
    expect(rows(pageOf('choose-open')).join()).not.toContain('≈');
  });

  it('has a field to look for a way among more than six only', () => {
    const { snapshot } = checkoutScene('choose');
    const { offers } = snapshot.payment;
    const withOffers = (count: number) => {
      const many = Array.from({ length: count }, (_, index) => ({ ...(offers[index % offers.length] as (typeof offers)[number]), id: `offer-${index}` }));
      return renderPage(modelOf({ ...snapshot, payment: { ...snapshot.payment, offers: many } }));
    };
    expect([6, 7].map((count) => withOffers(count).includes('data-part="seek"'))).toEqual([false, true]);
  });

  it('asks before it assumes: nothing is chosen among several ways to pay, each of them named with its network (ux C1)', () => {
    const html = pageOf('choose');
    expect(html).not.toMatch(/<input[^>]*\schecked/);
    for (const name of ['USDT on TRON (TRC-20)', 'USDC on Base (ERC-20)', 'ETH on Ethereum', 'USDT on BNB Smart Chain (BEP-20)', 'Bitcoin (BTC)'])
      expect(textOf(html)).toContain(name);
    expect(html).not.toContain('data-part="timer"');
    expect(textOf(html)).not.toContain('Waiting for your payment');
  });

  it('shows no button that would do nothing: those for the program wait for it', () => {
    const html = pageOf('pay');
    expect(html).not.toContain('data-program');
    for (const [button] of html.matchAll(/<button[^>]* type="button"[^>]*>|<button type="button"[^>]*>/g)) expect(button).toContain('needs-program');
  });

  it('skips the question where there is one way only', () => {
    const { snapshot } = checkoutScene('choose');
    const html = renderPage(modelOf({ ...snapshot, payment: { ...snapshot.payment, offers: snapshot.payment.offers.slice(0, 1) } }));
    expect(html).not.toContain('type="radio"');
    expect(html).toContain(`<input type="hidden" name="offerId" value="${snapshot.payment.offers[0]!.id}"`);
    expect(textOf(html)).toContain('Continue with USDT on TRON (TRC-20)');
  });

  it('lets a payer whose address does not come choose something else', () => {
    expect(pageOf('preparing')).toContain('href="/p/7d9f2c1e?choose"');
  });

  it('posts its forms to itself, in the language that was asked for', () => {
    const html = pageOf('pay-sandbox', { languageAsked: true });
    expect(from(html, 'sandbox')).toMatch(/^<form[^>]* method="post" action="\/p\/7d9f2c1e"/);
    expect(html).toContain('<input type="hidden" name="lang" value="en"');
    expect(html).toContain('href="/p/7d9f2c1e?lang=en&amp;choose"');
    expect(pageOf('pay-sandbox')).not.toContain('name="lang"');
  });

  it('names the fees that the payer bears and no others (ux C3)', () => {
    const details = (name: string) => textOf(from(pageOf(name), 'details'));
    expect(details('pay-token-evm')).toContain('Network fee');
    expect(details('pay-native')).toContain('Fees covered by Acme Books');
    expect(details('pay-native')).not.toMatch(/fee[^s]/);
  });

  it('says nothing of covered fees beside one that the payer bears', () => {
    const { snapshot } = checkoutScene('pay-token-evm');
    const html = renderPage(modelOf({ ...snapshot, payment: { ...snapshot.payment, txFeePayer: 'CUSTOMER', commissionFeePayer: 'PLATFORM' } }));
    expect(textOf(from(html, 'details'))).toContain('Network fee');
    expect(textOf(from(html, 'details'))).not.toContain('Fees covered');
  });

  it.each(['pay-native', 'pay-token-evm', 'success', 'seen'])('lists its figures as figures and nothing else (%s)', (name) => {
    const lists = [...pageOf(name).matchAll(/<dl[^>]*>(.*?)<\/dl>/gs)].map(([, list]) => list?.replace(/<div class="figure">.*?<\/div>/gs, ''));
    expect(new Set(lists)).toEqual(new Set(['']));
  });

  it('warns of a code that wallets misread, where the gateway wants one', () => {
    const { snapshot } = checkoutScene('pay-token-evm');
    const note = 'Some wallets misread this code.';
    const shown = (qrMode: 'SAFE' | 'URI') => textOf(renderPage(modelOf({ ...snapshot, qrMode })).split('<details class="other-code"')[0]!);
    expect(shown('URI')).toContain(note);
    expect(shown('SAFE')).not.toContain(note);
  });

  it('has no code and no wallet to send from in test mode (ux C13)', () => {
    const html = pageOf('pay-sandbox');
    expect(html).toContain('TEST MODE');
    expect(html).not.toMatch(/data-part="(qr|wallets|uri-toggle|address|network-warning|exchange)"/);
    expect(html.indexOf('data-part="sandbox"'), 'the buttons come first').toBeLessThan(html.indexOf('data-part="amount"'));
    expect(pageOf('pay')).not.toContain('data-part="sandbox"');
  });

  it('asks for no amount where the payer decides it', () => {
    const html = pageOf('open-token');
    expect(textOf(html)).toContain('Send any amount from $25.00');
    expect(html).not.toMatch(/data-part="(amount|copy-amount)"/);
    expect(textOf(html)).not.toContain('Send exactly');
  });

  it('says the difference first, and what happens to the money (commerce 2)', () => {
    const heading = (name: string) => textOf(/<h1[^>]*>.*?<\/h1>/s.exec(pageOf(name))?.[0] ?? '');
    expect(['under', 'over', 'mismatch', 'success', 'acceptable'].map(heading)).toEqual([
      'Short by 30.19 USDT (≈ $30.17)',
      '452.97 USDT too much (≈ $452.70)',
      'We received something other than requested',
      '$49.90 paid to Acme Books',
      '$49.90 paid to Acme Books',
    ]);
    for (const name of ['under', 'over', 'mismatch']) expect(textOf(from(pageOf(name), 'money'))).toContain('arrived and is not lost. Acme Books decides');
  });

  it('names no difference in coins where another price decided: what came late may be more coins and too little all the same', () => {
    const heading = (name: string, amount: string) => {
      const { snapshot } = checkoutScene(name);
      const paid = { ...snapshot.paid!, amount };
      return textOf(/<h1[^>]*>.*?<\/h1>/s.exec(renderPage(modelOf({ ...snapshot, paid })))?.[0] ?? '');
    };
    expect([heading('under-reopened', '50.4'), heading('under-reopened', '20.14'), heading('under', '50.4')]).toEqual(
      Array(3).fill('We received less than requested'),
    );
    expect(heading('over', '50.2')).toBe('We received more than requested');
  });

  it('leads to a receipt once paid, in the language that was asked for, and nowhere else', () => {
    for (const { name, state, snapshot } of CHECKOUT_SCENES)
      expect([name, renderPage(modelOf(snapshot)).includes('/receipt')]).toEqual([name, state === 'success' || state === 'acceptable']);
    expect(pageOf('success', { languageAsked: true })).toContain('href="/p/7d9f2c1e/receipt?lang=en"');
  });

  it('has a receipt that says what was paid, to whom, with what and when, without a program', () => {
    const { snapshot } = checkoutScene('success');
    const html = renderPage({ ...frame, kind: 'receipt', mail: null, snapshot });
    for (const part of [
      '$49.90 paid to Acme Books',
      'acme.example',
      'Moby-Dick, hardcover',
      'Order A-1001',
      '50.33 USDT',
      'TRON (TRC-20)',
      '68412077',
      'Mar 9, 2026, 13:16 UTC',
      snapshot.payment.txHash ?? '',
      snapshot.payment.id,
      'View transaction',
    ])
      expect(textOf(html)).toContain(part);
    expect(html).not.toMatch(/<script|data-page|\sstyle=/);
    expect(html).toContain('href="/p/7d9f2c1e"');
  });

  it('never invites a second transfer after the first one decided (ux 0.4)', () => {
    for (const name of ['under', 'over', 'mismatch']) {
      const html = pageOf(name);
      expect(textOf(html)).toContain('Do not send more to this address.');
      expect(html).not.toMatch(/data-part="(address|qr|timer|chooser)"/);
    }
  });

  it('shows a deadline nowhere once a deposit was seen (ux C7)', () => {
    for (const name of ['seen', 'seen-late', 'seen-after']) expect(pageOf(name)).not.toContain('role="timer"');
  });

  it('tells other sites nothing: each link that leaves has no referrer and no opener (ux 0.7)', () => {
    for (const { snapshot } of CHECKOUT_SCENES)
      for (const [link] of renderPage(modelOf(snapshot)).matchAll(/<a [^>]*href="[a-z]+:[^>]*>/g)) expect(link).toContain('rel="noreferrer noopener"');
  });

  it.each<[Problem, string]>([
    [{ kind: 'choose-first' }, 'Choose one of the options first.'],
    [{ kind: 'busy' }, 'Too many requests. Try again in a moment.'],
    [{ kind: 'busy', retryAfterSeconds: 1 }, 'Too many requests. Try again in 1 second.'],
    [{ kind: 'unavailable' }, 'nothing is lost'],
  ])('says what went wrong as an alert: %j', (problem, text) => {
    const html = pageOf('choose', { problem });
    expect(from(html, 'problem')).toMatch(/^<div role="alert"/);
    expect(textOf(from(html, 'problem'))).toContain(text);
  });

  it.each(['not-found', 'api-mode', 'busy', 'unavailable', 'refused'] as const)('%s: a whole page that names no payment', (error) => {
    const html = renderPage({ ...frame, kind: 'error', error, ...(error === 'busy' ? { retryAfterSeconds: 30 } : {}) });
    expect(html).toContain(`data-state="${error}"`);
    expect(html.match(/<h1/g)).toHaveLength(1);
    expect(html).not.toMatch(/data-page|data-part="(merchant|payment-id|return)"/);
    expect(html.includes('data-retry-after="30"')).toBe(error === 'busy');
  });
});

describe('the parts of the page', () => {
  it('plays only what the service would take in that state', () => {
    expect(scenariosFor('pay')).toHaveLength(8);
    expect(scenariosFor('seen')).toEqual(['seen_then_confirmed']);
    expect(scenariosFor('expired-grace')).toEqual(['late_capture']);
    expect(scenariosFor('success')).toEqual([]);
  });

  it.each([
    ['https://acme.example/help', 'https://acme.example/help?paymentUid=7d9f'],
    ['https://acme.example/help?topic=pay#form', 'https://acme.example/help?topic=pay&paymentUid=7d9f#form'],
    ['mailto:help@acme.example', 'mailto:help@acme.example?subject=7d9f'],
    ['mailto:help@acme.example?cc=a@acme.example', 'mailto:help@acme.example?cc=a@acme.example&subject=7d9f'],
    ['mailto:help@acme.example?subject=Order', 'mailto:help@acme.example?subject=Order'],
    ['javascript:alert(1)', null],
    ['help', null],
  ])('tells the merchant’s help which payment it is about: %s', (supportUrl, href) => {
    expect(contactHref(supportUrl, '7d9f')).toBe(href);
  });

  it('asks nothing of a browser that those it is built for do not have', () => {
    const { canParse } = URL;
    Reflect.deleteProperty(URL, 'canParse');
    try {
      expect(contactHref('https://acme.example/help', '7d9f')).toBe('https://acme.example/help?paymentUid=7d9f');
      expect(contactHref('help', '7d9f')).toBeNull();
    } finally {
      URL.canParse = canParse;
    }
  });

  it('keeps a language that was asked for in the page’s own links', () => {
    expect(ownHref({ ...frame, languageAsked: false })).toBe('/p/7d9f2c1e');
    expect(ownHref({ ...frame, languageAsked: true }, 'choose')).toBe('/p/7d9f2c1e?lang=en&choose');
  });

  it('puts elements where a language wants them, without isolates of its own around them', () => {
    const arabic = translator({ tag: 'ar', direction: 'rtl', messages: { 'pay.send': '{network}: {amount}!' } });
    expect(sentence(arabic, 'pay.send', { amount: 1, network: 2 })).toEqual(['', 2, ': ', 1, '!']);
  });
});
