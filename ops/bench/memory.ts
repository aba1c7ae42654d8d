import { type Bench, type Figures, type Found, median, ratio, rounded } from './bench.ts';
import { busyEvm } from './chains.ts';
import { type Indexed, index } from './indexing.ts';
import type { Recording } from './memory-node.ts';

const WATCHED = { tiny: [0, 1_000], full: [0, 100_000, 1_000_000] };
const BLOCKS = { tiny: { blocks: 8 }, full: { blocks: 200, warmUp: 200 } };
const ROUNDS = { tiny: 1, full: 3 };

/** What each watched address costs: memory, time to start, time per block; addresses are read from Postgres as always. */
export const memory: Bench = {
  what: 'an indexer with 0, 100,000 and 1,000,000 watched addresses: memory, start, and the time and CPU of a block',
  async run(stage, size) {
    const found: Found = { figures: {}, ratios: {}, goals: [], proofs: {} };
    const node = await stage.startTool('memory-node.ts', []);
    const chain = await busyEvm({ ...BLOCKS[size], perBlock: 50, oneIn: 50, recipients: 1_000 });
    const { url } = await node.ask<{ url: string }>({ family: 'evm', url: chain.url, to: chain.head } satisfies Recording);
    await chain.stop();
    const runs = new Map<number, Indexed[]>(WATCHED[size].map((watched) => [watched, []]));
    // In turns, so that whatever else the machine does meets all of them.
    for (let round = 0; round < ROUNDS[size]; round++)
      for (const [watched, done] of runs) {
        const ours = await index(stage, { family: 'evm', url, from: chain.first, head: chain.head, watched, tiny: size === 'tiny' });
        done.push(ours);
        const expected = watched === 0 ? { deposits: 0, sum: '0' } : { deposits: chain.deposits, sum: chain.sum.toString() };
        const exact = ours.deposits === expected.deposits && ours.sum === expected.sum;
        found.proofs[`${watched} watched: number and sum of deposits exact`] =
          exact && found.proofs[`${watched} watched: number and sum of deposits exact`] !== false;
      }
    await node.stop();
    const of = (watched: number, value: (one: Indexed) => number): number => median((runs.get(watched) ?? []).map(value));
    for (const watched of runs.keys()) {
      const figures: Figures = {
        rssMib: rounded(of(watched, (one) => one.rssMib)),
        peakRssMib: rounded(of(watched, (one) => one.peakRssMib)),
        startSeconds: rounded(of(watched, (one) => one.startSeconds)),
        startCpuSeconds: rounded(of(watched, (one) => one.startCpuSeconds)),
        msPerBlock: rounded(of(watched, msPerBlock)),
        cpuMsPerBlock: rounded(of(watched, ({ cpuSeconds, blocks }) => (cpuSeconds * 1_000) / blocks)),
      };
      found.figures[`${watched} watched`] = figures;
      stage.say(`${watched} watched: ${JSON.stringify(figures)}`);
    }
    const [none, some, most] = [WATCHED[size][0], WATCHED[size].at(-2), WATCHED[size].at(-1)] as [number, number, number];
    const added = of(most, (one) => one.peakRssMib) - of(none, (one) => one.peakRssMib);
    // Round by round, so that what else the machine did meets both.
    const slower = ratio(median((runs.get(most) ?? []).map((one, round) => msPerBlock(one) / msPerBlock(runs.get(some)?.[round] as Indexed))), 1);
    found.ratios[`time of a block, ${most} ÷ ${some} watched`] = slower;
    found.figures.added = { peakMib: rounded(added), bytesPerAddress: rounded((added * 2 ** 20) / most) };
    const peak = of(most, (one) => one.peakRssMib);
    const start = of(most, (one) => one.startSeconds);
    found.goals.push(
      { goal: `P6: memory added by ${most} watched addresses ≤ 45 MiB`, measured: rounded(added), met: added <= 45 },
      { goal: `P6: the whole indexer with ${most} ≤ 180 MiB resident`, measured: rounded(peak), met: peak <= 180 },
      { goal: `P7: time of a block with ${most} ≤ 1.05 of that with ${some}`, measured: slower, met: slower <= 1.05 },
      { goal: `P8: from the start of the process to following with ${most} ≤ 2 s`, measured: rounded(start), met: start <= 2 },
    );
    return found;
  },
};

function msPerBlock({ seconds, blocks }: Indexed): number {
  return (seconds * 1_000) / blocks;
}
