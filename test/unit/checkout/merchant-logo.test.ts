import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogoClient, type LogoClient } from '#api/clients/merchant-logo.ts';
import { POLICY } from '#shared/core/policy.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** A merchant's host; answers its logo's URL. */
async function aHost(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/logo`;
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const image =
  (body: Buffer = PNG, headers: Record<string, string> = { 'content-type': 'image/png' }, status = 200): RequestListener =>
  (_request, response) =>
    response.writeHead(status, headers).end(body);
const clientAt = (clock: { now: number } = { now: 0 }, over: Partial<Parameters<typeof createLogoClient>[0]> = {}): LogoClient =>
  createLogoClient({ policy: { privateTargets: ['127.0.0.0/8'], requireHttps: false }, now: () => clock.now, ...over });

describe("a merchant's logo", () => {
  it.each(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml'])('that is %s is handed on as it is', async (type) => {
    const url = await aHost(image(PNG, { 'content-type': `${type.toUpperCase()}; charset=x` }));
    expect(await clientAt().logo(url)).toEqual({ type, body: PNG });
  });

  it.each<[string, RequestListener]>([
    ['a page', image(PNG, { 'content-type': 'text/html' })],
    ['of no type', image(PNG, {})],
    ['compressed once more', image(PNG, { 'content-type': 'image/png', 'content-encoding': 'gzip' })],
    ['not there', image(PNG, { 'content-type': 'image/png' }, 404)],
    ['somewhere else', image(PNG, { 'content-type': 'image/png', location: 'http://127.0.0.1/' }, 302)],
    ['empty', image(Buffer.alloc(0))],
    ['larger than a page has room for', image(Buffer.alloc(POLICY.logoBytes + 1))],
    [
      'cut off',
      (_request, response) => void response.writeHead(200, { 'content-type': 'image/png', 'content-length': '100' }).write(PNG, () => response.destroy()),
    ],
    ['a connection that breaks', (request) => void request.socket.destroy()],
  ])('that is %s is none', async (_what, answer) => {
    expect(await clientAt().logo(await aHost(answer))).toBeNull();
  });

  it('of exactly the largest size is handed on', async () => {
    expect((await clientAt().logo(await aHost(image(Buffer.alloc(POLICY.logoBytes)))))?.body.length).toBe(POLICY.logoBytes);
  });

  it('is never asked for where a webhook may not go, by name or by address', async () => {
    let asked = 0;
    const url = await aHost((_request, response) => {
      asked += 1;
      response.end();
    });
    const nobody = { privateTargets: false as const, requireHttps: false };
    const named = url.replace('127.0.0.1', 'logos.example');
    expect(await clientAt(undefined, { policy: nobody }).logo(url)).toBeNull();
    expect(await clientAt(undefined, { policy: nobody, resolve: async () => ['127.0.0.1'] }).logo(named)).toBeNull();
    expect(await clientAt(undefined, { policy: { privateTargets: true, requireHttps: true } }).logo(url)).toBeNull();
    for (const bad of ['ftp://shop.example/logo', 'http://user:secret@shop.example/', 'http://169.254.169.254/', 'javascript:alert(1)', ''])
      expect(await clientAt().logo(bad)).toBeNull();
    expect(asked).toBe(0);
  });

  it('is asked for once by any number of pages, again after a while, and sooner where there was none', async () => {
    const clock = { now: 0 };
    let asked = 0;
    let status = 200;
    const url = await aHost((_request, response) => {
      asked += 1;
      response.writeHead(status, { 'content-type': 'image/png' }).end(PNG);
    });
    const client = clientAt(clock);
    await Promise.all(Array.from({ length: 20 }, () => client.logo(url)));
    clock.now = POLICY.logoKeptSeconds * 1_000 - 1;
    await client.logo(url);
    expect(asked).toBe(1);
    status = 503;
    clock.now += 1;
    expect(await client.logo(url)).toBeNull();
    clock.now += POLICY.logoRetrySeconds * 1_000 - 1;
    expect([await client.logo(url), asked]).toEqual([null, 2]);
    status = 200;
    clock.now += 1;
    expect(await client.logo(url)).not.toBeNull();
  });
});
