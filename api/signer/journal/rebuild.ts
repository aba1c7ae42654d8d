import type { Chain } from '#api/deps.ts';
import { findPayout } from '#api/store/payouts.ts';
import { type BookedAttempt, pageAttempts } from '#api/store/signer-journal.ts';
import { coldAddress } from '#api/payouts/rules/cold.ts';
import { WALLET_ROLES, walletAddress } from '#api/payouts/rules/wallets.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { decoderOf } from '#shared/chains/payers.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { isOurs } from '../caps.ts';
import type { JournalEntry } from '../journal-entry.ts';
import { describeEntry, orderOf } from './describe-entry.ts';

const AT_ONCE = 1_000;

/** The parts of a chain needed to read what was signed on it. */
export type RebuildingChain = Pick<Chain, 'id' | 'config' | 'codec' | 'deriver' | 'payer'>;

/** A rebuilt journal, and how it differs from the old one. */
export interface Rebuilt {
  entries: JournalEntry[];
  /** How many signatures only the old journal held: our rows do not know of them. */
  onlyInJournal: number;
  /** Transaction ids of the signatures that our rows hold and the old journal did not. */
  onlyInBooks: string[];
  /** For each wallet with nonces: how many the chain has used, null when no node answered, and how many the rebuilt journal accounts for. */
  wallets: { network: string; role: string; usedByChain: number | null; knownUpTo: number }[];
}

/**
 * Makes a journal of every entry of the old one and every signature in our rows, read from the signed bytes.
 * It also asks each chain how many nonces our wallets have used, so that people see whether there are signatures that neither source knows of.
 * Locks nothing.
 * @throws Error naming bytes in our rows that cannot be read, or whose network is not configured
 */
export async function rebuildJournal(sql: Reads, chains: ReadonlyMap<string, RebuildingChain>, old: readonly JournalEntry[]): Promise<Rebuilt> {
  const known = new Set(old.map(({ txid }) => txid));
  const booked = new Set<string>();
  const added: JournalEntry[] = [];
  for (let after: string | null = null; ; ) {
    const page: BookedAttempt[] = await pageAttempts(sql, after, AT_ONCE);
    for (const attempt of page) {
      booked.add(attempt.txid);
      if (!known.has(attempt.txid)) added.push(await entryFromBooks(sql, chains, attempt));
    }
    after = page.at(-1)?.id ?? null;
    if (page.length < AT_ONCE) break;
  }
  added.sort((a, b) => a.signedAtMs - b.signedAtMs);
  const entries = [...old, ...added];
  return {
    entries,
    onlyInJournal: old.filter(({ txid }) => !booked.has(txid)).length,
    onlyInBooks: added.map(({ txid }) => txid),
    wallets: await askChains(chains, entries),
  };
}

async function entryFromBooks(sql: Reads, chains: ReadonlyMap<string, RebuildingChain>, attempt: BookedAttempt): Promise<JournalEntry> {
  const payout = await findPayout(sql, attempt.payoutId);
  const chain = payout && chains.get(payout.networkName);
  if (payout === undefined || chain === undefined)
    throw new Error(`${attempt.txid} was signed on a network that is not configured: ${payout?.networkName ?? 'unknown'}`);
  const decoded = await decoderOf(chain.config)(attempt.signedBytes);
  return describeEntry(chain, { id: payout.id, order: orderOf(payout) }, decoded, {
    kind: attempt.kind,
    rawFee: attempt.rawFeeLimit,
    leaves: decoded.recipient !== coldAddress(chain) && !(await isOurs(sql, chain, decoded.recipient)),
    expiresAtMs: decoded.expiresAtMs,
    signedAtMs: attempt.createdAt.getTime(),
  });
}

async function askChains(chains: ReadonlyMap<string, RebuildingChain>, entries: readonly JournalEntry[]): Promise<Rebuilt['wallets']> {
  const upTo = new Map<string, number>();
  for (const { network, slot } of entries) {
    const [kind, sender, nonce] = slot.split(':');
    if (kind === 'nonce') upTo.set(`${network} ${sender}`, Math.max(upTo.get(`${network} ${sender}`) ?? 0, Number(nonce) + 1));
  }
  const asked: Rebuilt['wallets'] = [];
  for (const chain of chains.values()) {
    const network = chain.config.name;
    for (const role of WALLET_ROLES) {
      const address = walletAddress(chain, role);
      const used = await usedNonces(chain, address);
      if (used !== 'none') asked.push({ network, role, usedByChain: used, knownUpTo: upTo.get(`${network} ${address}`) ?? 0 });
    }
  }
  return asked;
}

/** How many nonces of an address the chain has used; null when no node answers, `none` where accounts have no nonces. */
async function usedNonces({ payer }: RebuildingChain, address: string): Promise<number | null | 'none'> {
  try {
    return (await payer.nonce(address)) ?? 'none';
  } catch (error) {
    if (error instanceof ChainUnavailable) return null;
    throw error;
  }
}
