import type { NetworkConfig } from '#shared/core/assets.ts';
import type { Pages } from './explorer/html.ts';
import type { Service } from './services/child.ts';

/** How long a block may take that a node on this machine makes every few seconds: a starved one makes it late. */
export const MINED_WITHIN_MS = 120_000;

/** A local chain of any family, driven through its node's own protocol: nothing but the node's URL is needed. */
export interface LocalChain {
  /** Pays from the faucet: native coin when `contract` is null. Returns the transaction id; mining it is up to the chain. */
  pay(recipient: string, contract: string | null, rawAmount: bigint): Promise<string>;
  /** Pays one address several amounts of native coin in one transaction; only where a transaction has outputs. */
  payTogether?(recipient: string, rawAmounts: readonly bigint[]): Promise<string>;
  /** Waits for a transaction to be in a block. @throws when it failed there */
  mined(txid: string): Promise<void>;
  /** Chain units held at the head; native coin when `contract` is null. */
  balance(address: string, contract: string | null): Promise<bigint>;
  /** Hash of the block at `height` in canonical form; undefined when the chain is not that long. */
  blockHash(height: number): Promise<string | undefined>;
  /** Which chain the node serves, for people. @throws when it does not answer */
  identity(): Promise<string>;
}

/** A local chain whose node was started here. */
export interface LocalNode extends LocalChain {
  url: string;
  service: Pick<Service, 'pid' | 'exited'>;
  /** Sets the chain's clock to the service clock and lets it mine by itself from then on. */
  startMining(options: { blockSeconds: number; serviceNow: Date }): Promise<void>;
  /** Stops the node; what it has is kept where it was told to keep it. */
  stop(): Promise<void>;
}

export interface LocalNodeOptions {
  root: string;
  network: NetworkConfig;
  port: number;
  /** Where the chain lives between runs: the start of the names of its files, or its folder. */
  keptAt: string;
  log(line: string): void;
  /** Hears the node's process id before it is ready. */
  onStart(pid: number): Promise<void>;
  /** Ends the start. */
  signal: AbortSignal;
}

/** What the development tools know of one family. */
export interface LocalFamily {
  /** Key of the account everything is paid from, as the family's own tools write keys; known to the whole world. Absent where the node keeps it. */
  faucetPrivateKey?: string;
  /** Where demo cashouts go: a stranger to the deployment. */
  outsider: string;
  /** Another one, at another kind of address, where there are several kinds. */
  otherOutsider?: string;
  /** Native coins each wallet of the deployment is brought to. */
  walletCoins: bigint;
  /** The chain behind a node that runs already. */
  open(url: string): LocalChain;
  /** Starts a node with the demo tokens and a rich faucet on it; it does not mine by itself yet. */
  start(options: LocalNodeOptions): Promise<LocalNode>;
  /** The explorer's pages. */
  pages(network: NetworkConfig, url: string): Pages;
}

/**
 * Brings an address up to `coins` of native coin when it has less than half of that, by a plain transfer, which the
 * indexer sees. Returns its transaction id; does not wait for it to be mined.
 */
export async function topUp(chain: LocalChain, address: string, rawCoins: bigint): Promise<string | undefined> {
  const has = await chain.balance(address, null);
  return has >= rawCoins / 2n ? undefined : chain.pay(address, null, rawCoins - has);
}
