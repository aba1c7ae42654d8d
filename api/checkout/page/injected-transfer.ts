import { parseTrusted, toUnits } from '#shared/core/money.ts';
import type { NetworkFacts, Snapshot } from './snapshot.ts';
import type { CheckoutState } from './state.ts';

/** One transaction that pays an offer exactly, as wallets of the EVM take it: hexadecimal quantities. */
export interface InjectedTransfer {
  chainId: string;
  to: string;
  value: string;
  /** Absent where coins are sent. */
  data?: string;
}

/** Of ERC-20's `transfer(address,uint256)`, the only thing a token is ever asked for here: nothing is approved. */
const TRANSFER = '0xa9059cbb';
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const WORD_DIGITS = 64;

/**
 * What a wallet in this browser is asked to send: the chosen offer's amount to its address. Null wherever no such transaction is right: another
 * family, an open amount, the sandbox, no address yet, a time at which nobody should pay. Pure.
 */
export function injectedTransfer(snapshot: Snapshot, state: CheckoutState): InjectedTransfer | null {
  const { offers, selectedOfferId, openAmount, isSandbox } = snapshot.payment;
  const offer = offers.find(({ id }) => id === selectedOfferId);
  if ((state !== 'pay' && state !== 'ending') || openAmount || isSandbox || offer?.depositAddress === undefined) return null;
  const network: NetworkFacts | undefined = snapshot.networks[offer.assetNetwork];
  const units = toUnits(parseTrusted(offer.totalValue), offer.assetDecimals);
  if (network?.family !== 'evm' || !/^[1-9]\d{0,15}$/.test(network.chainId) || units === undefined || units <= 0n || !ADDRESS.test(offer.depositAddress))
    return null;
  const chainId = quantity(BigInt(network.chainId));
  if (offer.assetType === 'NATIVE') return { chainId, to: offer.depositAddress, value: quantity(units) };
  if (offer.contractAddress === null || !ADDRESS.test(offer.contractAddress)) return null;
  const data = TRANSFER + word(BigInt(offer.depositAddress)) + word(units);
  return { chainId, to: offer.contractAddress, value: '0x0', data };
}

function quantity(value: bigint): string {
  return `0x${value.toString(16)}`;
}

function word(value: bigint): string {
  return value.toString(16).padStart(WORD_DIGITS, '0');
}
