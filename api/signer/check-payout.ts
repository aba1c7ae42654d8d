import type { Chain, Deps } from '#api/deps.ts';
import { isIntended } from '#api/settlements/intent.ts';
import { nativeAsset } from '#api/settlements/quote-fee.ts';
import { findAsset } from '#api/store/assets.ts';
import { readBalance } from '#api/store/ledger.ts';
import type { AttemptKind } from '#api/store/payout-attempts.ts';
import { listFamilies, type StoredPayout } from '#api/store/payouts.ts';
import { findSettlement, type StoredSettlement } from '#api/store/settlements.ts';
import { findDepositIndex, findWalletByAddress, isOwnAddress, type StoredWallet } from '#api/store/wallets.ts';
import { closedReason } from '#api/treasury/closed.ts';
import { checkFee, checkLimits, checkTopUp } from '#api/treasury/limits.ts';
import { depositPath, walletAddress } from '#api/treasury/wallets.ts';
import type { SigningRequest, TransferIntent, TransferSigner } from '#shared/chains/chain.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { reservedAccount } from '#state-machines/ledger/accounts.ts';
import { checkFamily, familyProblem } from './check-family.ts';

/** What is to be signed, built from what the payout is for and never from the payout's own word. */
export interface Order {
  path: string;
  kind: AttemptKind;
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
  const closed = await closedReason(sql, { networkName: chain.config.name, assetId: payout.assetId });
  if (closed !== null) return { wait: closed };
  const wallet = await findWalletByAddress(sql, chain.id, payout.walletAddress);
  if (wallet === undefined || wallet.id !== payout.walletId) return { refuse: 'its wallet is not the one at its address' };
  if (wallet.haltedReason !== null) return { wait: `the wallet is halted: ${wallet.haltedReason}` };
  const path = await ownPath(sql, chain, signer, wallet);
  if (path === null) return { refuse: 'the wallet is not at the address its key has' };
  const asset = await findAsset(sql, payout.assetId);
  if (asset === undefined || asset.networkId !== chain.id || asset.contract !== payout.contract || !isAsConfigured(chain, asset))
    return { refuse: 'the asset is not the configured one' };

  const native = await nativeAsset(sql, chain.id);
  const { rawFee, fields } = payout.plan;
  if (rawFee === undefined || !/^\d{1,78}$/.test(rawFee) || fields === undefined) return { refuse: 'its plan has no fee' };
  const family = await checkFamily(deps, sql, chain, payout);
  if (!('kind' in family)) return family;
  // Bytes that share a nonce with earlier ones take nothing away but a higher fee; in place of expired ones they take it all.
  const onlyFee = payout.purpose !== 'settlement' || family.kind === 'close' || (family.earlier > 0 && family.nonce !== null);
  let settlement: StoredSettlement | undefined;
  if (payout.purpose === 'settlement') {
    settlement = await findSettlement(sql, payout.settlementId ?? '');
    const mismatch = settlement === undefined ? 'its settlement does not exist' : await settlementMismatch(deps, sql, chain, payout, wallet, settlement);
    if (mismatch !== null) return { refuse: mismatch };
  } else if (payout.purpose === 'sweep') {
    if (wallet.role !== 'deposit' || payout.recipient !== walletAddress(chain, 'hot'))
      return { refuse: 'a sweep goes from a deposit address to the hot wallet' };
  } else if (payout.purpose === 'top_up') {
    const known = payout.recipient === walletAddress(chain, 'hot') || (await isDepositAddress(sql, chain, payout.recipient));
    if (wallet.role !== 'funding' || payout.contract !== null || !known)
      return { refuse: 'a top-up brings native coins from the funding wallet to an address of ours' };
    const limit = await checkTopUp(deps, { symbol: native.symbol, decimals: native.decimals, rawAmount: payout.rawAmount });
    // A price may have passed the ceiling since it was planned, so that nobody has tampered with anything.
    if (limit !== null) return { wait: limit.problem };
  } else {
    return { refuse: `nothing is signed for the purpose ${payout.purpose}` };
  }
  if (payout.rawAmount <= 0n) return { refuse: 'it moves nothing' };
  // Between our own addresses only the fee leaves us.
  const leaving = onlyFee
    ? { symbol: native.symbol, decimals: native.decimals, rawAmount: BigInt(rawFee) }
    : { symbol: asset.symbol, decimals: asset.decimals, rawAmount: payout.rawAmount };
  const limit = await checkLimits(deps, sql, chain, { ...leaving, planned: false, except: payout.id });
  if (limit !== null) return { wait: limit.problem };
  const locked = settlement === undefined || settlement.feeLocked === null ? null : { coins: settlement.feeLocked, symbol: asset.symbol };
  const fee = await checkFee(deps, { rawFee: BigInt(rawFee), native }, locked);
  if (fee !== null) return { wait: fee.problem };
  return {
    sign: {
      path,
      kind: family.kind,
      rawFee: BigInt(rawFee),
      expiresAtMs: payout.plan.expiresAtMs ?? null,
      request: { intent: intentOf(payout, wallet, family.kind), nonce: family.nonce, fields },
    },
  };
}

/** What the bytes are to do: what the payout is for, or nothing at all, from the wallet to itself. */
function intentOf(payout: StoredPayout, { address }: StoredWallet, kind: AttemptKind): TransferIntent {
  return kind === 'close'
    ? { sender: address, recipient: address, contract: null, rawAmount: 0n }
    : { sender: address, recipient: payout.recipient, contract: payout.contract, rawAmount: payout.rawAmount };
}

/** Path of the key a wallet row claims, when configuration (or the deposit index), the row and the key itself all agree. */
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

async function isDepositAddress(sql: Reads, chain: Chain, address: string): Promise<boolean> {
  const index = await findDepositIndex(sql, chain.config.family, address);
  return index !== undefined && chain.deriver.depositAddress(index) === address;
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

/** What in a payout contradicts the settlement it says it pays, or null. */
async function settlementMismatch(
  deps: Deps,
  sql: Reads,
  chain: Chain,
  payout: StoredPayout,
  wallet: StoredWallet,
  settlement: StoredSettlement,
): Promise<string | null> {
  const { netAmount, feeLocked } = settlement;
  if (settlement.networkId !== chain.id || settlement.assetId !== payout.assetId) return 'its asset is not the settlement’s';
  if (wallet.role !== (settlement.pool === 'held' ? 'held' : 'hot')) return 'its wallet does not pay this pool';
  const families = await listFamilies(sql, settlement.id);
  const others = families.filter((family) => family.id !== payout.id);
  for (const other of others) {
    const problem = await familyProblem(sql, chain, other);
    if (problem !== null) return problem;
  }
  const failed = others.filter((family) => family.status === 'FAILED');
  const unpaid = payout.status === 'REPLACING' ? 'PROCESSING' : 'REQUESTED';
  const first = settlement.status === unpaid && payout.family === 1 && failed.length === 0;
  const second = settlement.status === 'PROCESSING' && payout.family === 2 && failed.length === 1 && failed[0]?.family === 1 && failed[0].plan.repay === true;
  if (!first && !second) return `a settlement that is ${settlement.status} is not paid by family ${payout.family}`;
  const parsed = chain.codec.parse(settlement.address);
  if (!parsed.ok || parsed.canonical !== payout.recipient || settlement.canonicalAddress !== payout.recipient) return 'its destination is not the settlement’s';
  if (await isOwnAddress(sql, chain.config.family, payout.recipient)) return 'its destination is one of our own addresses';
  if (netAmount === null || feeLocked === null || netAmount + feeLocked !== settlement.amount) return 'the settlement’s amounts do not add up';
  const { id: settlementId, gatewayId, assetId, networkId, pool, amount } = settlement;
  const intent = pool === null ? null : { settlementId, gatewayId, assetId, networkId, recipient: payout.recipient, pool, amount, feeLocked };
  if (intent === null || !isIntended(deps.config.SLUICE_MASTER_KEY, intent, settlement.intentMac)) return 'the settlement is not what was claimed';
  if (parseTrusted<'asset'>(settlement.amountText) !== settlement.amount) return 'the settlement’s amount is not what was asked for';
  if (toUnits(netAmount, payout.decimals) !== payout.rawAmount) return 'its amount is not the settlement’s';
  const reserved = await readBalance(sql, { ...reservedAccount(settlement.gatewayId, settlement.id), assetId: settlement.assetId });
  return reserved === settlement.amount ? null : 'the ledger does not hold the settlement’s claim';
}
