import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Merchant } from '#ops/dev/client.ts';
import { DEV_FILE, type DevFile, writeDevFile } from '#ops/dev/dev-file.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import type { RunningApi } from '#test/harness/deployables.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { aPayment, aWorld, TEST_PEOPLE, TEST_SECRETS, type World } from '#test/harness/world.ts';
import { ownerOf, sendAs } from '#test/harness/sign-as.ts';

const LAUNCHER = resolve('ops/cli/sluice.mjs');
const PATIENCE_MS = 90_000;

let world: World;
let api: RunningApi;
let shop: Merchant;
let folder: string;
beforeAll(async () => {
  world = await aWorld({ blockSeconds: 1 });
  api = await world.startApi();
  await Promise.all([world.startIndexer(), world.startSigner()]);
  await world.setPrices(api);
  shop = await world.aGateway(api, { screening: { enabled: true, credits: 10 } });
  folder = await mkdtemp(join(tmpdir(), 'sluice-people-'));
  await mkdir(join(folder, '.sluice'));
  const dev: Partial<DevFile> = { api: { baseUrl: api.baseUrl, origin: api.origin, pid: api.pid }, operatorUrl: api.operatorUrl };
  await writeDevFile(join(folder, DEV_FILE), { ...dev, operatorToken: TEST_SECRETS.SLUICE_OPERATOR_TOKEN, operatorTokens: TEST_PEOPLE } as DevFile);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await world?.stop();
});

/** Runs the command line as somebody at the machine of `npm start` does. */
function sluice(line: string, ...more: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((done) => {
    execFile(process.execPath, [LAUNCHER, ...line.split(' '), ...more], { cwd: folder, env: { PATH: process.env.PATH } }, (error, out, err) => {
      done({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, out, err });
    });
  });
}

async function json<T>(line: string, ...more: string[]): Promise<T> {
  const ran = await sluice(line, ...more, '--json');
  expect(ran, line).toMatchObject({ code: 0 });
  return JSON.parse(ran.out) as T;
}

describe('two people at a command line', () => {
  const destination = '0x00000000000000000000000000000000cafe0077';

  it('send coins that were withheld from a gateway, which one of them alone cannot', async () => {
    const created = (await shop.must('POST', '/payments', { body: aPayment('http://127.0.0.1:9999/hook', { amount: '25', checkAmountDeviation: false }) })) as {
      paymentUid: string;
      payment: { offers: { id: string; assetSymbol: string }[] };
    };
    const { paymentUid } = created;
    const offer = created.payment.offers.find(({ assetSymbol }) => assetSymbol === 'USDT')?.id;
    const address = await waitFor(
      async () => {
        const { status, data } = await shop.call('POST', `/public/payments/${paymentUid}/offers/${offer}/select`);
        return status === 200 && String(data.depositAddress);
      },
      { what: 'an address' },
    );
    await sluice(`screening set ${address} 90`);
    await world.chain.pay(address, world.chain.tokens.USDT, 25_000_000n);
    await waitFor(async () => (await sluice(`payment resolve ${paymentUid} withhold --reason`, 'a court order')).code === 0, {
      what: 'the payment to be withheld',
      timeoutMs: PATIENCE_MS,
      everyMs: 500,
    });
    const kept = await waitFor(
      async () => {
        const { items } = await json<{ items: { assetId: string; final: string }[] }>(`withheld show ${shop.gateway.id}`);
        return Number(items[0]?.final ?? 0) > 0 && items[0];
      },
      { what: 'the coins to be final', timeoutMs: PATIENCE_MS, everyMs: 500 },
    );
    const proposed = await sluice(`withheld pay ${shop.gateway.id} ${kept.assetId} ${kept.final} ${destination} --as anna --reason`, 'to the court');
    expect(proposed.out).toMatch(/proposed by +anna[\s\S]*nothing is sent before another person runs: sluice proposal confirm [0-9a-f-]{36}/);
    const [{ id } = { id: '' }] = await json<{ id: string }[]>('proposal list --status open');
    expect((await sluice(`proposal show ${id}`)).out).toMatch(new RegExp(`amount +${kept.final}\\naddress +${destination}`, 'i'));
    const alone = await sluice(`proposal confirm ${id} --as anna`);
    expect([alone.code, alone.err]).toEqual([1, expect.stringContaining('it takes a second person')]);
    expect((await sluice(`proposal confirm ${id} --as ben`)).out).toMatch(/confirmed by +ben/);
    expect((await sluice(`proposal confirm ${id} --as ben`)).err).toContain('confirmed by ben already');

    const raw = BigInt(Math.round(Number(kept.final) * 1e6));
    await waitFor(async () => (await world.chain.tokenBalance(world.chain.tokens.USDT, destination)) === raw, {
      what: 'the coins',
      timeoutMs: PATIENCE_MS,
      everyMs: 500,
    });
    await waitFor(async () => (await sluice(`withheld show ${shop.gateway.id}`)).out.includes('paid'), {
      what: 'the books',
      timeoutMs: PATIENCE_MS,
      everyMs: 500,
    });
    expect((await sluice('audit-log --action proposal.confirm')).out).toMatch(/proposal\.confirm +[0-9a-f-]{36} +ben \(/);
    await waitFor(() => assertBooksMatchChain(world).then(() => true), { what: 'books to match the chain', timeoutMs: PATIENCE_MS, everyMs: 500 });
  });

  it('see what a halted wallet still needs, and clear it once the books know everything', async () => {
    const hot = world.network.wallets.hot.address;
    const { node } = world.chain;
    const txid = await sendAs(node, ownerOf(hot), { to: destination, value: 100n });
    await waitFor(async () => (await sluice('dispatch status')).out.includes(`unknown to the books: ${txid}`), {
      what: 'the wallet to be halted',
      timeoutMs: PATIENCE_MS,
      everyMs: 500,
    });
    // Whatever else it was halted for is not lifted by adopting one transaction.
    await world.database.sql`update wallets set halted_reason = 'transaction 0x00: it moved something else than was meant' where role = 'hot'`;
    const early = await sluice('wallet clear hot --network ethereum --reason', 'a drill');
    expect([early.code, early.err]).toEqual([1, expect.stringContaining(txid)]);
    await waitFor(async () => (await sluice(`dispatch adopt ethereum ${txid} --lost --reason`, 'a drill')).code === 0, {
      what: 'the transaction to be adopted',
      timeoutMs: PATIENCE_MS,
      everyMs: 500,
    });
    const left = await sluice('dispatch unfreeze --scope network:ethereum --reason', 'a drill');
    expect(left.out).toContain('every transaction of it is known: sluice wallet clear hot --network ethereum');
    expect((await sluice('wallet clear hot --network ethereum --reason', 'a drill')).out).toContain('may send again');
    expect((await sluice('dispatch status')).out).toBe('nothing is frozen\n');
  });
});
