import { aLine, isKept, type Line, noteCame, noteComing, noteHad, turnsUntil } from './line.ts';

/** A place among what is in flight; leave it exactly once. */
export interface Lane {
  /** The attempt is on its way: what it takes from now on is its target's doing. */
  sent(): void;
  /** Nothing is in flight any more: the lane is another's, and only the place is kept until it is left. */
  answered(attempt: Attempt): void;
  /** Without an attempt, none came about, which tells nothing of the target. */
  leave(attempt?: Attempt): void;
}

export interface Attempt {
  tookMs: number;
  timedOut: boolean;
}

/** How many may be in flight in one process. */
export interface LaneLimits {
  together: number;
  /** Runs that the process holds in memory: those in flight, those that wait a moment for a lane, and those that write down what came of it. A tenant has the same part of them as of lanes. */
  places: number;
  /** To one target. */
  perTarget: number;
  /** To one target, for all tenants of which it let several in a row run into the deadline, until it answers those again. */
  perSlowTarget: number;
  /** For all such tenants of all targets, and for whoever asks a target that let several in a row run into the deadline, whosever they were. */
  slowTargets: number;
  /** For one tenant. */
  perTenant: number;
  /** The part of what other tenants leave that one takes at most, so that many greedy ones leave lanes too. */
  tenantShare: number;
}

/**
 * Decides how much one process does at once at one target (the host of a webhook, a network) and for one tenant (a gateway), so that targets which
 * answer slowly or never hold up nobody but themselves, and a tenant nobody but itself.
 */
export interface Lanes {
  /** Takes a lane, waiting a moment for one of a quick target; otherwise says how many milliseconds to come back after. */
  enter(wanted: { target: string; tenant: string }): Promise<Lane | { pauseMs: number }>;
}

/** An attempt: when it took its lane, when it was sent, and when it was answered, milliseconds of the clock. */
interface Flight {
  tenant: string;
  /** Those of its tenant before it ran into the deadline. */
  slowly: boolean;
  beganMs: number;
  sentMs?: number;
  answeredMs?: number;
}

/** What is in flight for one tenant, or to one target. */
interface Share {
  /** Lanes taken. */
  flights: Set<Flight>;
  /** What an attempt takes here, milliseconds, smoothed. */
  typicalMs: number;
  /** How long one keeps its lane, milliseconds, smoothed: with what is done before it is sent. */
  laneMs: number;
  /** When the next one sent away should come back, milliseconds of the clock: its place in a queue that is kept nowhere. */
  nextTurn: number;
  /** A lane was left idle: those sent away come too late, and the next few come before them. */
  idle: boolean;
  /** When the next one of those few should come back. */
  earlyTurn: number;
}

interface Tenant extends Share {
  /** What is in flight, what waits in memory and what is written down, which keeps a place from others. */
  held: number;
  /** What is written down. */
  writing: Set<Flight>;
  /** How long that takes, milliseconds, smoothed. */
  writeMs: number;
  /** The queue of what finds all lanes taken that there are for slow targets, of all its targets together. */
  slowly: Share;
}

interface Target extends Share {
  /** Attempts in a row that ran into the deadline, by tenant: what hangs for one may well answer another, on another path. None of those that were answered last. */
  timeouts: Map<string, number>;
  /** The same of whichever tenant. */
  timeoutsOfAll: number;
  /** What waits in memory for a lane. */
  waiting: (() => void)[];
  /** Who shares its lanes. */
  line: Line;
}

/** Attempts in a row that run into the deadline until a target counts as slow for their tenant. */
const TIMEOUTS_UNTIL_SLOW = 3;
/** Only a target this quick is waited for in memory. */
const QUICK_MS = 250;
/** What an attempt takes at a target that is not known yet; while one is in flight there for longer, as long as that, up to what is quick. */
const FIRST_GUESS_MS = 25;
const WAIT_MS = 500;
/** As many wait for a target as should be through by then. */
const EXPECTED_WAIT_MS = 250;
const SHORTEST_PAUSE_MS = 100;
/** Longest time until the first of those that were sent away looks again, so that a target which has recovered is noticed. */
const LONGEST_PAUSE_MS = 60_000;
/** Between those behind them, unless lanes are left sooner: a backlog, however long, asks whether its turn has come twenty times a second. */
const BETWEEN_LOOKS_MS = 50;
/** So far ahead reach those few that come before them. */
const EARLY_MS = 1_000;
/** Targets remembered, and tenants. */
const REMEMBERED = 10_000;

/** Opens lanes; `clock` is in milliseconds. */
export function openLanes(limits: LaneLimits, clock: () => number): Lanes {
  const targets = new Map<string, Target>();
  const tenants = new Map<string, Tenant>();
  /** Of all tenants. */
  let [flying, held] = [0, 0];
  /** Lanes of those whose attempts run into the deadline, or may. */
  let busySlowly = 0;
  /** Who shares the lanes that there are for these. */
  const slowLine = aLine();

  const tenantOf = (name: string): Tenant => {
    const known = tenants.get(name);
    // Of which nothing is here, and nothing comes back: what its receivers did once says nothing of those it has now.
    if (known?.held === 0 && Math.max(known.nextTurn, known.slowly.nextTurn) <= clock()) tenants.delete(name);
    return recall(tenants, name, aTenant, ({ held: places }) => places > 0);
  };

  const hold = (tenant: Tenant): void => {
    tenant.held += 1;
    held += 1;
  };
  const letGo = (tenant: Tenant): void => {
    tenant.held -= 1;
    held -= 1;
  };

  /** A tenant's share of what others leave, and no more than its own part. */
  const shareOf = (all: number, ofOthers: number): number => {
    const left = Math.max(all - ofOthers, 0);
    return Math.min(Math.max(Math.floor(left * limits.tenantShare), 1), Math.floor((all * limits.perTenant) / limits.together));
  };
  const lanesOfTenant = ({ flights }: Tenant): number => shareOf(limits.together, flying - flights.size);
  const placesOf = (tenant: Tenant): number => shareOf(limits.places, held - tenant.held);
  const isSlow = (target: Target, tenant: string): boolean => (target.timeouts.get(tenant) ?? 0) >= TIMEOUTS_UNTIL_SLOW;
  const lanesOf = (target: Target, tenant: string): number => (isSlow(target, tenant) ? limits.perSlowTarget : limits.perTarget);
  /** Whether a tenant finds all lanes of a target taken that it may have: the last one is for whoever has had least, where any is taken for long, and of those for which the target is slow. */
  const isTaken = (target: Target, tenant: string): boolean => {
    const flights = [...target.flights];
    const now = clock();
    if (flights.length >= limits.perTarget) return true;
    if (isSlow(target, tenant)) {
      const taken = flights.filter((flight) => flight.slowly || flight.tenant === tenant).length;
      if (isKept(limits.perSlowTarget - taken, target.line, tenant, now, (other) => isSlow(target, other))) return true;
    }
    return usualMs(target, now) >= QUICK_MS && isKept(limits.perTarget - flights.length, target.line, tenant, now);
  };
  /** Whether what is sent there probably hangs: a tenant for which it never did may be the next, and of many tenants and targets none would be slow for long. */
  const mayHang = (target: Target, tenant: string): boolean => isSlow(target, tenant) || target.timeoutsOfAll >= TIMEOUTS_UNTIL_SLOW;
  const isFull = (target: Target, tenant: string): boolean =>
    isTaken(target, tenant) || (mayHang(target, tenant) && isKept(limits.slowTargets - busySlowly, slowLine, tenant, clock()));
  /** Where it is noted what a tenant has of a target. */
  const linesOf = (target: Target, hangs: boolean): Line[] => (hangs ? [target.line, slowLine] : [target.line]);
  /** Lets the next one that waits look at a lane that is free; false where there is neither. */
  const wakeNext = ({ flights, waiting }: Target): boolean => {
    const next = flights.size < limits.perTarget ? waiting.shift() : undefined;
    next?.();
    return next !== undefined;
  };
  /** Not for a lane that is kept for another: of that nobody is told. */
  const isWorthWaiting = (target: Target, tenant: string): boolean =>
    target.flights.size >= limits.perTarget &&
    isQuick(target, tenant) &&
    (target.waiting.length * usualMs(target, clock())) / limits.perTarget < EXPECTED_WAIT_MS;

  return {
    enter: async (wanted) => {
      const target = recall(targets, wanted.target, aTarget, ({ flights, waiting }) => flights.size > 0 || waiting.length > 0);
      const tenant = tenantOf(wanted.tenant);
      const isTenantFull = (): boolean => tenant.flights.size >= lanesOfTenant(tenant);
      const afterOwn = (): { pauseMs: number } => {
        const now = clock();
        const betweenMs = Math.max(betweenLanes(tenant, lanesOfTenant(tenant), now), betweenPlaces(tenant, placesOf(tenant), now));
        return { pauseMs: pauseOf(tenant, betweenMs, now) };
      };
      if (isTenantFull() || tenant.held >= placesOf(tenant)) return afterOwn();
      hold(tenant);
      if (isFull(target, wanted.tenant) && isWorthWaiting(target, wanted.tenant)) await aTurn(target);
      if (isFull(target, wanted.tenant)) {
        letGo(tenant);
        // The lane that it was woken for may be one for another tenant.
        wakeNext(target);
        const now = clock();
        // It stands in the line of what it lacks only: those in two would each keep from the other what it comes for.
        if (isTaken(target, wanted.tenant))
          return { pauseMs: pauseAmong(target, wanted.tenant, betweenLanes(target, lanesOf(target, wanted.tenant), now), now) };
        // Slow targets of others are in its way, and of its tenant there may be thousands, each of them a queue of its own.
        const betweenMs = betweenLanes(target, limits.slowTargets, now) * turnsUntil(slowLine, wanted.tenant, now);
        const pauseMs = pauseOf(tenant.slowly, betweenMs, now);
        noteComing(slowLine, wanted.tenant, now + pauseMs, now);
        return { pauseMs };
      }
      if (isTenantFull()) {
        letGo(tenant);
        // The lane that it was woken for is another's.
        wakeNext(target);
        return afterOwn();
      }
      const slowly = isSlow(target, wanted.tenant);
      const hangs = mayHang(target, wanted.tenant);
      if (hangs) busySlowly += 1;
      const beganMs = clock();
      for (const line of linesOf(target, hangs)) noteCame(line, wanted.tenant, beganMs);
      const flight: Flight = { tenant: wanted.tenant, slowly, beganMs };
      for (const share of [target, tenant]) share.flights.add(flight);
      flying += 1;
      const answered = (attempt?: Attempt): void => {
        if (!target.flights.has(flight)) return;
        const now = clock();
        flight.answeredMs = now;
        tenant.writing.add(flight);
        if (hangs) busySlowly -= 1;
        flying -= 1;
        for (const line of linesOf(target, hangs)) noteHad(line, wanted.tenant, now - beganMs, now);
        if (attempt !== undefined) target.timeoutsOfAll = attempt.timedOut ? target.timeoutsOfAll + 1 : 0;
        if (attempt?.timedOut === true) target.timeouts.set(wanted.tenant, (target.timeouts.get(wanted.tenant) ?? 0) + 1);
        else if (attempt !== undefined) target.timeouts.delete(wanted.tenant);
        for (const share of [target, tenant]) {
          share.flights.delete(flight);
          if (attempt !== undefined) share.typicalMs += (attempt.tookMs - share.typicalMs) / 4;
          share.laneMs += (now - beganMs - share.laneMs) / 4;
        }
        // Once nothing of a tenant is in flight any more, those of it that were sent away come too late as well.
        if (tenant.flights.size === 0) tenant.idle = true;
        if (!wakeNext(target) && target.flights.size < limits.perTarget && isQuick(target, wanted.tenant)) target.idle = true;
      };
      return {
        sent: () => {
          flight.sentMs = clock();
        },
        answered,
        leave: (attempt) => {
          answered(attempt);
          const now = clock();
          const { answeredMs = now } = flight;
          tenant.writing.delete(flight);
          tenant.writeMs += (now - answeredMs - tenant.writeMs) / 4;
          letGo(tenant);
        },
      };
    },
  };
}

/** What is known by a name, or a new one. Of too many, those not in use are forgotten, what was not used longest first. */
function recall<Kind>(all: Map<string, Kind>, name: string, make: () => Kind, isUsed: (one: Kind) => boolean): Kind {
  const found = all.get(name) ?? make();
  // Moved to the end, so that the map stays in the order of use.
  all.delete(name);
  all.set(name, found);
  for (const [other, one] of all) {
    if (all.size <= REMEMBERED) break;
    if (!isUsed(one)) all.delete(other);
  }
  return found;
}

const aTarget = (): Target => ({ ...aShare(), timeouts: new Map(), timeoutsOfAll: 0, waiting: [], line: aLine() });
const aTenant = (): Tenant => ({ ...aShare(), held: 0, writing: new Set(), writeMs: 0, slowly: aShare() });

function aShare(): Share {
  return { flights: new Set(), typicalMs: FIRST_GUESS_MS, laneMs: 0, nextTurn: 0, idle: false, earlyTurn: 0 };
}

/** What an attempt takes at a target or of a tenant, by those that ended, and by the oldest on its way. */
function usualMs({ typicalMs, flights }: Share, now: number): number {
  const ages = [...flights].map(({ sentMs = now }) => now - sentMs);
  return Math.max(typicalMs, Math.min(Math.max(0, ...ages), QUICK_MS));
}

function isQuick(target: Target, tenant: string): boolean {
  return !target.timeouts.has(tenant) && target.typicalMs <= QUICK_MS;
}

/** Waits until a lane may be free, in order of arrival, or half a second. */
function aTurn(target: Target): Promise<void> {
  return new Promise((resolve) => {
    const turn = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      const at = target.waiting.indexOf(turn);
      if (at >= 0) target.waiting.splice(at, 1);
      resolve();
    }, WAIT_MS);
    target.waiting.push(turn);
  });
}

/** How far apart lanes are left, by how long they were kept, and the oldest has been, sent or not: what this process cannot begin is as much in the way. */
function betweenLanes(share: Share, lanes: number, now: number): number {
  const keptMs = Math.max(0, ...[...share.flights].map(({ beganMs }) => now - beganMs));
  return Math.max(share.laneMs, share.typicalMs, Math.min(keptMs, QUICK_MS)) / lanes;
}

/** How far apart places are left, by how long that was written down which is through, and that has been which is not: all may be taken and every lane free, where nobody can write. */
function betweenPlaces({ writing, writeMs }: Tenant, places: number, now: number): number {
  const agesMs = [...writing].reduce((sum, { answeredMs = now }) => sum + now - answeredMs, 0);
  return Math.max(writeMs, agesMs / places) / places;
}

/**
 * The n-th delivery sent away comes back when the n-th lane should be free, or looks earlier whether it is. An idle lane does not begin the queue anew: all that are in it come
 * none the less, and of a long backlog one queue would come on top of the other.
 */
function pauseOf(share: Share, betweenMs: number, now: number): number {
  const early = Math.max(share.earlyTurn, now) + betweenMs;
  share.idle &&= early <= now + EARLY_MS;
  if (share.idle) {
    share.earlyTurn = early;
    return Math.max(early - now, SHORTEST_PAUSE_MS);
  }
  const turn = Math.max(share.nextTurn, share.earlyTurn, now) + betweenMs;
  const longest = now + LONGEST_PAUSE_MS;
  // What is quick is through with those further behind sooner.
  const behindMs = usualMs(share, now) < QUICK_MS ? Math.min(betweenMs, BETWEEN_LOOKS_MS) : BETWEEN_LOOKS_MS;
  share.nextTurn = turn <= longest ? turn : Math.max(share.nextTurn + behindMs, longest);
  return Math.max(share.nextTurn - now, SHORTEST_PAUSE_MS);
}

/** The same where tenants share a target: one whose own turn comes sooner than that of all need not wait until a backlog of another is through. */
function pauseAmong(target: Target, tenant: string, betweenMs: number, now: number): number {
  const { line } = target;
  const turn = now + pauseOf(target, betweenMs, now);
  const turns = turnsUntil(line, tenant, now);
  const sooner = Math.min(turn, Math.max(line.comeBack.get(tenant)?.lastMs ?? now, now) + betweenMs * turns);
  noteComing(line, tenant, sooner, now);
  return Math.max(sooner - now, SHORTEST_PAUSE_MS);
}
