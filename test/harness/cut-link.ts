import { faultProxy } from './fault-proxy.ts';

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
  const url = new URL(databaseUrl);
  let armed = false;
  let cuts = 0;
  const link = await faultProxy({
    host: url.hostname,
    port: Number(url.port),
    answer(data, { client }) {
      // CommandComplete of a COMMIT: by now the server has it on disk.
      if (!armed || !data.includes('COMMIT\0')) return true;
      armed = false;
      cuts += 1;
      client.destroy();
      return false;
    },
  });
  return {
    url: link.url(databaseUrl),
    cutNextCommit: () => {
      armed = true;
    },
    get cuts() {
      return cuts;
    },
    close: link.close,
  };
}
