import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { HostedCheckout } from '#api/checkout/hosted.ts';
import type { Following, Live } from '#api/checkout/live.ts';
import type { Snapshot } from '#api/checkout/page/snapshot.ts';
import type { Deps } from '#api/deps.ts';
import { checkoutUrl, publicUrl } from '#api/payments/urls.ts';
import { type ErrorCode, ServiceError } from '#shared/core/errors.ts';
import { isUuid, uuidFrom } from '#shared/core/ids.ts';
import { parseUrl } from '#shared/core/parse-url.ts';
import { POLICY } from '#shared/core/policy.ts';
import { clientIp } from './client-ip.ts';
import { toServiceError } from './envelope.ts';
import { countAnswer, HUNG_UP } from './observe.ts';
import { afterAnswers } from './pipelining.ts';
import { rateLimit } from './rate-limit.ts';
import { refuse } from './server.ts';
import { type Conversation, converse } from './socket-conversation.ts';
import { openPlaces, type Places } from './socket-places.ts';
import { asksForWebSocket, declineUpgrade } from './upgrade.ts';

const SWITCHING = 101;
/** Below the root of its server. */
const PATH = '/ws/payments/';
/** Names of the machine itself, which nobody else's page can have. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
/** How long a page may take to say goodbye when this process stops. */
const FAREWELL_MS = 1_000;

/** The live channel of hosted checkout pages, whichever servers it is offered on. */
export interface PaymentSockets {
  /** Offers `<root>/ws/payments/{paymentId}` on a server; its other upgrades are answered as if they were none. */
  attach(server: Server, root: string): void;
  /** Tells every page to go elsewhere (1001), and takes no more. */
  close(): Promise<void>;
}

/** What the sockets are made of. */
export interface SocketParts {
  live: Live;
  /** What commands do. */
  hosted: Pick<HostedCheckout, 'select' | 'simulate'>;
  places?: Places;
  /** Between two pings, in milliseconds. */
  pingMs?: number;
  /** Bytes a reader may be behind. */
  backlogBytes?: number;
}

/** What is known about an upgrade that is being decided. */
interface Arrival {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  /** Template of its path, for logs and metrics. */
  route: string;
  paymentId: string;
}

/**
 * Opens the WebSocket side of hosted payments (contract 4.2, ux 0.1). An upgrade is decided like any request of that path, before
 * it is answered: rate limit, the page it comes from, how many are open, then the payment; refusals are plain HTTP in the envelope.
 */
export function openPaymentSockets(deps: Deps, parts: SocketParts): PaymentSockets {
  const { live, hosted, pingMs = POLICY.socketPingSeconds * 1_000, backlogBytes = POLICY.socketBacklogBytes } = parts;
  const places = parts.places ?? openPlaces();
  const origins = new Set([checkoutUrl(deps.config), publicUrl(deps.config)].map((url) => new URL(url).origin));
  // Frames are small and many: what a window of deflate costs in memory is worth more than what it saves.
  const ws = new WebSocketServer({ noServer: true, clientTracking: false, maxPayload: POLICY.socketMessageBytes, perMessageDeflate: false });
  const conversations = new Set<Conversation>();
  let closing = false;

  // `takeOver` sees it too; without a listener the library would answer by itself.
  ws.on('wsClientError', () => undefined);

  const open = async (arrival: Arrival): Promise<void> => {
    const { request, socket, head, paymentId } = arrival;
    const ip = clientIp(request, deps.config.SLUICE_TRUSTED_PROXIES);
    const giveBack = await admit(deps, { request, ip, origins, places });
    let conversation: Conversation | undefined;
    let latest: Snapshot | undefined;
    let following: Following | undefined;
    try {
      if (closing) throw new ServiceError('service_unavailable', { retryAfterSeconds: 1 });
      following = await live.follow(paymentId, (snapshot) => {
        latest = snapshot;
        conversation?.show(snapshot);
      });
      if (closing) throw new ServiceError('service_unavailable', { retryAfterSeconds: 1 });
      const upgraded = takeOver(ws, request, socket, head);
      const at = { paymentId, clientIp: ip, first: later(latest, following.snapshot), serverTime: following.serverTime, live, hosted, pingMs, backlogBytes };
      const talk = converse(deps, upgraded, at);
      conversation = talk;
      conversations.add(talk);
      deps.metrics?.wsConnections.inc();
      const { unfollow } = following;
      following = undefined;
      void talk.ended.then((reason) => {
        unfollow();
        giveBack();
        conversations.delete(talk);
        deps.metrics?.wsConnections.dec();
        deps.metrics?.wsClosed.inc({ reason });
      });
    } finally {
      following?.unfollow();
      if (conversation === undefined) giveBack();
    }
  };

  const decide = async (arrival: Arrival): Promise<void> => {
    const { socket, route } = arrival;
    const started = performance.now();
    const requestId = uuidFrom(deps.randomBytes(16));
    const gone = (): void => void socket.destroy();
    socket.on('error', gone);
    let status = SWITCHING;
    let code: ErrorCode | undefined;
    try {
      await open(arrival);
    } catch (thrown) {
      const error = toServiceError(thrown);
      if (error.cause !== undefined) deps.log.error({ requestId, route, error: error.cause }, error.code);
      [status, code] = socket.destroyed ? [HUNG_UP, undefined] : [error.status, error.code];
      if (!socket.destroyed) refuse(socket, error, requestId);
    }
    socket.off('error', gone);
    const answered = { method: 'GET', status, seconds: (performance.now() - started) / 1_000 };
    const notes = { requestId, route, ...(code !== undefined && { code }) };
    countAnswer(deps, notes, answered);
    deps.log.info({ ...notes, ...answered }, 'upgrade');
  };

  return {
    attach(server, root) {
      server.on('upgrade', (request, socket, head) => {
        const paymentId = asksForWebSocket(request) ? paymentIn(request.url ?? '', `${root}${PATH}`) : undefined;
        afterAnswers(socket, () => {
          if (paymentId === undefined) declineUpgrade(server, request, socket, head);
          else void decide({ request, socket, head, route: `${root}${PATH}{paymentId}`, paymentId });
        });
      });
    },
    async close() {
      closing = true;
      const ended = Promise.all([...conversations].map((one) => one.leave()));
      const late = setTimeout(() => {
        for (const one of conversations) one.cut();
      }, FAREWELL_MS);
      await ended;
      clearTimeout(late);
    },
  };
}

/** Everything that is checked before the payment is looked at; answers how to give the place back. @throws rate_limit_exceeded, forbidden, service_unavailable */
async function admit(
  deps: Deps,
  { request, ip, origins, places }: { request: IncomingMessage; ip: string; origins: ReadonlySet<string>; places: Places },
): Promise<() => void> {
  await rateLimit(deps, { operationId: 'openPaymentSocket', clientIp: ip });
  if (!isOwnPage(request, origins)) throw new ServiceError('forbidden', { message: 'Only the checkout page itself may open this.' });
  return places.take(ip);
}

/**
 * True for a page of ours, and for whoever says of no page: nothing rides on a cookie, and what is no browser could say
 * anything. A page is ours by its configured address, and on one's own machine by having come from the host that it connects
 * to; of any other host that would be said of a stranger's name, too, that was made to point here.
 */
function isOwnPage({ headers: { origin, host } }: IncomingMessage, origins: ReadonlySet<string>): boolean {
  if (origin === undefined || origins.has(origin)) return true;
  const page = parseUrl(origin);
  return page !== null && page.host === host && LOOPBACK.test(page.hostname);
}

/** The payment a path names, also when it is none; undefined for another path. */
function paymentIn(url: string, path: string): string | undefined {
  const [pathname = ''] = url.split('?');
  if (!pathname.startsWith(path) || pathname.indexOf('/', path.length) >= 0) return undefined;
  const id = pathname.slice(path.length);
  return id === '' ? undefined : isUuid(id) ? id.toLowerCase() : id;
}

/** Answers 101 and everything that goes with it. @throws upgrade_required when the handshake is no good, or its sender gone */
function takeOver(ws: WebSocketServer, request: IncomingMessage, socket: Duplex, head: Buffer): WebSocket {
  const upgraded: WebSocket[] = [];
  ws.handleUpgrade(request, socket, head, (one) => upgraded.push(one));
  const [one] = upgraded;
  if (one === undefined) throw new ServiceError('upgrade_required');
  return one;
}

function later(heard: Snapshot | undefined, read: Snapshot): Snapshot {
  return heard !== undefined && heard.serverTime > read.serverTime ? heard : read;
}
