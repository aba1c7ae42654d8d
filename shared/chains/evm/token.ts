import { decodeFunctionData, encodeFunctionData, parseAbi } from 'viem';

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
