import WebSocket from 'ws';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** A node that says nothing for this long may be gone without a word; the connection is made anew. */
const SILENT_MS = 120_000;
/** A header is a few kilobytes. */
const LARGEST_MESSAGE_BYTES = 1 << 20;

/**
 * Calls `ring` whenever a node says over a WebSocket that its head moved (`eth_subscribe` to `newHeads`). What it says is
 * not read: whoever is rung asks as always, so that a wrong or missing word costs time at most. Connects again for as long
 * as it runs; returns how to stop it.
 */
export function hearNewHeads(url: string, ring: () => void): () => void {
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
    open.on('message', () => {
      watch(open);
      pauseMs = FIRST_PAUSE_MS;
      ring();
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
