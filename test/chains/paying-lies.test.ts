import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bitcoinPayer } from '#shared/chains/bitcoin/payer.ts';
import { ChainUnavailable, type OwnOutput, type Payer, type TransferIntent } from '#shared/chains/chain.ts';
import { evmPayer } from '#shared/chains/evm/payer.ts';
import { openRpc } from '#shared/chains/evm/rpc.ts';
import { openTronApi } from '#shared/chains/tron/http.ts';
import { tronPayer } from '#shared/chains/tron/payer.ts';
import { aChain, type TestChain } from '#test/harness/chain.ts';
import { aTronChain, type TronChain } from '#test/harness/tron-chain.ts';

type Change = (answer: unknown) => unknown;

/** Puts `value` at a path inside the answer. */
const put =
  (path: (string | number)[], value: unknown): Change =>
  (answer) => {
    let target = answer as Record<string | number, unknown>;
    for (const step of path.slice(0, -1)) target = target[step] as Record<string | number, unknown>;
    target[path.at(-1) as string] = value;
    return answer;
  };
const told =
  (value: unknown): Change =>
  () =>
    value;

describe('on EVM, a lie to who pays', () => {
  const BOB = '0x0000000000000000000000000000000000000b0b';
  let chain: TestChain;
  let coins: TransferIntent;
  let tokens: TransferIntent;
  beforeAll(async () => {
    chain = await aChain();
    coins = { sender: chain.faucet, recipient: BOB, contract: null, rawAmount: 5n };
    tokens = { ...coins, contract: chain.tokens.USDT };
  });
  afterAll(() => chain.stop());

  const lying = (method: string, change: Change): Payer => {
    const rpc = openRpc(chain.url);
    return evmPayer({ chainId: '31337' }, async (asked, params) => {
      const answer = await rpc(asked, params);
      return asked === method ? change(structuredClone(answer)) : answer;
    });
  };

  it.each<[string, string, Change]>([
    ['no base fee', 'eth_getBlockByNumber', put(['baseFeePerGas'], undefined)],
    ['no block', 'eth_getBlockByNumber', told(null)],
    ['a base fee below nothing', 'eth_getBlockByNumber', put(['baseFeePerGas'], '-0x1')],
    ['a base fee that is a number', 'eth_getBlockByNumber', put(['baseFeePerGas'], 7)],
    ['a tip that is no number', 'eth_feeHistory', put(['reward'], [['0xzz']])],
    ['a tip below nothing', 'eth_feeHistory', put(['reward'], [['-0x1']])],
    ['an estimate that is no number', 'eth_estimateGas', told('21000')],
    ['an estimate with a fraction', 'eth_estimateGas', told(21_000.5)],
    ['no estimate', 'eth_estimateGas', told(null)],
  ])('%s is no quote', async (_name, method, change) => {
    for (const intent of [coins, tokens]) {
      await expect(lying(method, change).quote(intent)).rejects.toThrow(ChainUnavailable);
      await expect(lying(method, change).estimate(intent)).rejects.toThrow(ChainUnavailable);
    }
  });

  it.each<[string, unknown]>([
    ['that is no number', '5'],
    ['below nothing', '-0x1'],
    ['that is null', null],
    ['beyond counting', `0x${'f'.repeat(16)}`],
    ['with a leading zero', '0x05'],
  ])('a nonce %s is none', async (_name, answer) => {
    await expect(lying('eth_getTransactionCount', told(answer)).nonce(chain.faucet)).rejects.toThrow(ChainUnavailable);
  });

  it.each<[string, unknown]>([
    ['nothing', '0x'],
    ['half a word', `0x${'0'.repeat(32)}`],
    ['two words', `0x${'0'.repeat(128)}`],
    ['null', null],
    ['a number', 5],
  ])('a token balance of %s is none', async (_name, answer) => {
    await expect(lying('eth_call', told(answer)).balance(chain.faucet, chain.tokens.USDT)).rejects.toThrow(ChainUnavailable);
  });

  it('a balance that is there and is not only loses a quote: the chain still refuses what cannot be paid', async () => {
    await expect(lying('eth_getBalance', told('0x0')).quote(coins)).resolves.toMatchObject({ ok: false });
    const rich = await lying('eth_getBalance', told(`0x${'f'.repeat(40)}`)).quote({ ...coins, sender: BOB, rawAmount: 10n ** 24n });
    // The estimate of the same node may say no or yes; signed bytes of it move nothing that is not there.
    if (rich.ok) expect(rich.quote.rawFee).toBeLessThan(10n ** 18n);
  });

  it.each<[string, string, Change]>([
    ['gas', 'eth_estimateGas', told('0xffffffffffff')],
    ['base fee', 'eth_getBlockByNumber', put(['baseFeePerGas'], `0x${(10n ** 15n).toString(16)}`)],
    ['tip', 'eth_feeHistory', put(['reward'], [[`0x${(10n ** 15n).toString(16)}`]])],
  ])('an absurd %s shows in full as the most it can cost, which the limits of the treasury then stop', async (_name, method, change) => {
    const answer = await lying(method, change).estimate(coins);
    if (!answer.ok) throw new Error(answer.rejected);
    const { gas, maxFeePerGas } = answer.quote.fields;
    expect(answer.quote.rawFee).toBe(BigInt(gas as string) * BigInt(maxFeePerGas as string));
    expect(answer.quote.rawFee).toBeGreaterThan(10n ** 18n);
  });
});

describe('on TRON, a lie to who pays', () => {
  const BOB = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
  let chain: TronChain;
  let coins: TransferIntent;
  let tokens: TransferIntent;
  beforeAll(async () => {
    chain = await aTronChain({ blockSeconds: 0 });
    await chain.mine(3);
    coins = { sender: chain.faucet, recipient: BOB, contract: null, rawAmount: 5n };
    tokens = { ...coins, contract: chain.tokens.USDT };
  });
  afterAll(() => chain.stop());

  const lying = (path: string, change: Change): Payer => {
    const api = openTronApi(chain.url);
    return tronPayer(async (asked, body) => {
      const answer = structuredClone(await api(asked, body));
      return asked === path ? change(answer) : answer;
    });
  };
  const parameter =
    (name: string, value: unknown): Change =>
    (answer) => ({
      chainParameter: (answer as { chainParameter: { key: string }[] }).chainParameter.map((one) => (one.key === name ? { ...one, value } : one)),
    });

  const PARAMETERS = 'wallet/getchainparameters';
  it.each<[string, string, Change]>([
    ['no parameters', PARAMETERS, told({})],
    ['energy for nothing', PARAMETERS, parameter('getEnergyFee', 0)],
    ['energy at a thousand times its price', PARAMETERS, parameter('getEnergyFee', 100_000)],
    ['energy below nothing', PARAMETERS, parameter('getEnergyFee', -1)],
    ['bandwidth at a thousand times its price', PARAMETERS, parameter('getTransactionFee', 1_000_000)],
    ['an account that costs a fortune', PARAMETERS, parameter('getCreateNewAccountFeeInSystemContract', 10 ** 12)],
    ['a price with a fraction', PARAMETERS, parameter('getEnergyFee', 1.5)],
    ['no head', 'wallet/getblock', told({})],
    ['a head of another time', 'wallet/getblock', put(['block_header', 'raw_data', 'timestamp'], 4_000_000_000_000)],
    ['a solid block that nobody sealed', 'walletsolidity/getblock', put(['blockID'], 'ab'.repeat(32))],
    ['the account of somebody else', 'wallet/getaccount', put(['address'], `41${'22'.repeat(20)}`)],
    ['a balance with a fraction', 'wallet/getaccount', put(['balance'], 1.5)],
    ['a balance below nothing', 'wallet/getaccount', put(['balance'], -5)],
    ['resources that are no numbers', 'wallet/getaccountresource', put(['EnergyLimit'], 'plenty')],
  ])('%s is no quote', async (_name, path, change) => {
    await expect(lying(path, change).quote(coins)).rejects.toThrow(ChainUnavailable);
  });

  const SIMULATE = 'wallet/triggerconstantcontract';
  it.each<[string, Change]>([
    ['nothing', told({})],
    ['no energy at all', put(['energy_used'], undefined)],
    ['less energy than any transfer takes', put(['energy_used'], 5)],
    ['energy below nothing', put(['energy_used'], -1)],
    ['energy with a fraction', put(['energy_used'], 64_285.5)],
    ['neither yes nor no', put(['result'], {})],
  ])('a simulation that tells of %s is no quote', async (_name, change) => {
    await expect(lying(SIMULATE, change).quote(tokens)).rejects.toThrow(ChainUnavailable);
  });

  it('a simulation of more energy than any transfer may burn is refused: nothing is signed for it', async () => {
    expect(await lying(SIMULATE, put(['energy_used'], 50_000_000)).quote(tokens)).toMatchObject({ ok: false });
  });

  it('never makes a call that may burn more than 500 TRX, whatever the chain is said to allow', async () => {
    const dear = lying(SIMULATE, put(['energy_used'], 4_900_000));
    const answer = await dear.quote(tokens);
    if (!answer.ok) throw new Error(answer.rejected);
    expect(BigInt(answer.quote.fields.feeLimit as string)).toBe(500_000_000n);
  });

  it('a fee limit lower than what it takes is not gone beyond', async () => {
    expect(await lying(PARAMETERS, parameter('getMaxFeeLimit', 1_000)).quote(tokens)).toMatchObject({ ok: false });
  });

  it.each<[string, Change]>([
    ['half a word', put(['constant_result'], ['00'])],
    ['two words', put(['constant_result'], ['0'.repeat(64), '0'.repeat(64)])],
    ['nothing', put(['constant_result'], undefined)],
    ['a failure', put(['result'], { result: true, message: '6e6f' })],
  ])('a token balance of %s is none', async (_name, change) => {
    await expect(lying(SIMULATE, change).balance(chain.faucet, chain.tokens.USDT)).rejects.toThrow(ChainUnavailable);
  });
});

describe('on Bitcoin, a lie to who pays', () => {
  const SENDER = 'bcrt1qgnjggmy65s5s5fen2tnt3gm4uxmru7n66nspdj';
  const intent: TransferIntent = { sender: SENDER, recipient: 'bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqr90uqqp30ysdp', contract: null, rawAmount: 100_000n };
  const coins: OwnOutput[] = [{ txid: 'ab'.repeat(32), vout: 0, rawAmount: 5_000_000n, address: SENDER }];
  /** What an honest node says; amounts as text, as the RPC reads them. */
  const HONEST: Readonly<Record<string, unknown>> = {
    estimatesmartfee: { feerate: '0.00005000', blocks: 3 },
    getmempoolinfo: { mempoolminfee: '0.00001000', minrelaytxfee: '0.00001000', incrementalrelayfee: '0.00001000' },
  };
  const lying = (method: string, change: Change): Payer =>
    bitcoinPayer({ chainId: 'regtest', feeRate: { cap: '500' } }, async (asked) => {
      const answer = structuredClone(HONEST[asked]);
      return asked === method ? change(answer) : answer;
    });
  const feeOf = async (payer: Payer): Promise<bigint> => {
    const answer = await payer.quote(intent, coins);
    if (!answer.ok) throw new Error(answer.rejected);
    return answer.quote.rawFee;
  };

  it.each<[string, string, Change]>([
    ['no estimate and no reason', 'estimatesmartfee', told({})],
    ['nothing at all', 'estimatesmartfee', told(null)],
    ['an estimate of nothing', 'estimatesmartfee', put(['feerate'], 0)],
    ['an estimate below nothing', 'estimatesmartfee', put(['feerate'], '-0.00005')],
    ['an estimate finer than a satoshi', 'estimatesmartfee', put(['feerate'], '0.000000001')],
    ['an estimate that is no number', 'estimatesmartfee', put(['feerate'], 'low')],
    ['no word of its mempool', 'getmempoolinfo', told(null)],
    ['no lowest fee', 'getmempoolinfo', put(['mempoolminfee'], undefined)],
    ['a lowest fee below nothing', 'getmempoolinfo', put(['mempoolminfee'], '-0.00001')],
    ['a lowest fee that nobody would pay', 'getmempoolinfo', put(['minrelaytxfee'], '1.00000000')],
    ['an increment that is no number', 'getmempoolinfo', put(['incrementalrelayfee'], [])],
  ])('%s is no quote', async (_name, method, change) => {
    await expect(lying(method, change).quote(intent, coins)).rejects.toThrow(ChainUnavailable);
    await expect(lying(method, change).estimate(intent)).rejects.toThrow(ChainUnavailable);
  });

  it('an absurd estimate costs what the highest rate of the configuration does, and not more', async () => {
    const honest = await feeOf(lying('estimatesmartfee', (answer) => answer));
    // Five satoshis per virtual byte against five hundred.
    expect(await feeOf(lying('estimatesmartfee', put(['feerate'], '1.00000000')))).toBe(honest * 100n);
    expect(await feeOf(lying('estimatesmartfee', put(['feerate'], 21_000_000)))).toBe(honest * 100n);
  });

  it('an estimate below what the node itself passes on is not believed', async () => {
    const honest = await feeOf(lying('estimatesmartfee', (answer) => answer));
    expect(await feeOf(lying('estimatesmartfee', put(['feerate'], '0.00000001')))).toBe(honest / 5n);
  });
});
