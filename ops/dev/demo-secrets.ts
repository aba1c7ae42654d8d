import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { DEMO_INTENT_KEY } from '#shared/platform/config.ts';

/** Secrets of a demo deployment. Each contains the word demo, or begins as the intent keys of demos do; production refuses both. */
export interface DemoSecrets {
  SLUICE_STREAM_KEY: string;
  SLUICE_API_KEY_PEPPER: string;
  SLUICE_OPERATOR_TOKEN: string;
  SLUICE_OPERATOR_TOKENS: string;
  SLUICE_MASTER_KEY: string;
  SLUICE_INTENT_KEY: string;
  SLUICE_INTERNAL_KEY: string;
}

/** Who runs the demo besides: what two people have to want can be tried with them. */
const PEOPLE = ['anna', 'ben'];

/** Reads the secrets kept in `path`, and makes those that are not there yet; what the environment names wins. */
export async function demoSecrets(path: string): Promise<DemoSecrets> {
  const kept = await readFile(path, 'utf8').catch(() => undefined);
  const secrets: DemoSecrets = { ...newSecrets(), ...(kept === undefined ? {} : (JSON.parse(kept) as Partial<DemoSecrets>)) };
  if (kept !== `${JSON.stringify(secrets, null, 2)}\n`) await writeFile(path, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  for (const name of Object.keys(secrets) as (keyof DemoSecrets)[]) secrets[name] = process.env[name] ?? secrets[name];
  return secrets;
}

function newSecrets(): DemoSecrets {
  const make = (what: string): string => `demo-${what}-${randomBytes(24).toString('hex')}`;
  return {
    SLUICE_STREAM_KEY: make('stream'),
    SLUICE_API_KEY_PEPPER: make('pepper'),
    SLUICE_OPERATOR_TOKEN: make('operator'),
    SLUICE_OPERATOR_TOKENS: PEOPLE.map((name) => `${name}=${make(name)}`).join(','),
    SLUICE_MASTER_KEY: make('master'),
    SLUICE_INTERNAL_KEY: make('internal'),
    SLUICE_INTENT_KEY: `${DEMO_INTENT_KEY}${randomBytes(26).toString('hex')}`,
  };
}

/** The tokens of the demo's people, by name. */
export function demoPeople({ SLUICE_OPERATOR_TOKENS: pairs }: Pick<DemoSecrets, 'SLUICE_OPERATOR_TOKENS'>): Record<string, string> {
  return Object.fromEntries(pairs.split(',').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}
