import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Response } from 'express';
import { expect, it } from 'vitest';
import type { FollowedPages } from '#api/console/followed-pages.ts';
import { tellChanges } from '#api/http/console-changes.ts';

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
