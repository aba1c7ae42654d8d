import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Brand, brandedStyle, brandStyle, readBrandedStyle } from '#api/checkout/brand.ts';

const STYLE = '/assets/checkout-AB12.css';

describe('a gateway’s style', () => {
  it('is that of all pages where it has none of its own', () => {
    expect(brandedStyle(STYLE, { accent: null, theme: 'AUTO' })).toBe(STYLE);
  });

  it.each<Brand>([
    { accent: '#1f5f4a', theme: 'AUTO' },
    { accent: '#ffff00', theme: 'DARK' },
    { accent: null, theme: 'LIGHT' },
  ])('is found again by its path: %o', (brand) => {
    expect(readBrandedStyle(brandedStyle(STYLE, brand))).toEqual({ brand, style: STYLE });
  });

  it.each([
    '/brand/1f5f4a;}body{display:none-auto/checkout-AB12.css',
    '/brand/1f5f4-auto/checkout-AB12.css',
    '/brand/1f5f4a-sepia/checkout-AB12.css',
    '/brand/1f5f4a-auto/../../etc/passwd',
    '/brand/1F5F4A-auto/checkout-AB12.css',
  ])('is none at %s', (path) => {
    expect(readBrandedStyle(path)).toBeUndefined();
  });

  it('holds nothing but colours that were computed', () => {
    const added = brandStyle('', { accent: '#ff00ff', theme: 'AUTO' });
    expect(added.replaceAll(/#[0-9a-f]{6}/g, '#')).toBe(
      '\n:root{--accent:#;--accent-strong:#;--on-accent:#;--accent-wash:#}\n@media (prefers-color-scheme:dark){:root{--accent:#;--accent-strong:#;--on-accent:#;--accent-wash:#}}\n',
    );
  });

  it('is dark or light for everybody where the gateway chose, in every rule that asks', () => {
    const css = readFileSync('api/page/styles/base.css', 'utf8');
    expect(css).toContain('(prefers-color-scheme: dark)');
    const dark = brandStyle(css, { accent: null, theme: 'DARK' });
    expect([dark.includes('prefers-color-scheme'), dark.includes('@media all'), dark.includes(':root{color-scheme:dark}')]).toEqual([false, true, true]);
    expect(brandStyle(css, { accent: null, theme: 'LIGHT' })).toContain('@media not all');
  });
});
