import type { Rpc } from '../rpc.ts';
import { readQuantity } from './replies.ts';

/** An address nobody has, and code that answers 42 wherever it lies. */
export const PROBED = `0x${'5a'.repeat(20)}`;
const ANSWERS_42 = '0x602a60005260206000f3';

/** What a transfer to an account without code takes. */
const PLAIN_GAS = 21_000n;

/**
 * Whether an endpoint simulates in a state of our making, calls and estimates alike: some take one without a word and do not, and some (geth before
 * 1.13, hardhat 2) take it for calls alone.
 * @throws RpcRefused when it refuses it, ChainUnavailable when it does not answer
 */
export async function takesOverrides(rpc: Rpc): Promise<boolean> {
  const asked = [{ to: PROBED, data: '0x' }, 'latest', { [PROBED]: { code: ANSWERS_42 } }];
  const [answer, gas] = await Promise.all([rpc('eth_call', asked), rpc('eth_estimateGas', asked)]);
  if (typeof answer !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(answer) || BigInt(answer) !== 42n) return false;
  return readQuantity(gas, 'the gas estimate') > PLAIN_GAS;
}
