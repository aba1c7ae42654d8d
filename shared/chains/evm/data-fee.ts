import { encodeFunctionData, parseAbi } from 'viem';
import { readQuantity } from './replies.ts';
import type { Rpc } from '../rpc.ts';

/** Every OP-stack network has its fee oracle at this address. */
const ORACLE = '0x420000000000000000000000000000000000000f';
const ABI = parseAbi(['function getL1FeeUpperBound(uint256 unsignedTxSize) view returns (uint256)']);
/** An unsigned transfer of a token, RLP-encoded, with every field at its longest. */
const TRANSFER_BYTES = 200n;
/** L1 may get dearer until the transaction is sent: half as much again. */
const NUMERATOR = 3n;
const DENOMINATOR = 2n;

/**
 * What an OP-stack network takes for the bytes of one transfer, beside its gas, native units. It is taken from the sender's
 * balance without being named in the bytes, so it belongs into estimates and not into what signed bytes may cost.
 */
export async function opStackDataFee(call: Rpc): Promise<bigint> {
  const data = encodeFunctionData({ abi: ABI, functionName: 'getL1FeeUpperBound', args: [TRANSFER_BYTES] });
  const answer = await call('eth_call', [{ to: ORACLE, data }, 'latest']);
  const word = typeof answer === 'string' && /^0x[0-9a-fA-F]{64}$/.test(answer) ? `0x${BigInt(answer).toString(16)}` : answer;
  return (readQuantity(word, 'the data fee') * NUMERATOR) / DENOMINATOR;
}
