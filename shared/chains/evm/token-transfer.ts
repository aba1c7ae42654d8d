import type { Log } from './replies.ts';

/** keccak256('Transfer(address,address,uint256)') */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const ADDRESS_PADDING = `0x${'0'.repeat(24)}`;

export interface TokenTransfer {
  sender: string;
  recipient: string;
  contract: string;
  rawAmount: string;
}

/**
 * An ERC-20 Transfer: exactly three topics (four is ERC-721), both ends plain addresses, one word of data, more than zero.
 * The contract that emitted it is reported, whatever it is; only the configured ones are ever credited.
 */
export function tokenTransferOf(log: Log): TokenTransfer | undefined {
  const [signature, from, to] = log.topics;
  if (log.topics.length !== 3 || signature !== TRANSFER || from === undefined || to === undefined || log.data.length !== 66) return undefined;
  if (!from.startsWith(ADDRESS_PADDING) || !to.startsWith(ADDRESS_PADDING)) return undefined;
  const amount = BigInt(log.data);
  if (amount === 0n) return undefined;
  return { sender: `0x${from.slice(26)}`, recipient: `0x${to.slice(26)}`, contract: log.emitter, rawAmount: amount.toString() };
}
