import type { Rpc } from '../rpc.ts';

/** An address nobody has, and code that answers 42 wherever it lies. */
export const PROBED = `0x${'5a'.repeat(20)}`;
const ANSWERS_42 = '0x602a60005260206000f3';

/**
 * Whether an endpoint simulates in a state of our making; some take one without a word and do not.
 * @throws RpcRefused when it refuses it, ChainUnavailable when it does not answer
 */
export async function takesOverrides(rpc: Rpc): Promise<boolean> {
  const answer = await rpc('eth_call', [{ to: PROBED, data: '0x' }, 'latest', { [PROBED]: { code: ANSWERS_42 } }]);
  return typeof answer === 'string' && /^0x[0-9a-fA-F]{64}$/.test(answer) && BigInt(answer) === 42n;
}
