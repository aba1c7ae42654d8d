import { connect, type Socket } from 'node:net';

/** One response as it came over the wire. */
export interface RawAnswer {
  /** `HTTP/1.1 404 Not Found`. */
  line: string;
  status: number;
  /** By lower-case name. */
  headers: Record<string, string>;
  body: string;
}

/** A connection that is written to byte by byte, for what no HTTP client would send. */
export interface RawConnection {
  socket: Socket;
  write(text: string): void;
  /** The next response; one without a body when it says so or `bodyless` does. Fails when the server closes first. */
  next(bodyless?: boolean): Promise<RawAnswer>;
  /** Whatever came after the responses that were taken, once the server closed the connection. */
  closed(): Promise<string>;
}

/** Dials the server of `origin`. */
export function dial(origin: string): RawConnection {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  let received = Buffer.alloc(0);
  let ended = false;
  let wake = (): void => undefined;
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    ended = true;
    wake();
  });
  const until = async <T>(found: () => T | undefined): Promise<T> => {
    for (;;) {
      const one = found();
      if (one !== undefined) return one;
      if (ended) throw new Error(`the server closed the connection after: ${received.toString()}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return {
    socket,
    write: (text) => void socket.write(text),
    next: (bodyless = false) =>
      until(() => {
        const split = received.indexOf('\r\n\r\n');
        if (split < 0) return undefined;
        const [line = '', ...lines] = received.subarray(0, split).toString().split('\r\n');
        const headers = Object.fromEntries(lines.map((one) => [one.slice(0, one.indexOf(':')).toLowerCase(), one.slice(one.indexOf(':') + 1).trim()]));
        const start = split + 4;
        const end = start + (bodyless ? 0 : Number(headers['content-length'] ?? 0));
        if (received.length < end) return undefined;
        const body = received.subarray(start, end).toString();
        received = received.subarray(end);
        return { line, status: Number(line.split(' ')[1]), headers, body };
      }),
    closed: () => until(() => (ended ? received.toString() : undefined)),
  };
}
