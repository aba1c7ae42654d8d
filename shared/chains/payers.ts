import type { Family, NetworkConfig } from '#shared/core/assets.ts';
import { bitcoinDecoder } from './bitcoin/decode.ts';
import { type BitcoinFields, readFields } from './bitcoin/fields.ts';
import { bitcoinPayer } from './bitcoin/payer.ts';
import { openBitcoinRpc } from './bitcoin/rpc.ts';
import type { Gate } from './budget-gate.ts';
import type { DecodeTransfer, Payer } from './chain.ts';
import { decodeEvmTransfer } from './evm/decode.ts';
import { evmPayer } from './evm/payer.ts';
import { openRpc } from './evm/rpc.ts';
import type { RpcObserver } from './rpc.ts';
import { joinPayers } from './join-payers.ts';
import { openEndpoints } from './readers.ts';
import { decodeTronTransfer } from './tron/decode.ts';
import { openTronApi } from './tron/http.ts';
import { tronPayer } from './tron/payer.ts';

/** Where one endpoint is, and the gate that all requests to it pass. */
interface Endpoint {
  url: string;
  gate: Gate;
}

interface Paying {
  /** One payer per endpoint, in the same order. */
  open(network: NetworkConfig, endpoints: readonly Endpoint[], observe: RpcObserver | undefined): Payer[];
  decoder(chainId: string): DecodeTransfer;
  /** The outputs that a plan's fields spend and give back; absent where coins are balances. */
  readFields?(fields: Record<string, string>): BitcoinFields;
}

/** The families that this build can pay on; no keys are needed here. */
const PAYERS: Partial<Record<Family, Paying>> = {
  evm: {
    open: (network, endpoints, observe) => endpoints.map(({ url, gate }) => evmPayer(network, openRpc(url, observe, { gate }))),
    decoder: () => decodeEvmTransfer,
  },
  tron: {
    open: (_network, endpoints, observe) => endpoints.map(({ url, gate }) => tronPayer(openTronApi(url, observe, { gate }))),
    decoder: () => decodeTronTransfer,
  },
  bitcoin: {
    open(network, endpoints, observe) {
      const rpcs = endpoints.map(({ url, gate }) => openBitcoinRpc(url, observe, { gate }));
      return rpcs.map((rpc) =>
        bitcoinPayer(
          network,
          rpc,
          rpcs.filter((other) => other !== rpc),
        ),
      );
    },
    decoder: bitcoinDecoder,
    readFields,
  },
};

function payingOf(family: Family): Paying {
  const paying = PAYERS[family];
  if (paying === undefined) throw new Error(`this build cannot pay on ${family} networks`);
  return paying;
}

/** The payer of one network, over all of its endpoints. @throws Error when its family is not part of this build */
export function openPayer(network: NetworkConfig, { endpoints, gates, observe } = openEndpoints(network)): Payer {
  const opened = network.rpcUrls.map((url, at): Endpoint => ({ url, gate: gates[at] as Gate }));
  return joinPayers(endpoints, payingOf(network.family).open(network, opened, observe?.request));
}

/** The decoder of a network's signed bytes. @throws Error when its family, or this network of it, is not part of this build */
export function decoderOf({ family, chainId }: Pick<NetworkConfig, 'family' | 'chainId'>): DecodeTransfer {
  return payingOf(family).decoder(chainId);
}

/**
 * The outputs that a plan's fields spend, anchor first, and give back; null on families whose coins are balances.
 * @throws Invariant when the fields are malformed
 */
export function outputsOf(family: Family, fields: Record<string, string>): BitcoinFields | null {
  return payingOf(family).readFields?.(fields) ?? null;
}
