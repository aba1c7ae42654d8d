import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TRANSFER_TOPIC, transferData } from '#ops/devnet/tron/abi.ts';
import { addressWord, word } from '#ops/devnet/tron/bytes.ts';
import { DEMO_TRON_TOKENS, TRON_FAUCET } from '#ops/devnet/tron/demo.ts';
import { broadcast, callLocally, referenceNow } from '#ops/devnet/tron/send.ts';
import { build, sign } from '#ops/devnet/tron/transaction.ts';
import { type Answer, type NodeWithWeb, newAccount, openNode } from './tron-node.ts';

const { USDT, USDC } = DEMO_TRON_TOKENS;
const TRX = 1_000_000n;

let node: NodeWithWeb;
let bob: ReturnType<typeof newAccount>;
let hexOf: (address: string) => string;
beforeEach(async () => {
  node = await openNode();
  bob = newAccount();
  hexOf = (address) => node.web.address.toHex(address).toLowerCase();
});
afterEach(() => node.stop());

const balance = (address: string): Promise<number> => node.web.trx.getUnconfirmedBalance(address);
const tokens = async (address: string, token: string): Promise<unknown> => (await node.web.contract().at(token)).methods.balanceOf?.(address).call();
async function call(contract: string, options: { data?: string; callValue?: bigint; feeLimit?: bigint; privateKey?: string } = {}): Promise<Answer> {
  const txid = await callLocally(node.url, { contract, ...options });
  await node.control.mine();
  return node.ask('wallet/gettransactioninfobyid', { value: txid });
}

describe('tokens', () => {
  it('read the last 20 bytes of an address, whatever the padding holds', async () => {
    const data = transferData(bob.hex, 5n);
    const info = await call(USDT, { data: `${data.slice(0, 8)}${'41'.padStart(24, '0')}${data.slice(32)}` });
    expect(info).toMatchObject({ log: [{ topics: [TRANSFER_TOPIC, expect.anything(), addressWord(bob.hex)], data: word(5n) }] });
    expect(await tokens(bob.base58, USDT)).toBe(5n);
  });

  it('keep allowances', async () => {
    const usdc = await node.web.contract().at(USDC);
    await usdc.methods.approve?.(bob.base58, 100).send({ feeLimit: 100_000_000 });
    await node.control.fund(bob.base58, 100n * TRX);
    await node.control.mine();
    expect(await usdc.methods.allowance?.(TRON_FAUCET.address, bob.base58).call()).toBe(100n);
    const spend = `23b872dd${addressWord(hexOf(TRON_FAUCET.address))}${addressWord(bob.hex)}`;
    expect(await call(USDC, { data: spend + word(60n), privateKey: bob.privateKey })).toMatchObject({ contractResult: [word(1n)] });
    expect(await tokens(bob.base58, USDC)).toBe(60n);
    expect(await call(USDC, { data: spend + word(41n), privateKey: bob.privateKey })).toMatchObject({ receipt: { result: 'REVERT' } });
  });

  it('are deployed by control, with what they return and what they cost', async () => {
    const token = await node.control.deployToken({ symbol: 'ODD', decimals: 2, returns: 'nothing', energyNew: 20_000, penaltyMille: 0 });
    await node.control.mint(token, TRON_FAUCET.address, 50n);
    expect(await call(token, { data: transferData(bob.hex, 50n) })).toMatchObject({ contractResult: [''], receipt: { energy_usage_total: 20_000 } });
    expect(await tokens(bob.base58, token)).toBe(50n);
  });

  it('refuse coins sent along and functions they do not have', async () => {
    expect(await call(USDT, { data: transferData(bob.hex, 5n), callValue: 1n })).toMatchObject({ receipt: { result: 'REVERT' } });
    expect(await call(USDT, { data: 'deadbeef' })).toMatchObject({ receipt: { result: 'REVERT' }, contractResult: [''] });
  });
});

describe('scripted contracts', () => {
  it('pass coins on: an internal transaction, a balance, a new account', async () => {
    const router = await node.control.script({ steps: [{ do: 'send', to: bob.base58, sun: 'callValue' }] });
    const info = await call(router, { callValue: 5n * TRX });
    expect(info.internal_transactions).toEqual([
      {
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        caller_address: hexOf(router),
        transferTo_address: bob.hex,
        callValueInfo: [{ callValue: 5_000_000 }],
        note: '63616c6c',
      },
    ]);
    expect(await balance(bob.base58)).toBe(5_000_000);
    await node.control.behave({ saveInternalTx: false });
    expect(await node.ask('wallet/gettransactioninfobyid', { value: info.id })).not.toHaveProperty('internal_transactions');
  });

  it('pass several things on in one transaction', async () => {
    const batch = await node.control.script({
      steps: [
        { do: 'transferToken', contract: USDT, to: bob.base58, raw: '7' },
        { do: 'send', to: bob.base58, sun: '1000000' },
        { do: 'transferToken', contract: USDT, to: bob.base58, raw: '8' },
        { do: 'send', to: bob.base58, sun: '2000000' },
      ],
    });
    await node.control.mint(USDT, batch, 100n);
    await node.control.fund(batch, 10n * TRX);
    const info = await call(batch);
    expect((info.log as Answer[]).map(({ data }) => BigInt(`0x${data}`))).toEqual([7n, 8n]);
    expect((info.internal_transactions as Answer[]).map(({ callValueInfo }) => callValueInfo)).toEqual([
      [{}],
      [{ callValue: 1_000_000 }],
      [{}],
      [{ callValue: 2_000_000 }],
    ]);
    expect([await balance(bob.base58), await tokens(bob.base58, USDT)]).toEqual([3_000_000, 15n]);
  });

  it('leave a rejected internal transaction without moving anything', async () => {
    const contract = await node.control.script({ steps: [{ do: 'send', to: bob.base58, sun: '1000000', rejected: true }] });
    await node.control.fund(contract, TRX);
    expect(await call(contract)).toMatchObject({
      receipt: { result: 'SUCCESS' },
      internal_transactions: [{ callValueInfo: [{ callValue: 1_000_000 }], rejected: true }],
    });
    expect(await balance(bob.base58)).toBe(0);
  });

  it('revert whole: logs gone, internal transactions rejected, coins back', async () => {
    const contract = await node.control.script({
      steps: [
        { do: 'send', to: bob.base58, sun: 'callValue' },
        { do: 'log', topics: [TRANSFER_TOPIC], data: word(1n) },
      ],
      outcome: 'REVERT',
      reason: 'not today',
    });
    const info = await call(contract, { callValue: TRX });
    expect(info).toMatchObject({ result: 'FAILED', receipt: { result: 'REVERT' }, internal_transactions: [{ rejected: true }] });
    expect(info).not.toHaveProperty('log');
    expect(Buffer.from((info.contractResult as string[])[0] as string, 'hex').toString()).toContain('not today');
    expect([await balance(bob.base58), await balance(contract)]).toEqual([0, 0]);
  });

  it('end in any other way', async () => {
    const contract = await node.control.script({ steps: [], outcome: 'OUT_OF_TIME' });
    expect(await call(contract, { feeLimit: 2_000_000n })).toMatchObject({ fee: 2_000_000, receipt: { result: 'OUT_OF_TIME' }, result: 'FAILED' });
  });

  it('say whatever a log can say, under any address', async () => {
    const fake = await node.control.script({
      steps: [
        { do: 'log', topics: [TRANSFER_TOPIC, addressWord(bob.hex), addressWord(bob.hex)], data: word(9n) },
        { do: 'log', address: USDT, topics: [TRANSFER_TOPIC, addressWord(bob.hex), addressWord(bob.hex), word(1n)], data: '' },
      ],
    });
    expect(await call(fake)).toMatchObject({
      log: [
        { address: hexOf(fake).slice(2), data: word(9n) },
        { address: hexOf(USDT).slice(2), topics: { length: 4 } },
      ],
    });
  });

  it('name TRC-10 tokens, and internal transactions no contract would leave', async () => {
    const contract = await node.control.script({
      steps: [
        { do: 'sendAsset', to: bob.base58, tokenId: '1000001', raw: '30' },
        { do: 'internal', to: bob.base58, values: [{ sun: '5', tokenId: '1000001' }, { sun: '6' }], note: 'suicide' },
      ],
    });
    await node.control.fundAsset(contract, '1000001', 100n);
    expect(await call(contract)).toMatchObject({
      internal_transactions: [
        { callValueInfo: [{ callValue: 30, tokenId: '1000001' }] },
        { callValueInfo: [{ callValue: 5, tokenId: '1000001' }, { callValue: 6 }], note: Buffer.from('suicide').toString('hex') },
      ],
    });
    expect(await node.web.trx.getUnconfirmedAccount(bob.base58)).toMatchObject({ assetV2: [{ key: '1000001', value: 30 }] });
    expect(await balance(bob.base58)).toBe(0);
  });

  it('read their arguments', async () => {
    const forwarder = await node.control.script({
      steps: [
        { do: 'send', to: 'arg:0', sun: 'arg:1' },
        { do: 'send', to: 'caller', sun: '1' },
      ],
    });
    await node.control.fund(forwarder, TRX);
    await call(forwarder, { data: `00000000${addressWord(bob.hex)}${word(77n)}` });
    expect(await balance(bob.base58)).toBe(77);
  });
});

describe('TRC-10', () => {
  it('moves by TransferAssetContract and is neither TRX nor TRC-20', async () => {
    await node.control.fundAsset(TRON_FAUCET.address, '1000001', 100n);
    await node.control.fund(bob.base58, TRX);
    const built = await node.web.transactionBuilder.sendToken(bob.base58, 25, '1000001', TRON_FAUCET.address);
    const sent = await node.web.trx.sendRawTransaction(await node.web.trx.sign(built));
    await node.control.mine();
    expect(await node.web.trx.getUnconfirmedAccount(bob.base58)).toMatchObject({ balance: 1_000_000, assetV2: [{ key: '1000001', value: 25 }] });
    const value = { asset_name: Buffer.from('1000001').toString('hex'), amount: 25 };
    expect(await node.ask('wallet/gettransactionbyid', { value: sent.txid })).toMatchObject({
      raw_data: { contract: [{ type: 'TransferAssetContract', parameter: { value } }] },
    });
  });

  it('can be sent along with a call', async () => {
    await node.control.fundAsset(TRON_FAUCET.address, '1000001', 100n);
    const contract = await node.control.script({ steps: [{ do: 'sendAsset', to: bob.base58, tokenId: '1000001', raw: '4' }] });
    const message = { owner_address: hexOf(TRON_FAUCET.address), contract_address: hexOf(contract), call_token_value: 4n, token_id: 1000001n };
    const unsigned = build({ contract: { name: 'TriggerSmartContract', message }, feeLimit: 50n * TRX, ...(await referenceNow(node.url)) });
    await broadcast(node.url, sign(unsigned, TRON_FAUCET.privateKey));
    await node.control.mine();
    expect(await node.web.trx.getUnconfirmedAccount(bob.base58)).toMatchObject({ assetV2: [{ key: '1000001', value: 4 }] });
  });
});

describe('constant calls', () => {
  it('can be switched off, as can estimating', async () => {
    await node.control.behave({ supportConstant: false, estimateEnergy: false });
    const ask = { owner_address: TRON_FAUCET.address, contract_address: USDT, function_selector: 'symbol()', visible: true };
    expect(await node.ask('wallet/triggerconstantcontract', ask)).toEqual({
      result: { code: 'CONTRACT_VALIDATE_ERROR', message: Buffer.from('this node does not support constant').toString('hex') },
    });
    expect(await node.ask('wallet/estimateenergy', ask)).toMatchObject({ result: { code: 'CONTRACT_VALIDATE_ERROR' } });
  });

  it('never answer with Error, and tell a revert inside a result that is true', async () => {
    const ask = { owner_address: 'nonsense', contract_address: hexOf(USDT), function_selector: 'symbol()' };
    expect(await node.ask('wallet/triggerconstantcontract', ask)).toEqual({ result: { code: 'OTHER_ERROR', message: expect.any(String) } });
    const parameter = addressWord(hexOf(TRON_FAUCET.address)) + word(5n);
    const broke = { owner_address: bob.hex, contract_address: hexOf(USDT), function_selector: 'transfer(address,uint256)', parameter };
    const message = Buffer.from('REVERT opcode executed').toString('hex');
    expect(await node.ask('wallet/triggerconstantcontract', broke)).toMatchObject({
      result: { result: true, message },
      constant_result: [expect.stringMatching(/^08c379a0/)],
      transaction: { ret: [{ ret: 'FAILED' }] },
    });
    expect(await node.ask('wallet/estimateenergy', broke)).toEqual({ result: { result: true, message } });
    expect(await node.ask('wallet/triggerconstantcontract', { ...broke, contract_address: bob.hex })).toEqual({
      result: { code: 'CONTRACT_VALIDATE_ERROR', message: Buffer.from('Smart contract is not exist.').toString('hex') },
    });
  });

  it('change nothing', async () => {
    const parameter = addressWord(bob.hex) + word(5n);
    const ask = { owner_address: hexOf(TRON_FAUCET.address), contract_address: hexOf(USDT), function_selector: 'transfer(address,uint256)', parameter };
    expect(await node.ask('wallet/triggerconstantcontract', ask)).toMatchObject({
      energy_used: 130_285,
      logs: [{ data: word(5n) }],
      transaction: { ret: [{}] },
    });
    expect(await node.ask('walletsolidity/triggerconstantcontract', ask)).toMatchObject({ energy_used: 130_285 });
    expect(await tokens(bob.base58, USDT)).toBe(0n);
  });
});
