import { decodeFunctionData, encodeFunctionData, parseAbi } from 'viem';
import { ChainUnavailable } from '../chain.ts';
import { unsure } from './replies.ts';

/** USDT returns nothing from transfer, so no output is declared and none is ever read. */
const TOKEN = parseAbi(['function transfer(address recipient, uint256 amount)', 'function balanceOf(address owner) view returns (uint256)']);

type Hex = `0x${string}`;

/** Calldata of `transfer(recipient, rawAmount)`. */
export function encodeTransfer(recipient: string, rawAmount: bigint): Hex {
  return encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [recipient as Hex, rawAmount] });
}

/** Reads `transfer` calldata back; undefined when the bytes are anything else, or carry anything besides. */
export function decodeTransferCall(data: Hex): { recipient: string; rawAmount: bigint } | undefined {
  try {
    const call = decodeFunctionData({ abi: TOKEN, data });
    if (call.functionName !== 'transfer') return undefined;
    const [recipient, rawAmount] = call.args;
    return encodeTransfer(recipient, rawAmount) === data ? { recipient: recipient.toLowerCase(), rawAmount } : undefined;
  } catch {
    return undefined;
  }
}

/** Calldata of `balanceOf(owner)`. */
export function encodeBalanceOf(owner: string): Hex {
  return encodeFunctionData({ abi: TOKEN, functionName: 'balanceOf', args: [owner as Hex] });
}

/**
 * Reads what `balanceOf` of a contract answered. No answer at all is what a node says of an address without code: the token is at fault
 * for that, not the node, which is believed as before.
 * @throws ChainUnavailable
 */
export function readBalance(answer: unknown, contract: string): bigint {
  if (typeof answer === 'string' && /^0x[0-9a-fA-F]{64}$/.test(answer)) return BigInt(answer);
  const problem = `${contract} answered balanceOf with no number`;
  if (answer === '0x') throw new ChainUnavailable(problem, { trouble: 'refused' });
  return unsure(problem);
}
