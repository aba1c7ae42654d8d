import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logoOf } from '#api/http/logos.ts';
import { type InProcess, inProcess } from '#test/harness/in-process.ts';
import { type Listening, listen } from './service.ts';

let world: InProcess;
let http: Listening;
beforeAll(async () => {
  world = await inProcess();
  http = await listen(world.deps);
});
afterAll(async () => {
  await http.close();
  await world.stop();
});

const get = (path: string, method = 'GET'): Promise<Response> => fetch(`${http.origin}${path}`, { method });

describe('logos', () => {
  it.each(['USDT', 'ETH', 'ethereum'])('%s has one: a cacheable image that runs nothing', async (name) => {
    const response = await get(`/logos/${name}.svg`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('public, max-age=86400');
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await response.text()).toContain(`>${name.toUpperCase().slice(0, 4)}</text>`);
  });

  it('are what every offer links to', async () => {
    for (const asset of Object.values(world.assets)) {
      expect((await get(`/logos/${encodeURIComponent(asset.symbol)}.svg`, 'HEAD')).status).toBe(200);
      expect((await get(`/logos/${encodeURIComponent(asset.networkName)}.svg`, 'HEAD')).status).toBe(200);
    }
  });

  it.each(['NOPE', 'usdt', '%3Cscript%3E', '..%2F..%2Fetc%2Fpasswd', '%E0%A4%A', 'USDT.png', 'x'.repeat(300)])(
    '%s has none: 404 in the envelope',
    async (name) => {
      const response = await get(`/logos/${name}.svg`);
      expect([response.status, await response.text()]).toEqual([404, '{"success":false,"error":{"code":"not_found","message":"Not found."}}']);
    },
  );

  it('are only read', async () => {
    const response = await get('/logos/USDT.svg', 'POST');
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('escape whatever a name holds', () => {
    expect(logoOf(`<a"'&`)).not.toMatch(/<a|"'/);
    expect(logoOf(`<a"'&`)).toContain('&lt;A&quot;&#39;</text>');
    const image = logoOf('a\u0000\u001b]b\ud800\uffff😀c');
    expect(image).toContain('>A]B\ufffd</text>');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    expect(image).not.toMatch(/[\u0000-\u0009\u000b-\u001f\ud800-\udfff\uffff]/u);
  });

  it('come from the deployment itself, with nothing loaded from anywhere else', async () => {
    const image = await (await get('/logos/USDT.svg')).text();
    expect(image.replace('xmlns="http://www.w3.org/2000/svg"', '')).not.toMatch(/https?:|href|<script|<image|<style|url\(/i);
    expect((await get('/logos/USDT.svg')).headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  });
});
