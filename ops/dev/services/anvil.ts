import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { plainEnvironment, type Service, startService, untilUp } from './child.ts';
import { type EvmNode, evmNode } from './evm-node.ts';
import { freePort } from './wait.ts';

export interface AnvilOptions {
  port?: number;
  chainId?: number;
  /** Seconds between blocks; 0 mines only on demand, undefined mines one block per transaction. */
  blockSeconds?: number;
  /** Where the chain lives between runs; in memory only when absent. */
  stateFile?: string;
  /** Unix time of block 0; a chain that is loaded again needs the one it was made with, or it gets a second block 0. */
  genesisTime?: number;
  /** The rules of the chain, by the node's name of the fork; its newest ones when absent. */
  hardfork?: string;
  log?(line: string): void;
  onStart?: ((pid: number) => Promise<void>) | undefined;
  signal?: AbortSignal | undefined;
}

export interface Anvil {
  url: string;
  node: EvmNode;
  service: Service;
  stop(): Promise<void>;
}

/** A local EVM chain from the binary in `node_modules`, with tags that trail the head by one and two blocks. */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const port = options.port ?? (await freePort());
  const mining = options.blockSeconds === undefined ? [] : options.blockSeconds === 0 ? ['--no-mining'] : ['--block-time', String(options.blockSeconds)];
  const service = await startService({
    name: 'anvil',
    command: anvilBinary(),
    args: [
      ...['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(options.chainId ?? 31_337), '--slots-in-an-epoch', '1', '--silent'],
      ...mining,
      ...(options.hardfork === undefined ? [] : ['--hardfork', options.hardfork]),
      ...(options.genesisTime === undefined ? [] : ['--timestamp', String(options.genesisTime)]),
      // The dump on exit is what keeps the chain; the interval is for the exit that was a kill.
      ...(options.stateFile === undefined ? [] : ['--state', options.stateFile, '--state-interval', '10']),
    ],
    cwd: '/',
    env: plainEnvironment(),
    onLine: options.log ?? (() => undefined),
    onStart: options.onStart,
  });
  const url = `http://127.0.0.1:${port}`;
  const node = evmNode(url);
  await untilUp(service, () => node.call('eth_chainId', []), { what: 'anvil to answer', tell: options.log, signal: options.signal });
  return { url, node, service, stop: () => service.stop() };
}

function anvilBinary(): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const name = `@foundry-rs/anvil-${process.platform}-${architecture}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', 'anvil');
  } catch (cause) {
    throw new Error(`no local EVM node for ${process.platform}-${process.arch}: install ${name}, or configure an RPC URL`, { cause });
  }
}
