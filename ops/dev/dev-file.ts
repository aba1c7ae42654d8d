import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { packageRoot } from '#shared/platform/package-root.ts';

/** What `npm start` tells everybody else: `.sluice/dev.json`, or in the folder SLUICE_DATA_DIR (operability 1). */
export interface DevFile {
  api: { baseUrl: string; origin: string; pid: number };
  checkoutUrl: string;
  dashboardUrl: string | null;
  operatorUrl: string;
  operatorToken: string;
  /** Tokens of people, by name: what takes two can be tried as two of them. */
  operatorTokens?: Record<string, string>;
  metrics: { api: string; indexers: Record<string, string> };
  databaseUrl: string;
  redisUrl: string;
  gateway: { id: string; apiKey: string; cashoutSigningSecret: string; webhookSecret: string; totpSecret: string };
  webhookReceiver: { origin: string; url: string; log: string };
  networks: Record<string, DevNetwork>;
  /** Names of the networks whose nodes were started here: they have a faucet, which `npx sluice pay` pays from. */
  localNetworks: string[];
  assets: { id: string; symbol: string; network: string; type: string; contract: string | null; decimals: number }[];
  signer: { pid: number };
  console: { pid: number };
  /** The process that runs all of this. */
  runnerPid: number;
}

export interface DevNetwork {
  id: string;
  family: string;
  rpcUrl: string;
  chainId?: number;
  /** Absent where the node itself keeps the key, and on a node that was not started here. */
  faucetPrivateKey?: string;
  indexerPid: number;
}

/** Where it usually is, below the package's folder. */
export const DEV_FILE = join('.sluice', 'dev.json');

/** Where `npm start` keeps everything between runs, `.sluice` of the package unless SLUICE_DATA_DIR names another; another folder is another instance. */
export function dataDirectory(env: Record<string, string | undefined>, root: string): string {
  return resolve(root, env.SLUICE_DATA_DIR || '.sluice');
}

/**
 * The data folder of the instance that a command line used in `folder` speaks to: the one SLUICE_DATA_DIR names, else `.sluice` of that
 * folder where an instance runs, else the package's.
 */
export function instanceDirectory(env: Record<string, string | undefined>, folder: string): string {
  const here = resolve(folder, DEV_FILE);
  return !env.SLUICE_DATA_DIR && existsSync(here) ? dirname(here) : dataDirectory(env, packageRoot());
}

/** Writes it whole or not at all; it holds secrets, so only its owner may read it. */
export async function writeDevFile(path: string, content: DevFile): Promise<void> {
  const whole = `${path}.${randomUUID()}`;
  await writeFile(whole, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(whole, path);
}

/** The instance whose data folder this is, or undefined when none runs. */
export async function readDevFile(directory: string): Promise<DevFile | undefined> {
  const text = await readFile(join(directory, 'dev.json'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as DevFile);
}
