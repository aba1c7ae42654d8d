import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { checkNode } from '#ops/cli/check-node.ts';
import type { Finding } from '#ops/cli/finding.ts';

const WELL = {
  getblockchaininfo: { chain: 'main', blocks: 900_000, headers: 900_000, initialblockdownload: false, pruned: false },
  getnetworkinfo: { subversion: '/Satoshi:31.0.0/' },
  getindexinfo: { txindex: { synced: true, best_block_height: 900_000 } } as Record<string, unknown> | null,
};

let server: Server | undefined;
afterEach(() => server?.close());

/** What doctor says of a bitcoind that answers like this; `null` for a method it does not know. */
async function findingsOn(answers: Partial<typeof WELL>, { status = 200, local = false } = {}): Promise<Finding[]> {
  const told: Record<string, unknown> = { ...WELL, ...answers };
  server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const calls = JSON.parse(body) as { id: number; method: string }[];
    const replies = calls.map(({ id, method }) => {
      const result = told[method] ?? null;
      return result === null ? { id, error: { code: -32601, message: 'Method not found' } } : { id, result };
    });
    response.writeHead(status, { 'content-type': 'application/json' }).end(status === 200 ? JSON.stringify(replies) : '');
  });
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
  const rpcUrl = `http://user:secret@127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`;
  return checkNode('bitcoin', { id: '', family: 'bitcoin', rpcUrl, indexerPid: 0 }, local, 'mainnet');
}

describe('what doctor says of a bitcoind', () => {
  it('is one line when all is well, and nothing of its password', async () => {
    const findings = await findingsOn({});
    expect(findings).toEqual([
      {
        check: 'node bitcoin',
        level: 'ok',
        good: true,
        seen: expect.stringMatching(/^http:\/\/127.0.0.1:\d+, main \/Satoshi:31.0.0\/, block 900000$/),
        fix: null,
      },
    ]);
    expect(JSON.stringify(findings)).not.toContain('secret');
  });

  it.each([
    ['another network', { getblockchaininfo: { ...WELL.getblockchaininfo, chain: 'test' } }, /the networks file says mainnet/, /change chainId/],
    [
      'a node that is still loading',
      { getblockchaininfo: { ...WELL.getblockchaininfo, blocks: 1, initialblockdownload: true } },
      /899999 blocks to go/,
      /wait/,
    ],
    ['a pruned one', { getblockchaininfo: { ...WELL.getblockchaininfo, pruned: true } }, /pruned/, /prune=0/],
    ['one without an index', { getindexinfo: {} }, /no index of transactions/, /txindex=1/],
    ['one that is still building it', { getindexinfo: { txindex: { synced: false } } }, /still building/, /wait/],
  ] as const)('%s: what to do', async (_what, answers, seen, fix) => {
    const [bad] = (await findingsOn(answers as Partial<typeof WELL>)).filter(({ good }) => !good);
    expect(bad).toEqual({ check: 'node bitcoin', level: 'fail', good: false, seen: expect.stringMatching(seen), fix: expect.stringMatching(fix) });
  });

  it('says nothing about indexes of a node that does not tell', async () => {
    expect((await findingsOn({ getindexinfo: null })).map(({ good }) => good)).toEqual([true]);
  });

  it('names user and password when they are refused, and npm start when the node is its own', async () => {
    expect(await findingsOn({}, { status: 401 })).toMatchObject([
      { good: false, seen: expect.stringContaining('401'), fix: expect.stringContaining('rpcauth') },
    ]);
    server?.close();
    expect(await findingsOn({}, { status: 401, local: true })).toMatchObject([{ good: false, fix: expect.stringContaining('npm start') }]);
  });
});

it('leaves other families’ nodes alone where the deployment names them', async () => {
  expect(await checkNode('ethereum', { id: '', family: 'evm', rpcUrl: 'http://127.0.0.1:1', indexerPid: 0 }, false, '1')).toEqual([]);
});
