import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createWebhookHttp, type WebhookHttpOptions, type WebhookOutcome } from '#api/clients/webhook-http.ts';
import { POLICY } from '#shared/core/policy.ts';
import { selfSigned } from '#test/harness/certificate.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listening(server: Server, sockets = new Set<Socket>()): Promise<number> {
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  closing.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** A receiver that speaks HTTP. */
const receiver = (answer: RequestListener): Promise<number> => listening(createHttpServer(answer));

/** A receiver that reads the request and then does with the socket whatever it likes. */
const socketReceiver = (answer: (socket: Socket) => void, sockets?: Set<Socket>): Promise<number> =>
  listening(
    createServer((socket) => void socket.once('data', () => answer(socket))),
    sockets,
  );

const LOOPBACK = { privateTargets: ['127.0.0.0/8'], requireHttps: false };
function post(url: string | number, options: Partial<WebhookHttpOptions> = {}, reuse = true): Promise<WebhookOutcome> {
  const client = createWebhookHttp({ policy: LOOPBACK, deadlineMs: 2_000, ...options });
  return client.post(typeof url === 'number' ? `http://127.0.0.1:${url}/hook` : url, { 'x-test': '1' }, '{"a":"ü"}', { reuse });
}

/** Writes `piece` again and again until the other side is gone; counts the bytes the socket took. */
function endlessly(socket: Socket, piece: string): { sent: number } {
  const count = { sent: 0 };
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece)) count.sent += piece.length;
    if (!socket.destroyed) socket.once('drain', more);
  };
  more();
  return count;
}

it('the deadline of an attempt is 10 s and at most 64 KB of an answer are read', () => {
  expect([POLICY.webhookDeadlineMs, POLICY.webhookReadBytes]).toEqual([10_000, 65_536]);
});

describe('a webhook request', () => {
  it('is one POST with exactly the given bytes and headers', async () => {
    const seen: { method: string | undefined; url: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];
    const port = await receiver((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen.push({ method: request.method, url: request.url, headers: request.headers, body: Buffer.concat(chunks).toString() });
        response.end();
      });
    });
    expect(await post(`http://127.0.0.1:${port}/hook?x=1&y=%20#part`)).toMatchObject({ kind: 'answered', status: 200, retryAfter: null });
    expect(seen).toEqual([
      {
        method: 'POST',
        url: '/hook?x=1&y=%20',
        headers: { host: `127.0.0.1:${port}`, 'x-test': '1', 'content-length': '10', connection: 'keep-alive' },
        body: '{"a":"ü"}',
      },
    ]);
  });

  it('keeps the name in Host and asks for its addresses once', async () => {
    const hosts: (string | undefined)[] = [];
    const port = await receiver((request, response) => {
      hosts.push(request.headers.host);
      response.end();
    });
    const asked: string[] = [];
    const resolve = async (name: string): Promise<string[]> => (asked.push(name) === 1 ? ['127.0.0.1'] : ['169.254.169.254']);
    expect(await post(`http://hooks.example:${port}/`, { resolve })).toMatchObject({ kind: 'answered', status: 200 });
    expect(await post(`http://hooks.example:${port}/`, { resolve })).toMatchObject({ kind: 'failed', result: 'blocked' });
    expect([asked, hosts]).toEqual([['hooks.example', 'hooks.example'], [`hooks.example:${port}`]]);
  });

  it('keeps the name in the TLS handshake while it connects to the checked address', async () => {
    const names: string[] = [];
    const port = await listening(
      createTlsServer({
        ...selfSigned('hooks.example'),
        SNICallback: (name, done) => {
          names.push(name);
          done(null);
        },
      }),
    );
    expect(await post(`https://hooks.example:${port}/`, { resolve: async () => ['127.0.0.1'] })).toMatchObject({ kind: 'failed' });
    expect(names).toEqual(['hooks.example']);
  });

  describe('over TLS', () => {
    /** What a process that trusts one certificate, or has another environment, gets for posts to these names, one after the other. */
    async function results(port: number, names: readonly string[], env: Record<string, string>): Promise<unknown> {
      // Node reads the authorities it trusts when it starts.
      const program = `
      import { createWebhookHttp } from '#api/clients/webhook-http.ts';
      const client = createWebhookHttp({ policy: { privateTargets: ['127.0.0.0/8'], requireHttps: true }, resolve: async () => ['127.0.0.1'] });
      const results = [];
      for (const name of ${JSON.stringify(names)}) {
        const outcome = await client.post('https://' + name + ':${port}/', {}, '{}');
        results.push(outcome.status ?? outcome.result);
      }
      console.log(JSON.stringify(results));`;
      const ran = await promisify(execFile)(process.execPath, ['--no-warnings', '--import', 'tsx', '--input-type=module', '--eval', program], { env });
      return JSON.parse(ran.stdout);
    }

    /** The environment that trusts a certificate. */
    async function trusting(certificate: { cert: string }): Promise<Record<string, string>> {
      const folder = await mkdtemp(join(tmpdir(), 'sluice-tls-'));
      closing.push(() => rmSync(folder, { recursive: true }));
      await writeFile(join(folder, 'authority.pem'), certificate.cert);
      return { NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') };
    }

    it('trusts a certificate for the name in the URL only, and the environment cannot switch that off', async () => {
      const certificate = selfSigned('hooks.example');
      const port = await listening(createTlsServer(certificate, (socket) => void socket.end('HTTP/1.1 200 OK\r\n\r\n')));
      const names = ['hooks.example', 'other.example'];
      expect(await results(port, names, await trusting(certificate))).toEqual([200, 'tls']);
      expect(await results(port, names, { NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual(['tls', 'tls']);
    });

    it.each(['TLSv1.2', 'TLSv1.3'] as const)('is shown a certificate on each new connection, whatever session of %s an earlier one had', async (version) => {
      const certificate = selfSigned('hooks.example');
      const shared = { ticketKeys: Buffer.alloc(48, 1), minVersion: version, maxVersion: version };
      const server = createTlsServer({ ...certificate, ...shared }, (socket) => {
        socket.on('error', () => undefined).end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
        server.setSecureContext({ ...selfSigned('hooks.example'), ...shared });
      });
      const port = await listening(server);
      expect(await results(port, ['hooks.example', 'hooks.example'], await trusting(certificate))).toEqual([200, 'tls']);
    });
  });

  describe('on a connection that an earlier one left open', () => {
    const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

    /** A receiver that answers the nth request, and counts connections; `said` is what it says to the nth request of its mth connection. */
    async function counting(
      said: (socket: Socket, request: number, connection: number) => void,
      sockets = new Set<Socket>(),
    ): Promise<{ port: number; connections(): number }> {
      let connections = 0;
      const port = await listening(
        createServer((socket) => {
          const connection = ++connections;
          let requests = 0;
          socket.on('data', (chunk) => {
            if (chunk.includes('{"a"')) said(socket, ++requests, connection);
          });
        }),
        sockets,
      );
      return { port, connections: () => connections };
    }

    it('goes to the same receiver, and one that says it closes gets a new one', async () => {
      const kept = await counting((socket) => socket.write(answer));
      const closed = await counting((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'));
      for (const { port } of [kept, kept, kept, closed, closed]) expect(await post(port)).toMatchObject({ kind: 'answered', status: 200 });
      expect([kept.connections(), closed.connections()]).toEqual([1, 2]);
    });

    it('is neither taken nor left by one that is to be alone, which is sent once', async () => {
      const { port, connections } = await counting((socket, _request, connection) => (connection === 1 ? socket.write(answer) : socket.destroy()));
      expect(await post(port)).toMatchObject({ status: 200 });
      expect(await post(port, {}, false)).toMatchObject({ kind: 'failed', result: 'refused' });
      expect(connections()).toBe(2);
      expect(await post(port)).toMatchObject({ status: 200 });
      expect(connections()).toBe(2);
    });

    it('is taken only where it leads to the addresses that this attempt checked', async () => {
      const sockets = new Set<Socket>();
      const { port, connections } = await counting((socket) => socket.write(answer), sockets);
      const other = createServer((socket) => void socket.once('data', () => socket.end('HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n')));
      closing.push(() => other.close());
      await new Promise<void>((resolve) => other.listen(port, '127.0.0.2', resolve));
      const answers = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1', '127.0.0.3'], ['127.0.0.1'], ['10.0.0.1']];
      const outcomes: unknown[] = [];
      for (const addresses of answers) {
        const outcome = await post(`http://hooks.example:${port}/`, { resolve: async () => addresses });
        outcomes.push(outcome.kind === 'answered' ? outcome.status : outcome.result);
      }
      expect(outcomes).toEqual([200, 201, 200, 200, 'blocked']);
      expect([connections(), sockets.size]).toEqual([2, 2]);
    });

    it('is not shared between names that lead to the same address', async () => {
      const { port, connections } = await counting((socket) => socket.write(answer));
      for (const name of ['one.example', 'two.example', 'one.example']) await post(`http://${name}:${port}/`, { resolve: async () => ['127.0.0.1'] });
      expect(connections()).toBe(2);
    });

    it('is sent again, once and on a new one, where the receiver closed that without a word', async () => {
      const requests: string[] = [];
      const { port } = await counting((socket, request, connection) => {
        requests.push(`${connection}.${request}`);
        if (request === 1 && connection !== 3) socket.write(answer);
        else socket.destroy();
      });
      expect(await post(port)).toMatchObject({ status: 200 });
      expect(await post(port)).toMatchObject({ status: 200 });
      expect(requests).toEqual(['1.1', '1.2', '2.1']);
      // The second one said that it closes.
      expect(await post(port)).toMatchObject({ kind: 'failed', result: 'refused' });
      expect(requests).toEqual(['1.1', '1.2', '2.1', '3.1']);
    });

    it('is not sent again once the receiver began to answer', async () => {
      const { port, connections } = await counting((socket, request) => (request === 1 ? socket.write(answer) : socket.end('HTTP/1.1 2')));
      expect(await post(port)).toMatchObject({ status: 200 });
      expect(await post(port)).toMatchObject({ kind: 'failed', result: 'refused' });
      expect(connections()).toBe(1);
    });

    it('does not take for its answer what the receiver said before it was asked', async () => {
      const sockets = new Set<Socket>();
      const { port } = await counting((socket, request, connection) => {
        socket.write(answer.replace('200', connection === 1 ? '200' : '503'));
        if (connection === 1 && request === 1) setImmediate(() => setImmediate(() => socket.write(answer)));
      }, sockets);
      expect(await post(port)).toMatchObject({ status: 200 });
      await expect.poll(() => sockets.size).toBe(0);
      expect(await post(port)).toMatchObject({ status: 503 });
    });

    it('has its own deadline, and not that of the one before it', async () => {
      let release = (): void => undefined;
      const { port, connections } = await counting((socket, request) => {
        if (request === 1) socket.write(answer);
        else release = () => void socket.write(answer);
      });
      const over = AbortSignal.timeout(1_000);
      expect(await post(port, { deadlineMs: 1_000 })).toMatchObject({ status: 200 });
      const second = post(port, { deadlineMs: 10_000 });
      await new Promise((resolve) => over.addEventListener('abort', () => setImmediate(resolve)));
      await expect
        .poll(() => {
          release();
          return connections();
        })
        .toBe(1);
      expect(await second).toMatchObject({ status: 200 });
    });

    it('reads at most 64 KB of each answer, however many came before', async () => {
      const half = 'x'.repeat(40_000);
      const { port, connections } = await counting((socket) =>
        socket.write(`HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: ${half.length}\r\n\r\n${half}`),
      );
      for (let i = 0; i < 4; i++) expect(await post(port)).toMatchObject({ status: 200 });
      expect(connections()).toBe(1);
    });

    it('is not taken for longer than a minute', async () => {
      const { port, connections } = await counting((socket) => socket.write(answer));
      expect(await post(port)).toMatchObject({ status: 200 });
      const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 61_000);
      expect(await post(port)).toMatchObject({ status: 200 });
      now.mockRestore();
      expect(connections()).toBe(1);
      expect(await post(port)).toMatchObject({ status: 200 });
      expect(connections()).toBe(2);
    });

    it('waits with at most four for one receiver, and 256 for all', async () => {
      const sockets = new Set<Socket>();
      const held: Socket[] = [];
      const { port } = await counting((socket) => held.push(socket), sockets);
      const several = Promise.all(Array.from({ length: 9 }, () => post(port, { deadlineMs: 20_000 })));
      await expect.poll(() => held.length).toBe(9);
      for (const socket of held.splice(0)) socket.write(answer);
      expect((await several).every((one) => one.kind === 'answered')).toBe(true);
      await expect.poll(() => sockets.size).toBe(4);
      const all = await counting((socket) => socket.write(answer), sockets);
      for (let i = 0; i < 300; i++) await post(`http://h${i}.example:${all.port}/`, { resolve: async () => ['127.0.0.1'] });
      await expect.poll(() => sockets.size).toBe(256);
    }, 30_000);

    it('waits with at most 256 for all, however many become free at the same moment', async () => {
      const sockets = new Set<Socket>();
      const held: Socket[] = [];
      const { port } = await counting((socket) => held.push(socket), sockets);
      const all = { resolve: async () => ['127.0.0.1'], deadlineMs: 20_000 };
      const many = Promise.all(Array.from({ length: 300 }, (_, at) => post(`http://m${at}.example:${port}/`, all)));
      await expect.poll(() => held.length).toBe(300);
      for (const socket of held) socket.write(answer);
      expect((await many).every((one) => one.kind === 'answered')).toBe(true);
      await expect.poll(() => sockets.size).toBe(256);
    }, 30_000);
  });

  it('is over with the answer of a receiver that does not read all of it', async () => {
    const port = await socketReceiver((socket) => void socket.pause().write('HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\n\r\n'));
    const client = createWebhookHttp({ policy: LOOPBACK, deadlineMs: 60_000 });
    expect(await client.post(`http://127.0.0.1:${port}/`, {}, 'x'.repeat(8_000_000))).toMatchObject({ kind: 'answered', status: 413 });
  });

  it('tries the next checked address when one cannot be reached', async () => {
    const port = await receiver((_, response) => response.end());
    const policy = { privateTargets: ['127.0.0.0/8', '::1/128'], requireHttps: false };
    expect(await post(`http://hooks.example:${port}/`, { policy, resolve: async () => ['::1', '127.0.0.1'] })).toMatchObject({ kind: 'answered' });
  });

  it('uses no proxy from the environment', async () => {
    let proxied = 0;
    const proxy = await receiver((_, response) => {
      proxied += 1;
      response.end();
    });
    const port = await receiver((_, response) => response.writeHead(204).end());
    const names = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'];
    for (const name of names) process.env[name] = `http://127.0.0.1:${proxy}`;
    try {
      expect(await post(port)).toMatchObject({ kind: 'answered', status: 204 });
    } finally {
      for (const name of names) delete process.env[name];
    }
    expect(proxied).toBe(0);
  });
});

describe('what counts as an answer', () => {
  it.each([200, 201, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 429, 500, 503, 599])('%d is reported as it is, and never followed', async (status) => {
    let requests = 0;
    const port = await receiver((_, response) => {
      requests += 1;
      response.writeHead(status, { location: `http://127.0.0.1:${port}/elsewhere`, 'retry-after': '7' }).end();
    });
    expect(await post(port)).toEqual({ kind: 'answered', status, retryAfter: '7', durationMs: expect.any(Number) });
    expect(requests).toBe(1);
  });

  it('a status that HTTP does not have is no answer', async () => {
    for (const status of ['000', '099', '600', '999']) {
      const port = await socketReceiver((socket) => socket.end(`HTTP/1.1 ${status} Strange\r\nContent-Length: 0\r\n\r\n`));
      expect([status, await post(port, { deadlineMs: 500 })]).toMatchObject([status, { kind: 'failed' }]);
    }
  });

  it('interim answers are passed over', async () => {
    const port = await socketReceiver((socket) =>
      socket.end('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'),
    );
    expect(await post(port)).toMatchObject({ kind: 'answered', status: 204 });
  });

  it('the status line is the answer when the body stalls, breaks off, lies about its length or is not what it says', async () => {
    const bodies: ((socket: Socket) => void)[] = [
      (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx'),
      (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx', () => socket.destroy()),
      (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx', () => socket.resetAndDestroy()),
      (socket) => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n'),
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nnot gzip'),
      (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'),
    ];
    for (const body of bodies) expect(await post(await socketReceiver(body))).toMatchObject({ kind: 'answered', status: 200 });
  });
});

describe('a receiver cannot hold the client, fill its memory or break it', () => {
  it('that sends an endless body: at most 64 KB and what the sockets buffer are taken', async () => {
    for (const head of [
      'HTTP/1.1 200 OK\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    ]) {
      let count = { sent: 0 };
      const sockets = new Set<Socket>();
      const port = await socketReceiver((socket) => {
        socket.write(head);
        count = endlessly(socket, head.includes('chunked') ? `1000\r\n${'x'.repeat(4_096)}\r\n` : 'x'.repeat(4_096));
      }, sockets);
      expect(await post(port, { deadlineMs: 60_000 })).toMatchObject({ kind: 'answered', status: 200 });
      await expect.poll(() => sockets.size).toBe(0);
      expect(count.sent).toBeLessThan(8 * 1024 * 1024);
    }
  });

  it('that sends interim answers without end: at most 64 KB and what the sockets buffer are taken', async () => {
    const sockets = new Set<Socket>();
    let count = { sent: 0 };
    const port = await socketReceiver((socket) => {
      count = endlessly(socket, 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100));
    }, sockets);
    expect(await post(port, { deadlineMs: 60_000 })).toMatchObject({ kind: 'failed', result: 'refused' });
    await expect.poll(() => sockets.size).toBe(0);
    expect(count.sent).toBeLessThan(8 * 1024 * 1024);
  });

  it('that sends endless headers, in one line or in many', async () => {
    for (const [head, piece] of [
      ['HTTP/1.1 200 OK\r\nX-Long: ', 'x'.repeat(1_024)],
      ['HTTP/1.1 200 OK\r\n', 'X-Many: x\r\n'],
      ['HTTP/1.1 200 ', 'x'.repeat(1_024)],
    ] as const) {
      const port = await socketReceiver((socket) => {
        socket.write(head);
        endlessly(socket, piece);
      });
      expect(await post(port, { deadlineMs: 60_000 })).toMatchObject({ kind: 'failed', result: 'refused' });
    }
  });

  it.each<[string, (socket: Socket) => void]>([
    ['never answers', () => undefined],
    ['sends its status line and no more', (socket) => void socket.write('HTTP/1.1 200 OK\r\n')],
    [
      'sends one byte of its headers now and then',
      (socket) => {
        const timer = setInterval(() => socket.write('x'), 20);
        socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
        socket.on('close', () => clearInterval(timer));
      },
    ],
    [
      'sends interim answers for ever',
      (socket) => {
        const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 20);
        socket.on('close', () => clearInterval(timer));
      },
    ],
  ])('that %s: timeout at the deadline, and the socket is gone', async (_what, answer) => {
    const sockets = new Set<Socket>();
    const outcome = await post(await socketReceiver(answer, sockets), { deadlineMs: 300 });
    expect(outcome).toMatchObject({ kind: 'failed', result: 'timeout' });
    expect(outcome.durationMs).toBeGreaterThanOrEqual(290);
    await expect.poll(() => sockets.size).toBe(0);
  });

  it('that never reads: the deadline holds', async () => {
    const port = await listening(createServer((socket) => void socket.pause()));
    expect(await post(port, { deadlineMs: 200 })).toMatchObject({ kind: 'failed', result: 'timeout' });
  });

  it('whose name takes for ever to resolve: the deadline holds', async () => {
    expect(await post('http://hooks.example/', { deadlineMs: 200, resolve: () => new Promise(() => undefined) })).toMatchObject({ result: 'timeout' });
  });

  it.each<[string, (socket: Socket) => void]>([
    ['resets the connection', (socket) => void socket.resetAndDestroy()],
    ['closes the connection', (socket) => void socket.end()],
    ['answers with something that is not HTTP', (socket) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n')],
    ['answers with TLS', (socket) => void socket.end(Buffer.from('15030100020246', 'hex'))],
    ['switches protocols', (socket) => void socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')],
    ['sends two lengths', (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx')],
    ['speaks HTTP/2 without being asked', (socket) => void socket.end(Buffer.from('00000604000000000000030000006400', 'hex'))],
  ])('that %s: refused', async (_what, answer) => {
    expect(await post(await socketReceiver(answer))).toMatchObject({ kind: 'failed', result: 'refused' });
  });

  it('that nothing listens behind, that is unknown, or whose TLS fails: each by its own name', async () => {
    const server = createServer();
    const gone = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await post(gone)).toMatchObject({ kind: 'failed', result: 'refused' });
    const unknown = async (): Promise<string[]> => Promise.reject(new Error('ENOTFOUND'));
    expect(await post('http://hooks.example/', { resolve: unknown })).toMatchObject({ kind: 'failed', result: 'dns' });
    expect(await post('http://hooks.example/', { resolve: async () => [] })).toMatchObject({ kind: 'failed', result: 'dns' });
    const plain = await receiver((_, response) => response.end());
    expect(await post(`https://127.0.0.1:${plain}/`)).toMatchObject({ kind: 'failed', result: 'tls' });
    const bare = await listening(createTlsServer({}));
    expect(await post(`https://127.0.0.1:${bare}/`)).toMatchObject({ kind: 'failed', result: 'tls' });
    const untrusted = await listening(createTlsServer(selfSigned('hooks.example'), (socket) => void socket.end('HTTP/1.1 200 OK\r\n\r\n')));
    expect(await post(`https://hooks.example:${untrusted}/`, { resolve: async () => ['127.0.0.1'] })).toMatchObject({ kind: 'failed', result: 'tls' });
    const mute = await socketReceiver(() => undefined);
    expect(await post(`https://127.0.0.1:${mute}/`, { deadlineMs: 200 })).toMatchObject({ kind: 'failed', result: 'timeout' });
  });

  it('hundreds of endless receivers at once leave no socket behind', async () => {
    const sockets = new Set<Socket>();
    const port = await socketReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      endlessly(socket, 'x'.repeat(1_024));
    }, sockets);
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => post(port, { deadlineMs: 120_000 })));
    expect(new Set(outcomes.map((outcome) => outcome.kind))).toEqual(new Set(['answered']));
    await expect.poll(() => sockets.size).toBe(0);
  }, 150_000);
});
