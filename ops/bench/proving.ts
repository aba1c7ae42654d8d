import { DEMO_TOKENS } from '#ops/dev/local-evm.ts';
import type { Reader } from '#shared/chains/chain.ts';
import { openLogRanges } from '#shared/chains/range-by-logs.ts';
import { watchEndpoints } from '#shared/chains/watch-endpoints.ts';
import type { Search, SearchResult } from './floor.ts';
import { ENOUGH, openLocalReader, readAll, watchedTable } from './open-reader.ts';
import { answerLines } from './tool.ts';

// The reader of a network alone, as the indexer calls it: no Redis, no Postgres, nothing but reading, proving and matching.

/** What a loop over blocks cost a process, and what it found. */
export interface Proved extends SearchResult {
  cpuSeconds: number;
}

/** As many blocks as an indexer asks for at once when all goes well. */
const LOGS_AT_ONCE = 5_000;

/** What is to be read; `logsOf` are two nodes whose logs are believed where they agree. */
export interface ToProve extends Search {
  logsOf?: readonly string[];
}

/** The same of a range by the logs of two nodes. */
function byLogs(urls: readonly string[]): Pick<Reader, 'range'> {
  const readers = urls.map((url) => openLocalReader('evm', url));
  const endpoints = watchEndpoints(
    { name: 'local', blockSeconds: 1 },
    urls.map((url, at) => ({ provider: new URL(url).host, identify: () => (readers[at] as Reader).genesisHash() })),
  );
  const rangeByLogs = openLogRanges({ endpoints, readers, readBlock: (hash, watched) => (readers[0] as Reader).block(hash, watched) });
  return {
    async range(from, to, watched, how) {
      const asked = { watched, contracts: new Set([DEMO_TOKENS.USDC.toLowerCase()]), enough: how?.enough ?? ENOUGH };
      const read = await rangeByLogs(from, Math.min(to, from + LOGS_AT_ONCE - 1), asked);
      if ('doubt' in read) throw new Error(read.doubt);
      return read;
    },
  };
}

answerLines(async ({ logsOf, ...search }: ToProve): Promise<Proved> => {
  watchedTable(search.family, search.watched);
  const reader = logsOf === undefined ? openLocalReader(search.family, search.url) : byLogs(logsOf);
  const cpu = process.cpuUsage();
  const read = await readAll(reader, search);
  const { user, system } = process.cpuUsage(cpu);
  return { ...read, cpuSeconds: (user + system) / 1e6 };
});
