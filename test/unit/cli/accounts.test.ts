import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { accountCommands } from '#ops/cli/accounts.ts';
import type { Result } from '#ops/cli/command.ts';
import { DEMO_SEED } from '#shared/platform/config.ts';

type Network = { accountXpub: string; accountFingerprint: string; wallets: Record<string, { address: string; path: string }> };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-accounts-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

const run = async (name: string, ...args: string[]): Promise<Result> => {
  const command = accountCommands.find((one) => one.name === name);
  return (await command?.run(() => Promise.reject(new Error('nothing has to run for this')), args, {})) as Result;
};

describe('sluice secret accounts', () => {
  it.each(['ops/dev/networks.json', 'ops/networks.example.json'])('finds in the demo seed what %s says of it, for every family', async (path) => {
    const known = JSON.parse(await readFile(path, 'utf8')) as { networks: Network[] };
    const blank = {
      networks: known.networks.map((network) => ({
        ...network,
        accountXpub: 'to be filled in',
        accountFingerprint: '',
        wallets: Object.fromEntries(Object.entries(network.wallets).map(([role, { path: where }]) => [role, { path: where }])),
      })),
    };
    const file = join(folder, 'networks.json');
    await writeFile(file, JSON.stringify(blank));
    await writeFile(join(folder, 'seed'), `${DEMO_SEED}\n`);
    vi.stubEnv('SLUICE_SIGNER_SEED_FILE', join(folder, 'seed'));
    const { data, text } = await run('secret accounts', file);
    expect(data).toEqual(known);
    expect(text).not.toContain(DEMO_SEED.split(' ')[0]);
  });

  it('says what is missing', async () => {
    const file = join(folder, 'networks.json');
    await writeFile(file, JSON.stringify({ networks: [{ name: 'ethereum', family: 'evm', chainId: '1' }] }));
    await expect(run('secret accounts', file)).rejects.toThrow('set SLUICE_SIGNER_SEED, or SLUICE_SIGNER_SEED_FILE');
    vi.stubEnv('SLUICE_SIGNER_SEED', DEMO_SEED);
    await expect(run('secret accounts', file)).rejects.toThrow('network ethereum has no accountPath, wallets');
    vi.stubEnv('SLUICE_SIGNER_SEED', 'not a mnemonic');
    await expect(run('secret accounts', 'ops/dev/networks.json')).rejects.toThrow(/mnemonic/);
  });

  it('prints the networks without a node, and without a key of a provider', async () => {
    const { text } = await run('secret networks', 'ops/networks.example.json');
    expect(text).not.toMatch(/your-key|provider-/);
    const names = (json: string) => (JSON.parse(json) as { networks: { name: string }[] }).networks.map(({ name }) => name);
    expect(names(text)).toEqual(names(await readFile('ops/networks.example.json', 'utf8')));
  });

  it('makes seeds of 24 words that it can use, each another one', async () => {
    const [one, other] = [(await run('secret seed')).text, (await run('secret seed')).text];
    expect(one.split(' ')).toHaveLength(24);
    expect(other).not.toBe(one);
    vi.stubEnv('SLUICE_SIGNER_SEED', one);
    const { networks } = (await run('secret accounts', 'ops/dev/networks.json')).data as { networks: Network[] };
    expect(networks[0]?.accountFingerprint).toMatch(/^[0-9a-f]{8}$/);
  });
});
