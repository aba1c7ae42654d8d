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

/** Providers that do not answer in time are asked again later: other networks' payouts wait for the signer too. */
const ANSWER_MS = 5_000;
const DAY_MS = 86_400_000;

/**
 * Why bytes of one slot that were signed for an order might still pay it, or null when none of them ever will (decisions 10): two providers say
 * so of their own final blocks, asked by the signer itself, or two people do and no provider contradicts them. `signed` is everything of the
 * slot that the journal knows, for whatever order: what took the place of the order's own bytes proves most. Asks over the network: call it
 * with nothing locked.
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
  // Where bytes just expire each has a slot of its own.
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
  // Every answer that arrived by then counts; a payment seen by one provider decides.
  const told = new Map<string, Fate>();
  await Promise.race([chain.reader.fates(question, chain.config.finality.mature, told), pause(ANSWER_MS, undefined, { ref: false })]);
  return new Map(told);
}

/** How far back a node is sure to know where a transaction is. */
function rememberedMs({ config }: Chain): number {
  return Math.min(POLICY.absenceProvesDays * DAY_MS, POLICY.absenceProvesBlocks * config.blockSeconds * 1_000);
}

/**
 * Whether two different people said so, in words that only the http role can sign, and of all of it: what was signed in the slot later, such as for an
 * order that came after, they did not speak of.
 */
async function isDeclaredDead({ db, config }: Deps, signed: readonly JournalEntry[]): Promise<boolean> {
  const about = { kind: DEATH, subject: deathSubject(signed[0] as JournalEntry) };
  const said = await heard(db.sql, { config }, about);
  const newest = Math.max(...signed.map(({ signedAtMs }) => signedAtMs));
  return said.some(
    (one) => typeof one.proposedBy === 'string' && typeof one.confirmedBy === 'string' && one.proposedBy !== one.confirmedBy && newest <= Number(one.at),
  );
}
