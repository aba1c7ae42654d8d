import { once } from 'node:events';
import { createServer, connect, type Socket } from 'node:net';

export interface CutLink {
  /** The same server, through the link. */
  url: string;
  /** From now on the answer to the next COMMIT is swallowed and the connection cut instead, once. */
  cutNextCommit(): void;
  /** How often that happened. */
  readonly cuts: number;
  close(): Promise<void>;
}

/** A link to Postgres that can be cut at the worst moment: the commit happened, and nobody was told (trap E). */
export async function cutLink(databaseUrl: string): Promise<CutLink> {
  const target = new URL(databaseUrl);
  const open = new Set<Socket>();
  let armed = false;
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
      socket.on('error', () => undefined);
    }
    client.pipe(upstream);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    upstream.on('data', (data: Buffer) => {
      // CommandComplete of a COMMIT: by now the server has it on disk.
      if (armed && data.includes('COMMIT\0')) {
        armed = false;
        cuts += 1;
        client.destroy();
        return;
      }
      client.write(data);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as { port: number }).port);
  return {
    url: url.href,
    cutNextCommit: () => {
      armed = true;
    },
    get cuts() {
      return cuts;
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
