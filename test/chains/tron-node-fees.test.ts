import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEMO_TRON_TOKENS, TRON_FAUCET } from '#ops/devnet/tron/demo.ts';
import { payLocally } from '#ops/devnet/tron/send.ts';
import { type Answer, type NodeWithWeb, newAccount, openNode } from './tron-node.ts';

const TRX = 1_000_000n;
const { USDT } = DEMO_TRON_TOKENS;

let node: NodeWithWeb;
let alice: ReturnType<typeof newAccount>;
beforeEach(async () => {
  node = await openNode();
  alice = newAccount();
  await node.control.fund(alice.base58, 1_000n * TRX);
  await node.control.mint(USDT, alice.base58, 1_000_000n);
});
afterEach(() => node.stop());

const balance = async (address: string): Promise<bigint> => BigInt(await node.web.trx.getUnconfirmedBalance(address));
const pay = async (to: string, contract: string | null, raw: bigint, feeLimit?: bigint): Promise<Answer> => {
  const txid = await payLocally(node.url, { to, contract, raw, privateKey: alice.privateKey, ...(feeLimit !== undefined && { feeLimit }) });
  await node.control.mine();
  return node.ask('wallet/gettransactioninfobyid', { value: txid });
};

describe('bandwidth', () => {
  it('counts the transaction and 64 bytes, free while 600 points last, then burned whole', async () => {
    expect(await pay(TRON_FAUCET.address, null, 1n)).toEqual(expect.objectContaining({ receipt: { net_usage: 265 } }));
    expect(await pay(TRON_FAUCET.address, null, TRX)).toMatchObject({ receipt: { net_usage: 267 } });
    const before = await balance(alice.base58);
    expect(await pay(TRON_FAUCET.address, null, TRX)).toMatchObject({ fee: 267_000, receipt: { net_fee: 267_000 } });
    expect(before - (await balance(alice.base58))).toBe(TRX + 267_000n);
  });

  it('gives points back over a day', async () => {
    await pay(TRON_FAUCET.address, null, 1n);
    await pay(TRON_FAUCET.address, null, 1n);
    expect(await node.web.trx.getAccountResources(alice.base58)).toMatchObject({ freeNetUsed: 530 });
    await node.control.warp(43_200);
    await node.control.mine();
    expect(await node.web.trx.getAccountResources(alice.base58)).toMatchObject({ freeNetUsed: 265 });
    expect(await pay(TRON_FAUCET.address, null, 1n)).toMatchObject({ receipt: { net_usage: 265 } });
    await node.control.warp(86_400);
    await node.control.mine();
    expect((await node.web.trx.getAccountResources(alice.base58)).freeNetUsed).toBeUndefined();
  });

  it('takes staked points first', async () => {
    await node.control.setResources(alice.base58, { netLimit: 5_000n });
    await pay(TRON_FAUCET.address, null, 1n);
    expect(await node.web.trx.getAccountResources(alice.base58)).toMatchObject({ NetUsed: 265, NetLimit: 5_000, freeNetLimit: 600 });
    expect((await node.web.trx.getAccountResources(alice.base58)).freeNetUsed).toBeUndefined();
  });

  it('charges a memo', async () => {
    const transaction = await node.web.transactionBuilder.sendTrx(TRON_FAUCET.address, 5, alice.base58);
    const withMemo = await node.web.transactionBuilder.addUpdateData(transaction, 'hello', 'utf8');
    const sent = await node.web.trx.sendRawTransaction(await node.web.trx.sign(withMemo, alice.privateKey));
    await node.control.mine();
    expect(await node.ask('wallet/gettransactioninfobyid', { value: sent.txid })).toMatchObject({ fee: 1_000_000 });
    expect(await node.ask('wallet/gettransactionbyid', { value: sent.txid })).toMatchObject({ raw_data: { data: '68656c6c6f' } });
  });
});

describe('accounts', () => {
  it('are created by TRX for 1.1 TRX, bandwidth included', async () => {
    const bob = newAccount();
    const before = await balance(alice.base58);
    expect(await pay(bob.base58, null, 7n)).toMatchObject({ fee: 1_100_000, receipt: { net_fee: 100_000 } });
    expect(before - (await balance(alice.base58))).toBe(1_100_007n);
    expect(await balance(bob.base58)).toBe(7n);
  });

  it('are not created by a token transfer, and cannot send before they are', async () => {
    const bob = newAccount();
    await pay(bob.base58, USDT, 5n);
    expect(await node.web.trx.getUnconfirmedAccount(bob.base58)).toEqual({});
    await expect(payLocally(node.url, { to: alice.base58, contract: USDT, raw: 5n, privateKey: bob.privateKey })).rejects.toThrow('does not exist');
  });
});

describe('energy', () => {
  it('costs twice as much to an address that holds none of the token', async () => {
    const bob = newAccount();
    expect(await pay(bob.base58, USDT, 5n)).toMatchObject({
      fee: 13_028_500,
      receipt: { energy_fee: 13_028_500, energy_usage_total: 130_285, net_usage: 345, result: 'SUCCESS' },
    });
    expect(await pay(bob.base58, USDT, 5n)).toMatchObject({
      fee: 6_428_500 + 345_000,
      receipt: { energy_fee: 6_428_500, energy_usage_total: 64_285, net_fee: 345_000 },
    });
  });

  it('is taken from stake first, bought for the rest, at the price of the chain', async () => {
    await node.control.setResources(alice.base58, { energyLimit: 100_000n });
    await node.control.setParameter('getEnergyFee', 210n);
    expect(await pay(newAccount().base58, USDT, 5n)).toMatchObject({
      receipt: { energy_usage: 100_000, energy_fee: 30_285 * 210, energy_usage_total: 130_285 },
    });
    expect(await node.web.trx.getAccountResources(alice.base58)).toMatchObject({ EnergyUsed: 100_000, EnergyLimit: 100_000 });
    expect(await node.web.trx.getEnergyPrices()).toBe('0:210');
  });

  it('runs out below the fee limit: all of it is burned, nothing moves, no log is left', async () => {
    const bob = newAccount();
    const before = await balance(alice.base58);
    const info = await pay(bob.base58, USDT, 5n, 13_000_000n);
    expect(info).toMatchObject({
      fee: 13_000_000,
      result: 'FAILED',
      contractResult: [''],
      receipt: { energy_fee: 13_000_000, energy_usage_total: 130_000, result: 'OUT_OF_ENERGY' },
    });
    expect(Buffer.from(String(info.resMessage), 'hex').toString()).toMatch(/^Not enough energy for 'SSTORE' operation executing/);
    expect(info).not.toHaveProperty('log');
    expect(before - (await balance(alice.base58))).toBe(13_000_000n);
    expect((await node.control.accounts()).find(({ address }) => address === alice.base58)?.tokens[USDT]).toBe('1000000');
    expect(await node.ask('wallet/gettransactionbyid', { value: info.id })).toMatchObject({ ret: [{ contractRet: 'OUT_OF_ENERGY' }] });
  });

  it('reverts with a reason, charging what was used', async () => {
    const info = await pay(newAccount().base58, USDT, 2_000_000n);
    expect(info).toMatchObject({ result: 'FAILED', receipt: { result: 'REVERT', energy_usage_total: 2_300 }, fee: 230_000 });
    const [returned] = info.contractResult as string[];
    expect(returned).toMatch(/^08c379a0/);
    expect(Buffer.from(returned as string, 'hex').toString()).toContain('SafeMath: subtraction overflow');
    expect(Buffer.from(String(info.resMessage), 'hex').toString()).toBe('REVERT opcode executed');
  });

  it('refuses a fee limit above the chain’s', async () => {
    await expect(payLocally(node.url, { to: alice.base58, contract: USDT, raw: 1n, feeLimit: 15_000_000_001n })).rejects.toThrow(
      'feeLimit must be >= 0 and <= 15000000000',
    );
  });

  it('can be staked and delegated by transactions', async () => {
    const bob = newAccount();
    await node.control.fund(bob.base58, TRX);
    const frozen = await node.web.transactionBuilder.freezeBalanceV2(100_000_000, 'ENERGY', alice.base58);
    await node.web.trx.sendRawTransaction(await node.web.trx.sign(frozen, alice.privateKey));
    await node.control.mine();
    const delegated = await node.web.transactionBuilder.delegateResource(40_000_000, bob.base58, 'ENERGY', alice.base58);
    await node.web.trx.sendRawTransaction(await node.web.trx.sign(delegated, alice.privateKey));
    await node.control.mine();
    expect(await node.web.trx.getAccountResources(alice.base58)).toMatchObject({ EnergyLimit: 540 });
    expect(await node.web.trx.getAccountResources(bob.base58)).toMatchObject({ EnergyLimit: 360 });
    expect(await balance(bob.base58)).toBe(TRX);
  });
});
