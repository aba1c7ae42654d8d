import { deploy, deployDemoTokens, deployToken, FAUCET, fillFaucet, mined, mint, pay, tokenBalance } from '#ops/dev/local-evm.ts';
import { type Anvil, startAnvil } from '#ops/dev/services/anvil.ts';
import type { EvmNode } from '#ops/dev/services/evm-node.ts';
import type { Family } from '#shared/core/assets.ts';

/** A transaction that a reorganisation puts into one of the new blocks (0 is the lowest): raw signed bytes, or what the node takes instead. */
export interface Reincluded {
  transaction: string | Record<string, unknown>;
  block: number;
}

/** What a test can do to a local chain of any family; addresses and ids are canonical, amounts chain units. */
export interface CommonChain {
  family: Family;
  url: string;
  /** Contracts by symbol: USDT is wherever there are tokens, has 6 decimals and answers nothing useful to a transfer. */
  tokens: Readonly<Record<string, string>>;
  faucet: string;
  /** Somebody who never had to do with this deployment. */
  outsider: string;
  /** Mines this many empty blocks (and whatever is pending in the first). */
  mine(blocks?: number): Promise<void>;
  /** Pays from the faucet; `contract` null is native coin, the only one where there are no tokens. */
  pay(to: string, contract: string | null, rawAmount: bigint): Promise<string>;
  /** Pays and waits until it is in a block. */
  payAndMine(to: string, contract: string | null, rawAmount: bigint): Promise<string>;
  mint(token: string, to: string, rawAmount: bigint): Promise<string>;
  tokenBalance(token: string, address: string): Promise<bigint>;
  balance(address: string): Promise<bigint>;
  /**
   * Replaces the last `depth` blocks by `depth` new ones. Transactions of the old blocks are gone unless they are given
   * again.
   */
  reorg(depth: number, transactions?: Reincluded[]): Promise<void>;
  /** Hash of the block at the head. */
  headHash(): Promise<string>;
  stop(): Promise<void>;
}

/** A local EVM chain. */
export interface TestChain extends CommonChain {
  node: EvmNode;
  anvil: Anvil;
  /** Lower-case addresses of USDT (returns no bool) and USDC, both with 6 decimals. */
  tokens: { USDT: string; USDC: string };
  /** A second chain state to come back to: `revert` undoes everything since. */
  snapshot(): Promise<() => Promise<void>>;
  /** Deploys another contract of ops/dev/contracts/tokens.sol. */
  deploy: (contract: 'Router' | 'Collectible') => Promise<string>;
  deployToken: (contract: 'TestToken' | 'SilentToken' | 'FreezableToken', symbol: string, decimals: number) => Promise<string>;
}

export interface ChainOptions {
  /** Seconds between blocks; 0: only by `mine`; absent: one block per transaction. */
  blockSeconds?: number;
  /** Addresses that get native coin before the test looks. */
  fund?: string[];
  port?: number;
}

/** Somebody on an EVM chain who never had to do with this deployment. */
export const EVM_OUTSIDER = '0x00000000000000000000000000000000000d15ea';

/** Whole coins for the deployment's own wallets, so that they can pay for gas. */
const WALLET_ETHER = 100n;

/**
 * A local EVM chain on a free port, with tokens and a rich faucet, mining one block per transaction, or one every
 * `blockSeconds` (0: only by `mine`).
 */
export async function aChain(options: ChainOptions & { chainId?: number } = {}): Promise<TestChain> {
  // Set up with one block per transaction, whatever the mining asked for: it takes no time that way.
  const anvil = await startAnvil({
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.chainId === undefined ? {} : { chainId: options.chainId }),
  });
  const { node } = anvil;
  const local = await deployDemoTokens(node);
  await fillFaucet(node, local);
  for (const address of options.fund ?? []) {
    await mined(node, await pay(node, address, null, WALLET_ETHER * 10n ** 18n));
  }
  if (options.blockSeconds !== undefined) {
    await node.call('evm_setAutomine', [false]);
    if (options.blockSeconds > 0) await node.call('evm_setIntervalMining', [options.blockSeconds]);
  }
  const chain: TestChain = {
    family: 'evm',
    url: anvil.url,
    node,
    anvil,
    tokens: local.contracts as TestChain['tokens'],
    faucet: FAUCET.address,
    outsider: EVM_OUTSIDER,
    mine: (blocks = 1) => node.mine(blocks),
    pay: (to, contract, rawAmount) => pay(node, to, contract, rawAmount),
    async payAndMine(to, contract, rawAmount) {
      const txid = await pay(node, to, contract, rawAmount);
      if (options.blockSeconds === 0) await node.mine(1);
      await mined(node, txid);
      return txid;
    },
    mint: (token, to, rawAmount) => mint(node, token, to, rawAmount),
    tokenBalance: (token, address) => tokenBalance(node, token, address),
    balance: async (address) => BigInt(await node.call<string>('eth_getBalance', [address, 'latest'])),
    async reorg(depth, transactions = []) {
      await node.call('anvil_reorg', [depth, transactions.map(({ transaction, block }) => [transaction, block])]);
    },
    headHash: async () => (await node.call<{ hash: string }>('eth_getBlockByNumber', ['latest', false])).hash,
    async snapshot() {
      const id = await node.call<string>('evm_snapshot', []);
      return async () => {
        await node.call('evm_revert', [id]);
      };
    },
    deploy: (contract) => deploy(node, contract),
    deployToken: (contract, symbol, decimals) => deployToken(node, contract, `Test ${symbol}`, symbol, decimals),
    stop: () => anvil.stop(),
  };
  return chain;
}
