import type { Family } from '#shared/core/assets.ts';
import { type Bench, type Figures, type Found, median, ratio, rounded, type Size } from './bench.ts';
import { type BusyChain, busyBitcoin, busyEvm, busyTron, type Tally, type Traffic } from './chains.ts';
import type { Search, SearchResult } from './floor.ts';
import { type Indexed, index } from './indexing.ts';
import type { Recording } from './memory-node.ts';
import type { Stage, Tool } from './stage.ts';

const WATCHED = 1_000;
const ROUNDS = { tiny: 1, full: 3 };
/** What an indexer reads with its first question: its first message is exactly these. */
const WARM_UP = 200;
const TRAFFIC: Record<Family, Record<Size, Traffic>> = {
  evm: { tiny: traffic(8, 10), full: { ...traffic(400, 50), warmUp: WARM_UP } },
  tron: { tiny: traffic(4, 10), full: { ...traffic(120, 10), oneIn: 50, warmUp: WARM_UP } },
  bitcoin: { tiny: traffic(4, 20), full: { ...traffic(80, 100), warmUp: WARM_UP } },
};
const BUSY: Record<Family, (traffic: Traffic) => Promise<BusyChain>> = { evm: busyEvm, tron: busyTron, bitcoin: busyBitcoin };

function traffic(blocks: number, perBlock: number): Traffic {
  return { blocks, perBlock, oneIn: perBlock < 50 ? 5 : 50, recipients: WATCHED };
}

/** The whole way of a block, from the node to rows in Postgres, against the fastest loop that only reads. */
export const backfill: Bench = {
  what: 'each family: blocks read, proven, matched, published and written, against the fastest bare loop over the same RPC',
  async run(stage, size) {
    const found: Found = { figures: {}, ratios: {}, goals: [], proofs: {} };
    const [memory, floor] = await Promise.all([stage.startTool('memory-node.ts', []), stage.startTool('floor.ts', [])]);
    for (const family of ['evm', 'tron', 'bitcoin'] as const) {
      const chain = await BUSY[family](TRAFFIC[family][size]);
      try {
        const contest = { stage, size, floor, chain, found };
        const all = family === 'evm' && size === 'full';
        if (all) await compare({ ...contest, name: 'evm on anvil', url: chain.url, traces: true });
        const served = async (traces: boolean): Promise<string> =>
          (await memory.ask<{ url: string }>({ family, url: chain.url, to: chain.head, traces } satisfies Recording)).url;
        await compare({ ...contest, name: `${family} from memory`, url: await served(true), traces: family === 'evm' });
        if (all) await compare({ ...contest, name: 'evm from memory, no traces', url: await served(false), traces: false });
      } finally {
        await chain.stop();
      }
    }
    await Promise.all([memory.stop(), floor.stop()]);
    found.goals.push(
      goal(found, 'P2: native, tokens and status from memory ≥ 0.50 of the bare loop', 'evm from memory, no traces', 0.5),
      goal(found, 'P3: everything on anvil ≥ 0.80 of the bare loop', 'evm on anvil', 0.8),
      goal(found, 'TRON from memory ≥ 0.50 of the bare loop', 'tron from memory', 0.5),
      goal(found, 'P15: Bitcoin from memory ≥ 0.36 of the bare loop, which is the most with proofs on one thread', 'bitcoin from memory', 0.36),
    );
    return found;
  },
};

interface Contest {
  stage: Stage;
  size: Size;
  floor: Tool;
  chain: BusyChain;
  found: Found;
  name: string;
  url: string;
  traces: boolean;
}

async function compare({ stage, size, floor, chain, found, name, url, traces }: Contest): Promise<void> {
  const { family, first, measuredFrom, measured, head } = chain;
  const search: Search = { family, url, from: measuredFrom, to: head, watched: WATCHED, traces };
  const bareBlocks = head - measuredFrom + 1;
  const rounds: { bare: SearchResult; ours: Indexed; share: number }[] = [];
  // As warm as the indexer is after its first message.
  if (size === 'full') await floor.ask<SearchResult>(search);
  for (let round = 0; round < ROUNDS[size]; round++) {
    const bare = await floor.ask<SearchResult>(search);
    const ours = await index(stage, { family, url, from: first, head, watched: WATCHED, tiny: size === 'tiny' });
    rounds.push({ bare, ours, share: ours.blocks / ours.seconds / (bareBlocks / bare.seconds) });
  }
  const of = (value: (one: Indexed) => number): number => rounded(median(rounds.map(({ ours }) => value(ours))));
  const perSecond = median(rounds.map(({ ours }) => ours.blocks / ours.seconds));
  const barePerSecond = bareBlocks / median(rounds.map(({ bare }) => bare.seconds));
  const perBlock = measured.transfers / bareBlocks;
  const figures: Figures = {
    blocks: of(({ blocks }) => blocks),
    transfersPerBlock: rounded(perBlock),
    blocksPerSecond: rounded(perSecond),
    transfersPerSecond: rounded(perSecond * perBlock),
    bareBlocksPerSecond: rounded(barePerSecond),
    bareTransfersPerSecond: rounded(barePerSecond * perBlock),
    cpuMsPerBlock: of(({ cpuSeconds, blocks }) => (cpuSeconds * 1_000) / blocks),
    startSeconds: of(({ startSeconds }) => startSeconds),
    startCpuSeconds: of(({ startCpuSeconds }) => startCpuSeconds),
    peakRssMib: of(({ peakRssMib }) => peakRssMib),
  };
  found.figures[name] = figures;
  found.ratios[`${name} ÷ bare loop`] = ratio(median(rounds.map(({ share }) => share)), 1);
  const exact = (one: { deposits: number; sum: string }, { deposits, sum }: Tally): boolean => one.deposits === deposits && one.sum === sum.toString();
  const allExact = rounds.every(({ bare, ours }) => exact(bare, measured) && exact(ours, chain));
  found.proofs[`${name}: number and sum of deposits exact`] = allExact;
  stage.say(`${name}: ${JSON.stringify(figures)} ${found.ratios[`${name} ÷ bare loop`]}`);
  if (!allExact) stage.say(`expected ${chain.deposits} ${chain.sum}, after warming up ${measured.deposits} ${measured.sum}, got ${JSON.stringify(rounds)}`);
}

function goal(found: Found, text: string, name: string, least: number): Found['goals'][number] {
  const measured = found.ratios[`${name} ÷ bare loop`] ?? 0;
  return { goal: text, measured, met: measured >= least };
}
