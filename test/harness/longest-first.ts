import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take minutes, however short they are, without `test/` and `.test.ts`. */
const LONGEST = [
  'chains/conformance/conformance',
  'hostages/destinations',
  'hostages/outputs',
  'integration/benches',
  'integration/faults',
  'integration/operator/cli',
  'integration/payout-parts',
  'integration/rpc-failover',
  'integration/settlements/pay-out',
  'integration/settlements/races',
  'integration/settlements/replacing',
  'integration/simulation',
  'integration/treasury/consolidation',
  'journeys/crash-consolidation-bitcoin',
  'journeys/crash-decisions',
  'journeys/crash-payment',
  'journeys/crash-replacement',
];

/**
 * The order of a run. On a fresh checkout nothing is known of a file but its size, and whatever takes minutes and is begun last runs alone while the
 * other workers have nothing left: those files are begun first. They are of the services, the one project that is large enough to be last.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ project, moduleId }: TestSpecification): number => {
      if (project.name !== 'services') return 0;
      return LONGEST.includes(relative(`${this.ctx.config.root}/test`, moduleId).replace('.test.ts', '')) ? 1 : 2;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}
