import { POLICY } from '#shared/core/policy.ts';

/** A place among the deliveries that are in flight; leave it exactly once. */
export interface Lane {
  leave(attempt: { tookMs: number; timedOut: boolean }): void;
}

/**
 * Decides how many webhooks one process sends at once to one host and for one gateway, so that receivers which answer
 * slowly or never hold up nobody but themselves. Every host has few lanes; one that keeps running into the deadline has
 * a single one until it answers again.
 */
export interface Lanes {
  /** Takes a lane, waiting a moment for one of a quick host; otherwise says how many milliseconds to come back after. */
  enter(delivery: { url: string; gatewayId: string }): Promise<Lane | { pauseMs: number }>;
}

/** The deliveries of one gateway, or to one host. */
interface Share {
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
/** Longest time until a delivery looks again, so that a host which has recovered is noticed. */
const LONGEST_PAUSE_MS = 60_000;
/** Hosts remembered; what was not used longest is forgotten first. */
const REMEMBERED = 10_000;

/** Opens the lanes of this process; `clock` is in milliseconds. */
export function openLanes(clock: () => number): Lanes {
  const hosts = new Map<string, Host>();
  /** Those with deliveries in flight. */
  const gateways = new Map<string, Share>();

  const hostOf = (name: string): Host => {
    const host = hosts.get(name) ?? { ...aShare(), timeouts: 0, waiting: [] };
    // Moved to the end, so that the map stays in the order of use.
    hosts.delete(name);
    hosts.set(name, host);
    for (const [other, { busy, waiting }] of hosts) {
      if (hosts.size <= REMEMBERED) break;
      if (busy === 0 && waiting.length === 0) hosts.delete(other);
    }
    return host;
  };

  const take = (host: Host, gateway: Share, gatewayId: string): Lane => {
    gateways.set(gatewayId, gateway);
    for (const share of [host, gateway]) share.busy += 1;
    return {
      leave: ({ tookMs, timedOut }) => {
        host.timeouts = timedOut ? host.timeouts + 1 : 0;
        for (const share of [host, gateway]) {
          share.busy -= 1;
          share.typicalMs += (tookMs - share.typicalMs) / 4;
        }
        if (gateway.busy === 0) gateways.delete(gatewayId);
        if (host.busy < lanesOf(host)) host.waiting.shift()?.();
      },
    };
  };

  return {
    enter: async ({ url, gatewayId }) => {
      const host = hostOf(new URL(url).host);
      if (host.busy >= lanesOf(host) && isQuick(host) && host.waiting.length < WAITING_PER_HOST) await aTurn(host);
      if (host.busy >= lanesOf(host)) return { pauseMs: pauseOf(host, lanesOf(host), clock()) };
      const gateway = gateways.get(gatewayId) ?? aShare();
      if (gateway.busy >= POLICY.webhookLanesPerGateway) {
        host.waiting.shift()?.();
        return { pauseMs: pauseOf(gateway, POLICY.webhookLanesPerGateway, clock()) };
      }
      return take(host, gateway, gatewayId);
    },
  };
}

function aShare(): Share {
  return { busy: 0, typicalMs: QUICK_MS, nextTurn: 0 };
}

function lanesOf(host: Host): number {
  return host.timeouts >= POLICY.webhookTimeoutsUntilSlow ? POLICY.webhookLanesPerSlowHost : POLICY.webhookLanesPerHost;
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

/** The n-th delivery sent away comes back when the n-th lane should be free. */
function pauseOf(share: Share, lanes: number, now: number): number {
  share.nextTurn = Math.min(Math.max(share.nextTurn, now) + share.typicalMs / lanes, now + LONGEST_PAUSE_MS);
  return Math.max(share.nextTurn - now, SHORTEST_PAUSE_MS);
}
