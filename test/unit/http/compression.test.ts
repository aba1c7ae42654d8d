import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { compress, encodingFor } from '#api/http/compression.ts';

describe('a page is written as its reader takes it', () => {
  it.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['GZIP', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['br;q=0.000', 'identity'],
    ['br;q=0.001', 'br'],
    ['identity', 'identity'],
    ['*', 'identity'],
    ['', 'identity'],
    [undefined, 'identity'],
    ['brotli, gzipped', 'identity'],
  ] as const)('%s → %s', (accepted, encoding) => {
    expect(encodingFor(accepted)).toBe(encoding);
  });

  it('and reads the same, whichever way', async () => {
    const text = 'ödeme tamamlandı ✓ '.repeat(500);
    expect((await compress(text, 'identity')).toString()).toBe(text);
    expect(gunzipSync(await compress(text, 'gzip')).toString()).toBe(text);
    expect(brotliDecompressSync(await compress(text, 'br')).toString()).toBe(text);
    expect((await compress(text, 'br')).length).toBeLessThan(text.length / 20);
  });
});
