import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tronPages } from '#ops/dev/explorer/tron.ts';
import { explorerPage } from '#ops/dev/explorer.ts';
import { payTron } from '#ops/dev/local-tron.ts';
import type { TronNode } from '#ops/dev/services/tron-node.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { demoNetwork } from '#test/harness/networks.ts';
import { aTronChain, type TronChain } from '#test/harness/tron-chain.ts';

const PAYEE = 'T9yD14Nj9j7xAB4dbGeiX9his4uBUWcobi';
const GHOST = 'ab'.repeat(32);
/** A key of somebody who has TRX for energy and no tokens. */
const POOR = { key: '11'.repeat(32), address: 'TCLBgkbfVkJroVBJVqBEsxtPNQEQMTQCLQ' };

let chain: TronChain;
let network: NetworkConfig;
beforeAll(async () => {
  chain = await aTronChain({ blockSeconds: 0 });
  network = await demoNetwork('tron');
});
afterAll(() => chain.stop());

const open = async (path: string): Promise<{ status: number; html: string }> => {
  const page = await explorerPage({ networks: [network], chains: new Map([[network.name, chain]]) }, path);
  return page ?? { status: 0, html: '' };
};
const cell = (name: string, value: string): RegExp => new RegExp(`<th scope="row">${name}</th><td>${value}</td>`);

describe('the page of a TRON transaction', () => {
  it('shows a token transfer: status, block, energy, both ends, and the amount decoded', async () => {
    const txid = await chain.payAndMine(PAYEE, chain.tokens.USDT, 12_345_678n);
    await chain.mine(2);
    const { status, html } = await open(`/explorer/tron/tx/${txid}`);
    expect(status).toBe(200);
    for (const part of [cell('Status', 'succeeded'), cell('Confirmations', '3'), cell('Kind', 'TriggerSmartContract'), cell('Energy', '130285')])
      expect(html).toMatch(part);
    expect(html).toContain('<td>12.345678 USDT</td>');
    for (const address of [chain.faucet, PAYEE, chain.tokens.USDT]) expect(html).toContain(`href="/explorer/tron/address/${address}"`);
    const block = /href="(\/explorer\/tron\/block\/\d+)"/.exec(html)?.[1] ?? '';
    expect((await open(block)).html).toContain(`/explorer/tron/tx/${txid}`);
  });

  it('shows TRX, a transaction that waits, and one that failed', async () => {
    const waiting = await chain.pay(POOR.address, null, 100_500_000n);
    expect((await open(`/explorer/tron/tx/${waiting}`)).html).toMatch(cell('Status', 'waiting for a block'));
    await chain.mine();
    const { html } = await open(`/explorer/tron/tx/${waiting.toUpperCase()}`);
    for (const part of [cell('Status', 'succeeded'), cell('Value', '100.5 TRX'), cell('Kind', 'TransferContract')]) expect(html).toMatch(part);
    const failed = await payTron(chain.node, POOR.key, PAYEE, chain.tokens.USDT, 1n);
    await chain.mine();
    const page = (await open(`/explorer/tron/tx/${failed}`)).html;
    expect(page).toMatch(cell('Status', 'failed: REVERT'));
    expect(page).not.toContain('Token transfers');
  });

  it('is 404 for a hash the chain does not know, and for what is no hash', async () => {
    expect(await open(`/explorer/tron/tx/${GHOST}`)).toMatchObject({ status: 404, html: expect.stringContaining('Unknown transaction') });
    expect((await open('/explorer/tron/block/999999')).status).toBe(404);
    for (const path of ['/explorer/tron/tx/0x12', `/explorer/tron/tx/0x${GHOST}`, '/explorer/tron/address/TAAA', '/explorer/tron/block/-1'])
      expect(await open(path)).toMatchObject({ status: 0 });
  });

  it('shows what an address holds, and the first block', async () => {
    const { html } = await open(`/explorer/tron/address/${PAYEE}`);
    for (const row of ['<td>TRX</td><td>0</td>', '<td>USDT</td><td>12.345678</td>']) expect(html).toContain(row);
    expect((await open('/explorer/tron/block/0')).status).toBe(200);
  });
});

it('whatever a TRON node answers is shown as text', async () => {
  const evil = '"><script>alert(1)</script>';
  const node = {
    head: async () => ({ blockID: evil, block_header: { raw_data: { number: 5 } } }),
    block: async () => ({ blockID: evil, block_header: { raw_data: { parentHash: evil, timestamp: 0 } }, transactions: [{ txID: evil }] }),
    call: async (path: string) =>
      path === 'wallet/gettransactionbyid'
        ? {
            txID: evil,
            ret: [{ contractRet: evil }],
            raw_data: { contract: [{ type: evil, parameter: { value: { owner_address: evil, to_address: evil } } }] },
          }
        : {
            id: evil,
            log: [{ address: evil, topics: [evil] }],
            internal_transactions: [{ caller_address: evil, transferTo_address: evil, callValueInfo: [{ callValue: 1, tokenId: evil }] }],
          },
  } as unknown as TronNode;
  const pages = tronPages(network, node, { balance: async () => 0n });
  for (const [kind, id] of [['tx', GHOST] as const, ['block', '1'] as const]) {
    const html = (await pages(kind, id))?.html ?? '';
    expect(html).toContain('&lt;script&gt;');
    expect(html).not.toContain('<script');
  }
});
