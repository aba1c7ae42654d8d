import { type Bench, type Found, median, ratio, rounded, type Size } from './bench.ts';
import { busyEvm, type Traffic } from './chains.ts';
import type { Search, SearchResult } from './floor.ts';
import type { Recording } from './memory-node.ts';
import type { Proved, ToProve } from './proving.ts';

const WATCHED = 1_000;
const ROUNDS = { tiny: 1, full: 7 };
/** A round reads ten blocks that hit: it takes some rounds until the code that does is compiled. */
const WARM_UP_ROUNDS = 12;
const BARE = 'bare eth_getLogs';
/** Blocks that concern nobody are what a long way back is made of. */
const TRAFFIC: Record<Size, Traffic> = {
  tiny: { blocks: 8, perBlock: 10, oneIn: 5, recipients: WATCHED, tokensOnly: true },
  full: { blocks: 2_000, perBlock: 20, oneIn: 4_000, recipients: WATCHED, tokensOnly: true },
};

/** A long way back, of which only tokens matter: what two providers tell, compared, and the blocks that hit read whole. */
export const logs: Bench = {
  what: 'EVM by logs: two nodes asked and compared, blocks that hit read and proven, against one eth_getLogs that is believed',
  async run(stage, size) {
    const found: Found = { figures: {}, ratios: {}, goals: [], proofs: {} };
    const tools = await Promise.all(['memory-node.ts', 'memory-node.ts', 'floor.ts', 'proving.ts'].map((file) => stage.startTool(file, [])));
    const [memory, other, floor, prover] = tools;
    if (memory === undefined || other === undefined || floor === undefined || prover === undefined) throw new Error('a tool did not start');
    const chain = await busyEvm(TRAFFIC[size]);
    try {
      const recording: Recording = { family: 'evm', url: chain.url, to: chain.head };
      const [one, two] = (await Promise.all([memory, other].map((node) => node.ask<{ url: string }>(recording)))) as [{ url: string }, { url: string }];
      const search: Search = { family: 'evm', url: one.url, from: chain.first, to: chain.head, watched: WATCHED, traces: false, logs: true };
      // As many blocks as hit, and as large.
      const hit: Search = { ...search, to: chain.first + chain.deposits - 1, logs: false };
      const rounds: { bare: SearchResult; other: SearchResult; hit: SearchResult; ours: Proved }[] = [];
      for (let round = size === 'full' ? -WARM_UP_ROUNDS : 0; round < ROUNDS[size]; round++) {
        const bare = await floor.ask<SearchResult>(search);
        const other = await floor.ask<SearchResult>({ ...search, url: two.url });
        const read = await floor.ask<SearchResult>(hit);
        const ours = await prover.ask<Proved>({ ...search, family: 'evm', logsOf: [one.url, two.url] } satisfies ToProve);
        if (round >= 0) rounds.push({ bare, other, hit: read, ours });
      }
      const blocks = chain.head - chain.first + 1;
      found.figures['by logs'] = {
        blocks,
        transfersPerBlock: rounded(chain.transfers / blocks),
        blocksPerSecond: rounded(blocks / median(rounds.map(({ ours }) => ours.seconds))),
        cpuMsPerBlock: rounded((median(rounds.map(({ ours }) => ours.cpuSeconds)) * 1_000) / blocks),
      };
      found.figures[BARE] = { blocks, blocksPerSecond: rounded(blocks / median(rounds.map(({ bare }) => bare.seconds))) };
      const share = ratio(median(rounds.map(({ bare, ours }) => bare.seconds / ours.seconds)), 1);
      found.ratios['by logs ÷ bare eth_getLogs'] = share;
      // What nobody can exceed who asks two nodes on one thread; and who reads what hits.
      found.ratios['bound: two nodes believed ÷ bare eth_getLogs'] = ratio(
        median(rounds.map(({ bare, other }) => bare.seconds / (bare.seconds + other.seconds))),
        1,
      );
      found.ratios['bound: and headers and receipts of what hits, believed ÷ bare eth_getLogs'] = ratio(
        median(rounds.map(({ bare, other, hit }) => bare.seconds / (bare.seconds + other.seconds + hit.seconds))),
        1,
      );
      found.goals.push({ goal: 'P1: tokens alone, by logs ≥ 0.50 of bare eth_getLogs', measured: share, met: share >= 0.5 });
      found.proofs['by logs: number and sum of deposits exact'] = rounds.every(({ bare, ours }) =>
        [bare, ours].every(({ deposits, sum }) => deposits === chain.deposits && sum === chain.sum.toString()),
      );
      stage.say(`by logs: ${JSON.stringify(found.figures)} ${share}`);
    } finally {
      await chain.stop();
    }
    await Promise.all(tools.map((tool) => tool.stop()));
    return found;
  },
};
