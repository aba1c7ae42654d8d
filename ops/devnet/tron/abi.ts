import { keccak256, toBytes } from 'viem';
import { addressWord, type Hex, textToHex, word } from './bytes.ts';

/** First four bytes of the hash of a function's signature. */
export function selector(signature: string): Hex {
  return keccak256(toBytes(signature)).slice(2, 10);
}

/** Topic 0 of an event. */
export function eventTopic(signature: string): Hex {
  return keccak256(toBytes(signature)).slice(2);
}

export const TRANSFER_TOPIC = eventTopic('Transfer(address,address,uint256)');
export const APPROVAL_TOPIC = eventTopic('Approval(address,address,uint256)');

/** The n-th 32-byte word after the selector; zero where calldata ends, as the TVM reads it. */
export function argument(data: Hex, index: number): bigint {
  const from = 8 + index * 64;
  return BigInt(`0x${data.slice(from, from + 64).padEnd(64, '0')}`);
}

/** The n-th argument as an address: its last 20 bytes, whatever lies in the padding (a 0x41 byte often does, chains 3.3). */
export function addressArgument(data: Hex, index: number): Hex {
  return `41${word(argument(data, index)).slice(24)}`;
}

/** ABI encoding of one string. */
export function encodeString(text: string): Hex {
  const bytes = textToHex(text);
  return word(32n) + word(BigInt(bytes.length / 2)) + bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0');
}

/** What a revert with a reason returns: Error(string). */
export function encodeError(reason: string): Hex {
  return selector('Error(string)') + encodeString(reason);
}

/** Calldata of transfer(address,uint256). */
export function transferData(to: Hex, raw: bigint): Hex {
  return selector('transfer(address,uint256)') + addressWord(to) + word(raw);
}
