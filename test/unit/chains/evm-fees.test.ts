import { describe, expect, it } from 'vitest';
import { evmPayer } from '#shared/chains/evm/payer.ts';
import type { Rpc } from '#shared/chains/rpc.ts';

const GWEI = 1_000_000_000n;
const INTENT = { sender: `0x${'a'.repeat(40)}`, recipient: `0x${'b'.repeat(40)}`, contract: null, rawAmount: 5n };
const ORACLE = '0x420000000000000000000000000000000000000f';
const hex = (value: bigint): string => `0x${value.toString(16)}`;

interface Market {
  baseFee: bigint;
  /** What the last blocks' transactions offered. */
  tips?: bigint[];
  gasPrice?: bigint;
  /** What the fee oracle of an OP-stack network answers. */
  dataFee?: bigint;
}

/** A node at which a transfer takes 21,000 gas. */
function node({ baseFee, tips = [], gasPrice = 0n, dataFee = 0n }: Market, asked: string[] = []): Rpc {
  return async (method, params) => {
    asked.push(method);
    if (method === 'eth_getBalance') return hex(10n ** 20n);
    if (method === 'eth_estimateGas') return hex(21_000n);
    if (method === 'eth_getBlockByNumber') return { baseFeePerGas: hex(baseFee) };
    if (method === 'eth_feeHistory') return { reward: tips.map((tip) => [hex(tip)]) };
    if (method === 'eth_gasPrice') return hex(gasPrice);
    const [call] = params as [{ to: string }];
    if (method === 'eth_call' && call.to === ORACLE) return `0x${dataFee.toString(16).padStart(64, '0')}`;
    throw new Error(`nobody expects ${method}`);
  };
}

async function quote(chainId: string, market: Market, ask: 'quote' | 'estimate' = 'quote') {
  const answer = await evmPayer({ chainId }, node(market))[ask](INTENT);
  if (!answer.ok) throw new Error(answer.rejected);
  return answer.quote;
}
const GAS = 25_200n;

describe('the fee where nothing is burnt', () => {
  it.each<[string, Market, bigint]>([
    ['is what the node asks for', { baseFee: 0n, gasPrice: GWEI }, GWEI],
    ['is what others pay when that is more', { baseFee: 0n, tips: [3n * GWEI, 3n * GWEI], gasPrice: GWEI }, 3n * GWEI],
    ['is never below the network’s floor, for a node that names no price', { baseFee: 0n, gasPrice: 0n }, GWEI / 20n],
  ])('%s', async (_name, market, price) => {
    expect(await quote('56', market)).toMatchObject({
      rawFee: GAS * price,
      fields: { maxFeePerGas: price.toString(), maxPriorityFeePerGas: price.toString() },
    });
  });

  it('is raised from there for a replacement', async () => {
    const payer = evmPayer({ chainId: '56' }, node({ baseFee: 0n, gasPrice: GWEI }));
    const bumped = await payer.bump?.({ gas: '21000', maxFeePerGas: '800', maxPriorityFeePerGas: '800' });
    expect(bumped?.fields).toMatchObject({ maxFeePerGas: GWEI.toString(), maxPriorityFeePerGas: GWEI.toString() });
  });
});

describe('the fee where a base fee is burnt', () => {
  it.each([
    ['1', GWEI / 100n],
    ['137', 30n * GWEI],
    ['42161', 0n],
    ['10', GWEI / 1_000n],
  ])('is twice that and the least tip of chain %s', async (chainId, tip) => {
    expect((await quote(chainId, { baseFee: 7n * GWEI })).fields).toMatchObject({
      maxFeePerGas: (14n * GWEI + tip).toString(),
      maxPriorityFeePerGas: tip.toString(),
    });
  });

  it('does not ask for a gas price', async () => {
    const asked: string[] = [];
    await evmPayer({ chainId: '1' }, node({ baseFee: GWEI }, asked)).quote(INTENT);
    expect(asked).not.toContain('eth_gasPrice');
  });
});

describe('what a rollup takes for bytes', () => {
  const market = { baseFee: GWEI, dataFee: 1_000_000n };
  const gas = GAS * (2n * GWEI + GWEI / 1_000n);

  it.each(['10', '8453'])('is part of what is estimated on chain %s, with head-room, and not of what signed bytes may cost', async (chainId) => {
    expect((await quote(chainId, market, 'estimate')).rawFee).toBe(gas + 1_500_000n);
    expect((await quote(chainId, market)).rawFee).toBe(gas);
  });

  it('is within the gas of Arbitrum, and nothing on others', async () => {
    expect((await quote('42161', market, 'estimate')).rawFee).toBe(GAS * 2n * GWEI);
    expect((await quote('1', market, 'estimate')).rawFee).toBe((await quote('1', market)).rawFee);
  });
});
