import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Types } from 'tronweb';
import { DEMO_TRON_TOKENS, TRON_FAUCET } from '#ops/devnet/tron/demo.ts';
import { parseAddress } from '#ops/devnet/tron/bytes.ts';
import { writeJson } from '#ops/devnet/tron/request.ts';
import { broadcast, referenceNow } from '#ops/devnet/tron/send.ts';
import { build, bytesOf, sign } from '#ops/devnet/tron/transaction.ts';
import { printRaw } from '#ops/devnet/tron/transaction-json.ts';
import { type Answer, messageOf, type NodeWithWeb, newAccount, openNode } from './tron-node.ts';

type Built = Types.Transaction<Types.TransferContract>;

let node: NodeWithWeb;
const faucet = parseAddress(TRON_FAUCET.address) as string;
const bob = newAccount();
beforeAll(async () => {
  node = await openNode();
  await node.control.fund(bob.base58, 10_000_000n);
});
beforeEach(() => node.control.mine());
afterAll(() => node.stop());

const buildTrx = (sun: number, options: object = {}, from = TRON_FAUCET.address): Promise<Built> =>
  node.web.transactionBuilder.sendTrx(bob.base58, sun, from, options);
const post = (transaction: unknown): Promise<Answer> => node.ask('wallet/broadcasttransaction', transaction);
const refused = (code: string): Answer => ({ code, txid: expect.any(String), message: expect.stringMatching(/^[0-9a-f]+$/) });

describe('what the signature covers', () => {
  it('refuses a transaction whose amount changed after signing', async () => {
    const signed = await node.web.trx.sign(await buildTrx(1_000));
    (signed.raw_data.contract[0] as unknown as { parameter: { value: { amount: number } } }).parameter.value.amount = 9_000;
    const answer = await post(signed);
    expect(answer).toEqual(refused('SIGERROR'));
    expect(messageOf(answer)).toContain('is not contained of permission');
  });

  it('takes neither txID nor raw_data_hex at their word', async () => {
    const signed = await node.web.trx.sign(await buildTrx(1_001));
    expect(await post({ ...signed, txID: 'f'.repeat(64), raw_data_hex: '00' })).toEqual({ result: true, txid: signed.txID });
  });

  it('refuses a signature of somebody else, of nobody, and a broken one', async () => {
    const transaction = await buildTrx(1_002);
    const stranger = await node.web.trx.multiSign(structuredClone(transaction), newAccount().privateKey);
    expect(messageOf(await post(stranger))).toContain('is not contained of permission');
    expect(messageOf(await post({ ...transaction, signature: [] }))).toBe('Validate signature error: miss sig or contract');
    expect(messageOf(await post({ ...transaction, signature: ['ab'.repeat(64)] }))).toBe('Validate signature error: Signature size is 64');
    expect(await post({ ...transaction, signature: ['ff'.repeat(65)] })).toEqual(refused('SIGERROR'));
  });

  it('takes several signatures only when the account has several keys', async () => {
    const [first, second] = [newAccount(), newAccount()];
    const owner = newAccount();
    await node.control.fund(owner.base58, 100_000_000n);
    const once = await node.web.trx.multiSign(await buildTrx(5, {}, owner.base58), first.privateKey);
    const twice = await node.web.trx.multiSign(structuredClone(once), second.privateKey);
    expect(await post(twice)).toEqual(refused('SIGERROR'));
    await node.control.setPermission(owner.base58, 2, [
      { address: first.base58, weight: 1 },
      { address: second.base58, weight: 1 },
    ]);
    expect(messageOf(await post(once))).toBe('Validate signature error: sig error');
    expect(await post(twice)).toEqual({ result: true, txid: twice.txID });
    await node.control.mine();
    expect(await node.ask('wallet/gettransactioninfobyid', { value: twice.txID })).toMatchObject({ fee: 1_000_000 });
  });
});

const transfer = (owner_address: string, to_address: string, amount: bigint) => ({ name: 'TransferContract', message: { owner_address, to_address, amount } });

it('weighs signatures for a wallet that adds one', async () => {
  const owner = newAccount();
  const second = newAccount();
  await node.control.fund(owner.base58, 100_000_000n);
  await node.control.setPermission(owner.base58, 2, [
    { address: owner.base58, weight: 1 },
    { address: second.base58, weight: 1 },
  ]);
  const once = await node.web.trx.multiSign(await buildTrx(6, {}, owner.base58), owner.privateKey, 2);
  const weight = await node.web.trx.getSignWeight(once);
  expect(weight).toMatchObject({ result: { code: 'NOT_ENOUGH_PERMISSION' }, current_weight: 1, permission: { threshold: 2 } });
  const twice = await node.web.trx.multiSign(once, second.privateKey, 2);
  expect((await node.web.trx.getSignWeight(twice)).result).toEqual({});
  expect((await node.web.trx.getApprovedList(twice)).approved_list).toEqual([owner.hex, second.hex]);
  expect(await post(twice)).toEqual({ result: true, txid: twice.txID });
});

describe('what no block takes', () => {
  it('refuses the same transaction twice, waiting or included', async () => {
    const signed = await node.web.trx.sign(await buildTrx(1_003));
    expect(await post(signed)).toEqual({ result: true, txid: signed.txID });
    expect(await post(signed)).toEqual(refused('DUP_TRANSACTION_ERROR'));
    await node.control.mine();
    expect(await post(signed)).toEqual(refused('DUP_TRANSACTION_ERROR'));
  });

  it('refuses one that expired or expires in more than a day', async () => {
    const reference = await referenceNow(node.url);
    const at = (expiration: bigint) =>
      broadcast(node.url, sign(build({ contract: transfer(faucet, bob.hex, 1n), ...reference, expiration }), TRON_FAUCET.privateKey));
    await expect(at(reference.timestamp - 3_600_000n)).rejects.toThrow('TRANSACTION_EXPIRATION_ERROR: Transaction expired');
    await expect(at(reference.timestamp + 86_400_001n)).rejects.toThrow('TRANSACTION_EXPIRATION_ERROR');
    await expect(at(reference.timestamp + 86_000_000n)).resolves.toMatch(/^[0-9a-f]{64}$/);
  });

  it('drops a waiting transaction whose time runs out before a block takes it', async () => {
    const signed = await node.web.trx.sign(await buildTrx(1_004));
    await post(signed);
    await node.control.mine(1, []);
    expect((await node.control.status()).pool).toContain(signed.txID);
    await node.control.warp(61);
    expect((await node.control.mine()).refused).toEqual([{ txid: signed.txID, reason: 'Transaction expired' }]);
    expect(await node.ask('wallet/gettransactionbyid', { value: signed.txID })).toEqual({});
  });

  it('refuses a reference to a block that is not on this chain', async () => {
    const reference = await referenceNow(node.url);
    const wrong = sign(build({ contract: transfer(faucet, bob.hex, 1n), ...reference, refBlockHash: 'ab'.repeat(8) }), TRON_FAUCET.privateKey);
    await expect(broadcast(node.url, wrong)).rejects.toThrow('TAPOS_ERROR: Tapos check error.');
    const future = sign(build({ contract: transfer(faucet, bob.hex, 1n), ...reference, refBlockBytes: 'fff0' }), TRON_FAUCET.privateKey);
    await expect(broadcast(node.url, future)).rejects.toThrow('TAPOS_ERROR');
  });

  it.each([
    ['an account that does not exist', () => newAccount(), 1n, /account \[T\w+\] does not exist/],
    ['more than it has', () => bob, 999_000_000n, /balance is not sufficient/],
    ['nothing', () => bob, 0n, /Amount must be greater than 0/],
  ])('refuses a payment of %s', async (_what, from, raw, words) => {
    const { hex, privateKey } = from();
    const transaction = sign(build({ contract: transfer(hex, faucet, raw), ...(await referenceNow(node.url)) }), privateKey);
    await expect(broadcast(node.url, transaction)).rejects.toThrow(words);
  });

  it('refuses TRX to a contract and to oneself', async () => {
    const to = async (address: string) =>
      broadcast(
        node.url,
        sign(build({ contract: transfer(faucet, parseAddress(address) as string, 1n), ...(await referenceNow(node.url)) }), TRON_FAUCET.privateKey),
      );
    await expect(to(DEMO_TRON_TOKENS.USDT)).rejects.toThrow('Cannot transfer TRX to smartContract.');
    await expect(to(TRON_FAUCET.address)).rejects.toThrow('Cannot transfer TRX to yourself.');
  });

  it('refuses none and two contracts in one transaction', async () => {
    const signed = await node.web.trx.sign(await buildTrx(1_005));
    const [contract] = signed.raw_data.contract;
    expect(messageOf(await post({ ...signed, raw_data: { ...signed.raw_data, contract: [] } }))).toContain('No contract!');
    const two = await post({ ...signed, raw_data: { ...signed.raw_data, contract: [contract, contract] } });
    expect(two).toEqual(refused('OTHER_ERROR'));
  });

  it('refuses who cannot pay for bandwidth', async () => {
    const poor = newAccount();
    await node.control.fund(poor.base58, 100_000n);
    await node.control.setParameter('getFreeNetLimit', 0n);
    const transaction = sign(build({ contract: transfer(poor.hex, faucet, 1n), ...(await referenceNow(node.url)) }), poor.privateKey);
    await expect(broadcast(node.url, transaction)).rejects.toThrow('BANDWITH_ERROR: Account resource insufficient error.');
    await node.control.setParameter('getFreeNetLimit', 600n);
  });

  it('remembers what it refused when told to, and calls that a duplicate', async () => {
    await node.control.behave({ rememberRefused: true });
    const transaction = sign(build({ contract: transfer(bob.hex, faucet, 99_000_000n), ...(await referenceNow(node.url)) }), bob.privateKey);
    await expect(broadcast(node.url, transaction)).rejects.toThrow('CONTRACT_VALIDATE_ERROR');
    await expect(broadcast(node.url, transaction)).rejects.toThrow('DUP_TRANSACTION_ERROR');
    await node.control.recover();
  });
});

describe('broadcasthex', () => {
  it('answers in its own shape: every key, the message as text, the transaction as JSON in a string', async () => {
    const signed = sign(build({ contract: transfer(bob.hex, faucet, 99_000_000n), ...(await referenceNow(node.url)) }), bob.privateKey);
    const answer = await node.ask('wallet/broadcasthex', { transaction: Buffer.from(bytesOf(signed)).toString('hex') });
    expect(answer).toMatchObject({ result: false, code: 'CONTRACT_VALIDATE_ERROR', txid: signed.txid });
    expect(answer.message).toMatch(/^Contract validate error : /);
    expect(JSON.parse(String(answer.transaction))).toMatchObject({ signature: signed.signatures });
  });

  it('keeps a timestamp beyond 2^53 to the last digit', async () => {
    const reference = { ...(await referenceNow(node.url)), timestamp: 639035050123436599n };
    const txid = await broadcast(node.url, sign(build({ contract: transfer(faucet, bob.hex, 1n), ...reference }), TRON_FAUCET.privateKey));
    await node.control.mine();
    const response = await fetch(`${node.url}/wallet/gettransactionbyid`, { method: 'POST', body: JSON.stringify({ value: txid }) });
    expect(await response.text()).toContain('"timestamp":639035050123436599');
  });

  it('reads that timestamp from JSON without rounding it, or the signature would not fit', async () => {
    const reference = { ...(await referenceNow(node.url)), timestamp: 639035050123436601n };
    const signed = sign(build({ contract: transfer(faucet, bob.hex, 1n), ...reference }), TRON_FAUCET.privateKey);
    const body = writeJson({ raw_data: printRaw(signed, false), signature: signed.signatures }, false);
    const response = await fetch(`${node.url}/wallet/broadcasttransaction`, { method: 'POST', body });
    expect(await response.json()).toEqual({ result: true, txid: signed.txid });
  });
});
