import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bitcoinNode } from '#ops/dev/services/bitcoin-node.ts';
import { aBitcoinChain, type BitcoinChain } from '#test/harness/bitcoin-chain.ts';
import { askPlain, post, refusalOf } from './bitcoin-node.ts';

let chain: BitcoinChain;
beforeAll(async () => {
  chain = await aBitcoinChain({ blockSeconds: 0 });
});
afterAll(() => chain.stop());

const ZEROS = '0'.repeat(64);
const answer = async (body: unknown, options?: Parameters<typeof post>[2]): Promise<{ status: number; body: unknown }> => {
  const { status, text } = await post(chain.url, body, options);
  return { status, body: text === '' ? '' : JSON.parse(text) };
};

describe('JSON-RPC', () => {
  it('1.x answers have a result and an error, and an error has an HTTP status', async () => {
    expect(await answer({ id: 'a', method: 'getblockhash', params: [0] })).toEqual({ status: 200, body: { result: expect.any(String), error: null, id: 'a' } });
    expect(await answer({ id: 7, method: 'getblockhash', params: [99_999] })).toEqual({
      status: 500,
      body: { result: null, error: { code: -8, message: 'Block height out of range' }, id: 7 },
    });
    expect(await answer({ id: 1, method: 'nosuch', params: [] })).toEqual({
      status: 404,
      body: { result: null, error: { code: -32601, message: 'Method not found' }, id: 1 },
    });
  });

  it('2.0 answers have one of the two, always with status 200', async () => {
    expect(await answer({ jsonrpc: '2.0', id: 1, method: 'getblockcount' })).toEqual({
      status: 200,
      body: { jsonrpc: '2.0', result: expect.any(Number), id: 1 },
    });
    expect(await answer({ jsonrpc: '2.0', id: null, method: 'nosuch' })).toEqual({
      status: 200,
      body: { jsonrpc: '2.0', error: { code: -32601, message: 'Method not found' }, id: null },
    });
    expect(await answer({ jsonrpc: '2.0', method: 'getblockcount' })).toEqual({ status: 204, body: '' });
  });

  it('a batch is answered in its order with status 200, both kinds mixed', async () => {
    const { status, body } = await answer([
      { id: 1, method: 'getblockhash', params: [99_999] },
      { jsonrpc: '2.0', id: 2, method: 'getblockhash', params: [0] },
      { jsonrpc: '2.0', id: 3, method: 'nosuch' },
    ]);
    expect(status).toBe(200);
    expect(body).toMatchObject([
      { id: 1, result: null, error: { code: -8 } },
      { id: 2, jsonrpc: '2.0', result: expect.any(String) },
      { id: 3, jsonrpc: '2.0', error: { code: -32601 } },
    ]);
    expect((await answer([])).body).toEqual([]);
  });

  it('nobody without the password is answered, and nothing but calls is understood', async () => {
    const call = { id: 1, method: 'getblockcount' };
    expect(await answer(call, { authorization: 'Basic c2x1aWNlOndyb25n' })).toEqual({ status: 401, body: '' });
    expect(await answer('{', {})).toMatchObject({ status: 500, body: { result: null, error: { code: -32700, message: 'Parse error' } } });
    expect(await answer({ id: 1, params: [] })).toMatchObject({ status: 400, body: { error: { code: -32600, message: 'Missing method' } } });
    expect((await post(chain.url, call, { path: '/nowhere' })).status).toBe(404);
    const { origin } = new URL(chain.url);
    expect((await fetch(origin)).status).toBe(405);
  });

  it('arguments go by position or by name, and are refused by name when they are of another kind', async () => {
    const genesis = await askPlain(chain.url, 'getblockhash', [0]);
    expect(await askPlain(chain.url, 'getblockhash', { height: 0 })).toBe(genesis);
    expect(await askPlain(chain.url, 'getblock', { blockhash: genesis, verbose: 0 })).toBe(await askPlain(chain.url, 'getblock', [genesis, false]));
    const refusals = await Promise.all([
      refusalOf(chain.node, 'getblockhash', ['0']),
      refusalOf(chain.node, 'getblockhash', []),
      refusalOf(chain.node, 'getblock', ['ab']),
      refusalOf(chain.node, 'getblock', ['z'.repeat(64)]),
      refusalOf(chain.node, 'getblock', [ZEROS]),
      refusalOf(chain.node, 'getrawtransaction', [ZEROS]),
      refusalOf(chain.node, 'sendrawtransaction', ['zz']),
    ]);
    expect(refusals.map(({ code }) => code)).toEqual([-3, -1, -8, -8, -5, -5, -22]);
    expect(refusals.slice(2, 6).map(({ message }) => message.split(': ')[1])).toEqual([
      "blockhash must be of length 64 (not 2, for 'ab')",
      `blockhash must be hexadecimal string (not '${'z'.repeat(64)}')`,
      'Block not found',
      'No such mempool or blockchain transaction. Use gettransaction for wallet transactions.',
    ]);
    expect(refusals[0]?.message).toContain('"Position 1 (height)": "JSON value of type string is not of expected type number"');
  });
});

describe('the wallet', () => {
  it('is made, is paid by mining, and pays: one recipient, less the fee, or two outputs to one address', async () => {
    const { node } = chain;
    expect((await refusalOf(node, 'sendtoaddress', [chain.outsider, '0.1'])).code).toBe(-18);
    expect(await node.call('createwallet', ['shop'])).toMatchObject({ name: 'shop' });
    expect((await refusalOf(node, 'createwallet', ['shop'])).code).toBe(-4);
    expect((await refusalOf(node, 'loadwallet', ['shop'])).code).toBe(-35);
    expect(await node.call('listwallets')).toEqual(['shop']);
    const address = await node.call<string>('getnewaddress', ['', 'bech32']);
    expect(address).toMatch(/^bcrt1q/);
    expect(await node.call('getnewaddress', ['', 'bech32m'])).toMatch(/^bcrt1p/);
    expect((await refusalOf(node, 'sendtoaddress', [chain.outsider, '0.1'])).code).toBe(-6);
    await node.call('generatetoaddress', [1, address]);
    await chain.mine(100);
    const before = await chain.balance(chain.outsider);
    await node.call('sendtoaddress', [chain.outsider, '0.1']);
    await node.call('sendtoaddress', [chain.outsider, 0.2, '', '', true]);
    const raw = `02000000000${'2'}${'8096980000000000160014' + '0417bc7455808df8fed603262641526ef0b14166'}${'00e1f50500000000160014' + '0417bc7455808df8fed603262641526ef0b14166'}00000000`;
    const funded = await node.call<{ hex: string; changepos: number }>('fundrawtransaction', [raw, {}, false]);
    const signed = await node.call<{ hex: string; complete: boolean }>('signrawtransactionwithwallet', [funded.hex]);
    expect(signed.complete).toBe(true);
    await chain.send(signed.hex);
    await chain.mine();
    const gained = (await chain.balance(chain.outsider)) - before;
    expect(gained).toBeGreaterThan(139_990_000n);
    expect(gained).toBeLessThan(140_000_000n);
    expect((await refusalOf(node, 'sendtoaddress', ['nonsense', '0.1'])).code).toBe(-5);
  });

  it('is named by the path of the URL when there are several', async () => {
    await chain.node.call('createwallet', ['other']);
    expect((await refusalOf(chain.node, 'getnewaddress', [])).code).toBe(-19);
    const call = async (wallet: string, method: string): Promise<unknown> =>
      JSON.parse((await post(chain.url, { id: 1, method, params: [] }, { path: `/wallet/${wallet}` })).text);
    expect(await call('other', 'getbalance')).toMatchObject({ result: 0, error: null });
    expect(await call('none', 'getbalance')).toMatchObject({ error: { code: -18 } });
  });
});

describe('the tools of ops/dev', () => {
  it('read amounts as text, so that none is ever rounded', async () => {
    const { vout } = await bitcoinNode(chain.url).call<{ vout: { value: unknown }[] }>('getrawtransaction', [
      (await chain.purse.pay([{ to: chain.outsider, rawAmount: 123_456_789n }])).txid,
      true,
    ]);
    expect(vout[0]?.value).toBe('1.23456789');
  });
});
