import { deploy, deployDemoTokens, deployToken, FAUCET, fillFaucet, mined, mint, pay, tokenBalance, topUp } from '#ops/dev/local-evm.ts';
import { type Anvil, startAnvil } from '#ops/dev/services/anvil.ts';
import type { EvmNode } from '#ops/dev/services/evm-node.ts';

export interface TestChain {
  url: string;
  node: EvmNode;
  anvil: Anvil;
  /** Lower-case addresses of USDT (returns no bool) and USDC, both with 6 decimals. */
  tokens: { USDT: string; USDC: string };
  faucet: string;
  /** Mines this many empty blocks (and whatever is pending in the first). */
  mine(blocks?: number): Promise<void>;
  /** Pays from the faucet; `contract` null is native coin. */
  pay(to: string, contract: string | null, rawAmount: bigint): Promise<string>;
  /** Pays and waits until it is in a block. */
  payAndMine(to: string, contract: string | null, rawAmount: bigint): Promise<string>;
  mint(token: string, to: string, rawAmount: bigint): Promise<string>;
  tokenBalance(token: string, address: string): Promise<bigint>;
  balance(address: string): Promise<bigint>;
  /**
   * Replaces the last `depth` blocks by `depth` new ones. Transactions of the old blocks are gone unless they are given
   * again: each as raw signed bytes or a transaction object, with the new block (0 is the lowest) that carries it.
   */
  reorg(depth: number, transactions?: { transaction: string | Record<string, unknown>; block: number }[]): Promise<void>;
  /** A second chain state to come back to: `revert` undoes everything since. */
  snapshot(): Promise<() => Promise<void>>;
  /** Deploys another contract of ops/dev/contracts/tokens.sol. */
  deploy: (contract: 'Router' | 'Collectible') => Promise<string>;
  deployToken: (contract: 'TestToken' | 'SilentToken', symbol: string, decimals: number) => Promise<string>;
  stop(): Promise<void>;
}

/** Whole coins for the deployment's own wallets, so that they can pay for gas. */
const WALLET_ETHER = 100n;

/**
 * A local EVM chain on a free port, with tokens and a rich faucet, mining one block per transaction, or one every
 * `blockSeconds` (0: only by `mine`). `fund` names addresses that get native coin before the test looks.
 */
export async function aChain(options: { blockSeconds?: number; fund?: string[]; port?: number } = {}): Promise<TestChain> {
  // Set up with one block per transaction, whatever the mining asked for: it takes no time that way.
  const anvil = await startAnvil(options.port === undefined ? {} : { port: options.port });
  const { node } = anvil;
  const local = await deployDemoTokens(node);
  await fillFaucet(node, local);
  for (const address of options.fund ?? []) {
    const txid = await topUp(node, address, WALLET_ETHER);
    if (txid !== undefined) await mined(node, txid);
  }
  if (options.blockSeconds !== undefined) {
    await node.call('evm_setAutomine', [false]);
    if (options.blockSeconds > 0) await node.call('evm_setIntervalMining', [options.blockSeconds]);
  }
  const chain: TestChain = {
    url: anvil.url,
    node,
    anvil,
    tokens: local.contracts as TestChain['tokens'],
    faucet: FAUCET.address,
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
