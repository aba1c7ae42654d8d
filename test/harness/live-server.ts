import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openHostedCheckout } from '#api/checkout/hosted.ts';
import { type Live, openLive, type Pace } from '#api/checkout/live.ts';
import { type NewsLine, openNews } from '#api/checkout/news.ts';
import type { Deps } from '#api/deps.ts';
import { openPaymentSockets, type PaymentSockets } from '#api/http/payment-socket.ts';
import { openStreams, type Streams } from '#shared/platform/redis-streams.ts';

/** One replica of the live channel over a real database and a real Redis, as main.ts puts it together. */
export interface LiveReplica {
  origin: string;
  deps: Deps;
  live: Live;
  news: NewsLine;
  sockets: PaymentSockets;
  stop(): Promise<void>;
}

/** Starts a replica on a free port; what its use cases announce goes over this Redis. */
export async function aLiveReplica(given: Deps, redisUrl: string, pace: Partial<Pace> = {}): Promise<LiveReplica> {
  const streams: Streams = openStreams({ url: redisUrl, key: 'a-key-of-the-tests-a-key-of-the-tests', name: 'replica', log: given.log });
  const news = openNews(streams);
  const deps: Deps = { ...given, announce: (paymentIds, network) => news.announce({ paymentIds, ...(network !== undefined && { network }) }) };
  const hosted = openHostedCheckout(deps);
  const live = openLive({ read: async (id) => (await hosted.read(deps, id)).snapshot, log: deps.log, news, pace });
  const sockets = openPaymentSockets(deps, { live, hosted });
  const server = await listening(createServer(), sockets);
  return {
    ...server,
    deps,
    live,
    news,
    sockets,
    async stop() {
      await sockets.close();
      live.stop();
      await server.close();
      await streams.close();
    },
  };
}

/** Has a server listen on a free port and offer the sockets at its root. */
export async function listening(server: Server, sockets: PaymentSockets): Promise<{ origin: string; close(): Promise<void> }> {
  sockets.attach(server, '');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
