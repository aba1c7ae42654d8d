import type { ServerFrame, Snapshot } from '../snapshot.ts';
import { reopenDelayMs, retryDelayMs, tryTimeoutMs } from './pace.ts';

/** What came of asking for the snapshot. */
export type SnapshotAnswer =
  | { kind: 'snapshot'; snapshot: Snapshot }
  /** Nobody may read this payment here, or there is none: the server's own page says which. */
  | { kind: 'refused' }
  /** 429 and 503 say how long to wait. */
  | { kind: 'later'; reason: 'busy' | 'unavailable'; waitMs: number }
  /** No answer, or none that can be read. */
  | { kind: 'failed' };

/** What a socket tells its owner. */
export interface SocketEvents {
  frame(frame: ServerFrame): void;
  /** Once, also when it never opened; 1006 then. */
  closed(code: number): void;
}

/** A socket; its owner hears nothing of it after `close`. */
export interface Socket {
  close(): void;
}

/** The effects that a connection needs of its browser. */
export interface ConnectionEffects {
  openSocket(events: SocketEvents): Socket;
  fetchSnapshot(signal: AbortSignal): Promise<SnapshotAnswer>;
  /** Runs something later, and returns what cancels that. */
  after(ms: number, run: () => void): () => void;
  /** 0 ≤ x < 1. */
  random(): number;
  /** This browser's clock in milliseconds: one that goes on while the device sleeps. */
  clock(): number;
  /** How often to poll while there is no socket, in milliseconds. */
  pollEveryMs(): number;
}

/** How the page hears of its payment: by socket, by asking again and again, or not at present. */
export type Health = 'socket' | 'polling' | 'lost' | 'unavailable';

/** What a connection tells the page. */
export interface ConnectionEvents {
  snapshot(snapshot: Snapshot): void;
  /** A moment of service time that came without a snapshot. */
  serverTime(serverTime: string): void;
  health(health: Health): void;
  refused(): void;
}

/** Keeps a page's snapshot right. */
export interface Connection {
  /**
   * The payer is back, or the network is: whatever was open before may be dead without saying so (iOS kills sockets
   * silently), so the snapshot is fetched at once and the socket opened anew (ux C6).
   */
  returned(): void;
  /** The page goes away, perhaps to come back: nothing stays open. */
  left(): void;
  /** The network is gone; the socket may not have noticed. */
  offline(): void;
  /** Fetches the snapshot now, and says when an answer of any kind has come. */
  refresh(): Promise<void>;
}

/** A socket that is silent for longer is dead: the server pings every 25 s. */
const SILENCE_MS = 40_000;
/** A socket that takes longer to say its first word is given up. */
const OPENING_MS = 10_000;
/** A socket that lived for less did not work, and the next one waits longer. */
const WORKED_MS = 10_000;
/** Several events tell of one return. */
const SAME_RETURN_MS = 300;
/** So many tries in a row have to fail before the payer is told; a single one is how phones wake up. */
const FAILURES_TO_TELL = 2;
/** Frames that come so soon after the network went were on their way before. */
const UNDER_WAY_MS = 1_000;
/** The server will not have this socket: policy violation. */
const POLICY = 1008;

/**
 * Follows a payment: over a socket, and by polling while there is none (ux C6). It asks for one snapshot at a time, with a
 * time limit for each try. It starts with a socket alone, since the page itself came with a snapshot.
 */
export function connect(effects: ConnectionEffects, events: ConnectionEvents): Connection {
  let socket: Socket | null = null;
  let heard = false;
  let openedAt = 0;
  let shortLived = 0;
  let failures = 0;
  let lastFailure: Health = 'lost';
  let isOffline = false;
  let offlineAt = Number.NEGATIVE_INFINITY;
  /** What was told of a connection that is gone: a return only begins to look, so nothing but an answer or a frame ends it. */
  let trouble: Health | null = null;
  let isAway = false;
  let returnedAt = Number.NEGATIVE_INFINITY;
  let asking: { stop: AbortController; done: Promise<void> } | null = null;
  let cancelSilence = (): void => {};
  let cancelReopen = (): void => {};
  let cancelPoll: (() => void) | null = null;

  const tellHealth = (): void => {
    if (isOffline) trouble = 'lost';
    else if (heard) trouble = null;
    else if (failures >= FAILURES_TO_TELL) trouble = lastFailure;
    events.health(trouble ?? (heard ? 'socket' : 'polling'));
  };

  const dropSocket = (): void => {
    cancelSilence();
    cancelReopen();
    socket?.close();
    socket = null;
    heard = false;
  };

  const socketGone = (code: number): void => {
    const worked = heard && effects.clock() - openedAt >= WORKED_MS;
    dropSocket();
    shortLived = worked ? 0 : shortLived + 1;
    if (code !== POLICY) cancelReopen = effects.after(reopenDelayMs(shortLived, effects.random()), open);
    tellHealth();
    // A poll that waits, perhaps because the server said so, goes on waiting.
    if (!cancelPoll && !asking) pollAfter(0);
  };

  const expectWord = (ms: number): void => {
    cancelSilence();
    cancelSilence = effects.after(ms, () => socketGone(1006));
  };

  function open(): void {
    dropSocket();
    openedAt = effects.clock();
    expectWord(OPENING_MS);
    const mine = effects.openSocket({
      frame: (frame) => {
        if (socket === mine) onFrame(frame);
      },
      closed: (code) => {
        if (socket === mine) socketGone(code);
      },
    });
    socket = mine;
  }

  function onFrame(frame: ServerFrame): void {
    expectWord(SILENCE_MS);
    heard = true;
    if (Math.abs(effects.clock() - offlineAt) >= UNDER_WAY_MS) isOffline = false;
    failures = 0;
    stopPolling();
    tellHealth();
    if (frame.type === 'snapshot' || frame.type === 'update') events.snapshot(frame);
    else if (frame.type === 'ping') events.serverTime(frame.serverTime);
  }

  function stopPolling(): void {
    cancelPoll?.();
    cancelPoll = null;
  }

  function pollAfter(ms: number): void {
    stopPolling();
    cancelPoll = effects.after(ms, () => void ask());
  }

  /** Asks, unless an answer is under way already. */
  function ask(): Promise<void> {
    stopPolling();
    if (asking) return asking.done;
    const stop = new AbortController();
    const cancelTimeout = effects.after(tryTimeoutMs(failures), () => stop.abort());
    const done = effects
      .fetchSnapshot(stop.signal)
      .catch((): SnapshotAnswer => ({ kind: 'failed' }))
      .then((answer) => {
        cancelTimeout();
        if (asking?.stop !== stop) return;
        asking = null;
        onAnswer(answer);
      });
    asking = { stop, done };
    return done;
  }

  function onAnswer(answer: SnapshotAnswer): void {
    if (answer.kind === 'refused') events.refused();
    if (answer.kind === 'snapshot') {
      failures = 0;
      isOffline = false;
      trouble = null;
      events.snapshot(answer.snapshot);
    } else if (answer.kind !== 'later' || answer.reason === 'unavailable') {
      failures += 1;
      lastFailure = answer.kind === 'later' ? 'unavailable' : 'lost';
    }
    tellHealth();
    if (heard || isAway) return;
    const pause = failures > 0 ? retryDelayMs(failures, effects.random()) : effects.pollEveryMs();
    pollAfter(answer.kind === 'later' ? Math.max(pause, answer.waitMs) : pause);
  }

  open();
  return {
    returned: () => {
      const now = effects.clock();
      if (!isOffline && Math.abs(now - returnedAt) < SAME_RETURN_MS) return;
      returnedAt = now;
      isOffline = false;
      isAway = false;
      failures = 0;
      shortLived = 0;
      asking?.stop.abort();
      asking = null;
      open();
      void ask();
    },
    left: () => {
      isAway = true;
      dropSocket();
      stopPolling();
      asking?.stop.abort();
      asking = null;
    },
    offline: () => {
      isOffline = true;
      offlineAt = effects.clock();
      tellHealth();
    },
    // An answer that is under way may be older than what the caller did.
    refresh: () => (asking ? asking.done.then(ask) : ask()),
  };
}
