import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BENCHES } from '#ops/bench/benches.ts';
import { presentChromium } from '#ops/dev/services/chromium.ts';
import { openStage, type Stage } from '#ops/bench/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ durable: false, say: () => undefined });
});
afterAll(() => stage.stop());

describe('each bench, at a size that says nothing about speed', () => {
  it.for(Object.entries(BENCHES))('%s finds every deposit, leaves a clean audit and gives a figure for each goal', async ([name, bench], { skip }) => {
    skip(name === 'page' && (await presentChromium()) === null, 'there is no Chromium here');
    const { figures, goals, proofs } = await bench.run(stage, 'tiny');
    // The rest of the suite runs beside it, on the same CPUs.
    const { stealBelowLimit: _steal, ...counted } = proofs;
    expect(Object.entries(counted).filter(([, proof]) => proof === false)).toEqual([]);
    expect(Object.keys(figures).length).toBeGreaterThan(1);
    for (const { goal, measured } of goals) expect(measured, goal).toBeGreaterThan(-100);
  });
});
