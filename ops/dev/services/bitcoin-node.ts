import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openBitcoinRpc } from '#shared/chains/bitcoin/rpc.ts';
import { orStop, plainEnvironment, type Service, startService, untilUp } from './child.ts';

/** A Bitcoin node's JSON-RPC as the development tools use it. */
export interface BitcoinNode {
  /** With user and password. */
  url: string;
  /** Amounts arrive as text, whole numbers as numbers (chains/bitcoin/json.ts). @throws RpcRefused with the node's own message */
  call<T>(method: string, params?: readonly unknown[]): Promise<T>;
  /** Height of the best block. */
  height(): Promise<number>;
}

/** Talks to the bitcoind, or what stands in for one, at `url`. */
export function bitcoinNode(url: string): BitcoinNode {
  const rpc = openBitcoinRpc(url);
  const call = async <T>(method: string, params: readonly unknown[] = []): Promise<T> => (await rpc(method, params)) as T;
  return { url, call, height: () => call('getblockcount') };
}

export interface BitcoinServiceOptions {
  /** Of the checkout: its `dist` holds the local node. */
  root: string;
  port: number;
  /** Where the chain lives between runs. */
  folder: string;
  /** How far the chain's last block may be ahead of the machine's clock: a real node opens no chain from the future. */
  aheadSeconds?: number;
  log(line: string): void;
  onStart?: ((pid: number) => Promise<void>) | undefined;
  signal?: AbortSignal | undefined;
}

const USER = 'sluice';
const PASSWORD = 'sluice';

/** Starts a regtest node as a process: the bitcoind that BITCOIND_BIN names, or the one of ops/devnet/bitcoin; ready when it answers. */
export async function startBitcoinService({
  root,
  port,
  folder,
  aheadSeconds = 0,
  log,
  onStart,
  signal,
}: BitcoinServiceOptions): Promise<{ service: Service; url: string; real: boolean }> {
  const binary = process.env.BITCOIND_BIN;
  await mkdir(folder, { recursive: true });
  const real = binary !== undefined && binary !== '';
  const service = await startService({
    name: real ? 'bitcoind' : 'bitcoin-node',
    command: real ? binary : process.execPath,
    args: real
      ? bitcoindArguments(port, folder, aheadSeconds)
      : ['--enable-source-maps', join(root, 'dist', 'bitcoin-node.js'), '--port', String(port), '--data', folder],
    cwd: root,
    env: plainEnvironment(),
    onLine: (line) => line.startsWith('Listening on ') || log(line),
    onStart,
  });
  const url = `http://${USER}:${PASSWORD}@127.0.0.1:${port}`;
  const node = bitcoinNode(url);
  await untilUp(service, () => node.height().then(() => true), { what: 'the Bitcoin node to answer', tell: log, signal });
  if (real && aheadSeconds > 0) await orStop(service, () => node.call('setmocktime', [0]));
  return { service, url, real };
}

function bitcoindArguments(port: number, folder: string, aheadSeconds: number): string[] {
  return [
    ...[
      '-regtest',
      `-datadir=${folder}`,
      '-server',
      `-rpcport=${port}`,
      '-rpcbind=127.0.0.1',
      '-rpcallowip=127.0.0.1',
      `-rpcuser=${USER}`,
      `-rpcpassword=${PASSWORD}`,
    ],
    // One node alone, which finds every transaction, pays a fee without having seen any, and keeps its log in its folder.
    ...['-listen=0', '-dnsseed=0', '-txindex=1', '-fallbackfee=0.00002', '-printtoconsole=0', '-persistmempool=1'],
    ...(aheadSeconds > 0 ? [`-mocktime=${Math.floor(Date.now() / 1_000) + aheadSeconds}`] : []),
  ];
}
