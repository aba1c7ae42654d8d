import type { Family } from '#shared/core/assets.ts';
import { type Bench, type Found, median, ratio, rounded, type Size } from './bench.ts';
import { type BusyChain, busyBitcoin, busyEvm, busyTron, type Traffic } from './chains.ts';
import type { Search, SearchResult } from './floor.ts';
import type { Recording } from './memory-node.ts';
import type { Proved } from './proving.ts';

const WATCHED = 1_000;
const ROUNDS = { tiny: 1, full: 15 };
/** What ours reads for so long does not count: an indexer catches up for hours, and its code is compiled by then. */
const WARM_UP_SECONDS = { tiny: 0, full: 2 };

/** What is read of a chain: under which name, and whether its node offers traces. */
interface Reading {
  name: string;
  traces: boolean;
}

interface Alone {
  family: Family;
  busy(traffic: Traffic): Promise<BusyChain>;
  traffic: Record<Size, Traffic>;
  readings: readonly Reading[];
  /** What the bare loop reads. */
  bare: string;
}

/** Reading alone, without what writes: what proving every block costs beside believing it. */
function alone(what: string, { family, busy, traffic, readings, bare: of }: Alone): Bench {
  return {
    what,
    async run(stage, size) {
      const found: Found = { figures: {}, ratios: {}, goals: [], proofs: {} };
      const [memory, floor, prover] = await Promise.all(['memory-node.ts', 'floor.ts', 'proving.ts'].map((file) => stage.startTool(file, [])));
      if (memory === undefined || floor === undefined || prover === undefined) throw new Error('a tool did not start');
      const chain = await busy(traffic[size]);
      try {
        for (const { name, traces } of readings) {
          const { url } = await memory.ask<{ url: string }>({ family, url: chain.url, to: chain.head, traces } satisfies Recording);
          const search: Search = { family, url, from: chain.first, to: chain.head, watched: WATCHED, traces: false };
          const rounds: { bare: SearchResult; ours: Proved }[] = [];
          for (let warmedUp = 0; rounds.length < ROUNDS[size]; ) {
            const bare = await floor.ask<SearchResult>(search);
            const ours = await prover.ask<Proved>(search);
            if (warmedUp < WARM_UP_SECONDS[size]) warmedUp += ours.seconds;
            else rounds.push({ bare, ours });
          }
          const blocks = chain.head - chain.first + 1;
          found.figures[name] = {
            blocks,
            blocksPerSecond: rounded(blocks / median(rounds.map(({ ours }) => ours.seconds))),
            cpuMsPerBlock: rounded((median(rounds.map(({ ours }) => ours.cpuSeconds)) * 1_000) / blocks),
          };
          found.figures[`${name}: ${of}`] = { blocksPerSecond: rounded(blocks / median(rounds.map(({ bare }) => bare.seconds))) };
          found.ratios[`${name} ÷ ${of}`] = ratio(median(rounds.map(({ bare, ours }) => bare.seconds / ours.seconds)), 1);
          found.proofs[`${name}: number and sum of deposits exact`] = rounds.every(({ bare, ours }) =>
            [bare, ours].every(({ deposits, sum }) => deposits === chain.deposits && sum === chain.sum.toString()),
          );
          stage.say(`${name}: ${JSON.stringify(found.figures[name])} ${found.ratios[`${name} ÷ ${of}`]}`);
        }
      } finally {
        await chain.stop();
      }
      await Promise.all([memory, floor, prover].map((tool) => tool.stop()));
      return found;
    },
  };
}

export const evm = alone('EVM from memory: headers, receipts, bodies and traces read and proven, against the bare loop over headers and receipts', {
  family: 'evm',
  busy: busyEvm,
  traffic: { tiny: traffic(8, 10, 5), full: traffic(300, 50, 50) },
  readings: [
    { name: 'complete', traces: true },
    { name: 'receipts only', traces: false },
  ],
  bare: 'bare headers and receipts',
});

export const tron = alone('TRON from memory: blocks and outcomes read and proven, against the bare loop', {
  family: 'tron',
  busy: busyTron,
  traffic: { tiny: traffic(4, 10, 5), full: traffic(300, 10, 50) },
  readings: [{ name: 'tron', traces: false }],
  bare: 'bare loop',
});

export const bitcoin = alone('Bitcoin from memory: blocks read and proven, against the bare loop', {
  family: 'bitcoin',
  busy: busyBitcoin,
  traffic: { tiny: traffic(4, 20, 5), full: traffic(200, 100, 50) },
  readings: [{ name: 'bitcoin', traces: false }],
  bare: 'bare loop',
});

function traffic(blocks: number, perBlock: number, oneIn: number): Traffic {
  return { blocks, perBlock, oneIn, recipients: WATCHED };
}
