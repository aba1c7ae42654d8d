import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { findCanonicalBlocks, type ChainTip, lockTip, readTip } from '#api/store/chain-blocks.ts';
import { listDepositAddresses } from '#api/store/deposit-addresses.ts';
import { listDepositsOfTransactions, lockDepositsOfTransactions, type NamedDeposit } from '#api/store/deposits.ts';
import { readInquiryAttempts, useInquiryAttempt } from '#api/store/payment-deposits.ts';
import { lockPayment, type Payment } from '#api/store/payments.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { Invariant, invalid, ServiceError } from '#shared/core/errors.ts';
import { confirmations } from '#shared/core/finality.ts';
import { type Coins, amount, formatAmount } from '#shared/core/money.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { isWithinGrace } from '#state-machines/payment/judge-deposit.ts';
import { allocateDeposits } from './allocate-deposits.ts';
import { creditPayment } from './credit-deposit.ts';
import { loadOwnPayment } from './load.ts';
import { type Finding, lookUpTransaction } from './look-up-transaction.ts';
import { type Ahead, type AheadOf, NOTHING_AHEAD, readAhead } from './read-ahead.ts';
import { recordDeposits } from './record-deposits.ts';
import { takeApart } from './take-apart.ts';

/** The verdicts of an inquiry (decisions 9). */
export type InquiryCode =
  | 'matched'
  | 'already_credited'
  | 'pending_confirmation'
  | 'tx_not_found'
  | 'wrong_recipient'
  | 'tx_failed'
  | 'unsupported_asset'
  | 'claimed_by_other_payment'
  | 'payment_not_eligible'
  | 'attempts_exhausted';

/** Verdicts that a guess at another payer's transaction could get; each uses up an attempt. */
const USES_AN_ATTEMPT: readonly InquiryCode[] = ['tx_not_found', 'wrong_recipient', 'tx_failed', 'unsupported_asset', 'claimed_by_other_payment'];

/**
 * Which finding decides when several networks are asked, most telling first. A hash exists on one network only, so a verdict about it needs no
 * other network; "not found" needs all of them.
 */
const MOST_TELLING: readonly Finding['is'][] = [
  'transfers',
  'unconfirmed',
  'unsupported_asset',
  'claimed_by_other_payment',
  'wrong_recipient',
  'tx_failed',
  'unavailable',
  'tx_not_found',
];

export interface Inquiry {
  gateway: Gateway;
  paymentId: string;
  txHash: string;
  /** Name of the network; when absent, every network that the payment's addresses are valid on is asked. */
  network: string | undefined;
}

type Found = Extract<Finding, { is: 'transfers' }>;

interface Verdict {
  code: InquiryCode;
  /** The network that the verdict is about, once known. */
  chain?: Chain;
  height?: number;
  /** The transaction's transfers to the payment. */
  deposits: readonly NamedDeposit[];
}

/**
 * Looks up a transaction for a payment and, if it paid the payment, books it (contract 4.1, decisions 9).
 * A transfer that no indexer reported is recorded, a deposit that was set aside is allocated, and final deposits are credited before the reply. The
 * attempt is counted in the transaction that decides; nodes are asked outside of it. Locks the tips of the networks involved, then the payment,
 * then its deposits.
 * @throws not_found; validation_error naming txHash or network; service_unavailable while a node that may know cannot be asked
 */
export async function inquirePayment(deps: Deps, inquiry: Inquiry): Promise<object> {
  const payment = await loadOwnPayment(deps, inquiry);
  const addresses = await listDepositAddresses(deps.db.sql, payment.id);
  const asked = transactionsAsked(deps, inquiry, new Set(addresses.map((address) => address.family)));
  const limit = inquiry.gateway.settings.settings.inquiryAttempts;
  const answer = async (verdict: Verdict, ahead = NOTHING_AHEAD) =>
    inquiryView(deps, inquiry, { txid: asked[0]?.txid ?? inquiry.txHash, limit, verdict, ahead });

  // A sandbox payment has no chain. A payment without a selected offer has no address, so nothing was sent to it.
  if (payment.sandbox || addresses.length === 0) return answer({ code: 'payment_not_eligible', deposits: [] });
  if ((await readInquiryAttempts(deps.db.sql, payment.id)) >= limit) return answer({ code: 'attempts_exhausted', deposits: [] });

  const own = new Set(addresses.map((address) => address.address));
  const findings = await Promise.all(asked.map(({ chain, txid }) => lookUpTransaction(deps, chain, txid, payment, own)));
  const ahead = await readAllAhead(deps, payment, findings, own);
  const verdict = await deps.db.transaction((tx) => decide(tx, deps, payment, { findings, ahead, limit }));
  crashPoint('inquiry.attempt-counted');
  deps.announce([payment.id]);
  deps.log.info({ paymentId: payment.id, txid: asked[0]?.txid, network: verdict.chain?.config.name, resultCode: verdict.code }, 'inquired');
  if (verdict.code !== 'pending_confirmation' || verdict.deposits.length === 0) return answer(verdict, ahead);

  await creditPayment(deps, payment.id, ahead);
  const after = ownAmong(payment, await listDepositsOfTransactions(deps.db.sql, findings.map(keyOf)));
  return answer({ ...verdict, deposits: after, code: codeAfterCrediting(after) }, ahead);
}

/**
 * The networks to ask, each with the transaction id in its own form.
 * @throws validation_error for an unknown network, and for a hash that is not valid on any of them
 */
function transactionsAsked(deps: Deps, { txHash, network }: Inquiry, families: ReadonlySet<string>): { chain: Chain; txid: string }[] {
  const chosen = network === undefined ? undefined : deps.chains.get(network);
  if (network !== undefined && chosen === undefined) throw invalid('network', 'is not a network of this deployment');
  const chains = chosen === undefined ? [...deps.chains.values()].filter(({ config }) => families.size === 0 || families.has(config.family)) : [chosen];
  const parsed = chains.map((chain) => ({ chain, id: chain.codec.parseTxid(txHash) }));
  const asked = parsed.flatMap(({ chain, id }) => (id.ok ? [{ chain, txid: id.canonical }] : []));
  if (asked.length > 0) return asked.toSorted((a, b) => (a.chain.id < b.chain.id ? -1 : 1));
  const refused = parsed.map(({ id }) => id).find((id) => !id.ok);
  throw invalid('txHash', refused === undefined || refused.ok ? 'is not a transaction hash' : refused.problem);
}

/** Reads from nodes what lies beyond the tips of stopped indexers, for the findings that need it. If a node cannot say, its finding waits. */
async function readAllAhead(deps: Deps, payment: Payment, findings: readonly Finding[], own: ReadonlySet<string>): Promise<AheadOf> {
  const read = async (finding: Finding): Promise<[string, Ahead] | undefined> => {
    if (finding.is !== 'transfers') return undefined;
    try {
      const ahead = await readAhead(deps, finding, payment.id, own);
      return ahead === undefined ? undefined : [finding.chain.id, ahead];
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      deps.log.warn({ err: error, network: finding.chain.config.name, txid: finding.txid }, 'cannot read beyond the tip for an inquiry');
      return undefined;
    }
  };
  return new Map((await Promise.all(findings.map(read))).filter((one) => one !== undefined));
}

/** Decides under the locks: records and allocates what belongs to the payment, or counts the attempt. */
async function decide(
  tx: Tx,
  deps: Deps,
  payment: Payment,
  { findings, ahead, limit }: { findings: readonly Finding[]; ahead: AheadOf; limit: number },
): Promise<Verdict> {
  const canonical = new Map<Found, ChainTip>();
  for (const finding of findings) {
    const tip = finding.is === 'transfers' ? await lockTip(tx, finding.chain.id) : undefined;
    if (finding.is === 'transfers' && tip !== undefined && (await isCanonical(tx, tip, finding, ahead.has(finding.chain.id)))) canonical.set(finding, tip);
  }
  const locked = await lockPayment(tx, payment.id);
  if (locked === undefined) throw new Invariant(`payment ${payment.id} is gone`);
  for (const [found, mark] of canonical) {
    const network = { id: found.chain.id, name: found.chain.config.name };
    const { transfers } = ahead.get(found.chain.id) ?? found;
    await recordDeposits(tx, deps, { network, from: found.height, to: found.height, sightings: transfers, mark, claimedBy: 'inquiry' });
  }
  const keys = findings.map(keyOf);
  await lockDepositsOfTransactions(tx, payment.id, keys);
  const known = await listDepositsOfTransactions(tx, keys);
  let own = ownAmong(payment, known);
  // Only the parts of a sum that this transaction carried are allocated.
  const summed = strayAmong(locked, own).flatMap((deposit) => (deposit.parts === null ? [] : [deposit.id]));
  if (summed.length > 0) {
    await takeApart(tx, deps, { depositIds: summed });
    own = ownAmong(payment, await listDepositsOfTransactions(tx, keys));
  }
  const deposits = await allocateStray(tx, locked, own);
  const [first] = deposits;
  if (first !== undefined) {
    const chain = findings.find((finding) => finding.chain.id === first.networkId)?.chain;
    return { code: codeOf(deposits), deposits, height: first.height, ...(chain !== undefined && { chain }) };
  }

  const telling = findings.toSorted((a, b) => MOST_TELLING.indexOf(a.is) - MOST_TELLING.indexOf(b.is))[0];
  if (telling === undefined) throw new Invariant('an inquiry asked no network');
  const verdict = { deposits: [], chain: telling.chain, ...('height' in telling && { height: telling.height }) };
  if (telling.is === 'unconfirmed' || (telling.is === 'transfers' && !canonical.has(telling))) return { ...verdict, code: 'pending_confirmation' };
  if (telling.is === 'unavailable')
    throw new ServiceError('service_unavailable', { message: 'The chain cannot be asked right now; no attempt was used.', cause: telling.cause });
  // The payment's own address, but an operator gave the coins to another payment, or the amount is too large for its column.
  const code = telling.is === 'transfers' ? (known.some((one) => one.state !== 'dropped') ? 'claimed_by_other_payment' : 'unsupported_asset') : telling.is;
  const counted = !USES_AN_ATTEMPT.includes(code) || (await useInquiryAttempt(tx, payment.id, limit));
  if (!counted) return { code: 'attempts_exhausted', deposits: [] };
  return code === 'tx_not_found' ? { code, deposits: [] } : { ...verdict, code };
}

/**
 * Whether a block is canonical by our own tip. The caller holds the tip's lock, so no reorganisation comes before its commit.
 * Above the final height every applied block is stored, so the hash must match. At or below it the node was asked for the hash at that height on
 * its main chain, which cannot differ from ours there. A block above the tip counts if it was read ahead, which means that the node has it as
 * final; the worker that applies that height later compares it with the indexer's message.
 */
async function isCanonical(tx: Tx, tip: ChainTip, { height, blockHash }: { height: number; blockHash: string }, readAhead: boolean): Promise<boolean> {
  if (height > tip.height) return readAhead;
  const [stored] = await findCanonicalBlocks(tx, tip.networkId, { heights: [height], hashes: [] });
  return stored === undefined ? height <= tip.finalHeight : stored.hash === blockHash;
}

/** Allocates the deposits that would not be credited by themselves: already set aside, on a foreign network, or after the grace period. */
async function allocateStray(tx: Tx, payment: Payment, deposits: readonly NamedDeposit[]): Promise<NamedDeposit[]> {
  const stray = strayAmong(payment, deposits);
  await allocateDeposits(tx, stray, { by: 'inquiry', paymentId: payment.id });
  return deposits.map((deposit) => (stray.includes(deposit) ? { ...deposit, state: 'seen' } : deposit));
}

function strayAmong(payment: Payment, deposits: readonly NamedDeposit[]): NamedDeposit[] {
  const resting = payment.status !== 'PENDING' && payment.status !== 'EXPIRED';
  const inTime = (deposit: NamedDeposit) => resting || isWithinGrace(deposit.firstSeenAt.getTime(), payment.expiresAt.getTime(), payment.graceSeconds);
  return deposits.filter(
    (deposit) =>
      !deposit.dust &&
      (deposit.state === 'unallocated' || (deposit.state === 'seen' && deposit.claimedBy === null && !(deposit.onOwnNetwork && inTime(deposit)))),
  );
}

/** The payment's own deposits, without those that a reorganisation took away. */
function ownAmong(payment: Payment, deposits: readonly NamedDeposit[]): NamedDeposit[] {
  return deposits.filter((one) => one.paymentId === payment.id && one.state !== 'dropped' && (one.state === 'credited' || !one.lost));
}

function keyOf({ chain, txid }: Finding): { networkId: string; txid: string } {
  return { networkId: chain.id, txid };
}

/** The verdict by the payment's own transfers, before anything new is credited. */
function codeOf(deposits: readonly NamedDeposit[]): InquiryCode {
  if (deposits.some((deposit) => deposit.state === 'seen')) return 'pending_confirmation';
  // Dust never resolves a payment, not even by inquiry (decisions 3).
  return deposits.some((deposit) => deposit.state === 'credited') ? 'already_credited' : 'payment_not_eligible';
}

/** The verdict after final deposits were booked. A final deposit that still waits for a price counts as matched. */
function codeAfterCrediting(deposits: readonly NamedDeposit[]): InquiryCode {
  if (deposits.some((deposit) => deposit.state === 'credited' || deposit.waits)) return 'matched';
  return deposits.some((deposit) => deposit.state === 'seen') ? 'pending_confirmation' : 'payment_not_eligible';
}

async function inquiryView(
  deps: Deps,
  inquiry: Inquiry,
  { txid, limit, verdict, ahead }: { txid: string; limit: number; verdict: Verdict; ahead: AheadOf },
): Promise<object> {
  const { chain, height, deposits } = verdict;
  const payment = await loadOwnPayment(deps, inquiry);
  const used = await readInquiryAttempts(deps.db.sql, payment.id);
  const tip = chain === undefined ? undefined : (ahead.get(chain.id)?.tip ?? (await readTip(deps.db.sql, chain.id)));
  const [first] = deposits;
  return {
    resultCode: verdict.code,
    attemptsUsed: used,
    attemptsRemaining: Math.max(0, limit - used),
    txHash: txid,
    status: payment.status,
    ...(chain !== undefined && { network: chain.config.name }),
    ...(first !== undefined && { receivedAmount: formatAmount(sumOf(deposits, first.assetId)), receivedAssetSymbol: first.symbol }),
    ...(height !== undefined && tip !== undefined && { confirmations: confirmations(tip, height) }),
  };
}

function sumOf(deposits: readonly NamedDeposit[], assetId: string): Coins {
  return deposits.reduce((sum, deposit) => (deposit.assetId === assetId ? amount<'asset'>(sum + deposit.amount) : sum), amount<'asset'>(0n));
}
