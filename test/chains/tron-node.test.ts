import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEMO_TRON_TOKENS, TRON_FAUCET } from '#ops/devnet/tron/demo.ts';
import { type Answer, type NodeWithWeb, newAccount, openNode } from './tron-node.ts';

const ZEROS = '0'.repeat(64);
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

let node: NodeWithWeb;
let usdtHex: string;
let faucetHex: string;
beforeAll(async () => {
  node = await openNode();
  usdtHex = node.web.address.toHex(DEMO_TRON_TOKENS.USDT).toLowerCase();
  faucetHex = node.web.address.toHex(TRON_FAUCET.address).toLowerCase();
});
afterAll(() => node.stop());

describe('an unmodified tronweb', () => {
  it('finds both sides connected', async () => {
    expect(await node.web.isConnected()).toEqual({ fullNode: true, solidityNode: true, eventServer: true });
  });

  it('sends TRX, and sees it on the solidified side one block later', async () => {
    const bob = newAccount();
    const sent = await node.web.trx.sendTransaction(bob.base58, 5_000_000);
    expect(sent.result).toBe(true);
    await node.control.mine();
    expect(await node.web.trx.getUnconfirmedBalance(bob.base58)).toBe(5_000_000);
    expect(await node.web.trx.getBalance(bob.base58)).toBe(0);
    expect(await node.ask('walletsolidity/gettransactionbyid', { value: sent.txid })).toEqual({});
    await node.control.mine();
    expect(await node.web.trx.getBalance(bob.base58)).toBe(5_000_000);
    expect(await node.web.trx.getConfirmedTransaction(sent.txid)).toMatchObject({ txID: sent.txid, ret: [{ contractRet: 'SUCCESS' }] });
    expect(await node.web.trx.getTransactionInfo(sent.txid)).toMatchObject({ id: sent.txid, contractResult: [''] });
  });

  it('sends a token through contract().at(), which finds the interface on the chain', async () => {
    const bob = newAccount();
    const usdt = await node.web.contract().at(DEMO_TRON_TOKENS.USDT);
    expect([await usdt.methods.symbol?.().call(), await usdt.methods.decimals?.().call(), await usdt.methods.name?.().call()]).toEqual([
      'USDT',
      6n,
      'Tether USD',
    ]);
    const txid = (await usdt.methods.transfer?.(bob.base58, 1_500_000).send({ feeLimit: 100_000_000 })) as string;
    await node.control.mine(2);
    expect(await usdt.methods.balanceOf?.(bob.base58).call()).toBe(1_500_000n);
    expect(await node.web.trx.getTransactionInfo(txid)).toMatchObject({ receipt: { result: 'SUCCESS' }, contractResult: [ZEROS] });
  });

  it('builds a token transfer locally and broadcasts it in both forms', async () => {
    const bob = newAccount();
    const build = (raw: number) =>
      node.web.transactionBuilder._triggerSmartContractLocal(
        DEMO_TRON_TOKENS.USDC,
        'transfer(address,uint256)',
        { feeLimit: 50_000_000 },
        [
          { type: 'address', value: bob.base58 },
          { type: 'uint256', value: raw },
        ],
        TRON_FAUCET.address,
      );
    const json = await node.web.trx.sign((await build(7)).transaction);
    expect(await node.web.trx.sendRawTransaction(json)).toMatchObject({ result: true, txid: json.txID });
    const other = await node.web.trx.sign((await build(8)).transaction);
    const pb = node.web.utils.transaction.txJsonToPb(other);
    pb.addSignature(Uint8Array.from(Buffer.from(other.signature[0] as string, 'hex')));
    const hex = Buffer.from(pb.serializeBinary()).toString('hex');
    expect(await node.web.trx.sendHexTransaction(hex)).toMatchObject({ result: true, code: 'SUCCESS', txid: other.txID });
    const { blocks } = await node.control.mine();
    expect(blocks[0]?.txids).toEqual([json.txID, other.txID]);
    const info = await node.web.trx.getUnconfirmedTransactionInfo(json.txID);
    expect(info.contractResult).toEqual([`${'0'.repeat(63)}1`]);
  });

  it('lets the node build transactions, which tronweb derives again and compares', async () => {
    const bob = newAccount();
    const built = await node.web.transactionBuilder.triggerSmartContract(
      DEMO_TRON_TOKENS.USDT,
      'transfer(address,uint256)',
      { feeLimit: 60_000_000 },
      [
        { type: 'address', value: bob.base58 },
        { type: 'uint256', value: 3 },
      ],
      TRON_FAUCET.address,
    );
    expect(built.transaction.raw_data.fee_limit).toBe(60_000_000);
    const sent = await node.web.trx.sendRawTransaction(await node.web.trx.sign(built.transaction));
    expect(sent.result).toBe(true);
    const made = await node.ask('wallet/createtransaction', { owner_address: faucetHex, to_address: bob.hex, amount: 9 });
    expect(made).toMatchObject({ visible: false, raw_data: { contract: [{ type: 'TransferContract' }] } });
    expect(await node.web.trx.sendRawTransaction(await node.web.trx.sign(made as never))).toMatchObject({ result: true });
    await node.control.mine();
  });

  it('simulates and estimates, and tells a revert', async () => {
    const parameters = (raw: string) => [
      { type: 'address', value: TRON_FAUCET.address },
      { type: 'uint256', value: raw },
    ];
    const call = (raw: string, owner: string) =>
      node.web.transactionBuilder.triggerConstantContract(DEMO_TRON_TOKENS.USDT, 'transfer(address,uint256)', {}, parameters(raw), owner);
    expect(await call('1', TRON_FAUCET.address)).toMatchObject({ result: { result: true }, energy_used: 64_285, constant_result: [ZEROS] });
    expect(
      await node.web.transactionBuilder.estimateEnergy(DEMO_TRON_TOKENS.USDT, 'transfer(address,uint256)', {}, parameters('1'), TRON_FAUCET.address),
    ).toMatchObject({ result: { result: true }, energy_required: 64_285 });
    await expect(call('1', newAccount().base58)).rejects.toThrow('REVERT opcode executed');
  });

  it('reads prices, parameters, accounts and resources', async () => {
    const keys = (await node.web.trx.getChainParameters()).map(({ key }) => key);
    expect(keys).toEqual(expect.arrayContaining(['getEnergyFee', 'getTransactionFee', 'getCreateAccountFee', 'getMaxFeeLimit', 'getMemoFee']));
    expect([await node.web.trx.getEnergyPrices(), await node.web.trx.getBandwidthPrices()]).toEqual(['0:100', '0:1000']);
    expect(await node.web.trx.getBandwidth(newAccount().base58)).toBe(0);
    expect(await node.web.trx.getAccountResources(TRON_FAUCET.address)).toMatchObject({ freeNetLimit: 600, TotalEnergyLimit: 180_000_000_000 });
    expect(await node.web.trx.getNodeInfo()).toMatchObject({ configNodeInfo: { codeVersion: expect.any(String) } });
    expect(await node.web.trx.getAccount(newAccount().base58)).toEqual({});
  });
});

describe('answers follow protobuf JSON', () => {
  it('leaves `transactions` out of an empty block, and commits to number and parent in the id', async () => {
    await node.control.mine(2);
    const [parent, block] = await node.web.trx.getBlockRange((await node.control.status()).height - 1, (await node.control.status()).height);
    expect(block).not.toHaveProperty('transactions');
    expect(block?.block_header.raw_data.parentHash).toBe(parent?.blockID);
    expect(Number.parseInt(String(block?.blockID).slice(0, 16), 16)).toBe(block?.block_header.raw_data.number);
    expect(block?.block_header.raw_data.txTrieRoot).toBe(ZEROS);
    expect(await node.web.trx.getBlockByHash(block?.blockID as string)).toEqual(block);
    expect(await node.ask('wallet/getblock', { detail: false, id_or_num: block?.blockID })).toEqual(block);
  });

  it('answers {} for what is not there, and [] for infos', async () => {
    for (const side of ['wallet', 'walletsolidity']) {
      expect(await node.ask(`${side}/getblockbynum`, { num: 999_999 })).toEqual({});
      expect(await node.ask(`${side}/getblockbyid`, { value: 'f'.repeat(64) })).toEqual({});
      expect(await node.ask(`${side}/gettransactionbyid`, { value: 'f'.repeat(64) })).toEqual({});
      expect(await node.ask(`${side}/gettransactioninfobyid`, { value: 'f'.repeat(64) })).toEqual({});
      expect(await node.ask(`${side}/gettransactioninfobyblocknum`, { num: 999_999 })).toEqual([]);
      expect(await node.ask(`${side}/gettransactioninfobyblocknum`, { num: 0 })).toEqual({});
      expect(await node.ask(`${side}/getaccount`, { address: newAccount().hex })).toEqual({});
    }
    expect(await node.ask('wallet/getcontract', { value: newAccount().hex })).toEqual({});
  });

  it('prints a token transfer key by key, in hex and with `visible` in base58', async () => {
    const bob = newAccount();
    const usdt = await node.web.contract().at(DEMO_TRON_TOKENS.USDT);
    const txid = (await usdt.methods.transfer?.(bob.base58, 10).send({ feeLimit: 100_000_000 })) as string;
    const { blocks } = await node.control.mine();
    const num = blocks[0]?.number;
    const infos = await node.ask<Answer[]>('wallet/gettransactioninfobyblocknum', { num });
    const [info] = infos;
    expect(infos).toHaveLength(1);
    expect(info).toMatchObject({ id: txid, blockNumber: num, contractResult: [ZEROS], contract_address: usdtHex });
    expect(Object.keys(info as Answer).sort()).toEqual(['blockNumber', 'blockTimeStamp', 'contractResult', 'contract_address', 'fee', 'id', 'log', 'receipt']);
    expect(((info as Answer).log as Answer[])[0]).toEqual({
      address: usdtHex.slice(2),
      topics: [TRANSFER, faucetHex.slice(2).padStart(64, '0'), bob.hex.slice(2).padStart(64, '0')],
      data: 'a'.padStart(64, '0'),
    });
    const [visible] = await node.ask<Answer[]>('wallet/gettransactioninfobyblocknum', { num, visible: true });
    expect(visible).toMatchObject({ contract_address: DEMO_TRON_TOKENS.USDT, log: [{ address: DEMO_TRON_TOKENS.USDT }] });
    const block = await node.ask('wallet/getblockbynum', { num, visible: true });
    const value = { owner_address: TRON_FAUCET.address, contract_address: DEMO_TRON_TOKENS.USDT };
    expect(block).toMatchObject({ transactions: [{ raw_data: { contract: [{ parameter: { value } }] } }] });
  });

  it('answers GET as POST, and an empty body', async () => {
    expect(await node.get('wallet/getnowblock')).toEqual(await node.ask('wallet/getnowblock'));
    expect(await node.get('wallet/getblockbynum?num=1')).toEqual(await node.ask('wallet/getblockbynum', { num: 1 }));
    expect(await node.get(`wallet/getaccount?address=${TRON_FAUCET.address}&visible=true`)).toMatchObject({ address: TRON_FAUCET.address });
    expect(await node.ask('wallet/getchainparameters')).toHaveProperty('chainParameter');
  });

  it('puts what goes wrong into {"Error": …} with status 200', async () => {
    const response = await fetch(`${node.url}/wallet/getaccount`, { method: 'POST', body: JSON.stringify({ address: 'nonsense' }) });
    expect([response.status, await response.json()]).toEqual([200, { Error: expect.stringMatching(/^class .* : /) }]);
    expect(await node.ask('wallet/broadcasttransaction', {})).toEqual({ Error: 'class java.lang.NullPointerException : null' });
    expect(await node.ask('wallet/broadcasthex', { transaction: 'zz' })).toHaveProperty('Error');
  });

  it('answers int64 as text to a client that asks for it', async () => {
    const block = await node.get<{ block_header: { raw_data: { timestamp: unknown; version: unknown } } }>('wallet/getnowblock?int64_as_string=true');
    expect([typeof block.block_header.raw_data.timestamp, typeof block.block_header.raw_data.version]).toEqual(['string', 'number']);
  });
});
