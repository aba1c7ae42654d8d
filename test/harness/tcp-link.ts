import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A TCP connection's two ends at the link. */
export interface LinkedPair {
  client: Socket;
  upstream: Socket;
}

/** A port that leads to a server until somebody meddles with the way there. */
export interface TcpLink {
  port: number;
  /** Where new connections lead from now on; those that are open stay where they are. */
  leadTo(port: number): void;
  /** Ends every connection at once and takes no new one until `mend`. */
  cut(): void;
  /** Open connections carry nothing any more, and neither end is told; new ones work. */
  goSilent(): void;
  mend(): void;
  close(): Promise<void>;
}

export interface TcpLinkOptions {
  host?: string;
  port: number;
  /** Decides about each piece of what the server says: true passes it on. */
  answer?(data: Buffer, pair: LinkedPair): boolean;
}

/** Opens a link to a server on this machine. */
export async function tcpLink(options: TcpLinkOptions): Promise<TcpLink> {
  const open = new Set<Socket>();
  let [target, isCut] = [options.port, false];
  const server = createServer((client) => {
    if (isCut) {
      client.on('error', () => undefined).resetAndDestroy();
      return;
    }
    const upstream = connect(target, options.host ?? '127.0.0.1');
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
      socket.on('error', () => undefined);
    }
    client.pipe(upstream);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    upstream.on('data', (data: Buffer) => {
      if (options.answer?.(data, { client, upstream }) ?? true) client.write(data);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as { port: number }).port,
    leadTo(port) {
      target = port;
    },
    cut() {
      isCut = true;
      for (const socket of open) socket.destroy();
    },
    goSilent() {
      for (const socket of open) {
        socket.unpipe();
        socket.pause();
        // A peer that gives up is not passed on either: the other one must find out by itself.
        socket.removeAllListeners('close');
        socket.on('close', () => open.delete(socket));
      }
    },
    mend() {
      isCut = false;
    },
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
