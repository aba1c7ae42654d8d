import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bitcoinPages } from '#ops/dev/explorer/bitcoin.ts';
import { explorerPage } from '#ops/dev/explorer.ts';
import { bitcoinFamily } from '#ops/dev/local-bitcoin.ts';
import type { BitcoinNode } from '#ops/dev/services/bitcoin-node.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { aBitcoinChain, type BitcoinChain } from '#test/harness/bitcoin-chain.ts';
import { demoNetwork } from '#test/harness/networks.ts';

const PAYEE = bitcoinFamily.otherOutsider as string;
const GHOST = 'ab'.repeat(32);

let chain: BitcoinChain;
let network: NetworkConfig;
beforeAll(async () => {
  [chain, network] = await Promise.all([aBitcoinChain({ blockSeconds: 0 }), demoNetwork('bitcoin')]);
});
afterAll(() => chain?.stop());

const open = async (path: string): Promise<{ status: number; html: string }> => {
  const page = await explorerPage({ networks: [network], chains: new Map([[network.name, chain]]) }, path);
  return page ?? { status: 0, html: '' };
};
const cell = (name: string, value: string): RegExp => new RegExp(`<th scope="row">${name}</th><td>${value}</td>`);

describe('the page of a Bitcoin transaction', () => {
  it('shows two outputs to one address, what it spends and its fee, before and after it is mined', async () => {
    const { txid } = await chain.purse.pay([12_345n, 100_000_000n].map((rawAmount) => ({ to: PAYEE, rawAmount })));
    expect((await open(`/explorer/bitcoin/tx/${txid}`)).html).toMatch(cell('Status', 'waiting for a block'));
    await chain.mine(3);
    const { status, html } = await open(`/explorer/bitcoin/tx/${txid.toUpperCase()}`);
    expect(status).toBe(200);
    for (const part of [cell('Status', 'confirmed'), cell('Confirmations', '3'), cell('Fee', '0\\.0000\\d+ BTC, \\d+ vbytes')]) expect(html).toMatch(part);
    for (const amount of ['0.00012345 BTC', '1 BTC']) expect(html).toContain(`<td>${amount}</td><td><a href="/explorer/bitcoin/address/${PAYEE}">`);
    const spent = /href="(\/explorer\/bitcoin\/tx\/[0-9a-f]{64})"/.exec(html)?.[1] ?? '';
    expect((await open(spent)).html).toContain('new coins');
    const block = /href="(\/explorer\/bitcoin\/block\/\d+)"/.exec(html)?.[1] ?? '';
    expect((await open(block)).html).toContain(`/explorer/bitcoin/tx/${txid}`);
    expect((await open(`/explorer/bitcoin/address/${PAYEE}`)).html).toContain('<td>BTC</td><td>1.00012345</td>');
  });

  it('says when its block was replaced', async () => {
    const txid = await chain.payAndMine(PAYEE, null, 5_000n);
    await chain.reorg(1);
    const { html } = await open(`/explorer/bitcoin/tx/${txid}`);
    expect(html).not.toMatch(cell('Status', 'confirmed'));
  });

  it('is 404 for a hash the chain does not know, and for what is no hash', async () => {
    expect(await open(`/explorer/bitcoin/tx/${GHOST}`)).toMatchObject({ status: 404, html: expect.stringContaining('Unknown transaction') });
    expect((await open('/explorer/bitcoin/block/999999')).status).toBe(404);
    for (const path of [
      '/explorer/bitcoin/tx/0x12',
      `/explorer/bitcoin/address/${PAYEE.slice(0, -1)}q`,
      '/explorer/bitcoin/address/bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      '/explorer/bitcoin/block/-1',
    ])
      expect(await open(path)).toMatchObject({ status: 0 });
    expect((await open('/explorer/bitcoin/block/0')).status).toBe(200);
  });
});

it('whatever a Bitcoin node answers is shown as text', async () => {
  const evil = '"><script>alert(1)</script>';
  const answers: Record<string, unknown> = {
    getrawtransaction: {
      txid: evil,
      vsize: evil,
      vin: [{ txid: evil, vout: 0 }],
      vout: [{ value: '0.1', n: 0, scriptPubKey: { type: evil, address: evil } }],
      blockhash: evil,
    },
    getblockhash: evil,
    getblock: { hash: evil, height: 5, time: 0, previousblockhash: evil, confirmations: 1, tx: [evil] },
  };
  const liar = { url: '', height: async () => 5, call: async (method: string) => answers[method] } as unknown as BitcoinNode;
  const pages = bitcoinPages(network, liar, { balance: async () => 0n });
  for (const [kind, id] of [['tx', GHOST] as const, ['block', '5'] as const]) {
    const html = (await pages(kind, id))?.html ?? '';
    expect(html).toContain('&lt;script&gt;');
    expect(html).not.toContain('<script');
  }
});
