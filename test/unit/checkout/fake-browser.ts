import { vi } from 'vitest';
import type { ConnectionEffects, SnapshotAnswer, SocketEvents } from '#api/checkout/page/browser/connection.ts';
import type { ServerFrame, Snapshot } from '#api/checkout/page/snapshot.ts';

/** A socket that a page opened. */
export interface FakeSocket {
  /** False once the page, or the network, closed it. */
  isOpen(): boolean;
  say(frame: ServerFrame): void;
  drop(code?: number): void;
}

/** A network between a page and its server, under vitest's fake clock. */
export interface FakeNetwork {
  effects: Pick<ConnectionEffects, 'openSocket' | 'fetchSnapshot' | 'after' | 'clock' | 'random'>;
  sockets: FakeSocket[];
  /** The last socket that was opened. */
  socket(): FakeSocket;
  /** When each snapshot was asked for, milliseconds. */
  asked: number[];
  /** How many are being answered, and the most there were at once. */
  underWay: { now: number; most: number };
  /** What the server answers from now on; 'silence' is a connection that died without saying so. */
  answer(how: (() => SnapshotAnswer | Promise<SnapshotAnswer>) | 'silence'): void;
}

export function fakeNetwork(): FakeNetwork {
  const sockets: FakeSocket[] = [];
  const asked: number[] = [];
  const underWay = { now: 0, most: 0 };
  let how: Parameters<FakeNetwork['answer']>[0] = 'silence';

  const openSocket = (events: SocketEvents) => {
    let isOpen = true;
    const end = (): void => {
      isOpen = false;
    };
    sockets.push({
      isOpen: () => isOpen,
      say: (frame) => {
        if (isOpen) events.frame(frame);
      },
      drop: (code = 1006) => {
        if (!isOpen) return;
        end();
        events.closed(code);
      },
    });
    return { close: end };
  };

  const fetchSnapshot = (signal: AbortSignal): Promise<SnapshotAnswer> => {
    asked.push(Date.now());
    underWay.now += 1;
    underWay.most = Math.max(underWay.most, underWay.now);
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
    const answered = how === 'silence' ? aborted : Promise.race([Promise.resolve(how()), aborted]);
    return answered.finally(() => {
      underWay.now -= 1;
    });
  };

  return {
    effects: {
      openSocket,
      fetchSnapshot,
      after: (ms, run) => {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
      clock: Date.now,
      random: () => 0.5,
    },
    sockets,
    socket: () => sockets.at(-1)!,
    asked,
    underWay,
    answer: (next) => {
      how = next;
    },
  };
}

/** The snapshot as it is at a moment of service time. */
export function snapshotAt(snapshot: Snapshot, moment: number): Snapshot {
  return { ...snapshot, serverTime: new Date(moment).toISOString() };
}

/** Lets so many milliseconds pass, with all that is waiting for them. */
export async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
}
