import { describe, expect, it } from 'vitest';
import { harmless, receiptText } from '#api/checkout/page/receipt-text.ts';
import { receiptView } from '#api/checkout/page/receipt.tsx';
import { readCatalogues } from '#test/fixtures/catalogues.ts';
import { checkoutScene } from '#test/fixtures/checkout-scenes.ts';

const CATALOGUES = readCatalogues();
const URL = 'https://pay.example/p/7d9f2c1e/receipt';

/** The mail of a payment to a merchant that is called `name`. */
function mailOf(tag: string, words: { name?: string; title?: string; reference?: string } = {}): string {
  const { snapshot } = checkoutScene('success');
  const { name = 'Acme Books', ...named } = words;
  return receiptText(
    receiptView({
      snapshot: { ...snapshot, merchant: { ...snapshot.merchant, name }, payment: { ...snapshot.payment, ...named } },
      language: { tag, direction: tag === 'ar' ? 'rtl' : 'ltr', messages: CATALOGUES.get(tag) ?? {} },
      languages: [],
      languageAsked: false,
      path: '/p/7d9f2c1e',
    }),
    URL,
  );
}

describe('the text of a receipt by mail', () => {
  it('says what was paid, to whom, with what, and where the receipt is', () => {
    const { payment } = checkoutScene('success').snapshot;
    const text = mailOf('en', { title: 'Moby-Dick, hardcover', reference: 'Order A-1001' });
    for (const line of [
      'Order amount: $49.90',
      'Paid to: Acme Books',
      'For: Moby-Dick, hardcover',
      'Reference: Order A-1001',
      `Payment ID: ${payment.id}`,
      URL,
    ])
      expect(text.split('\n')).toContain(line);
    expect(text).toMatch(/^Sent: 50\.33 USDT$/m);
  });

  it.each([...CATALOGUES.keys()])('has in %s one link, which is ours, and no line that a merchant wrote alone', (tag) => {
    const evil = 'Act now:\r\nSubject: x\r\n\r\nhttps://evil.example/login and www.evil.example, mail me@evil.example';
    const text = mailOf(tag, { name: evil, title: evil, reference: evil });
    expect(text.match(/\S*:\/\/\S*/g)).toEqual([URL]);
    expect(text).not.toMatch(/\w@\w|evil\.example|^Subject/m);
    expect(text.split('\n')).toHaveLength(mailOf(tag, { name: 'a', title: 'b', reference: 'c' }).split('\n').length);
  });
});

describe("somebody else's text in a mail", () => {
  it.each([
    ['https://evil.example/a.b', 'https[:]//evil[.]example/a[.]b'],
    ['evil。example', 'evil[.]example'],
    ['pay\u200b\u202e me\u0000', 'pay me'],
    ['me＠evil.example', 'me[at]evil[.]example'],
    ['1.1.1.1x and 4you.example', '1.1.1.1x and 4you[.]example'],
    ['cafe\u0301.example and \u2764\ufe0f.example', 'cafe\u0301[.]example and \u2764\ufe0f[.]example'],
    ['evil\u2024example and evil\ufe52example', 'evil[.]example and evil[.]example'],
    ['203.0.113.9/login, or 203.0.113.9.', '203[.]0[.]113[.]9/login, or 203[.]0[.]113[.]9.'],
    ['evil.5example, evil.example. See v1.2.3 ... and 1.234.567,00', 'evil[.]5example, evil[.]example. See v1.2.3 ... and 1.234.567,00'],
    ['Acme Inc. pays 12.50 in full. Thanks', 'Acme Inc. pays 12.50 in full. Thanks'],
    ['\u2028A\u2029B\u00a0C', 'A B C'],
  ])('%j reads %j', (text, read) => expect(harmless(text)).toBe(read));
});
