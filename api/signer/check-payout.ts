import type { Chain, Deps } from '#api/deps.ts';
import { cashoutProblem } from '#api/intents/cashout.ts';
import type { Unproven } from '#api/intents/say.ts';
import { nativeAsset, findAsset } from '#api/store/assets.ts';
import { isTrustedNetwork } from '#api/store/database-epoch.ts';
import { findFreeze } from '#api/store/freezes.ts';
import { readBalance } from '#api/store/ledger.ts';
import { type AttemptKind, listAttempts } from '#api/store/payout-attempts.ts';
import { listSettlementPayouts, type StoredPayout } from '#api/store/payouts.ts';
import { findSettlement, type StoredSettlement } from '#api/store/settlements.ts';
import { findDepositIndex, findWalletByAddress, isOwnAddress, type StoredWallet } from '#api/store/wallets.ts';
import { coldAddress, coldLimits, isColdAddress } from '#api/payouts/rules/cold.ts';
import { spendsOutputs } from '#api/payouts/rules/families.ts';
import { checkFee } from '#api/treasury/limits.ts';
import { poolProblem } from '#api/treasury/pool-problem.ts';
import { mostInputs } from '#api/payouts/rules/spending.ts';
import { depositPath, poolAddress, walletAddress } from '#api/payouts/rules/wallets.ts';
import type { SigningRequest, TransferIntent, TransferSigner } from '#shared/chains/chain.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { POOLS, reservedAccount } from '#state-machines/ledger/accounts.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';
import { checkCaps, isOurs } from './caps.ts';
import { checkEarlierPayouts, checkEarlierAttempts } from './check-earlier.ts';
import { checkInputs } from './check-inputs.ts';
import { orderOf } from './journal/describe-entry.ts';
import { refundMismatch } from './check-refund.ts';
import { withheldMismatch } from './check-withheld.ts';

/** One transaction to sign. The order behind the payout proves what it does; the payout's own row is not believed. */
export interface Order {
  /** Name of the order in the journal, made from the id of the row that was proven. */
  order: string;
  path: string;
  /** The sender that the bytes will name: the wallet, or the address of the first input where coins are outputs. */
  sender: string;
  kind: AttemptKind;
  /** The limits were already checked with this amount, when earlier bytes of the same nonce or anchor were signed. */
  counted: boolean;
  request: SigningRequest;
  rawFee: bigint;
  expiresAtMs: number | null;
}

/** `wait`: not now, for a reason that passes or that an operator set. `refuse`: rows contradict each other. */
export type Verdict = { sign: Order } | { wait: string } | { refuse: string };

/**
 * Checks the next bytes of one payout against everything the signer can verify by itself: its keys and configuration, the settlement, the ledger's
 * claim, the limits and the freezes (reliability D15).
 * Locks nothing; call it under the locks of settlement, wallet and payout for a verdict that holds until commit.
 */
export async function checkPayout(deps: Deps, sql: Reads, chain: Chain, signer: TransferSigner, payout: StoredPayout): Promise<Verdict> {
  const stopped = await whatStops(sql, chain, payout);
  if (stopped !== null) return { wait: stopped };
  const wallet = await findWalletByAddress(sql, chain.id, payout.walletAddress);
  if (wallet === undefined || wallet.id !== payout.walletId) return { refuse: 'its wallet is not the one at its address' };
  if (wallet.haltedReason !== null) return { wait: waitReason('wallet_halted', { detail: wallet.haltedReason }) };
  const path = await ownPath(sql, chain, signer, wallet);
  if (path === null) return { refuse: 'the wallet is not at the address its key has' };
  const asset = await findAsset(sql, payout.assetId);
  if (asset === undefined || asset.networkId !== chain.id || asset.contract !== payout.contract || !isAsConfigured(chain, asset))
    return { refuse: 'the asset is not the configured one' };
  if (asset.decimals !== payout.decimals || asset.symbol !== payout.assetSymbol || asset.networkName !== chain.config.name)
    return { refuse: 'its asset reads otherwise from one moment to the next' };

  const native = await nativeAsset(sql, chain.id);
  const { rawFee, fields } = payout.plan;
  if (rawFee === undefined || !/^\d{1,78}$/.test(rawFee) || fields === undefined) return { refuse: 'its plan has no fee' };
  const attempt = await checkEarlierAttempts(sql, chain, payout);
  if (!('kind' in attempt)) return attempt;
  const settlement = payout.purpose === 'settlement' ? await findSettlement(sql, payout.settlementId ?? '') : undefined;
  const mismatch = (await isGivenUp(sql, payout, attempt.kind, settlement)) ? null : await purposeMismatch(deps, sql, chain, payout, wallet, settlement);
  if (mismatch !== null) return typeof mismatch === 'string' ? { refuse: mismatch } : mismatch;
  if (payout.rawAmount <= 0n) return { refuse: 'it moves nothing' };
  // Bytes that share a nonce or an anchor with earlier ones can take away only a higher fee. Bytes that replace expired ones take the whole amount.
  const counted = attempt.kind === 'transfer' && attempt.earlier.length > 0 && attempt.shared;
  const misled = counted || attempt.kind === 'close' ? null : await poolProblem(sql, chain, payout);
  if (misled !== null) return { wait: misled };
  const inputs = spendsOutputs(chain.config.family) ? await checkInputs(sql, chain, signer, { payout, wallet, attempt }) : null;
  if (inputs !== null && !('paths' in inputs)) return inputs;
  const intent = { ...intentOf(payout, wallet, attempt.kind), ...(inputs === null ? {} : { rawAmount: inputs.rawAmount }) };
  const capped = await checkCaps(deps, sql, chain, { ...intent, rawFee: BigInt(rawFee) }, { payoutId: payout.id, counted });
  if (capped !== null) return { wait: capped };
  const locked = settlement === undefined || settlement.feeLocked === null ? null : { coins: settlement.feeLocked, symbol: asset.symbol };
  const spent = mostInputs(chain, [fields, ...attempt.earlier.map((earlier) => earlier.fields)]);
  const fee = await checkFee(deps, { rawFee: BigInt(rawFee), native, inputs: spent }, locked);
  if (fee !== null) return { wait: fee.problem };
  return {
    sign: {
      order: orderOf(payout),
      path,
      sender: inputs === null ? wallet.address : inputs.sender,
      kind: attempt.kind,
      counted,
      rawFee: BigInt(rawFee),
      expiresAtMs: payout.plan.expiresAtMs ?? null,
      request: { intent, nonce: attempt.nonce, fields, ...(inputs === null ? {} : { paths: inputs.paths }) },
    },
  };
}

/**
 * Why nothing of this asset may be signed on this network now, or null: a freeze, a database that may have lost signed payouts, or a paused network
 * (reliability D16).
 * The planner checks the same rows in its own code, so a mistake in only one of the two signs nothing.
 */
async function whatStops(sql: Reads, chain: Chain, { assetId }: StoredPayout): Promise<string | null> {
  const { name } = chain.config;
  const freeze = await findFreeze(sql, { networkName: name, assetId });
  if (freeze !== undefined) return `dispatch is frozen: ${freeze.reason}`;
  if (!(await isTrustedNetwork(sql, name))) return 'the database was restored or taken over, and the chains are still compared with it';
  const asset = await findAsset(sql, assetId);
  return asset?.networkPaused === true ? 'the network is paused' : null;
}

/** Whether the settlement was rejected before any bytes that pay it were signed. The payout's nonce must still be used up, by bytes that pay nothing. */
async function isGivenUp(sql: Reads, { id }: StoredPayout, kind: AttemptKind, settlement: StoredSettlement | undefined): Promise<boolean> {
  return settlement?.status === 'REJECTED' && kind === 'close' && (await listAttempts(sql, id)).every((attempt) => attempt.kind === 'close');
}

/** How a payout contradicts its purpose, or why its order is not proven yet; null when neither. */
async function purposeMismatch(
  deps: Deps,
  sql: Reads,
  chain: Chain,
  payout: StoredPayout,
  wallet: StoredWallet,
  settlement: StoredSettlement | undefined,
): Promise<string | Unproven | null> {
  const { purpose, recipient } = payout;
  const pools = POOLS.map((pool) => poolAddress(chain, pool));
  switch (purpose) {
    case 'settlement':
      return settlement === undefined ? 'its settlement does not exist' : settlementMismatch(deps, sql, chain, payout, wallet, settlement);
    case 'refund':
      return refundMismatch(deps, sql, chain, payout, wallet);
    case 'withheld':
      return withheldMismatch(deps, sql, chain, payout, wallet);
    case 'sweep':
      if (spendsOutputs(chain.config.family)) return 'nothing is swept where coins are outputs';
      return wallet.role === 'deposit' && pools.includes(recipient) ? null : 'a sweep goes from a deposit address to the wallet of a pool';
    case 'held_release':
      return pools.includes(wallet.address) && pools.includes(recipient) && wallet.address !== recipient
        ? null
        : 'coins that follow their payment go from the wallet of one pool to that of the other';
    case 'consolidation':
      // `checkInputs` checks which outputs are joined, and that no coins go elsewhere.
      return spendsOutputs(chain.config.family) && pools.includes(wallet.address) && recipient === wallet.address && payout.contract === null
        ? null
        : 'outputs of a pool are joined at the wallet of that very pool';
    case 'top_up':
      return wallet.role === 'funding' && payout.contract === null && recipient !== wallet.address && (await isOurs(sql, chain, recipient))
        ? null
        : 'a top-up brings native coins from the funding wallet to an address of ours';
    case 'cold':
      return coldMismatch(chain, payout, wallet);
    default:
      return `nothing is signed for the purpose ${purpose}`;
  }
}

/** How a payout contradicts the signer's own configuration of cold storage, or null (decision 0033). */
function coldMismatch(chain: Chain, { recipient, assetSymbol, contract, decimals }: StoredPayout, wallet: StoredWallet): string | null {
  if (coldLimits(chain, { symbol: assetSymbol, contract, decimals }) === null) return 'nothing of its asset goes to cold storage by the signer’s configuration';
  return wallet.role === 'hot' && recipient === coldAddress(chain) ? null : 'excess goes from the hot wallet to the cold address of the signer’s configuration';
}

/** The transfer to sign: what the payout is for, or for a close nothing, from the wallet to itself. */
function intentOf(payout: StoredPayout, { address }: StoredWallet, kind: AttemptKind): TransferIntent {
  return kind === 'close'
    ? { sender: address, recipient: address, contract: null, rawAmount: 0n }
    : { sender: address, recipient: payout.recipient, contract: payout.contract, rawAmount: payout.rawAmount };
}

/** Path of the key of a wallet, if configuration (or the deposit index), the wallet's row and the key all agree; otherwise null. */
async function ownPath(sql: Reads, chain: Chain, signer: TransferSigner, wallet: StoredWallet): Promise<string | null> {
  let path: string;
  if (wallet.role === 'deposit') {
    const index = await findDepositIndex(sql, chain.config.family, wallet.address);
    if (index === undefined || chain.deriver.depositAddress(index) !== wallet.address) return null;
    path = depositPath(chain, index);
  } else {
    if (walletAddress(chain, wallet.role) !== wallet.address) return null;
    path = chain.config.wallets[wallet.role].path;
  }
  return wallet.derivationPath === path && signer.addressAt(path) === wallet.address ? path : null;
}

/**
 * Whether an asset matches the configured one with the same ticker or contract. An asset that an operator added later is only in the database and
 * passes.
 */
function isAsConfigured(chain: Chain, asset: { symbol: string; contract: string | null; decimals: number }): boolean {
  const canonical = (contract: string | null): string | null => {
    if (contract === null) return null;
    const parsed = chain.codec.parse(contract);
    return parsed.ok ? parsed.canonical : contract;
  };
  const configured = chain.config.assets.filter((one) => one.symbol === asset.symbol || canonical(one.contract) === asset.contract);
  return configured.every((one) => one.symbol === asset.symbol && canonical(one.contract) === asset.contract && one.decimals === asset.decimals);
}

/** How a payout contradicts the settlement it pays, or the settlement contradicts what the http role accepted; null when neither. */
async function settlementMismatch(
  deps: Deps,
  sql: Reads,
  chain: Chain,
  payout: StoredPayout,
  wallet: StoredWallet,
  settlement: StoredSettlement,
): Promise<string | Unproven | null> {
  const { netAmount, feeLocked } = settlement;
  if (settlement.id !== payout.settlementId) return 'its settlement has another id';
  if (settlement.networkId !== chain.id || settlement.assetId !== payout.assetId) return 'its asset is not the settlement’s';
  // The http role's statement is compared with the settlement, but the bytes are made from the payout: both must name the same asset.
  if (settlement.contract !== payout.contract || settlement.decimals !== payout.decimals || settlement.networkName !== chain.config.name)
    return 'its asset reads otherwise than the settlement’s';
  if (wallet.role !== (settlement.pool === 'held' ? 'held' : 'hot')) return 'its wallet does not pay this pool';
  const earlier = await checkEarlierPayouts(sql, chain, payout, await listSettlementPayouts(sql, settlement.id));
  if ('problem' in earlier) return earlier.problem;
  const unsent = earlier.number === 1 && payout.status !== 'REPLACING';
  if (settlement.status !== (unsent ? 'REQUESTED' : 'PROCESSING'))
    return `a settlement that is ${settlement.status} is not paid by payout number ${payout.family}`;
  const parsed = chain.codec.parse(settlement.address);
  if (!parsed.ok || parsed.canonical !== payout.recipient || settlement.canonicalAddress !== payout.recipient) return 'its destination is not the settlement’s';
  if (isColdAddress(deps, chain.config.family, payout.recipient) || (await isOwnAddress(sql, chain.config.family, payout.recipient)))
    return 'its destination is one of our own addresses';
  if (netAmount === null || feeLocked === null || netAmount + feeLocked !== settlement.amount) return 'the settlement’s amounts do not add up';
  if (feeLocked < 0n || netAmount <= 0n) return 'the settlement’s fee is not between nothing and its amount';
  // The http role's statement proves the settlement's row, and the row proves the payout.
  const unproven = await cashoutProblem(sql, deps, settlement);
  if (unproven !== null) return unproven;
  if (parseTrusted<'asset'>(settlement.amountText) !== settlement.amount) return 'the settlement’s amount is not what was asked for';
  if (toUnits(netAmount, payout.decimals) !== payout.rawAmount) return 'its amount is not the settlement’s';
  const reserved = await readBalance(sql, { ...reservedAccount(settlement.gatewayId, settlement.id), assetId: settlement.assetId });
  return reserved === settlement.amount ? null : 'the ledger does not hold the settlement’s claim';
}
