import { readFile } from 'node:fs/promises';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { withoutNodes } from '#shared/platform/without-nodes.ts';
import { accountsOf, type AccountPlace, newSeed } from '#shared/chains/accounts.ts';
import { type Command, UsageError } from './command.ts';

const SEED = 'SLUICE_SIGNER_SEED';
/** What has to stand in a network for its accounts to be found. */
const NEEDED = ['name', 'family', 'chainId', 'accountPath', 'wallets'] as const;

export const accountCommands: readonly Command[] = [
  {
    name: 'secret seed',
    args: '',
    summary: 'a fresh seed of 24 words, for the signer alone; run it on a machine without a network, and keep a copy on paper',
    arity: [0, 0],
    async run() {
      const seed = newSeed();
      return { data: { seed }, text: seed };
    },
  },
  {
    name: 'secret accounts',
    args: '<networks file>',
    summary: `the file with the account keys and wallet addresses of your seed, which comes from ${SEED} or ${SEED}_FILE; nothing in it is secret`,
    arity: [1, 1],
    async run(_context, [path = '']) {
      const seed = await readSeed(process.env);
      const file = JSON.parse(await readFile(path, 'utf8')) as { networks?: unknown };
      if (!Array.isArray(file.networks)) throw new UsageError(`${path} has no list of networks`);
      const networks = file.networks.map((network: AccountPlace, at) => {
        const missing = NEEDED.filter((name) => network[name] === undefined);
        if (missing.length > 0) throw new UsageError(`${path}: network ${network.name ?? at + 1} has no ${missing.join(', ')}`);
        return { ...network, ...accountsOf(network, seed) };
      });
      const filled = { ...file, networks };
      return { data: filled, text: JSON.stringify(filled, null, 2) };
    },
  },
  {
    name: 'secret networks',
    args: '<networks file>',
    summary: 'the file without its nodes, whose addresses hold keys of providers: for the console, which asks none',
    arity: [1, 1],
    async run(_context, [path = '']) {
      const file = JSON.parse(await readFile(path, 'utf8')) as { networks?: unknown };
      if (!Array.isArray(file.networks)) throw new UsageError(`${path} has no list of networks`);
      const without = { ...file, networks: file.networks.map((network: Partial<NetworkConfig>) => withoutNodes(network)) };
      return { data: without, text: JSON.stringify(without, null, 2) };
    },
  },
];

async function readSeed(env: Record<string, string | undefined>): Promise<string> {
  const file = env[`${SEED}_FILE`];
  const seed = env[SEED] ?? (file === undefined ? undefined : await readFile(file, 'utf8'));
  if (seed === undefined || seed.trim() === '') throw new UsageError(`set ${SEED}, or ${SEED}_FILE to a file that holds it`);
  return seed.trim();
}
