import type { DevNetwork } from '#ops/dev/dev-file.ts';
import { familyOf } from '#ops/dev/families.ts';
import { type BitcoinNode, bitcoinNode } from '#ops/dev/services/bitcoin-node.ts';
import { bitcoinParams } from '#shared/chains/bitcoin/params.ts';
import { RpcRefused } from '#shared/chains/rpc.ts';
import { attempt, bad, type Finding, good } from './finding.ts';

/** A node by its own words, asked from here; where npm start runs its networks are known by URL. */
export async function checkNode(name: string, network: DevNetwork, local: boolean, chainId: string | undefined): Promise<Finding[]> {
  // A node the deployment names may need a key or another host: its endpoints tell of it.
  if (network.family === 'bitcoin') return checkBitcoinNode(name, bitcoinNode(network.rpcUrl), local, chainId);
  return local ? [await checkLocalNode(name, network)] : [];
}

const startAgain = (name: string): string => `is the node of ${name} running? Stop with Ctrl+C and npm start again`;

function checkLocalNode(name: string, network: DevNetwork): Promise<Finding> {
  return attempt(`node ${name}`, startAgain(name), async () => {
    const served = await familyOf(network.family).open(network.rpcUrl).identity();
    if (network.chainId !== undefined && served !== `chain ${network.chainId}`) throw new Error(`serves ${served}, not chain ${network.chainId}`);
    return `${new URL(network.rpcUrl).origin}, ${served}`;
  });
}

interface ChainInfo {
  chain: string;
  blocks: number;
  headers: number;
  initialblockdownload: boolean;
  pruned: boolean;
}

/** Whether a bitcoind answers, serves the network that is configured, and keeps what Sluice reads from it. */
async function checkBitcoinNode(name: string, node: BitcoinNode, local: boolean, chainId: string | undefined): Promise<Finding[]> {
  const check = `node ${name}`;
  const { origin } = new URL(node.url);
  const fix = local
    ? startAgain(name)
    : 'is bitcoind up with server=1, does rpcallowip let this host in, and are user and password in rpcUrls those of rpcauth?';
  try {
    const [info, { subversion }, indexes] = await Promise.all([
      node.call<ChainInfo>('getblockchaininfo'),
      node.call<{ subversion: string }>('getnetworkinfo'),
      indexesOf(node),
    ]);
    const seen = `${origin}, ${info.chain} ${subversion}, block ${info.blocks}`;
    const expected = chainId === undefined ? undefined : bitcoinParams(chainId).chain;
    if (expected !== undefined && info.chain !== expected)
      return [
        bad(check, `${seen}; the networks file says ${chainId}`, 'every address would be wrong: point rpcUrls at a node of that network, or change chainId'),
      ];
    const findings = [good(check, seen)];
    if (info.initialblockdownload && info.chain !== 'regtest')
      findings.push(bad(check, `still loading the chain, ${info.headers - info.blocks} blocks to go`, 'wait: payments are seen when it is done'));
    if (info.pruned) findings.push(bad(check, 'pruned: it forgets blocks, and who paid in them', 'prune=0 in its bitcoin.conf, then -reindex'));
    if (indexes !== undefined && indexes.txindex?.synced !== true)
      findings.push(
        bad(
          check,
          indexes.txindex === undefined ? 'has no index of transactions' : 'still building its index of transactions',
          indexes.txindex === undefined
            ? 'txindex=1 in its bitcoin.conf: without it inquiries about older transactions are not answered'
            : 'wait: inquiries do not find older transactions yet',
        ),
      );
    return findings;
  } catch (error) {
    return [bad(check, (error as Error).message, fix)];
  }
}

/** The indexes a node keeps; undefined where it does not tell. */
async function indexesOf(node: BitcoinNode): Promise<{ txindex?: { synced: boolean } } | undefined> {
  return node.call<{ txindex?: { synced: boolean } }>('getindexinfo').catch((error: unknown) => {
    if (error instanceof RpcRefused) return undefined;
    throw error;
  });
}
