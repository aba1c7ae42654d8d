import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { connect } from '#shared/platform/postgres.ts';
import { CannotStart } from './cannot-start.ts';
import { deployDemoTokens, fillFaucet } from './local-evm.ts';
import { type Anvil, startAnvil } from './services/anvil.ts';
import { evmNode, hex } from './services/evm-node.ts';
import { freePort } from './services/wait.ts';

export interface LocalNetworks {
  networks: NetworkConfig[];
  /** The networks file every process reads. */
  file: string;
  /** Chains started here, by network name; the others are real nodes. */
  chains: Map<string, Anvil>;
}

export interface LocalNetworksOptions {
  root: string;
  directory: string;
  /** Origin of the server that shows transactions of local chains. */
  explorerOrigin: string;
  onChild(pid: number): Promise<void>;
  log(line: string): void;
}

/**
 * The networks of this run: those of the file SLUICE_NETWORKS names, on the nodes it names; without one those of
 * ops/dev/networks.json, each on a local node whose chain lives below `.sluice`.
 */
export async function startNetworks(options: LocalNetworksOptions): Promise<LocalNetworks> {
  const given = process.env.SLUICE_NETWORKS;
  if (given !== undefined && given !== '') {
    const { networks } = JSON.parse(await readFile(given, 'utf8')) as { networks: NetworkConfig[] };
    return { networks, file: given, chains: new Map() };
  }
  const { networks } = JSON.parse(await readFile(join(options.root, 'ops', 'dev', 'networks.json'), 'utf8')) as { networks: NetworkConfig[] };
  const chains = new Map<string, Anvil>();
  for (const network of networks) {
    const preferred = Number(new URL(network.rpcUrls[0] as string).port);
    const port = await freePort(preferred);
    if (port !== preferred) options.log(`port ${preferred} is taken; the ${network.name} node uses ${port}`);
    const stateFile = join(options.directory, `${network.name}.json`);
    const genesisTime = await genesisTimeOf(stateFile);
    const anvil = await startAnvil({ port, chainId: Number(network.chainId), stateFile, genesisTime, log: options.log });
    await options.onChild(anvil.service.pid);
    await fillFaucet(anvil.node, await deployDemoTokens(anvil.node));
    chains.set(network.name, anvil);
    network.rpcUrls = [anvil.url];
    network.explorerTxUrl = `${options.explorerOrigin}/explorer/${network.name}/tx/{txHash}`;
  }
  const file = join(options.directory, 'networks.json');
  await writeFile(file, `${JSON.stringify({ networks }, null, 2)}\n`);
  return { networks, file, chains };
}

/** When the chain in `stateFile` began; kept beside it, and new when the chain is. */
async function genesisTimeOf(stateFile: string): Promise<number> {
  const path = `${stateFile}.began`;
  const isThere = await access(stateFile).then(
    () => true,
    () => false,
  );
  const kept = isThere ? await readFile(path, 'utf8').catch(() => undefined) : undefined;
  if (kept !== undefined) return Number(kept);
  const now = Math.floor(Date.now() / 1000);
  await writeFile(path, String(now));
  return now;
}

/** Sets a local chain's clock to the service clock and lets it mine by itself from then on. */
export async function startMining(anvil: Anvil, options: { blockSeconds: number; serviceNow: Date }): Promise<void> {
  const latest = await anvil.node.call<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false]);
  const now = Math.floor(options.serviceNow.getTime() / 1000);
  // A chain that was asleep, or a service clock that was advanced in an earlier run: block times must not fall behind.
  if (now > Number(latest.timestamp)) await anvil.node.call('evm_setTime', [now]);
  await anvil.node.call('evm_setAutomine', [false]);
  await anvil.node.call('evm_setIntervalMining', [options.blockSeconds]);
}

/** Hash of an EVM chain's block at `height`, lower case; undefined when the chain is not that long. */
async function blockHash(rpcUrl: string, height: number): Promise<string | undefined> {
  try {
    const block = await evmNode(rpcUrl).call<{ hash: string } | null>('eth_getBlockByNumber', [hex(BigInt(height)), false]);
    return block?.hash.toLowerCase();
  } catch (cause) {
    throw new CannotStart(`the node at ${rpcUrl} does not answer: ${(cause as Error).message}`, { cause });
  }
}

/** A database belongs to the chains it was filled from, and a local chain that was killed may have lost its last blocks. */
export async function refuseOtherChains(databaseUrl: string, networks: NetworkConfig[]): Promise<void> {
  const database = connect(databaseUrl, { name: 'sluice-dev', max: 1 });
  try {
    if ((await database.sql`select to_regclass('networks')::text as found`)[0]?.found == null) return;
    for (const network of networks.filter((one) => one.family === 'evm')) {
      const [known] = await database.sql<{ genesis_hash: string | null; final_height: number | null; final_hash: string | null }[]>`
        select genesis_hash, final_height, (select hash from chain_blocks where network_id = networks.id and height = final_height and canonical) as final_hash
        from networks left join chain_tips on network_id = networks.id where name = ${network.name}`;
      const rpcUrl = network.rpcUrls[0] as string;
      if (known?.genesis_hash != null && known.genesis_hash.toLowerCase() !== (await blockHash(rpcUrl, 0)))
        throw new CannotStart(`${network.name}: this chain is new: npm start -- --reset`);
      if (known?.final_height != null && known.final_hash != null && (await blockHash(rpcUrl, known.final_height)) !== known.final_hash.toLowerCase())
        throw new CannotStart(`${network.name}: this chain lost blocks that were final (was its node killed?): npm start -- --reset`);
    }
  } finally {
    await database.end();
  }
}

/** The service time of a database; the wall clock's when it is still empty. */
export async function readServiceClock(databaseUrl: string): Promise<Date> {
  const database = connect(databaseUrl, { name: 'sluice-dev', max: 1 });
  try {
    const [found] = await database.sql`select to_regclass('clock_offset')::text as name`;
    if (found?.name == null) return new Date();
    const [row] = await database.sql<{ now: Date }[]>`select sluice_now() as now`;
    return row?.now ?? new Date();
  } finally {
    await database.end();
  }
}
