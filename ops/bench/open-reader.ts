import { bitcoinReader } from '#shared/chains/bitcoin/reader.ts';
import { openBitcoinRpc } from '#shared/chains/bitcoin/rpc.ts';
import type { Reader } from '#shared/chains/chain.ts';
import { evmReader } from '#shared/chains/evm/reader.ts';
import { openRpc } from '#shared/chains/evm/rpc.ts';
import { openTronApi } from '#shared/chains/tron/http.ts';
import { tronReader } from '#shared/chains/tron/reader.ts';
import type { Family } from '#shared/core/assets.ts';
import { type AddressTable, createAddressTable } from '#indexer/address-table.ts';
import type { Search, SearchResult } from './floor.ts';
import { addressOf, watchedHex } from './watched.ts';

/** Readers of the local networks of ops/dev/networks.json. */
const READERS: Record<Family, (url: string) => Reader> = {
  evm: (url) => evmReader({ name: 'local', chainId: '31337' }, openRpc(url)),
  bitcoin: (url) => bitcoinReader({ name: 'local', chainId: 'regtest' }, openBitcoinRpc(url)),
  tron: (url) => tronReader({ name: 'local', chainId: 'local' }, openTronApi(url)),
};
/** More transfers than any range of a bench holds. */
export const ENOUGH = 5_000;

/** The reader of a local network over one node, as an indexer opens it. */
export function openLocalReader(family: Family, url: string): Reader {
  return READERS[family](url);
}

let table: { family: Family; watched: number; made: AddressTable } | undefined;

/** The first watched addresses, made once: it is no part of reading. */
export function watchedTable(family: Family, watched: number): AddressTable {
  if (table?.family !== family || table.watched !== watched) {
    const made = createAddressTable();
    for (let i = 0; i < watched; i++) made.add(addressOf(family, watchedHex(i)));
    table = { family, watched, made };
  }
  return table.made;
}

/** Reads a whole range and adds up what it finds. */
export async function readAll(reader: Pick<Reader, 'range'>, { family, from, to, watched }: Search): Promise<SearchResult> {
  const watching = watchedTable(family, watched);
  let deposits = 0;
  let sum = 0n;
  const started = performance.now();
  for (let next = from; next <= to; ) {
    const { contents, last } = await reader.range(next, to, watching, { enough: ENOUGH });
    for (const { rawAmount } of contents.flatMap(({ transfers }) => transfers)) {
      deposits += 1;
      sum += BigInt(rawAmount);
    }
    next = last.height + 1;
  }
  return { seconds: (performance.now() - started) / 1_000, deposits, sum: sum.toString() };
}
