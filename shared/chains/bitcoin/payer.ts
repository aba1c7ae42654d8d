import type { NetworkConfig } from '#shared/core/assets.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { DecodedTransfer, FeeQuote, OwnOutput, Payer, Quoted, ReplacedFamily, TransferIntent } from '../chain.ts';
import { type Rpc, RpcRefused } from '../rpc.ts';
import { scriptOfAddress } from './address.ts';
import { openBlocks } from './blocks.ts';
import { inputFee, MOST_INPUTS, type Selection, selectCoins, sumOf } from './coin-selection.ts';
import { feeBoundsOf, feeMarketOf } from './fees.ts';
import { writeFields } from './fields.ts';
import { feeAt, needOf } from './need.ts';
import { bitcoinParams } from './params.ts';
import { decodePsbt } from './psbt.ts';
import { replacementFee, replacementOf } from './replacement.ts';
import { networkBytes } from './spend.ts';
import { openScans } from './unspent.ts';
import { dustOf, vsizeOf } from './vsize.ts';

/** All there will ever be. */
const MOST_SATOSHIS = 21n * 10n ** 14n;
/** A transaction that a block holds already, and the words for one that waits already: both were taken (chains 2.2). */
const ALREADY_MINED = -27;
const ALREADY_KNOWN = /already in (the )?(mempool|block ?chain|utxo set)|txn-already-(in-mempool|known)|found in own mempool/i;

/**
 * The keyless half of paying on one Bitcoin network, through one node; what `others` estimate counts beside its own estimate.
 * Both prices are exact for the very outputs that would be spent; an estimate without enough of them is that of one input
 * with change, whatever the wallet holds (decisions 10).
 * @throws Error when the network is unknown
 */
export function bitcoinPayer(network: Pick<NetworkConfig, 'chainId' | 'feeRate'>, rpc: Rpc, others: readonly Rpc[] = []): Payer {
  const params = bitcoinParams(network.chainId);
  const bounds = feeBoundsOf(network);
  const blocks = openBlocks(rpc, params);
  const unspentAt = openScans(blocks, params);
  const market = feeMarketOf(blocks.call, others, bounds);
  const scriptsOf = ({ recipient, sender }: TransferIntent): { payment: string; change: string; dust: bigint } => {
    const change = scriptOfAddress(sender, params);
    return { payment: scriptOfAddress(recipient, params), change, dust: dustOf(change) };
  };

  const price = async (intent: TransferIntent, coins: readonly OwnOutput[], funded: boolean): Promise<Quoted> => {
    const refusal = refusalOf(intent);
    const scripts = scriptsOf(intent);
    if (refusal !== null) return refusal;
    const { rate } = await market();
    if (isClose(intent)) return closed(scripts.payment, coins, feeAt(rate, vsizeOf(1, [scripts.payment])), funded);
    const least = dustOf(scripts.payment);
    if (intent.rawAmount < least) return { ...refuse(`it is below the ${least} satoshis that nodes ask of an output to this address`), about: 'amount' };
    const need = needOf(intent.rawAmount, rate, scripts);
    const chosen = selectCoins(coins, need);
    if (!('lacking' in chosen)) return { ok: true, quote: quoteOf(chosen, intent.sender) };
    if (funded) return { ok: true, quote: { rawFee: need.feeOf(1, true), fields: {}, expiresAtMs: null } };
    return { ...refuse('the outputs that may be spent do not cover it'), lacking: chosen.lacking };
  };

  const bump = async ({ intent, coins, replaced }: ReplacedFamily): Promise<FeeQuote | null> => {
    const scripts = scriptsOf(intent);
    const fee = replacementFee(replaced, params, await market(), isClose(intent) ? null : bounds.cap);
    if (fee === null) return null;
    if (isClose(intent)) {
      const answer = closed(scripts.payment, coins, fee.of(vsizeOf(1, [scripts.payment])), false);
      return answer.ok ? answer.quote : null;
    }
    const chosen = replacementOf({ rawAmount: intent.rawAmount, scripts, coins, replaced, fee, cap: bounds.cap });
    return chosen === null ? null : quoteOf(chosen, intent.sender);
  };

  const join = async (wallet: string, coins: readonly OwnOutput[], replaced: readonly DecodedTransfer[]): Promise<Quoted> => {
    if (coins.length < 2 || coins.length > MOST_INPUTS) return refuse(`${coins.length} outputs are not joined in one transaction`);
    const home = scriptOfAddress(wallet, params);
    const vsize = vsizeOf(coins.length, [home]);
    const now = await market();
    const higher = replaced.length === 0 ? null : replacementFee(replaced, params, now, bounds.cap);
    if (replaced.length > 0 && higher === null) return refuse('what was signed before cannot be replaced at a higher fee');
    const rawFee = higher === null ? feeAt(now.rate, vsize) : higher.of(vsize);
    if (rawFee > feeAt(bounds.cap, vsize)) return refuse('it would cost more than the highest rate allows');
    if (sumOf(coins) - rawFee < most(dustOf(home), rawFee)) return refuse('it would cost more than what arrives');
    return { ok: true, quote: { rawFee, fields: writeFields({ inputs: [...coins], change: null }), expiresAtMs: null } };
  };

  return {
    quote: (intent, coins = []) => price(intent, coins, false),
    estimate: (intent, coins = []) => price(intent, coins, true),
    async bump(_fields, family) {
      if (family === undefined || family.replaced.length === 0) throw new Invariant('a replacement needs to know what it replaces');
      return bump(family);
    },
    join: (wallet, coins, replaced = []) => join(wallet, coins, replaced),
    async outputCost() {
      const { rate } = await market();
      return { rate, input: inputFee(rate) };
    },
    nonce: async () => null,

    async broadcast(signedBytes) {
      try {
        return { accepted: true, answer: String(await rpc('sendrawtransaction', [networkBytes(decodePsbt(signedBytes)).toString('hex')])) };
      } catch (error) {
        const answer = error instanceof Error ? error.message : String(error);
        const known = error instanceof RpcRefused && (error.code === ALREADY_MINED || ALREADY_KNOWN.test(error.message));
        return { accepted: known, answer: error instanceof RpcRefused ? `${answer} (${error.code})` : answer };
      }
    },

    async balance(address, contract) {
      if (contract !== null) throw new Invariant('there are no tokens on Bitcoin');
      const { outputs } = await unspentAt(address);
      return sumOf(outputs);
    },
  };
}

/** Whether nothing is to happen but that the anchor goes back to its wallet. */
function isClose({ recipient, sender, rawAmount }: TransferIntent): boolean {
  return recipient === sender && rawAmount === 0n;
}

/** Why no coins can make this transfer happen, or null. */
function refusalOf(intent: TransferIntent): Refused | null {
  if (intent.contract !== null) return refuse('there are no tokens on Bitcoin');
  if (intent.rawAmount > MOST_SATOSHIS) return { ...refuse('it is more than there will ever be'), about: 'amount' };
  return intent.rawAmount > 0n || isClose(intent) ? null : { ...refuse('it moves nothing'), about: 'amount' };
}

/** What brings the anchor back to the wallet's script `home`, alone. */
function closed(home: string, coins: readonly OwnOutput[], rawFee: bigint, funded: boolean): Quoted {
  const [anchor, ...others] = coins;
  if (anchor === undefined && funded) return { ok: true, quote: { rawFee, fields: {}, expiresAtMs: null } };
  if (anchor === undefined || others.length > 0) throw new Invariant('what is closed spends its anchor, and nothing else');
  const back = anchor.rawAmount - rawFee;
  if (back < dustOf(home)) return refuse(`its anchor holds ${anchor.rawAmount} satoshis, which the fee of ${rawFee} uses up`);
  return { ok: true, quote: { rawFee, fields: writeFields({ inputs: [anchor], change: null }), expiresAtMs: null } };
}

function quoteOf({ inputs, change, fee }: Selection, wallet: string): FeeQuote {
  const back = change === 0n ? null : { rawAmount: change, address: wallet };
  return { rawFee: fee, fields: writeFields({ inputs, change: back }), expiresAtMs: null };
}

function most(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

type Refused = Extract<Quoted, { ok: false }>;

function refuse(rejected: string): Refused {
  return { ok: false, rejected };
}
