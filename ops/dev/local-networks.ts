import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { connect } from '#shared/platform/postgres.ts';
import { CannotStart } from './cannot-start.ts';
import { familyOf } from './families.ts';
import type { LocalNode } from './local-chain.ts';
import { holdPort } from './services/wait.ts';

export interface LocalNetworks {
  networks: NetworkConfig[];
  /** The networks file every process reads. */
  file: string;
  /** Chains started here, by network name; the others are real nodes. */
  chains: Map<string, LocalNode>;
}

export interface LocalNetworksOptions {
  root: string;
  directory: string;
  /** Origin of the server that shows transactions of local chains. */
  explorerOrigin: string;
  onChild(pid: number): Promise<void>;
  log(line: string): void;
  /** Ends the start. */
  signal: AbortSignal;
}

/** Names of the networks of this run, before anything of them is started. */
export async function networkNames(root: string): Promise<string[]> {
  const file = process.env.SLUICE_NETWORKS || join(root, 'ops', 'dev', 'networks.json');
  const { networks } = JSON.parse(await readFile(file, 'utf8')) as { networks: NetworkConfig[] };
  return networks.map(({ name }) => name);
}

/**
 * The networks of this run: those of the file SLUICE_NETWORKS names, on the nodes it names; without one those of
 * ops/dev/networks.json, each on a local node whose chain lives below `.sluice`.
 */
export async function startNetworks(options: LocalNetworksOptions): Promise<LocalNetworks> {
  const given = process.env.SLUICE_NETWORKS;
  if (given !== undefined && given !== '') {
    const { networks } = JSON.parse(await readFile(given, 'utf8')) as { networks: NetworkConfig[] };
    // The deployables run in the package's folder, wherever this process was started.
    return { networks, file: resolve(given), chains: new Map() };
  }
  const { networks } = JSON.parse(await readFile(join(options.root, 'ops', 'dev', 'networks.json'), 'utf8')) as { networks: NetworkConfig[] };
  const chains = new Map<string, LocalNode>();
  // One that fails ends the others' starts, and none is left: neither those that run nor those that were about to.
  const failing = new AbortController();
  const signal = AbortSignal.any([options.signal, failing.signal]);
  const starts = networks.map(async (network) => {
    try {
      chains.set(network.name, await startOne({ ...options, signal }, network));
    } catch (error) {
      failing.abort(error);
      throw error;
    }
  });
  if ((await Promise.allSettled(starts)).some(({ status }) => status === 'rejected')) {
    await Promise.all([...chains.values()].map((node) => node.stop()));
    throw signal.reason;
  }
  const file = join(options.directory, 'networks.json');
  await writeFile(file, `${JSON.stringify({ networks }, null, 2)}\n`);
  return { networks, file, chains };
}

/** Starts the node of one network and points the network at it. */
async function startOne({ root, directory, explorerOrigin, onChild, log, signal }: LocalNetworksOptions, network: NetworkConfig): Promise<LocalNode> {
  const preferred = Number(new URL(network.rpcUrls[0] as string).port);
  const { port, release } = await holdPort(preferred);
  if (port !== preferred) log(`port ${preferred} is taken; the ${network.name} node uses ${port}`);
  await release();
  const node = await familyOf(network.family).start({ root, network, port, keptAt: join(directory, network.name), log, onStart: onChild, signal });
  network.rpcUrls = [node.url];
  network.explorerTxUrl = `${explorerOrigin}/explorer/${network.name}/tx/{txHash}`;
  return node;
}

/** Hash of a chain's block at `height`. @throws CannotStart when its node does not answer */
async function blockHash({ family, rpcUrls }: NetworkConfig, height: number): Promise<string | undefined> {
  const url = rpcUrls[0] as string;
  try {
    return await familyOf(family).open(url).blockHash(height);
  } catch (cause) {
    throw new CannotStart(`the node at ${url} does not answer: ${(cause as Error).message}`, { cause });
  }
}

/** A database belongs to the chains it was filled from, and a local chain that was killed may have lost its last blocks. */
export async function refuseOtherChains(databaseUrl: string, networks: NetworkConfig[]): Promise<void> {
  const database = connect(databaseUrl, { name: 'sluice-dev', max: 1 });
  try {
    if ((await database.sql`select to_regclass('networks')::text as found`)[0]?.found == null) return;
    for (const network of networks) {
      const [known] = await database.sql<{ genesisHash: string | null; finalHeight: number | null; finalHash: string | null }[]>`
        select genesis_hash, final_height, (select hash from chain_blocks where network_id = networks.id and height = final_height and canonical) as final_hash
        from networks left join chain_tips on network_id = networks.id where name = ${network.name}`;
      if (known?.genesisHash != null && known.genesisHash.toLowerCase() !== (await blockHash(network, 0)))
        throw new CannotStart(`${network.name}: this chain is new: npm start -- --reset`);
      if (known?.finalHeight != null && known.finalHash != null && (await blockHash(network, known.finalHeight)) !== known.finalHash.toLowerCase())
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
