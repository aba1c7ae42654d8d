import { setTimeout as pause } from 'node:timers/promises';
import type { Chain, Deps } from '#api/deps.ts';
import { heard } from '#api/intents/say.ts';
import { listSpenders } from '#api/store/outputs.ts';
import { findSightedBlock } from '#api/store/sightings.ts';
import { outpointOf } from '#api/payouts/rules/spending.ts';
import type { Fate } from '#shared/chains/ask-fate.ts';
import { POLICY } from '#shared/core/policy.ts';
import { DEATH, deathSubject } from './death.ts';
import type { JournalEntry } from './journal-entry.ts';

/** Providers get this long to answer and are asked again later, because other payouts of its network wait meanwhile. */
const ANSWER_MS = 5_000;
const DAY_MS = 86_400_000;

/**
 * Why the bytes signed for an order in one slot might still pay it, or null when none of them ever will (decisions 10).
 * Either enough providers (two in production unless configured otherwise) say so of their own final blocks, asked by the signer itself, or two
 * people say so and no provider saw a payment. `signed` is everything that the journal holds for the slot, for any order: what replaced the order's
 * own bytes proves most. Asks over the network; call it with nothing locked.
 */
export async function proveDead(deps: Deps, chain: Chain, order: string, signed: readonly JournalEntry[]): Promise<string | null> {
  const [first] = signed;
  if (first === undefined) return null;
  const told = await askProviders(deps, chain, order, signed);
  const declared = await isDeclaredDead(deps, signed);
  const { deathWitnesses = deps.config.NODE_ENV === 'production' ? POLICY.deathWitnesses : 1 } = chain.config;
  return judgeFates(told, { witnesses: deathWitnesses, declared, slot: first.slot });
}

/** Combines the answers of all providers: a single provider that saw a payment outweighs all others. Pure. */
export function judgeFates(
  told: ReadonlyMap<string, Fate>,
  { witnesses, declared, slot }: { witnesses: number; declared: boolean; slot: string },
): string | null {
  for (const [provider, fate] of told) if (fate.is === 'paid') return `transaction ${fate.txid} has paid it, says ${provider}`;
  const dead = [...told.values()].filter(({ is }) => is === 'dead').length;
  if (declared || dead >= witnesses) return null;
  const open = [...told].flatMap(([provider, fate]) => (fate.is === 'open' ? [`${provider} says that ${fate.why}`] : []));
  const said = open.length > 0 ? open.join(', ') : `${dead} of ${witnesses} providers say that it will not`;
  return `what was signed for it before (${slot}) may still be mined: ${said}`;
}

async function askProviders(deps: Deps, chain: Chain, order: string, signed: readonly JournalEntry[]): Promise<ReadonlyMap<string, Fate>> {
  const [first] = signed as [JournalEntry];
  const [, sender = '', nonce = ''] = /^nonce:(.+):(\d+)$/.exec(first.slot) ?? [];
  const [, output = ''] = /^output:(.+)$/.exec(first.slot) ?? [];
  // Where bytes only expire, each has a slot of its own.
  const ends = signed.map(({ expiresAtMs }) => expiresAtMs);
  const expiresAtMs = ends.every((end) => end !== null) ? Math.max(...(ends as number[])) : null;
  const bytes = await Promise.all(
    signed.map(async (one) => {
      const { txid, sender, recipient, contract } = one;
      const inBlock = await findSightedBlock(deps.db.sql, chain.id, txid);
      const kind = one.order === order ? one.kind : ('close' as const);
      return { txid, kind, sender, recipient, contract, inBlock };
    }),
  );
  const question = {
    signed: bytes,
    anchor: output === '' ? null : { output, spenders: await listSpenders(deps.db.sql, chain.id, outpointOf(output)) },
    nonce: nonce === '' ? null : { sender, nonce: Number(nonce) },
    expiresAtMs,
    absenceCounts: signed.every(({ signedAtMs }) => signedAtMs > Date.now() - rememberedMs(chain)),
  };
  // Only answers that arrive in time count.
  const told = new Map<string, Fate>();
  await Promise.race([chain.reader.fates(question, chain.config.finality.mature, told), pause(ANSWER_MS, undefined, { ref: false })]);
  return new Map(told);
}

/** How far back, in milliseconds, nodes reliably know whether a transaction was mined. */
function rememberedMs({ config }: Chain): number {
  return Math.min(POLICY.absenceProvesDays * DAY_MS, POLICY.absenceProvesBlocks * config.blockSeconds * 1_000);
}

/**
 * Whether two different people declared the slot dead, in a statement that only the http role can sign, after its newest signature.
 * A statement does not cover what was signed in the slot later, for example for another order.
 */
async function isDeclaredDead({ db, config }: Deps, signed: readonly JournalEntry[]): Promise<boolean> {
  const about = { kind: DEATH, subject: deathSubject(signed[0] as JournalEntry) };
  const said = await heard(db.sql, { config }, about);
  const newest = Math.max(...signed.map(({ signedAtMs }) => signedAtMs));
  return said.some(
    (one) => typeof one.proposedBy === 'string' && typeof one.confirmedBy === 'string' && one.proposedBy !== one.confirmedBy && newest <= Number(one.at),
  );
}
