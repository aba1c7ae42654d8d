import { join } from 'node:path';
import { plainEnvironment, run } from './child.ts';
import { hasPackages, unpackPackage } from './debian-package.ts';
import { isExecutable, onPath } from './on-path.ts';

/** Prometheus's own programs. */
export interface PrometheusPrograms {
  /** The server. */
  prometheus: string;
  /** Checks and unit-tests rules. */
  promtool: string;
}

/**
 * The programs of a Prometheus: those on PATH, else the distribution's package, downloaded and unpacked below `.sluice` without
 * touching the system (both need nothing but libc); null when there is none to be had.
 */
export async function findPrometheus(root: string, say: (line: string) => void): Promise<PrometheusPrograms | null> {
  const [prometheus, promtool] = await Promise.all([onPath(['prometheus']), onPath(['promtool'])]);
  if (prometheus !== undefined && promtool !== undefined) return running({ prometheus, promtool });
  const home = join(root, '.sluice', 'prometheus-package');
  const folder = join(home, 'root', 'usr', 'bin');
  const unpacked = { prometheus: join(folder, 'prometheus'), promtool: join(folder, 'promtool') };
  if (!(await isExecutable(unpacked.promtool))) {
    if (!(await hasPackages())) return null;
    say('no prometheus on PATH: fetching the distribution package (about 20 s, nothing is installed)');
    try {
      await unpackPackage({ name: 'prometheus', home, dependencies: false });
    } catch (error) {
      say(`Prometheus could not be fetched: ${(error as Error).message}`);
    }
  }
  return running(unpacked);
}

async function running(programs: PrometheusPrograms): Promise<PrometheusPrograms | null> {
  const answers = Object.values(programs).map((command: string) => run({ name: command, command, args: ['--version'], cwd: '/', env: plainEnvironment() }));
  return Promise.all(answers).then(
    () => programs,
    () => null,
  );
}
