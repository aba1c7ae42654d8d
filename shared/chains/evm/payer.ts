import { bytesToHex } from 'viem';
import { Invariant } from '#shared/core/errors.ts';
import { type Bound, ChainUnavailable, type FeeQuote, type Payer, type TransferIntent } from '../chain.ts';
import { profileOf } from '../networks.ts';
import { opStackDataFee } from './data-fee.ts';
import { isNotOffered } from './not-offered.ts';
import { takesOverrides } from './state-overrides.ts';
import { readInteger, readQuantity } from './replies.ts';
import { type Rpc, RpcRefused } from '../rpc.ts';
import { encodeBalanceOf, encodeTransfer, readBalance } from './token.ts';

/** Head-room over the node's estimate; storage may change between quote and inclusion. */
const GAS_NUMERATOR = 12n;
const GAS_DENOMINATOR = 10n;
/** What nodes ask of a replacement: an eighth more on both caps (chains 1.4). */
const BUMP_NUMERATOR = 9n;
const BUMP_DENOMINATOR = 8n;
/**
 * No transfer of ours takes more, on rollups that price calldata in gas either: a recipient's code is simulated for so long, and no longer. A
 * sender that lacks coins is simulated to have as much beside what it sends, as any wallet that is about to pay may have.
 */
const MOST_GAS = 10_000_000n;
/** The base fee may rise by an eighth a block: a cap below this would not outlive the next one. */
const BASE_NUMERATOR = 9n;
const BASE_DENOMINATOR = 8n;
const TIP_BLOCKS = 5;
/** What a transfer may take beyond one of less: an account, or a place in a token's storage, that is written for the first time. */
const UNSEEN_GAS = 35_000n;

type Overrides = Record<string, { balance?: string; stateDiff?: Record<string, string> }>;
type Rejected = { ok: false; rejected: string };

interface Call {
  from: string;
  to: string;
  value: string;
  data: string;
}

/** What of a transfer is simulated, and in which state: less than its amount where the sender does not hold it and cannot be made to; `free` names no price. */
interface Simulated {
  state: Overrides | undefined;
  rawAmount: bigint;
  free: boolean;
}

/** What a block takes per gas now. */
interface Market {
  base: bigint;
  priority: bigint;
}

/**
 * The keyless half of paying on an EVM network. Both prices come from simulating the real transfer to the real recipient, at the
 * price it would be sent at: a quote in the present state, an estimate in one where a sender that lacks coins holds what it needs.
 * A recipient that can tell a simulation from the transfer itself gains nothing by it: bytes get the gas that was quoted, and no more.
 */
export function evmPayer(network: { chainId: string }, rpc: Rpc): Payer {
  const profile = profileOf('evm', network.chainId);
  const call: Rpc = async (method, params) => {
    try {
      return await rpc(method, params);
    } catch (error) {
      if (error instanceof RpcRefused) throw new ChainUnavailable(error.message, { cause: error });
      throw error;
    }
  };

  // Without a tag some nodes estimate on top of what waits, in which a transfer that is being replaced has happened already.
  const simulate = (transfer: Call & Partial<Price>, overrides: Overrides | undefined): Promise<unknown> =>
    rpc('eth_estimateGas', overrides === undefined ? [transfer, 'latest'] : [transfer, 'latest', overrides]);

  const estimateGas = async (transfer: Call & Partial<Price>, overrides: Overrides | undefined): Promise<{ ok: true; gas: bigint } | Rejected> => {
    try {
      return { ok: true, gas: readQuantity(await simulate(transfer, overrides), 'the gas estimate') };
    } catch (error) {
      if (!(error instanceof RpcRefused)) throw error;
      if (refusesTransfer(error) || (await estimatesOthers(transfer, overrides))) return { ok: false, rejected: error.message };
      throw new ChainUnavailable(error.message, { cause: error });
    }
  };

  /**
   * Whether the node estimates the same sender's transfer of nothing to itself: then what it refuses is the other transfer. Nodes have many words for
   * how code may fail, and a recipient chooses which of them is heard.
   */
  const estimatesOthers = async (transfer: Call & Partial<Price>, overrides: Overrides | undefined): Promise<boolean> => {
    try {
      readQuantity(await simulate({ ...transfer, to: transfer.from, value: '0x0', data: '0x' }, overrides), 'the gas estimate');
      return true;
    } catch (error) {
      if (error instanceof RpcRefused) return false;
      throw error;
    }
  };

  const balance = async (address: string, contract: string | null): Promise<bigint> => {
    if (contract === null) return readQuantity(await call('eth_getBalance', [address, 'latest']), 'the balance');
    const answer = await call('eth_call', [{ to: contract, data: encodeBalanceOf(address) }, 'latest']);
    return readBalance(answer, contract);
  };

  let overrides: Promise<boolean> | undefined;
  /** Whether the endpoint simulates in a state of our making: some refuse it, and some take it without a word and do not. Found out once. */
  const honoursOverrides = (): Promise<boolean> => {
    overrides ??= takesOverrides(rpc).catch((error: unknown) => {
      if (error instanceof RpcRefused) return false;
      overrides = undefined;
      throw error;
    });
    return overrides;
  };

  /**
   * How to simulate `intent` as if the sender held its coins, tokens and gas. Where an endpoint cannot, as much of it as the sender really holds is
   * simulated, and without a price when it holds none for gas.
   */
  const fundedState = async (intent: TransferIntent, maxFeePerGas: bigint): Promise<Simulated> => {
    const { sender, contract, rawAmount } = intent;
    const [coins, tokens] = await Promise.all([balance(sender, null), contract === null ? null : balance(sender, contract)]);
    const needed = (contract === null ? rawAmount : 0n) + MOST_GAS * maxFeePerGas;
    const lacksTokens = contract !== null && tokens !== null && tokens < rawAmount;
    if (coins >= needed && !lacksTokens) return { state: undefined, rawAmount, free: false };
    const held = least(rawAmount, tokens ?? coins);
    if (!(await honoursOverrides())) return { state: undefined, rawAmount: held, free: coins < needed };
    const state: Overrides = coins >= needed ? {} : { [sender]: { balance: `0x${needed.toString(16)}` } };
    if (!lacksTokens) return { state, rawAmount, free: false };
    const stateDiff = await balanceSlot(call, sender, contract, rawAmount);
    if (Object.keys(stateDiff).length === 0) return { state: Object.keys(state).length === 0 ? undefined : state, rawAmount: held, free: false };
    return { state: { ...state, [contract]: { stateDiff } }, rawAmount, free: false };
  };

  const tip = async (): Promise<bigint> => {
    const history = (await call('eth_feeHistory', [`0x${TIP_BLOCKS.toString(16)}`, 'latest', [50]])) as { reward?: unknown } | null;
    const rewards = (Array.isArray(history?.reward) ? history.reward : []).map((row: unknown) =>
      readQuantity(Array.isArray(row) ? row[0] : undefined, 'a tip'),
    );
    // Empty blocks report 0, which says nothing about what a block with a choice would take.
    const paid = rewards.filter((reward) => reward > 0n).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    const median = paid[Math.floor(paid.length / 2)] ?? 0n;
    return median > profile.minimumTip ? median : profile.minimumTip;
  };

  const baseFee = async (): Promise<bigint> => {
    const block = (await call('eth_getBlockByNumber', ['latest', false])) as { baseFeePerGas?: unknown } | null;
    return readQuantity(block?.baseFeePerGas, 'the base fee');
  };

  /** What a block takes now: the base fee that is burnt, and the tip beside it. */
  const market = async (): Promise<Market> => {
    const [base, paid] = await Promise.all([baseFee(), tip()]);
    if (base > 0n) return { base, priority: paid };
    // Where nothing is burnt the tip is the whole price, and the node knows what validators ask for.
    return { base, priority: most(paid, readQuantity(await call('eth_gasPrice', []), 'the gas price')) };
  };

  /** Adds what the network takes beside gas, which no field of a transaction bounds (networks.ts). */
  const withDataFee = async (answer: { ok: true; quote: FeeQuote } | Rejected): Promise<{ ok: true; quote: FeeQuote } | Rejected> => {
    if (!answer.ok || profile.dataFee === null) return answer;
    return { ok: true, quote: { ...answer.quote, rawFee: answer.quote.rawFee + (await opStackDataFee(call)) } };
  };

  const priced = async (
    intent: TransferIntent,
    { base, priority }: Market,
    { state, rawAmount, free }: Simulated,
    bound?: Bound,
  ): Promise<{ ok: true; quote: FeeQuote } | Rejected> => {
    const wanted = 2n * base + priority;
    const call = callOf({ ...intent, rawAmount });
    const estimate = await estimateGas(free ? call : { ...call, ...priceOf(wanted, priority) }, state);
    if (!estimate.ok) return estimate;
    const needed = rawAmount < intent.rawAmount ? estimate.gas + UNSEEN_GAS : estimate.gas;
    const gas = gasFor(needed, bound);
    if (gas === null) return { ok: false, rejected: `its destination takes ${needed} gas, of which ${bound?.units} were quoted` };
    return { ok: true, quote: quoteOf(gas, capFor(gas, { base, priority }, bound), priority) };
  };

  return {
    async quote(intent, _coins, bound) {
      // Some nodes estimate a plain transfer without looking at what the sender holds.
      if (intent.contract === null && (await balance(intent.sender, null)) < intent.rawAmount)
        return { ok: false, rejected: 'the sender does not hold the amount' };
      return priced(intent, await market(), { state: undefined, rawAmount: intent.rawAmount, free: false }, bound);
    },
    async estimate(intent, _coins, bound) {
      const now = await market();
      return withDataFee(await priced(intent, now, await fundedState(intent, 2n * now.base + now.priority), bound));
    },
    async bump({ gas, maxFeePerGas, maxPriorityFeePerGas }) {
      const { base, priority } = await market();
      const tipCap = most(raised(maxPriorityFeePerGas), priority);
      return quoteOf(readField(gas), most(raised(maxFeePerGas), 2n * base + priority, tipCap), tipCap);
    },

    async nonce(address) {
      return readInteger(await call('eth_getTransactionCount', [address, 'latest']), 'the nonce');
    },
    async waitingNonce(address) {
      return readInteger(await call('eth_getTransactionCount', [address, 'pending']), 'the nonce');
    },

    async broadcast(signedBytes) {
      try {
        return { accepted: true, answer: String(await rpc('eth_sendRawTransaction', [bytesToHex(signedBytes)])) };
      } catch (error) {
        return { accepted: false, answer: error instanceof Error ? error.message : String(error) };
      }
    },

    balance,
  };
}

function quoteOf(gas: bigint, maxFeePerGas: bigint, tip: bigint): FeeQuote {
  return {
    rawFee: gas * maxFeePerGas,
    fields: { gas: gas.toString(), maxFeePerGas: maxFeePerGas.toString(), maxPriorityFeePerGas: tip.toString() },
    expiresAtMs: null,
    units: gas,
  };
}

/** Fee fields of a simulated transfer: one that is free is no transfer anybody sends. */
interface Price {
  gas: string;
  maxFeePerGas: string;
  maxPriorityFeePerGas: string;
}

function priceOf(maxFeePerGas: bigint, tip: bigint): Price {
  return { gas: `0x${MOST_GAS.toString(16)}`, maxFeePerGas: `0x${maxFeePerGas.toString(16)}`, maxPriorityFeePerGas: `0x${tip.toString(16)}` };
}

/** The gas that bytes get: with head-room, or what was quoted while that is enough; null where the destination takes more than it may. */
function gasFor(estimated: bigint, bound: Bound | undefined): bigint | null {
  const wanted = (estimated * GAS_NUMERATOR + GAS_DENOMINATOR - 1n) / GAS_DENOMINATOR;
  if (bound?.units === undefined) return wanted;
  if (estimated <= bound.units) return bound.units;
  return wanted <= (bound.mostUnits ?? bound.units) ? wanted : null;
}

/** The price that bytes name: room for the base fee to double, as far as what was locked allows, but never so little that the next block takes none of it. */
function capFor(gas: bigint, { base, priority }: Market, bound: Bound | undefined): bigint {
  const wanted = 2n * base + priority;
  if (bound === undefined) return wanted;
  const locked = bound.rawFee / gas;
  const least = (base * BASE_NUMERATOR + BASE_DENOMINATOR - 1n) / BASE_DENOMINATOR + priority;
  return locked < least || locked > wanted ? wanted : locked;
}

/** A fee field as a plan or signed bytes write it. @throws Invariant when it is none */
function readField(text: string | undefined): bigint {
  if (text === undefined || !/^\d{1,78}$/.test(text)) throw new Invariant('there is no fee to raise');
  return BigInt(text);
}

function raised(cap: string | undefined): bigint {
  return (readField(cap) * BUMP_NUMERATOR + BUMP_DENOMINATOR - 1n) / BUMP_DENOMINATOR;
}

function most(...values: bigint[]): bigint {
  return values.reduce((a, b) => (a > b ? a : b));
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function callOf(intent: TransferIntent): Call {
  return intent.contract === null
    ? { from: intent.sender, to: intent.recipient, value: `0x${intent.rawAmount.toString(16)}`, data: '0x' }
    : { from: intent.sender, to: intent.contract, value: '0x0', data: encodeTransfer(intent.recipient, intent.rawAmount) };
}

/** Whether an error is about this transfer (it would revert, or cannot be paid) rather than about the node. */
function refusesTransfer(error: RpcRefused): boolean {
  return (
    error.code === 3 || /revert|insufficient funds|insufficient balance|exceeds balance|exceeds allowance|gas required exceeds|out of gas/i.test(error.message)
  );
}

function readWord(answer: unknown): bigint | undefined {
  return typeof answer === 'string' && /^0x[0-9a-fA-F]{64}$/.test(answer) ? BigInt(answer) : undefined;
}

/**
 * Finds where a token keeps `owner`'s balance by watching which storage `balanceOf` touches, and returns the difference
 * that makes it `rawAmount` in a simulated state; empty when the token keeps it somewhere that cannot be told.
 */
async function balanceSlot(call: Rpc, owner: string, contract: string, rawAmount: bigint): Promise<Record<string, string>> {
  const read = { from: owner, to: contract, data: encodeBalanceOf(owner) };
  const value = `0x${rawAmount.toString(16).padStart(64, '0')}`;
  const touched = (await call('eth_createAccessList', [read, 'latest']).catch((error: unknown) => {
    if (isNotOffered(error)) return null;
    throw error;
  })) as { accessList?: { address?: unknown; storageKeys?: unknown }[] } | null;
  for (const entry of touched?.accessList ?? []) {
    if (String(entry.address).toLowerCase() !== contract || !Array.isArray(entry.storageKeys)) continue;
    for (const key of entry.storageKeys as string[]) {
      const diff = { [key]: value };
      const answer = readWord(await call('eth_call', [read, 'latest', { [contract]: { stateDiff: diff } }]));
      if (answer === rawAmount) return diff;
    }
  }
  return {};
}
