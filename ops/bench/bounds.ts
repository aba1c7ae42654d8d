import { compileSource } from '#ops/dev/kernel/compile.ts';
import type { Family } from '#shared/core/assets.ts';
import { type Bench, type Found, median, ratio, rounded, type Size } from './bench.ts';
import type { Bound } from './bound.ts';
import { type BusyChain, busyBitcoin, busyEvm, busyTron, type Traffic } from './chains.ts';
import type { Search, SearchResult } from './floor.ts';
import type { Recording } from './memory-node.ts';

const WATCHED = 1_000;
const ROUNDS = { tiny: 1, full: 7 };
/** Of 64 KiB: a piece of a reply, and the place of each of its bytes. */
const PAGES = 96;
const CHAINS: Record<Family, { busy(traffic: Traffic): Promise<BusyChain>; traffic: Record<Size, Traffic> }> = {
  evm: { busy: busyEvm, traffic: { tiny: traffic(8, 10), full: traffic(300, 50) } },
  tron: { busy: busyTron, traffic: { tiny: traffic(4, 10), full: { ...traffic(300, 10), oneIn: 50 } } },
  bitcoin: { busy: busyBitcoin, traffic: { tiny: traffic(4, 20), full: traffic(200, 100) } },
};

function traffic(blocks: number, perBlock: number): Traffic {
  return { blocks, perBlock, oneIn: perBlock < 50 ? 5 : 50, recipients: WATCHED };
}

/** How near to the bare loop any reader can come that proves what it believes, on one thread. */
export const bounds: Bench = {
  what: 'each family: only receiving the same replies, finding each text in them, hashing the same bytes and finding the same signers, against the bare loop',
  async run(stage, size) {
    const found: Found = { figures: {}, ratios: {}, goals: [], proofs: {} };
    const { wasm } = await compileSource(new URL('quotes.as', import.meta.url), PAGES);
    const [memory, floor, bound] = await Promise.all([
      stage.startTool('memory-node.ts', []),
      stage.startTool('floor.ts', []),
      stage.startTool('bound.ts', [wasm], { 'shared/chains/evm/keccak.ts': 'ops/bench/noted-keccak.ts' }),
    ]);
    for (const family of ['evm', 'tron', 'bitcoin'] as const) {
      const { busy, traffic } = CHAINS[family];
      const chain = await busy(traffic[size]);
      try {
        const { url } = await memory.ask<{ url: string }>({ family, url: chain.url, to: chain.head, traces: true } satisfies Recording);
        const nodes = [{ name: family as string, url, traces: false }];
        // What the bare loop over a real node is held to reads traces too.
        if (family === 'evm') nodes.push({ name: 'evm on anvil', url: chain.url, traces: true });
        for (const { name, url, traces } of nodes) {
          const search: Search = { family, url, from: chain.first, to: chain.head, watched: WATCHED, traces };
          const rounds: { bare: SearchResult; least: Bound }[] = [];
          // The first round of each gets its code compiled.
          for (let round = size === 'full' ? -1 : 0; round < ROUNDS[size]; round++) {
            const bare = await floor.ask<SearchResult>(search);
            const least = await bound.ask<Bound>(search);
            if (round >= 0) rounds.push({ bare, least });
          }
          const blocks = chain.head - chain.first + 1;
          const ms = (of: (round: (typeof rounds)[number]) => number): number => rounded((median(rounds.map(of)) * 1_000) / blocks);
          found.figures[name] = {
            blocks,
            bareMsPerBlock: ms(({ bare }) => bare.seconds),
            receiveMsPerBlock: ms(({ least }) => least.receiveSeconds),
            bytesHashedPerBlock: rounded(median(rounds.map(({ least }) => least.bytesHashed)) / blocks),
            quotesMsPerBlock: ms(({ least }) => least.quoteSeconds),
            hashMsPerBlock: ms(({ least }) => least.hashSeconds),
            signerMsPerBlock: ms(({ least }) => least.signerSeconds),
            readerMsPerBlock: ms(({ least }) => least.reader.seconds),
          };
          found.ratios[`${name}: bound ÷ bare loop`] = ratio(
            median(rounds.map(({ bare, least }) => bare.seconds / (least.receiveSeconds + least.quoteSeconds + least.hashSeconds + least.signerSeconds))),
            1,
          );
          found.ratios[`${name}: reader ÷ bare loop`] = ratio(median(rounds.map(({ bare, least }) => bare.seconds / least.reader.seconds)), 1);
          found.proofs[`${name}: number and sum of deposits exact`] = rounds.every(({ bare, least: { reader } }) =>
            [bare, reader].every(({ deposits, sum }) => deposits === chain.deposits && sum === chain.sum.toString()),
          );
          found.proofs[`${name}: what is hashed was heard of`] = rounds.every(({ least }) => least.bytesHashed > 0);
          stage.say(`${name}: ${JSON.stringify(found.figures[name])} ${JSON.stringify(found.ratios)}`);
        }
      } finally {
        await chain.stop();
      }
    }
    await Promise.all([memory, floor, bound].map((tool) => tool.stop()));
    return found;
  },
};
