import { type Bench, type Found, median, ratio, rounded, type Size } from './bench.ts';
import { busyEvm, type Traffic } from './chains.ts';
import type { Search, SearchResult } from './floor.ts';
import type { Recording } from './memory-node.ts';
import type { Proved } from './proving.ts';

const WATCHED = 1_000;
const ROUNDS = { tiny: 1, full: 7 };
const TRAFFIC: Record<Size, Traffic> = {
  tiny: { blocks: 8, perBlock: 10, oneIn: 5, recipients: WATCHED },
  full: { blocks: 300, perBlock: 50, oneIn: 50, recipients: WATCHED },
};

/** Reading alone, without what writes: what proving every block costs beside believing it. */
export const evm: Bench = {
  what: 'EVM from memory: headers, receipts, bodies and traces read and proven, against the bare loop over headers and receipts',
  async run(stage, size) {
    const found: Found = { figures: {}, ratios: {}, goals: [], proofs: {} };
    const [memory, floor, prover] = await Promise.all(['memory-node.ts', 'floor.ts', 'proving.ts'].map((file) => stage.startTool(file, [])));
    if (memory === undefined || floor === undefined || prover === undefined) throw new Error('a tool did not start');
    const chain = await busyEvm(TRAFFIC[size]);
    try {
      for (const [name, traces] of [
        ['complete', true],
        ['receipts only', false],
      ] as const) {
        const { url } = await memory.ask<{ url: string }>({ family: 'evm', url: chain.url, to: chain.head, traces } satisfies Recording);
        const search: Search = { family: 'evm', url, from: chain.first, to: chain.head, watched: WATCHED, traces: false };
        const rounds: { bare: SearchResult; ours: Proved }[] = [];
        // The first round of each gets its code compiled.
        for (let round = size === 'full' ? -1 : 0; round < ROUNDS[size]; round++) {
          const bare = await floor.ask<SearchResult>(search);
          const ours = await prover.ask<Proved>(search);
          if (round >= 0) rounds.push({ bare, ours });
        }
        const blocks = chain.head - chain.first + 1;
        found.figures[name] = {
          blocks,
          blocksPerSecond: rounded(blocks / median(rounds.map(({ ours }) => ours.seconds))),
          bareBlocksPerSecond: rounded(blocks / median(rounds.map(({ bare }) => bare.seconds))),
          cpuMsPerBlock: rounded((median(rounds.map(({ ours }) => ours.cpuSeconds)) * 1_000) / blocks),
        };
        found.ratios[`${name} ÷ bare headers and receipts`] = ratio(median(rounds.map(({ bare, ours }) => bare.seconds / ours.seconds)), 1);
        found.proofs[`${name}: number and sum of deposits exact`] = rounds.every(({ bare, ours }) =>
          [bare, ours].every(({ deposits, sum }) => deposits === chain.deposits && sum === chain.sum.toString()),
        );
        stage.say(`${name}: ${JSON.stringify(found.figures[name])} ${found.ratios[`${name} ÷ bare headers and receipts`]}`);
      }
    } finally {
      await chain.stop();
    }
    await Promise.all([memory, floor, prover].map((tool) => tool.stop()));
    return found;
  },
};
