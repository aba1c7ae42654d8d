import type { Sql } from '#shared/platform/postgres.ts';
import type { IndexerDeps, LeftUnit, Life, Purpose, Unit } from './life.ts';

/** A process may be killed for many reasons; a single block is read in full twice before something is left out of it. */
const DEATHS_BEFORE_LEAN = 2;

/** Care with what a life died of (decision 0030): written before it is read, so that the next life knows. */
export interface Caution {
  /** Most blocks to read together from `height` on. */
  most(height: number): number;
  /** Whether one block is to be read without what can be left out. */
  isLean(height: number): boolean;
  /** Writes what is about to be read, unless that was the last thing written. */
  begin(unit: Unit): Promise<void>;
  /** Forgets it: this life was told to stop, which proves nothing against what it was reading. */
  forget(): Promise<void>;
}

/** The care of one life; `left` is what the one before it left. */
export function createCaution(
  deps: Pick<IndexerDeps, 'sql' | 'log' | 'holder'>,
  life: Pick<Life, 'networkId' | 'epoch' | 'noteWithPulse'>,
  purpose: Purpose,
  left: LeftUnit | null,
): Caution {
  const of = (height: number): LeftUnit | null => (left !== null && left.from <= height && height <= left.to ? left : null);
  /** What is written, or being written, and when it is. */
  let noted: { unit: Unit | null; written: Promise<void> } = { unit: null, written: Promise.resolve() };
  const write = async (unit: LeftUnit | null, after: Promise<void>): Promise<void> => {
    await after;
    try {
      const note = unit === null ? null : JSON.stringify({ ...unit, by: deps.holder } satisfies NotedUnit);
      if (purpose === 'following' && note !== null && (await life.noteWithPulse?.(note)) === true) return;
      await writeUnit(deps.sql, { networkId: life.networkId, holder: deps.holder, epoch: life.epoch }, purpose, note);
    } catch (error) {
      // Without the database nothing is published either; what is read meanwhile is read again.
      deps.log.debug({ err: error }, 'what is about to be read is not noted');
      if (noted.unit?.from === unit?.from) noted = { ...noted, unit: null };
    }
  };
  return {
    most(height) {
      const died = of(height);
      return died === null ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor((died.to - died.from + 1) / 2));
    },
    isLean(height) {
      const died = of(height);
      return died !== null && died.from === died.to && died.deaths >= DEATHS_BEFORE_LEAN;
    },
    async begin(unit) {
      if (noted.unit?.from !== unit.from || noted.unit.to !== unit.to) {
        const deaths = left !== null && left.from === unit.from && left.to === unit.to ? left.deaths : 0;
        noted = { unit, written: write({ ...unit, deaths }, noted.written) };
      }
      await noted.written;
    },
    forget: () => write(null, noted.written),
  };
}

/** What a life that ended was reading, by purpose; nothing of it when that life was this very process, which is alive. */
export async function readLeft(sql: Sql, networkId: string, holder: string): Promise<Record<Purpose, LeftUnit | null>> {
  const [row] = await sql<{ following: NotedUnit | null; rescanning: NotedUnit | null }[]>`
    select reading as following, rereading as rescanning from indexer_leases where network_id = ${networkId}`;
  const died = (unit: NotedUnit | null | undefined): LeftUnit | null =>
    unit === null || unit === undefined || unit.by === holder ? null : { from: unit.from, to: unit.to, deaths: unit.deaths + 1 };
  return { following: died(row?.following), rescanning: died(row?.rescanning) };
}

/** A unit with the process that reads it, as it stands in the lease. */
type NotedUnit = LeftUnit & { by: string };

/**
 * Locks the lease row; does nothing once another process holds it, or this one under another epoch. Does not wait for Postgres to have it on disk: it is there
 * for whoever comes after this process, and where Postgres itself fell a block is at most read in full once more (decision 0098).
 */
async function writeUnit(sql: Sql, lease: { networkId: string; holder: string; epoch: number }, purpose: Purpose, noted: string | null): Promise<void> {
  const { networkId, holder, epoch } = lease;
  if (purpose === 'following')
    await sql`update indexer_leases set reading = ${noted}::text::jsonb
      where network_id = ${networkId} and holder = ${holder} and epoch = ${epoch} and (select set_config('synchronous_commit', 'off', true)) is not null`;
  else
    await sql`update indexer_leases set rereading = ${noted}::text::jsonb
      where network_id = ${networkId} and holder = ${holder} and epoch = ${epoch} and (select set_config('synchronous_commit', 'off', true)) is not null`;
}
