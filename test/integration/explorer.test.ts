import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evmPages } from '#ops/dev/explorer/evm.ts';
import { explorerPage } from '#ops/dev/explorer.ts';
import { transferData } from '#ops/dev/services/evm-node.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { aChain, type TestChain } from '#test/harness/chain.ts';
import { demoNetwork } from '#test/harness/networks.ts';

const PAYEE = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const GHOST = `0x${'ab'.repeat(32)}`;

let chain: TestChain;
let server: WebhookReceiver;
let origin: string;
let network: NetworkConfig;
beforeAll(async () => {
  chain = await aChain({ blockSeconds: 0 });
  network = await demoNetwork();
  const local = { networks: [network], chains: new Map([[network.name, chain]]) };
  server = await startWebhookReceiver({ pages: (path) => explorerPage(local, path) });
  origin = new URL(server.url).origin;
  network.explorerTxUrl = `${origin}/explorer/${network.name}/tx/{txHash}`;
});
afterAll(async () => {
  await server.stop();
  await chain.stop();
});

async function open(url: string): Promise<{ status: number; html: string; headers: Headers }> {
  const response = await fetch(new URL(url, origin));
  return { status: response.status, html: await response.text(), headers: response.headers };
}
const openTx = (txid: string) => open(network.explorerTxUrl.replace('{txHash}', txid));
const mined = async (txid: string): Promise<string> => {
  await chain.mine();
  return txid;
};
const cell = (name: string, value: string): RegExp => new RegExp(`<th scope="row">${name}</th><td>${value}</td>`);

describe('the page of a transaction', () => {
  it('shows a token transfer: status, block, confirmations, both ends, and the amount decoded', async () => {
    const txid = await chain.payAndMine(PAYEE, chain.tokens.USDT, 12_345_678n);
    await chain.mine(2);
    const { status, html } = await openTx(txid);
    expect(status).toBe(200);
    for (const part of [cell('Status', 'succeeded'), cell('Confirmations', '3'), cell('Value', '0 ETH'), /<td>12\.345678 USDT<\/td>/, /<h1>Transaction<\/h1>/])
      expect(html).toMatch(part);
    for (const address of [chain.faucet, PAYEE, chain.tokens.USDT]) expect(html).toContain(`href="/explorer/ethereum/address/${address}"`);
    const block = /href="(\/explorer\/ethereum\/block\/\d+)"/.exec(html)?.[1] ?? '';
    expect((await open(block)).html).toContain(`/explorer/ethereum/tx/${txid}`);
  });

  it('shows native coins, a transaction that waits, and one that failed', async () => {
    const waiting = await chain.pay(PAYEE, null, 1_500_000_000_000_000_000n);
    expect((await openTx(waiting)).html).toMatch(cell('Status', 'waiting to be mined'));
    await mined(waiting);
    expect((await openTx(waiting)).html).toMatch(cell('Value', '1.5 ETH'));
    const failed = await chain.node.send({ from: PAYEE, to: chain.tokens.USDC, data: transferData(chain.faucet, 10n ** 30n), gas: 200_000n });
    const { html } = await openTx(await mined(failed));
    expect(html).toMatch(cell('Status', 'failed'));
    expect(html).not.toContain('Token transfers');
  });

  it('shows several transfers of one transaction, unknown tokens in units, and a created contract', async () => {
    await chain.node.call('evm_setAutomine', [true]);
    const [router, token] = [await chain.deploy('Router'), await chain.deployToken('TestToken', 'MOCK', 18)];
    await chain.node.call('evm_setAutomine', [false]);
    const minted = await mined(await chain.mint(token, router, 7n));
    expect((await openTx(minted)).html).toContain('<td>7 units</td>');
    const deployed = await chain.node.send({ from: chain.faucet, data: '0x60006000f3', gas: 100_000n });
    expect((await openTx(await mined(deployed))).html).toContain('(created)');
  });

  it('is 404 for a hash the chain does not know, and for what is no hash', async () => {
    const { status, html, headers } = await openTx(GHOST);
    expect(status).toBe(404);
    expect(html).toContain('Unknown transaction');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    for (const path of [
      '/explorer/ethereum/tx/0x12',
      '/explorer/nowhere/tx/0x12',
      `/explorer/nowhere/tx/${GHOST}`,
      '/explorer/ethereum/tx/%3Cscript%3E',
      '/explorer/ethereum/block/999999',
      '/explorer/ethereum/block/-1',
      '/explorer',
    ])
      expect([path, (await open(path)).status]).toEqual([path, 404]);
  });

  it('takes a hash in any case', async () => {
    const txid = await chain.payAndMine(PAYEE, null, 1n);
    expect((await openTx(`0x${txid.slice(2).toUpperCase()}`)).status).toBe(200);
  });
});

describe('the pages around it', () => {
  it('show a block with its transactions, and the first one', async () => {
    const txid = await chain.payAndMine(PAYEE, null, 1n);
    const height = await chain.node.height();
    const { status, html } = await open(`/explorer/ethereum/block/${height}`);
    expect(status).toBe(200);
    expect(html).toMatch(cell('Transactions', '1'));
    expect(html).toContain(txid);
    expect((await open('/explorer/ethereum/block/0')).status).toBe(200);
  });

  it('show what an address holds', async () => {
    const address = `0x${'9'.repeat(40)}`;
    await chain.payAndMine(address, chain.tokens.USDC, 2_500_000n);
    await chain.payAndMine(address, null, 10n ** 17n);
    const { html } = await open(`/explorer/ethereum/address/${address}`);
    for (const row of ['<td>USDC</td><td>2.5</td>', '<td>USDT</td><td>0</td>', '<td>ETH</td><td>0.1</td>']) expect(html).toContain(row);
    expect(await chain.tokenBalance(chain.tokens.USDC, address)).toBe(2_500_000n);
  });
});

it('whatever a node answers is shown as text', async () => {
  const evil = '"><script>alert(1)</script>';
  const node = {
    ...chain.node,
    height: async () => 5,
    call: async <T>(method: string): Promise<T> =>
      (method === 'eth_getTransactionByHash'
        ? { hash: GHOST, from: evil, to: evil, value: '0x0', nonce: '0x0' }
        : method === 'eth_getTransactionReceipt'
          ? { status: evil, blockNumber: '0x1', blockHash: evil, contractAddress: null, gasUsed: '0x1', effectiveGasPrice: '0x1', logs: [] }
          : { number: '0x1', hash: evil, parentHash: evil, timestamp: '0x0', transactions: [evil] }) as T,
  };
  for (const [kind, id] of [['tx', GHOST] as const, ['block', '1'] as const]) {
    const html = (await evmPages(network, node)(kind, id))?.html ?? '';
    expect(html).toContain('&lt;script&gt;');
    expect(html).not.toContain('<script');
  }
});
