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
import { checkCaps, isOurs } from './caps.ts';
import { checkEarlierPayouts, checkEarlierAttempts } from './check-earlier.ts';
import { checkInputs } from './check-inputs.ts';
import { orderOf } from './journal/describe-entry.ts';
import { refundMismatch } from './check-refund.ts';
import { withheldMismatch } from './check-withheld.ts';

/** What the signer signs, as the order behind the payout proves it, and never on the word of the payout's own row. */
export interface Order {
  /** What it pays, as the journal calls it: by the id of the very row that was proven. */
  order: string;
  path: string;
  /** The sender that the bytes will name: the wallet, or where coins are outputs the address of the first. */
  sender: string;
  kind: AttemptKind;
  /** The limits were held against its amount when earlier bytes of its nonce or its anchor were signed. */
  counted: boolean;
  request: SigningRequest;
  rawFee: bigint;
  expiresAtMs: number | null;
}

/** `wait`: not now, for a reason that passes or that an operator set. `refuse`: the rows contradict each other. */
export type Verdict = { sign: Order } | { wait: string } | { refuse: string };

/**
 * Checks the next bytes of one payout against everything the signer can know by itself: its own keys and configuration, the
 * settlement, the ledger's claim, the limits and the freeze switch (reliability D15).
 * Locks nothing; call it under the locks of settlement, wallet and payout for a verdict that holds until commit.
 */
export async function checkPayout(deps: Deps, sql: Reads, chain: Chain, signer: TransferSigner, payout: StoredPayout): Promise<Verdict> {
  const stopped = await whatStops(sql, chain, payout);
  if (stopped !== null) return { wait: stopped };
  const wallet = await findWalletByAddress(sql, chain.id, payout.walletAddress);
  if (wallet === undefined || wallet.id !== payout.walletId) return { refuse: 'its wallet is not the one at its address' };
  if (wallet.haltedReason !== null) return { wait: `the wallet is halted: ${wallet.haltedReason}` };
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
  // Bytes that share a nonce or an anchor with earlier ones take nothing away but a higher fee; in place of expired ones they take it all.
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
 * Why nothing of an asset may be signed on a network right now, or null: a freeze, a history that may have lost what was signed, or a
 * paused network (reliability D16). The planner reads the same rows by itself, so that a mistake of one of the two signs nothing.
 */
async function whatStops(sql: Reads, chain: Chain, { assetId }: StoredPayout): Promise<string | null> {
  const { name } = chain.config;
  const freeze = await findFreeze(sql, { networkName: name, assetId });
  if (freeze !== undefined) return `dispatch is frozen: ${freeze.reason}`;
  if (!(await isTrustedNetwork(sql, name))) return 'the database was restored or taken over, and the chains are still compared with it';
  const asset = await findAsset(sql, assetId);
  return asset?.networkPaused === true ? 'the network is paused' : null;
}

/** Whether its settlement was rejected before any bytes that pay it were signed. Its nonce must still be used up, by bytes that pay nothing. */
async function isGivenUp(sql: Reads, { id }: StoredPayout, kind: AttemptKind, settlement: StoredSettlement | undefined): Promise<boolean> {
  return settlement?.status === 'REJECTED' && kind === 'close' && (await listAttempts(sql, id)).every((attempt) => attempt.kind === 'close');
}

/** How a payout contradicts its purpose, or why its order is not proven yet, or null. */
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
      // Which outputs, and that nothing of them goes elsewhere, is looked at with the inputs.
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

/** How a payout contradicts this signer's own configuration of cold storage, or null (decision 0033). */
function coldMismatch(chain: Chain, { recipient, assetSymbol, contract, decimals }: StoredPayout, wallet: StoredWallet): string | null {
  if (coldLimits(chain, { symbol: assetSymbol, contract, decimals }) === null) return 'nothing of its asset goes to cold storage by the signer’s configuration';
  return wallet.role === 'hot' && recipient === coldAddress(chain) ? null : 'excess goes from the hot wallet to the cold address of the signer’s configuration';
}

/** What the bytes are to do: what the payout is for, or nothing at all, from the wallet to itself. */
function intentOf(payout: StoredPayout, { address }: StoredWallet, kind: AttemptKind): TransferIntent {
  return kind === 'close'
    ? { sender: address, recipient: address, contract: null, rawAmount: 0n }
    : { sender: address, recipient: payout.recipient, contract: payout.contract, rawAmount: payout.rawAmount };
}

/** Path of the key that a wallet row names, when configuration (or the deposit index), the row and the key itself all agree. */
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

/** A configured ticker or contract must be what the configuration says; assets an operator added later are only in the database. */
function isAsConfigured(chain: Chain, asset: { symbol: string; contract: string | null; decimals: number }): boolean {
  const canonical = (contract: string | null): string | null => {
    if (contract === null) return null;
    const parsed = chain.codec.parse(contract);
    return parsed.ok ? parsed.canonical : contract;
  };
  const configured = chain.config.assets.filter((one) => one.symbol === asset.symbol || canonical(one.contract) === asset.contract);
  return configured.every((one) => one.symbol === asset.symbol && canonical(one.contract) === asset.contract && one.decimals === asset.decimals);
}

/** What in a payout contradicts the settlement it says it pays, and in that what the http role accepted, or null. */
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
  // The words that were accepted are held against the settlement as it reads, and the bytes are made of the payout.
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
