import { payTron, tronChain, tronFamily } from '#ops/dev/local-tron.ts';
import { type TronNode, tronNode } from '#ops/dev/services/tron-node.ts';
import type { TronControl } from '#ops/devnet/tron/control.ts';
import { DEMO_TRON_TOKENS, TRON_FAUCET } from '#ops/devnet/tron/demo.ts';
import { startTronNode } from '#ops/devnet/tron/start.ts';
import type { ChainOptions, CommonChain } from './chain.ts';

/** A local TRON chain; whatever else the node can be told is `control`'s. */
export interface TronChain extends CommonChain {
  node: TronNode;
  control: TronControl;
  /** Base58 addresses of USDT (returns zero bytes on success) and USDC, both with 6 decimals. */
  tokens: { USDT: string; USDC: string };
}

/** TRX for the deployment's own wallets, so that they can pay for energy. */
const WALLET_SUN = 5_000n * 1_000_000n;

/**
 * A local TRON chain in this process on a free port, with tokens and a rich faucet, mining one block per transaction, or
 * one every `blockSeconds` (0: only by `mine`); blocks are solidified when the next one is there. A new address becomes an
 * account by its first TRX, not by tokens.
 */
export async function aTronChain(options: ChainOptions = {}): Promise<TronChain> {
  const running = await startTronNode(options.port === undefined ? {} : { port: options.port });
  const { control, url } = running;
  const node = tronNode(url);
  const { balance, mined } = tronChain(node, TRON_FAUCET.privateKey);
  const minesItself = options.blockSeconds !== undefined;
  const send = (to: string, contract: string | null, rawAmount: bigint): Promise<string> => payTron(node, TRON_FAUCET.privateKey, to, contract, rawAmount);
  const pay = async (to: string, contract: string | null, rawAmount: bigint): Promise<string> => {
    const txid = await send(to, contract, rawAmount);
    if (!minesItself) await control.mine(1);
    return txid;
  };
  for (const address of options.fund ?? []) {
    const txid = await send(address, null, WALLET_SUN);
    await control.mine(1);
    await mined(txid);
  }
  if (options.blockSeconds !== undefined && options.blockSeconds > 0) await control.setInterval(options.blockSeconds);
  return {
    family: 'tron',
    url,
    node,
    control,
    tokens: DEMO_TRON_TOKENS,
    faucet: TRON_FAUCET.address,
    outsider: tronFamily.outsider,
    async mine(blocks = 1) {
      await control.mine(blocks);
    },
    pay,
    async payAndMine(to, contract, rawAmount) {
      const txid = await pay(to, contract, rawAmount);
      if (options.blockSeconds === 0) await control.mine(1);
      await mined(txid);
      return txid;
    },
    // From the faucet, which has any amount: what is minted by control appears without a transaction.
    mint: (token, to, rawAmount) => pay(to, token, rawAmount),
    tokenBalance: (token, address) => balance(address, token),
    balance: (address) => balance(address, null),
    async reorg(depth, transactions = []) {
      const blocks = Array.from({ length: depth }, (_, at) => transactions.filter(({ block }) => block === at).map(({ transaction }) => String(transaction)));
      await control.reorg(depth, transactions.length === 0 ? 'drop' : blocks);
    },
    headHash: async () => (await node.head()).blockID,
    stop: () => running.stop(),
  };
}
