import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

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
  webhookReceiver: { url: string; log: string };
  networks: Record<string, DevNetwork>;
  /** Names of the networks whose nodes were started here: they have a faucet, which `npx sluice pay` pays from. */
  localNetworks: string[];
  assets: { id: string; symbol: string; network: string; type: string; contract: string | null; decimals: number }[];
  signer: { pid: number };
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

/** Where it is, relative to the checkout. */
export const DEV_FILE = join(process.env.SLUICE_DATA_DIR ?? '.sluice', 'dev.json');

/** Where `npm start` keeps everything between runs; another folder is another instance. */
export function dataDirectory(): string {
  return resolve(process.env.SLUICE_DATA_DIR ?? '.sluice');
}

/** Writes it whole or not at all; it holds secrets, so only its owner may read it. */
export async function writeDevFile(path: string, content: DevFile): Promise<void> {
  const whole = `${path}.${randomUUID()}`;
  await writeFile(whole, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(whole, path);
}

/** The instance that runs here, or undefined when there is none. */
export async function readDevFile(path: string): Promise<DevFile | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as DevFile);
}
