import { POLICY } from '#shared/core/policy.ts';

/** A place among the deliveries that are in flight; leave it exactly once. */
export interface Lane {
  leave(attempt: { tookMs: number; timedOut: boolean }): void;
}

/**
 * Decides how many webhooks one process sends at once to one host and for one gateway, so that receivers which answer
 * slowly or never hold up nobody but themselves. Every host has few lanes; one that keeps running into the deadline has
 * a single one until it answers again, and all such hosts together have half of the lanes. A gateway has at most a quarter
 * of what the others leave, so that also many gateways at once leave some for whoever comes next.
 */
export interface Lanes {
  /** Takes a lane, waiting a moment for one of a quick host; otherwise says how many milliseconds to come back after. */
  enter(delivery: { url: string; gatewayId: string }): Promise<Lane | { pauseMs: number }>;
}

/** The deliveries of one gateway, or to one host. */
interface Share {
  /** Lanes taken; of a gateway also deliveries that wait in memory, each of which keeps a worker from others. */
  busy: number;
  /** What an attempt takes here, milliseconds, smoothed. */
  typicalMs: number;
  /** When the next one sent away should come back, milliseconds of the clock: its place in a queue that is kept nowhere. */
  nextTurn: number;
}

interface Host extends Share {
  /** Attempts in a row that ran into the deadline. */
  timeouts: number;
  /** Deliveries that wait in memory for a lane. */
  waiting: (() => void)[];
}

/** Only a host this quick is waited for in memory. */
const QUICK_MS = 250;
const WAIT_MS = 500;
const WAITING_PER_HOST = 8;
const SHORTEST_PAUSE_MS = 100;
/** Longest time until the first of those that were sent away looks again, so that a host which has recovered is noticed. */
const LONGEST_PAUSE_MS = 60_000;
/** Between those behind them: a backlog, however long, asks whether its turn has come twenty times a second. */
const BETWEEN_LOOKS_MS = 50;
/** Hosts remembered; what was not used longest is forgotten first. */
const REMEMBERED = 10_000;

/** Opens the lanes of this process; `clock` is in milliseconds. */
export function openLanes(clock: () => number): Lanes {
  const hosts = new Map<string, Host>();
  /** Those with deliveries in flight. */
  const gateways = new Map<string, Share>();
  /** Of all gateways. */
  let busy = 0;
  /** Lanes to hosts that run into the deadline. */
  let busySlowly = 0;

  const hostOf = (name: string): Host => {
    const host = hosts.get(name) ?? { ...aShare(), timeouts: 0, waiting: [] };
    // Moved to the end, so that the map stays in the order of use.
    hosts.delete(name);
    hosts.set(name, host);
    for (const [other, { busy: lanes, waiting }] of hosts) {
      if (hosts.size <= REMEMBERED) break;
      if (lanes === 0 && waiting.length === 0) hosts.delete(other);
    }
    return host;
  };

  const hold = (gatewayId: string, gateway: Share): void => {
    gateways.set(gatewayId, gateway);
    gateway.busy += 1;
    busy += 1;
  };
  const letGo = (gatewayId: string, gateway: Share): void => {
    gateway.busy -= 1;
    busy -= 1;
    if (gateway.busy === 0) gateways.delete(gatewayId);
  };

  const lanesOfGateway = (gateway: Share): number => {
    const left = Math.max(POLICY.webhookLanes - (busy - gateway.busy), 0);
    return Math.min(Math.max(Math.floor(left * POLICY.webhookGatewayShare), 1), POLICY.webhookLanesPerGateway);
  };

  const isFull = (host: Host): boolean => host.busy >= lanesOf(host) || (isSlow(host) && busySlowly >= POLICY.webhookLanesOfSlowHosts);

  const take = (host: Host, gateway: Share, gatewayId: string): Lane => {
    const slowly = isSlow(host) ? 1 : 0;
    busySlowly += slowly;
    host.busy += 1;
    return {
      leave: ({ tookMs, timedOut }) => {
        busySlowly -= slowly;
        host.busy -= 1;
        host.timeouts = timedOut ? host.timeouts + 1 : 0;
        for (const share of [host, gateway]) share.typicalMs += (tookMs - share.typicalMs) / 4;
        letGo(gatewayId, gateway);
        if (!isFull(host)) host.waiting.shift()?.();
      },
    };
  };

  return {
    enter: async ({ url, gatewayId }) => {
      const host = hostOf(new URL(url).host);
      const gateway = gateways.get(gatewayId) ?? aShare();
      const most = lanesOfGateway(gateway);
      if (gateway.busy >= most) return { pauseMs: pauseOf(gateway, most, clock()) };
      hold(gatewayId, gateway);
      if (isFull(host) && isQuick(host) && host.waiting.length < WAITING_PER_HOST) await aTurn(host);
      if (!isFull(host)) return take(host, gateway, gatewayId);
      letGo(gatewayId, gateway);
      return { pauseMs: pauseOf(host, lanesOf(host), clock()) };
    },
  };
}

function aShare(): Share {
  return { busy: 0, typicalMs: QUICK_MS, nextTurn: 0 };
}

function isSlow(host: Host): boolean {
  return host.timeouts >= POLICY.webhookTimeoutsUntilSlow;
}

function lanesOf(host: Host): number {
  return isSlow(host) ? POLICY.webhookLanesPerSlowHost : POLICY.webhookLanesPerHost;
}

function isQuick(host: Host): boolean {
  return host.timeouts === 0 && host.typicalMs <= QUICK_MS;
}

/** Waits until a lane may be free, in order of arrival, or half a second. */
function aTurn(host: Host): Promise<void> {
  return new Promise((resolve) => {
    const turn = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      const at = host.waiting.indexOf(turn);
      if (at >= 0) host.waiting.splice(at, 1);
      resolve();
    }, WAIT_MS);
    host.waiting.push(turn);
  });
}

/** The n-th delivery sent away comes back when the n-th lane should be free, or looks earlier whether it is. */
function pauseOf(share: Share, lanes: number, now: number): number {
  const turn = Math.max(share.nextTurn, now) + share.typicalMs / lanes;
  const longest = now + LONGEST_PAUSE_MS;
  share.nextTurn = turn <= longest ? turn : Math.max(share.nextTurn + BETWEEN_LOOKS_MS, longest);
  return Math.max(share.nextTurn - now, SHORTEST_PAUSE_MS);
}
