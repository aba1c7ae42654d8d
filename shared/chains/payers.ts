import type { Family, NetworkConfig } from '#shared/core/assets.ts';
import type { Gate } from './budget-gate.ts';
import type { DecodeTransfer, Payer } from './chain.ts';
import { decodeEvmTransfer } from './evm/decode.ts';
import { evmPayer } from './evm/payer.ts';
import { openRpc, type RpcObserver } from './evm/rpc.ts';
import { poolPayers } from './pool-payers.ts';
import { openEndpoints } from './readers.ts';
import { decodeTronTransfer } from './tron/decode.ts';
import { openTronApi } from './tron/http.ts';
import { tronPayer } from './tron/payer.ts';

interface Paying {
  open(network: NetworkConfig, url: string, observe: RpcObserver | undefined, gate: Gate): Payer;
  decode: DecodeTransfer;
}

/** The families this build can pay on, each through one endpoint, without any key. */
const PAYERS: Partial<Record<Family, Paying>> = {
  evm: { open: (network, url, observe, gate) => evmPayer(network, openRpc(url, observe, { gate })), decode: decodeEvmTransfer },
  tron: { open: (_network, url, observe, gate) => tronPayer(openTronApi(url, observe, { gate })), decode: decodeTronTransfer },
};

function payingOf(family: Family): Paying {
  const paying = PAYERS[family];
  if (paying === undefined) throw new Error(`this build cannot pay on ${family} networks`);
  return paying;
}

/** The payer of one network over all of its endpoints. @throws Error when its family is not part of this build */
export function openPayer(network: NetworkConfig, { endpoints, gates, observe } = openEndpoints(network)): Payer {
  const { open } = payingOf(network.family);
  return poolPayers(
    endpoints,
    network.rpcUrls.map((url, at) => open(network, url, observe?.request, gates[at] as Gate)),
  );
}

/** How signed bytes of a family are read back. @throws Error when the family is not part of this build */
export function decoderOf(family: Family): DecodeTransfer {
  return payingOf(family).decode;
}
