import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';

// `npm run test:postgres`: what leans on Postgres itself (schema, rights, triggers, locks, connections that fail) against every version that
// is supported beside the one that all tests run on. 16 and 17 come from npm, 15 from the distribution. `--version 16` plays one of them.

const VERSIONS = ['15', '16', '17'];
const FILES = ['migrate', 'database-roles', 'least-rights', 'ledger', 'postgres', 'operator/clock'].map((name) => `test/integration/${name}.test.ts`);

function play(version: string): Promise<number | null> {
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...FILES], {
    stdio: 'inherit',
    env: { ...process.env, SLUICE_POSTGRES: version, DATABASE_URL: '' },
  });
  return new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
}

const { values } = parseArgs({ options: { version: { type: 'string', multiple: true } } });
const failed: string[] = [];
for (const version of values.version ?? VERSIONS) if ((await play(version)) !== 0) failed.push(version);
process.stdout.write(failed.length === 0 ? 'every version passed\n' : `failed on Postgres ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
