import type { Deps } from '#api/deps.ts';
import {
  type Changed,
  deleteChangesBefore,
  deleteMark,
  type Horizon,
  lockMarks,
  readChanged,
  readHorizonAndMarks,
  replaceMarks,
  type StoredMark,
  upsertMarks,
} from '#api/store/audit-marks.ts';
import { insertFreeze } from '#api/store/freezes.ts';
import { listImbalances } from '#api/store/ledger.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { toldOf } from '#shared/platform/database-problems.ts';
import { type KeyRing, masterKeys } from '#shared/platform/key-ring.ts';
import type { Database } from '#shared/platform/postgres.ts';
import { fingerprintOf, isGood, macOfMark } from './audit-mark.ts';
import { auditPolicy, type Check } from './check.ts';
import { CHECKS } from './checks.ts';
import { KEPT_CHECKS } from './kept-checks.ts';
import { runCheck, runChecks } from './run-audit.ts';

/**
 * Runs the audit and stops all dispatch when it finds something (reliability D24); only an operator lifts the freeze. A check that work
 * in progress can trip for a moment must fail twice in a row: `failedLastTime` is kept from call to call. Answers how many rows violate it.
 * A check with a good mark looks at what changed since; one without looks at everything, and then has one (decision 0054).
 */
export async function auditAndFreeze(deps: Deps, failedLastTime: Set<string>): Promise<number> {
  const pass = await begin(deps);
  let violations = 0;
  const clean: Passed[] = [];
  const wholeAt: number[] = [];
  const asked: { check: Check; mark: StoredMark | undefined; changed: Changed | undefined }[] = [];
  for (const check of CHECKS) {
    const mark = pass.marks.get(check.name);
    asked.push({ check, mark, changed: mark === undefined ? undefined : await pass.changedSince(mark.since) });
  }
  const together = await runTogether(
    deps,
    asked.filter(({ check, changed }) => changed !== undefined || check.ofChanged === undefined),
  );
  // What was found stops dispatch before anything else is asked, which may take long.
  for (const { check, mark, changed } of asked.toSorted((one, other) => Number(together.has(other.check)) - Number(together.has(one.check)))) {
    const whole = changed === undefined;
    const rows = together.get(check) ?? (await runAlone(deps, check, changed));
    const lasting = !check.mayPass || failedLastTime.has(check.name);
    if (rows.length === 0) failedLastTime.delete(check.name);
    else failedLastTime.add(check.name);
    if (check.ofChanged !== undefined) wholeAt.push(whole ? (rows.length === 0 ? deps.wallClock() : 0) : (mark?.wholeAt.getTime() ?? 0));
    if (rows.length === 0 && check.ofChanged !== undefined && (whole || !isNothing(changed))) clean.push({ check, whole, was: mark });
    if (rows.length === 0 || !lasting) continue;
    violations += rows.length;
    await freeze(deps, check, rows);
    // What is wrong among what did not change is found again by looking at everything alone, until nobody finds it.
    if (whole) await deleteMark(deps.db.sql, check.name);
  }
  await moveMarks(deps, pass, clean);
  for (const { symbol, imbalance } of await listImbalances(deps.db.sql, asked.find(({ check }) => check.name === 'A1')?.changed?.ledger))
    deps.metrics?.ledgerImbalance.set({ asset: symbol }, Number(imbalance));
  deps.metrics?.ledgerCheckTimestamp.set(deps.wallClock() / 1_000);
  // What is wrong by looking at everything was told; how old the look before it is, nobody knows any more.
  if (!wholeAt.includes(0)) deps.metrics?.ledgerWholeCheckTimestamp.set(Math.min(...wholeAt) / 1_000);
  return violations;
}

/**
 * Looks at everything with each check that did so longest ago: once a night, and by day only where a night was missed. What it finds stops dispatch, and is looked for
 * among everything each minute from then on; figures that only inform stop nothing, and are looked at again next night. Answers how many rows violate the audit.
 */
export async function auditEverything(deps: Deps): Promise<number> {
  const { marks } = await begin(deps);
  const marked = AT_NIGHT.map((check) => ({ check, mark: marks.get(check.name) }));
  let violations = 0;
  for (const { check, mark } of marked) {
    // Without a mark the minute's audit looks at everything, unless it leaves the check to the night.
    if (mark === undefined ? !KEPT_CHECKS.includes(check) : !isDue(deps.wallClock(), mark.wholeAt.getTime())) continue;
    const pass = await begin(deps);
    const rows = await runWhole(deps, check);
    violations += rows.length;
    if (rows.length > 0) await freeze(deps, check, rows);
    if (check.onlyInforms) deps.metrics?.keptFiguresWrong.set(rows.length);
    // Looking reads everything there is: what only informs is looked at again next night, wrong or not.
    if (rows.length === 0 || check.onlyInforms) await moveMarks(deps, pass, [{ check, whole: true, was: mark }]);
    else await deleteMark(deps.db.sql, check.name);
  }
  return violations;
}

/** Gives up what every mark has passed, a day after it was written; answers how many rows it was. */
export async function forgetAudited(deps: Deps): Promise<number> {
  const { marks } = await begin(deps);
  const ofMinutes = CHECKS.flatMap(({ name }) => marks.get(name) ?? []);
  const passed = ofMinutes.map(({ since }) => BigInt(since)).sort((a, b) => (a < b ? -1 : 1));
  return passed[0] === undefined ? 0 : deleteChangesBefore(deps.db.sql, passed[0].toString());
}

/** What is asked about everything at night. */
const AT_NIGHT = [...CHECKS.filter((check) => check.ofChanged !== undefined), ...KEPT_CHECKS];

const HOUR_MS = 3_600_000;

function isDue(nowMs: number, wholeAtMs: number): boolean {
  const hours = (nowMs - wholeAtMs) / HOUR_MS;
  const hour = new Date(nowMs).getUTCHours();
  const { auditNight, auditWholeHours, auditMissedHours } = POLICY;
  return hours >= auditMissedHours || (hours >= auditWholeHours && hour >= auditNight.from && hour < auditNight.until);
}

/** One look at the books: from where the next has to begin, and the marks that count in it. */
interface Pass {
  now: Horizon;
  /** None in a deployment that has no key to prove marks with. */
  ring: KeyRing | undefined;
  marks: ReadonlyMap<string, StoredMark>;
  changedSince(since: string): Promise<Changed | undefined>;
}

interface Passed {
  check: Check;
  whole: boolean;
  was: StoredMark | undefined;
}

async function begin({ db, config }: Deps): Promise<Pass> {
  // Before anything is looked at: what is written meanwhile is looked at next time.
  const { now, marks: stored } = await readHorizonAndMarks(db.sql);
  const ring = config.SLUICE_MASTER_KEY === undefined ? undefined : masterKeys(config);
  const marks = new Map<string, StoredMark>();
  for (const check of AT_NIGHT) {
    const mark = stored.find((one) => one.checkName === check.name);
    if (ring !== undefined && isGood(mark, { ring, check, now })) marks.set(check.name, mark);
  }
  const changes = new Map<string, Promise<Changed | undefined>>();
  const changedSince = (since: string): Promise<Changed | undefined> => {
    const known = changes.get(since) ?? db.transaction((tx) => readChanged(tx, since));
    changes.set(since, known);
    return known;
  };
  return { now, ring, marks, changedSince };
}

/** What checks find that need not look at everything, by one statement. None where that fails: each is asked by itself then, up to the one whose failure it is. */
async function runTogether(deps: Deps, some: readonly { check: Check; changed: Changed | undefined }[]): Promise<ReadonlyMap<Check, readonly object[]>> {
  try {
    const found = await runChecks(deps.db.sql, some, auditPolicy(deps));
    return new Map(some.map(({ check }, at) => [check, found[at] ?? []]));
  } catch (error) {
    deps.log.warn(toldOf(error), 'the checks of the audit cannot be asked together; each is asked by itself');
    return new Map();
  }
}

async function runAlone(deps: Deps, check: Check, changed: Changed | undefined): Promise<readonly object[]> {
  if (changed === undefined && check.ofChanged !== undefined) return runWhole(deps, check);
  return (await runCheck(deps.db.sql, check, auditPolicy(deps), changed)).rows;
}

/** Books of millions take minutes to be looked at as a whole, which no other statement may take. */
async function runWhole(deps: Deps, check: Check): Promise<readonly object[]> {
  const patient: Database = deps.db.apart({ name: 'sluice-audit', max: 1, deadlines: 'patient' });
  try {
    return (await runCheck(patient.sql, check, auditPolicy(deps))).rows;
  } finally {
    await patient.end();
  }
}

function isNothing(changed: Changed): boolean {
  return Object.values(changed).every((ids) => typeof ids === 'string' || ids.length === 0);
}

/** Moves the marks of checks that found nothing to where the pass began: all of them or none. Locks them. */
async function moveMarks(deps: Deps, pass: Pass, clean: readonly Passed[]): Promise<void> {
  const { now, ring } = pass;
  if (ring === undefined || clean.length === 0) return;
  const moves = clean.flatMap(({ check, whole, was }) => {
    if (whole || was === undefined) return [];
    const mark = { checkName: check.name, since: now.since, wholeAt: was.wholeAt, fingerprint: fingerprintOf(check), history: now.history };
    return { was, mark: { ...mark, mac: macOfMark(ring.current, mark) } };
  });
  // Most of the time each stands where this pass began from, and nobody else moved it.
  if (moves.length === clean.length && (await replaceMarks(deps.db.sql, moves))) return;
  await moveUnderLocks(deps, { now, ring }, clean);
}

async function moveUnderLocks({ db, wallClock }: Deps, { now, ring }: { now: Horizon; ring: KeyRing }, clean: readonly Passed[]): Promise<void> {
  await db.transaction(async (tx) => {
    const locked = await lockMarks(
      tx,
      clean.map(({ check }) => check.name),
    );
    const moved: StoredMark[] = [];
    for (const { check, whole, was } of clean) {
      const stored = locked.get(check.name);
      const good = isGood(stored, { ring, check, now: { ...now, since: stored?.since ?? now.since } });
      // Somebody else looked meanwhile, and perhaps found what is wrong with the rest.
      if (!whole && (!good || stored.since !== was?.since)) continue;
      const mark = {
        checkName: check.name,
        since: whole && good && BigInt(stored.since) > BigInt(now.since) ? stored.since : now.since,
        wholeAt: whole || !good ? new Date(wallClock()) : stored.wholeAt,
        fingerprint: fingerprintOf(check),
        history: now.history,
      };
      moved.push({ ...mark, mac: macOfMark(ring.current, mark) });
    }
    await upsertMarks(tx, moved);
  });
}

/** Stops dispatch, or only tells of what only informs. */
async function freeze(deps: Deps, check: Check, rows: readonly object[]): Promise<void> {
  const told = { check: check.name, title: check.title, rows: rows.slice(0, 10) };
  if (check.onlyInforms) return deps.log.error(told, 'figures that only inform are not what their rows are; nothing stops for it');
  deps.log.fatal(told, 'the audit found a violation; dispatch is frozen');
  await insertFreeze(deps.db.sql, { scope: 'all', reason: `audit ${check.name}: ${check.title}` });
  crashPoint('audit.freeze-set');
}
