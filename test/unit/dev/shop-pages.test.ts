import { expect, it } from 'vitest';
import { SHOP, shopPage } from '#ops/dev/shop-pages.ts';

it('the shop shows each parameter it is called with as text, whatever is in it', () => {
  const query = new URLSearchParams({ order: 'A-1001', status: 'SUCCESS', '<img>': '<script>alert("x")</script>&amp;' });
  for (const path of [SHOP.thanks, SHOP.help]) {
    const page = shopPage(path, query)?.body ?? '';
    expect(page).toContain('<th scope="row">order</th><td><code>A-1001</code></td>');
    expect(page).toContain('<th scope="row">&lt;img&gt;</th><td><code>&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;amp;</code></td>');
    expect(page).not.toMatch(/<script|<img/);
  }
});

it('the shop says so when it is called with nothing', () => {
  expect(shopPage(SHOP.thanks, new URLSearchParams())?.body).toContain('no parameters');
});

it('the shop has a logo that fits where the checkout takes one', () => {
  const logo = shopPage(SHOP.logo, new URLSearchParams());
  expect(logo?.type).toBe('image/svg+xml');
  expect(logo?.body.length).toBeLessThan(24 * 1024);
});
