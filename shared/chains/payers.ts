import type { Family, NetworkConfig } from '#shared/core/assets.ts';
import type { DecodeTransfer, Payer } from './chain.ts';
import { decodeEvmTransfer } from './evm/decode.ts';
import { evmPayer } from './evm/payer.ts';
import { openRpc, type RpcObserver } from './evm/rpc.ts';

interface Paying {
  open(network: NetworkConfig, url: string, observe: RpcObserver | undefined): Payer;
  decode: DecodeTransfer;
}

/** The families this build can pay on, each through one endpoint, without any key. */
const PAYERS: Partial<Record<Family, Paying>> = {
  evm: { open: (network, url, observe) => evmPayer(network, openRpc([url], observe)), decode: decodeEvmTransfer },
};

function payingOf(family: Family): Paying {
  const paying = PAYERS[family];
  if (paying === undefined) throw new Error(`this build cannot pay on ${family} networks`);
  return paying;
}

/** Opens the payer of one network. @throws Error when its family is not part of this build */
export function openPayer(network: NetworkConfig, observe?: RpcObserver): Payer {
  return payingOf(network.family).open(network, network.rpcUrls[0] as string, observe);
}

/** How signed bytes of a family are read back. @throws Error when the family is not part of this build */
export function decoderOf(family: Family): DecodeTransfer {
  return payingOf(family).decode;
}
