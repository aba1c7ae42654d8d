import { evmReader } from '#shared/chains/evm/reader.ts';
import { openRpc } from '#shared/chains/evm/rpc.ts';
import { createAddressTable } from '#indexer/address-table.ts';
import type { Search, SearchResult } from './floor.ts';
import { answerLines } from './tool.ts';
import { watchedHex } from './watched.ts';

// The reader of EVM networks alone, as the indexer calls it: no Redis, no Postgres, nothing but reading, proving and matching.

/** What a loop over blocks cost a process, and what it found. */
export interface Proved extends SearchResult {
  cpuSeconds: number;
}

/** The local network of ops/dev/networks.json. */
const LOCAL = { name: 'local', chainId: '31337' };
const ENOUGH = 5_000;

answerLines(async ({ url, from, to, watched }: Search): Promise<Proved> => {
  const table = createAddressTable();
  for (let i = 0; i < watched; i++) table.add(`0x${watchedHex(i)}`);
  const reader = evmReader(LOCAL, openRpc(url));
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
