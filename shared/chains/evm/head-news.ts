import WebSocket from 'ws';
import type { AnnouncedBlock } from '../chain.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** A node that says nothing for this long may be gone without a word; the connection is made anew. */
const SILENT_MS = 120_000;
/** A header is a few kilobytes. */
const LARGEST_MESSAGE_BYTES = 1 << 20;

const HASH = /^0x[0-9a-f]{64}$/;
const HEIGHT = /^0x[0-9a-f]{1,12}$/;

/**
 * Calls `ring` whenever a node says over a WebSocket that its head moved (`eth_subscribe` to `newHeads`), with the block that it names. Nothing of
 * that is believed: whoever is rung asks as always, at most a little earlier, so that a wrong or missing word costs time at most. Connects again for as
 * long as it runs; returns how to stop it.
 */
export function hearNewHeads(url: string, ring: (announced?: AnnouncedBlock) => void): () => void {
  let socket: WebSocket | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let pauseMs = FIRST_PAUSE_MS;

  const watch = (open: WebSocket): void => {
    clearTimeout(timer);
    timer = setTimeout(() => open.terminate(), SILENT_MS);
  };
  const connect = (): void => {
    const open = new WebSocket(url, { maxPayload: LARGEST_MESSAGE_BYTES, handshakeTimeout: 10_000, followRedirects: false });
    socket = open;
    open.on('open', () => {
      watch(open);
      open.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }));
    });
    open.on('message', (data) => {
      watch(open);
      pauseMs = FIRST_PAUSE_MS;
      ring(announcedIn(String(data)));
    });
    // Why it failed is told by the close that follows, and by nobody else: messages may name the URL, which may hold a key.
    open.on('error', () => undefined);
    open.once('close', () => {
      clearTimeout(timer);
      if (stopped) return;
      timer = setTimeout(connect, pauseMs);
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    });
  };
  connect();
  return () => {
    stopped = true;
    clearTimeout(timer);
    socket?.terminate();
  };
}

/** The block that a notification names; undefined when it is none that names one. */
function announcedIn(text: string): AnnouncedBlock | undefined {
  let told: { params?: { result?: Record<string, unknown> | null } | null } | null;
  try {
    told = JSON.parse(text) as typeof told;
  } catch {
    return undefined;
  }
  const { hash, number, parentHash } = told?.params?.result ?? {};
  if (!isText(hash, HASH) || !isText(parentHash, HASH) || !isText(number, HEIGHT)) return undefined;
  return { hash, parentHash, height: Number(number) };
}

function isText(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}
