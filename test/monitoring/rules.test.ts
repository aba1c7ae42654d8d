import { describe, expect, inject, it } from 'vitest';
import { plainEnvironment, run } from '#ops/dev/services/child.ts';
import { PROMETHEUS_FOLDER, ruleTests } from '#test/fixtures/monitoring.ts';

const programs = inject('prometheus');

/** Runs promtool in ops/prometheus. @throws with what it printed when it finds fault */
function promtool(...args: string[]): Promise<string> {
  return run({ name: `promtool ${args.join(' ')}`, command: programs?.promtool ?? '', args, cwd: PROMETHEUS_FOLDER, env: plainEnvironment() });
}

describe.skipIf(programs === null)('the rules, as promtool sees them', () => {
  it('and the configuration around them are valid', async () => {
    expect(await promtool('check', 'config', 'prometheus.yml')).toContain('is valid prometheus config file syntax');
  });

  it.concurrent.each(ruleTests().map(({ path }) => path.split('/').pop() as string))('tell %s as it is written', async (name) => {
    await promtool('test', 'rules', `tests/${name}`);
  });
});
