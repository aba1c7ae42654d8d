import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transaction } from 'bitcoinjs-lib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bitcoinNode } from '#ops/dev/services/bitcoin-node.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import type { FaultKind } from '#ops/devnet/bitcoin/faults.ts';
import { type RunningBitcoinNode, startBitcoinNode } from '#ops/devnet/bitcoin/start.ts';
import { askPlain, post } from './bitcoin-node.ts';

const NOBODY = 'bcrt1qqstmcaz4szxl3lkkqvnzvs2jdmctzstxyalc32';
const SOMEBODY = 'bcrt1qtjp2g8g9dcd6pdr92uelwsa8svhnff8fz26d0k';
const COUNT = { id: 1, method: 'getblockcount' };

describe('the control', () => {
  let node: RunningBitcoinNode;
  beforeAll(async () => {
    node = await startBitcoinNode({ faucet: true });
  });
  afterAll(() => node.stop());
  afterEach(() => node.control.recover());
  const count = (): Promise<number> => askPlain(node.url, 'getblockcount');

  it.each([
    ['status-401', { status: 401, text: '' }],
    ['status-429', { status: 429, text: '' }],
    ['status-503', { status: 503, text: '' }],
    ['busy', { status: 503, text: 'Work queue depth exceeded' }],
    ['html', { status: 200, text: '<html><body>Bad Gateway</body></html>' }],
    ['null', { status: 200, text: '{"result":null,"error":null,"id":1}\n' }],
    ['warmup', { status: 500, text: '{"result":null,"error":{"code":-28,"message":"Loading block index…"},"id":1}\n' }],
  ] satisfies [FaultKind, { status: number; text: string }][])('answers the next call with %s, and the one after as it should', async (kind, answer) => {
    await node.control.failNext('getblockcount', kind);
    expect(await askPlain(node.url, 'getbestblockhash')).toMatch(/^[0-9a-f]{64}$/);
    expect(await post(node.url, COUNT)).toEqual(answer);
    expect(await count()).toBe(120);
  });

  it('answers with given results and errors, also inside of a batch', async () => {
    await node.control.answerNext('getblockcount', '"many"');
    await node.control.errorNext('getblockhash', { code: -5, message: 'Block not found' });
    expect(await askPlain(node.url, 'getblockcount')).toBe('many');
    const { text } = await post(node.url, [COUNT, { id: 2, method: 'getblockhash', params: [1] }]);
    expect(JSON.parse(text)).toMatchObject([{ result: 120 }, { error: { code: -5 } }]);
  });

  it('cuts a connection before or after doing what was asked', async () => {
    await node.control.dropConnections(1);
    await expect(count()).rejects.toThrow(/fetch failed/);
    await node.control.failNext('generatetoaddress', 'drop-after');
    await expect(askPlain(node.url, 'generatetoaddress', [1, NOBODY])).rejects.toThrow(/fetch failed/);
    expect(await count()).toBe(121);
    await node.control.reorg(1, 'drop');
  });

  it('lets every answer wait', async () => {
    await node.control.setLatency(60);
    const began = performance.now();
    await count();
    expect(performance.now() - began).toBeGreaterThan(55);
  });

  it('hides the newest blocks, as a node that lags behind', async () => {
    const tip = await askPlain<string>(node.url, 'getbestblockhash');
    await node.control.staleHead(3);
    expect(await askPlain(node.url, 'getblockchaininfo')).toMatchObject({ blocks: (await node.control.status()).height - 3 });
    expect(await askPlain(node.url, 'getbestblockhash')).not.toBe(tip);
    await expect(askPlain(node.url, 'getblock', [tip])).rejects.toThrow('Block not found');
    await expect(askPlain(node.url, 'getblockhash', [(await node.control.status()).height])).rejects.toThrow('out of range');
  });

  it('reorganises to a depth: with transactions lost, waiting again, or replaced by given ones', async () => {
    const pay = (): Promise<string> => askPlain(node.url, 'sendtoaddress', [NOBODY, '0.5']);
    const lost = await pay();
    await askPlain(node.url, 'generatetoaddress', [2, NOBODY]);
    const height = await count();
    expect(await node.control.reorg(2)).toHaveLength(2);
    expect([await count(), (await node.control.status()).waiting]).toEqual([height, []]);
    const paid = await pay();
    expect(paid).not.toBe(lost);
    await askPlain(node.url, 'generatetoaddress', [1, NOBODY]);
    await node.control.reorg(1, 'pool');
    expect((await node.control.status()).waiting).toEqual([paid]);
    const hex = await askPlain<string>(node.url, 'getrawtransaction', [paid]);
    const [block = ''] = await node.control.reorg(1, [[hex]]);
    expect((await askPlain<{ tx: string[] }>(node.url, 'getblock', [block])).tx).toContain(paid);
    await node.control.forget();
    expect((await node.control.status()).waiting).toEqual([]);
  });

  it('moves the clock, and mines by itself until it is told to stop', async () => {
    const { now } = await node.control.status();
    await node.control.warp(3_600);
    const height = await count();
    await node.control.setInterval(0.05);
    await waitFor(async () => (await count()) > height + 1, { what: 'two blocks' });
    expect((await node.control.status()).stopped).toBe(false);
    await node.control.stopMining();
    expect((await node.control.status()).stopped).toBe(true);
    const { time } = await askPlain<{ time: number }>(node.url, 'getblockheader', [await askPlain(node.url, 'getbestblockhash')]);
    expect(time).toBeGreaterThanOrEqual(now + 3_600);
    await expect(node.control.forget(['nothing'])).resolves.toBeUndefined();
  });
});

describe('a chain that is kept in a folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bitcoin-node-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is there after a restart with its branches, its wallet and what waits, and a line cut short by a crash is left out', async () => {
    const first = await startBitcoinNode({ folder, faucet: true });
    const node = bitcoinNode(first.url);
    await node.call('generatetoaddress', [2, NOBODY]);
    const orphan = await node.call<string>('getbestblockhash');
    await node.call('invalidateblock', [orphan]);
    const paid = await node.call<string>('sendtoaddress', [NOBODY, '1.5']);
    // Paid to somebody else, or it could be the very block that was just declared invalid.
    await node.call('generateblock', [SOMEBODY, []]);
    const address = await node.call<string>('getnewaddress');
    await node.call('sendtoaddress', [address, '0.25']);
    const [hash, balance, pool] = await Promise.all([node.call('getbestblockhash'), node.call('getbalance'), node.call<string[]>('getrawmempool')]);
    expect(pool).toContain(paid);
    await first.stop();
    appendFileSync(join(folder, 'chain.jsonl'), '{"block":"0000');

    const second = await startBitcoinNode({ folder, faucet: true });
    const again = bitcoinNode(second.url);
    expect(await again.call('getbestblockhash')).toBe(hash);
    expect(await again.call('getbalance')).toBe(balance);
    expect(await again.call('getrawmempool')).toEqual(pool);
    expect(await again.call('getblockheader', [orphan])).toMatchObject({ confirmations: -1 });
    expect(await again.call('getnewaddress')).not.toBe(address);
    await again.call('generatetoaddress', [1, NOBODY]);
    expect(await again.call('getrawmempool')).toEqual([]);
    await second.stop();

    const third = await startBitcoinNode({ folder });
    expect(await bitcoinNode(third.url).height()).toBe(123);
    expect(await bitcoinNode(third.url).call('getrawmempool')).toEqual([]);
    await third.stop();
  });
  it('remembers which of two waited after a replacement, and what was lost', async () => {
    const kept = join(folder, 'waiting');
    const first = await startBitcoinNode({ folder: kept, faucet: true });
    const node = bitcoinNode(first.url);
    const replaced = await node.call<string>('sendtoaddress', [NOBODY, '1']);
    const raw = Transaction.fromHex(await node.call('getrawtransaction', [replaced]));
    const [output] = raw.outs;
    if (output !== undefined) raw.outs[0] = { ...output, value: output.value - 5_000n };
    raw.stripWitnesses();
    const { hex } = await node.call<{ hex: string }>('signrawtransactionwithwallet', [raw.toHex()]);
    const better = await node.call<string>('sendrawtransaction', [hex]);
    const lost = await node.call<string>('sendtoaddress', [NOBODY, '2']);
    await first.control.forget([lost]);
    expect(await node.call('getrawmempool')).toEqual([better]);
    await first.stop();
    const second = await startBitcoinNode({ folder: kept });
    expect(await bitcoinNode(second.url).call('getrawmempool')).toEqual([better]);
    await second.stop();
  });
});
