import { RpcRefused } from '../rpc.ts';

/** How nodes and gateways say that they do not offer a method, beside the code that means it. */
const NOT_OFFERED_CODE = -32_601;
const NOT_OFFERED =
  /not (available|supported|exist|allowed|enabled|whitelisted|authorized)|method.* not found|unsupported|unknown method|disabled|upgrade|paid|tier|plan\b/i;

/** Whether an error, or what caused it, is a node's word that it does not offer a method at all; not that it knows no block or cannot answer this time. */
export function isNotOffered(error: unknown): boolean {
  const refusal = error instanceof RpcRefused ? error : error instanceof Error ? error.cause : undefined;
  return refusal instanceof RpcRefused && (refusal.code === NOT_OFFERED_CODE || NOT_OFFERED.test(refusal.message));
}
