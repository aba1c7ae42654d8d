import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';

/** Secrets of a demo deployment. Each contains the word demo, which production refuses. */
export interface DemoSecrets {
  SLUICE_STREAM_KEY: string;
  SLUICE_API_KEY_PEPPER: string;
  SLUICE_OPERATOR_TOKEN: string;
  SLUICE_MASTER_KEY: string;
}

/** Reads the secrets kept in `path`, or makes them once; what the environment names wins. */
export async function demoSecrets(path: string): Promise<DemoSecrets> {
  const kept = await readFile(path, 'utf8').catch(() => undefined);
  const secrets = kept === undefined ? newSecrets() : (JSON.parse(kept) as DemoSecrets);
  if (kept === undefined) await writeFile(path, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  for (const name of Object.keys(secrets) as (keyof DemoSecrets)[]) secrets[name] = process.env[name] ?? secrets[name];
  return secrets;
}

function newSecrets(): DemoSecrets {
  const make = (what: string): string => `demo-${what}-${randomBytes(24).toString('hex')}`;
  return {
    SLUICE_STREAM_KEY: make('stream'),
    SLUICE_API_KEY_PEPPER: make('pepper'),
    SLUICE_OPERATOR_TOKEN: make('operator'),
    SLUICE_MASTER_KEY: make('master'),
  };
}
