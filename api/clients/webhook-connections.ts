import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';

/** How long a connection may wait for the next webhook to its receiver. */
const IDLE_MS = 4_000;
/** How long one may be used, so that a receiver that moved, or whose certificate is no longer good, is noticed. */
const LONGEST_MS = 60_000;
/** How many may wait for the same receiver: as many webhooks as it gets at once. */
const IDLE_OF_ONE = 4;
/** How many may wait for whatever receiver; the one that waits longest is closed for one more. */
const MOST_IDLE = 256;

/** Options of a request with the addresses that its connection may lead to. */
type Pinned = http.ClientRequestArgs & { pinnedTo?: string };

const idle = new Set<Duplex>();
const firstKept = new WeakMap<Duplex, number>();

const plain = keeping(new http.Agent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: IDLE_OF_ONE }));
// Without sessions, because a connection that resumes an earlier one is not shown the receiver's certificate.
const secure = keeping(new https.Agent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: IDLE_OF_ONE, maxCachedSessions: 0 }));

/**
 * Options by which a request takes a connection that an earlier webhook left open to the same name, port and checked addresses, or makes one. So each attempt
 * still leads to addresses that it checked itself (decisions 6).
 */
export function keptConnection(protocol: string, addresses: readonly string[]): { agent: http.Agent; pinnedTo: string } {
  return { agent: protocol === 'https:' ? secure : plain, pinnedTo: [...addresses].sort().join(' ') };
}

function keeping<A extends http.Agent>(agent: A): A {
  const nameOf = agent.getName.bind(agent);
  const keep = agent.keepSocketAlive.bind(agent);
  const reuse = agent.reuseSocket.bind(agent);
  agent.getName = (options?: Pinned) => `${nameOf(options)} ${options?.pinnedTo}`;
  // Node keeps a connection for which this answers true, whatever its types say.
  agent.keepSocketAlive = (socket) => isKept(socket) && keep(socket);
  agent.reuseSocket = (socket, request) => {
    idle.delete(socket);
    socket.off('data', endOfConnection);
    reuse(socket, request);
  };
  return agent;
}

/** What a receiver says before it is asked would be taken for the answer to the next webhook. */
function endOfConnection(this: Duplex): void {
  this.destroy();
}

function isKept(socket: Duplex): boolean {
  const since = firstKept.get(socket);
  if (since === undefined) {
    firstKept.set(socket, performance.now());
    socket.once('close', () => idle.delete(socket));
  } else if (performance.now() - since > LONGEST_MS) return false;
  const [longest] = idle;
  if (longest !== undefined && idle.size >= MOST_IDLE) {
    // At once, because it says that it is closed only after others have become free.
    idle.delete(longest);
    longest.destroy();
  }
  idle.add(socket);
  socket.on('data', endOfConnection);
  return true;
}
