import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { Response } from 'express';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { FollowedPage, FollowedPages } from '#api/console/followed-pages.ts';
import { tellChanges } from '#api/http/console-changes.ts';
import { POLICY } from '#shared/core/policy.ts';

const PAGE = { what: 'payment', id: 'one', sessionId: 'session', personId: 'person', place: 'gateway', admit: async () => undefined } as const;

it('takes no place for a browser that left while it was being let in', async () => {
  const open = new Set<object>();
  const follow = (page: object) => {
    open.add(page);
    return () => void open.delete(page);
  };
  const followed = { follow } as unknown as FollowedPages;
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const asking = get({ port: (server.address() as AddressInfo).port, agent: false }).on('error', () => undefined);
  const [, response] = (await once(server, 'request')) as [IncomingMessage, Response];
  asking.destroy();
  await once(response, 'close');
  tellChanges(response, followed, PAGE, {});
  expect([...open]).toEqual([]);
  server.close();
});

it.each([
  ['whoever reads may do so no more', (page: FollowedPage) => page.ended('refused')],
  ['its time is over', () => void vi.advanceTimersByTime(POLICY.streamSeconds * 1_000)],
])('writes nothing more once %s, though an answer before it on the connection never ends, and gives its place back', async (_why, over) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const open = new Set<FollowedPage>();
  const follow = (page: FollowedPage) => {
    open.add(page);
    return () => void open.delete(page);
  };
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const second = new Promise<Response>((resolve) => {
    server.on('request', ({ url }, response) => {
      if (url === '/second') resolve(response as unknown as Response);
    });
  });
  const browser = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  browser.write('GET /first HTTP/1.1\r\nHost: console\r\n\r\nGET /second HTTP/1.1\r\nHost: console\r\n\r\n');
  const response = await second;
  const errors: unknown[] = [];
  response.on('error', (error) => errors.push(error));
  tellChanges(response, { follow } as unknown as FollowedPages, PAGE, {});
  const [page] = open;
  over(page as FollowedPage);
  vi.advanceTimersByTime(2 * POLICY.socketPingSeconds * 1_000);
  for (const one of open) one.told('a mark');
  await turn();
  await turn();
  expect(errors).toEqual([]);
  expect(open.size).toBe(0);
  browser.destroy();
  server.close();
});
