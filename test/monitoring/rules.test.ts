import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { stringify } from 'yaml';
import { plainEnvironment, run } from '#ops/dev/services/child.ts';
import { PROMETHEUS_FOLDER, rulesAbout, ruleTests } from '#test/fixtures/monitoring.ts';

const programs = inject('prometheus');

/** Runs promtool in ops/prometheus. @throws with what it printed when it finds fault */
function promtool(...args: string[]): Promise<string> {
  return run({ name: `promtool ${args.join(' ')}`, command: programs?.promtool ?? '', args, cwd: PROMETHEUS_FOLDER, env: plainEnvironment() });
}

describe.skipIf(programs === null)('the rules, as promtool sees them', () => {
  it('and the configuration around them are valid', async () => {
    expect(await promtool('check', 'config', 'prometheus.yml')).toContain('is valid prometheus config file syntax');
  });

  it.concurrent.each(ruleTests().map(({ path, tests }) => [basename(path), tests] as const))('tell %s as it is written', async (name, tests) => {
    const folder = await mkdtemp(join(inject('services').directory, 'rules-'));
    const written = await readFile(join(PROMETHEUS_FOLDER, 'tests', name), 'utf8');
    const given = written.replace(/^rule_files: .*$/m, 'rule_files: [rules.yml]');
    expect(given).not.toBe(written);
    await writeFile(join(folder, 'rules.yml'), stringify(rulesAbout(tests)));
    await writeFile(join(folder, name), given);
    await promtool('test', 'rules', join(folder, name));
  });
});
