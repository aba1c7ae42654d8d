import { expect, it } from 'vitest';
import { simulate } from '#test/simulation/simulate.ts';
import { times } from '#test/harness/counts.ts';

/** `seed:steps`, set by `npm run simulate`. */
const [asked, wanted] = (process.env.SLUICE_SIMULATION ?? '').split(':');
const seed = asked === undefined || asked === '' ? 20_261_122 : Number(asked);
const steps = wanted === undefined ? times(2_000) : Number(wanted);

it(
  `${steps} random steps of payments and cashouts with faults on leave the books equal to the chains (seed ${seed})`,
  async () => {
    const tell = (line: string): void => void (process.env.SLUICE_SIMULATION && process.stdout.write(`${line}\n`));
    const simulated = await simulate({ seed, steps, tell });
    tell(JSON.stringify(simulated));
    expect(simulated.payments).toBeGreaterThan(0);
  },
  steps * 6_000 + 60_000,
);
