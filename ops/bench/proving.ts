import { bitcoinReader } from '#shared/chains/bitcoin/reader.ts';
import { openBitcoinRpc } from '#shared/chains/bitcoin/rpc.ts';
import { DEMO_TOKENS } from '#ops/dev/local-evm.ts';
import type { BlockContent, Reader } from '#shared/chains/chain.ts';
import { rangeByLogs } from '#shared/chains/range-by-logs.ts';
import { watchEndpoints } from '#shared/chains/watch-endpoints.ts';
import type { Family } from '#shared/core/assets.ts';
import { evmReader } from '#shared/chains/evm/reader.ts';
import { openRpc } from '#shared/chains/evm/rpc.ts';
import { type AddressTable, createAddressTable } from '#indexer/address-table.ts';
import type { Search, SearchResult } from './floor.ts';
import { answerLines } from './tool.ts';
import { addressOf, watchedHex } from './watched.ts';

// The reader of a network alone, as the indexer calls it: no Redis, no Postgres, nothing but reading, proving and matching.

/** What a loop over blocks cost a process, and what it found. */
export interface Proved extends SearchResult {
  cpuSeconds: number;
}

/** Of the local networks of ops/dev/networks.json. */
const READERS: Record<'evm' | 'bitcoin', (url: string) => Reader> = {
  evm: (url) => evmReader({ name: 'local', chainId: '31337' }, openRpc(url)),
  bitcoin: (url) => bitcoinReader({ name: 'local', chainId: 'regtest' }, openBitcoinRpc(url)),
};
const ENOUGH = 5_000;
/** As many blocks as an indexer asks for at once when all goes well. */
const LOGS_AT_ONCE = 5_000;

/** What is to be read; `logsOf` are two nodes whose logs are believed where they agree. */
export interface ToProve extends Search {
  family: keyof typeof READERS;
  logsOf?: readonly string[];
}

/** Made once: it is no part of reading. */
let table: AddressTable | undefined;

function tableOf(family: Family, watched: number): AddressTable {
  const made = createAddressTable();
  for (let i = 0; i < watched; i++) made.add(addressOf(family, watchedHex(i)));
  return made;
}

/** The same of a range by the logs of two nodes. */
function byLogs(urls: readonly string[]): Pick<Reader, 'range'> {
  const readers = urls.map((url) => READERS.evm(url));
  const endpoints = watchEndpoints(
    { name: 'local', blockSeconds: 1 },
    urls.map((url, at) => ({ provider: new URL(url).host, identify: () => (readers[at] as Reader).genesisHash() })),
  );
  return {
    async range(from, to, watched, how) {
      const readBlock = (hash: string): Promise<BlockContent> => (readers[0] as Reader).block(hash, watched);
      const asked = { watched, contracts: new Set([DEMO_TOKENS.USDC.toLowerCase()]), enough: how?.enough ?? ENOUGH };
      const read = await rangeByLogs({ endpoints, readers, readBlock }, { from, to: Math.min(to, from + LOGS_AT_ONCE - 1) }, asked);
      if ('doubt' in read) throw new Error(read.doubt);
      return read;
    },
  };
}

answerLines(async ({ family, url, from, to, watched, logsOf }: ToProve): Promise<Proved> => {
  table ??= tableOf(family, watched);
  const reader = logsOf === undefined ? READERS[family](url) : byLogs(logsOf);
  let deposits = 0;
  let sum = 0n;
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  for (let next = from; next <= to; ) {
    const { contents, last } = await reader.range(next, to, table, { enough: ENOUGH });
    for (const { rawAmount } of contents.flatMap(({ transfers }) => transfers)) {
      deposits += 1;
      sum += BigInt(rawAmount);
    }
    next = last.height + 1;
  }
  const { user, system } = process.cpuUsage(cpu);
  return { seconds: (performance.now() - started) / 1_000, cpuSeconds: (user + system) / 1e6, deposits, sum: sum.toString() };
});
