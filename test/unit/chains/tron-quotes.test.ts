import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ChainUnavailable, type TransferIntent } from '#shared/chains/chain.ts';
import { toBase58 } from '#shared/chains/tron/address.ts';
import { TronRefused } from '#shared/chains/tron/http.ts';
import { tronPayer } from '#shared/chains/tron/payer.ts';
import { blockIdOf } from '#shared/chains/tron/proofs.ts';
import { bandwidthOf, readFields } from '#shared/chains/tron/transaction.ts';

const USDT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const address = (digit: string) => toBase58(`41${digit.repeat(40)}`);
const HOT = address('1');
const BOB = address('2');
const hex41 = (digit: string) => `41${digit.repeat(40)}`;
const word = (value: bigint) => value.toString(16).padStart(64, '0');

const PARAMETERS = {
  getEnergyFee: 100,
  getTransactionFee: 1_000,
  getCreateAccountFee: 100_000,
  getCreateNewAccountFeeInSystemContract: 1_000_000,
  getMaxFeeLimit: 15_000_000_000,
  getAllowDelegateResource: 1,
  getUnfreezeDelayDays: -1,
};
const parameters = (values: Record<string, unknown>, without: string[] = []) => ({
  chainParameter: Object.entries(values).flatMap(([key, value]) => (without.includes(key) ? [] : [{ key, value }])),
});
function block(height: number, timeMs: number) {
  const raw = {
    number: height,
    timestamp: timeMs,
    txTrieRoot: '0'.repeat(64),
    parentHash: `${(height - 1).toString(16).padStart(16, '0')}${'7'.repeat(48)}`,
    witness_address: hex41('9'),
    version: 31,
  };
  const header = {
    ...raw,
    number: BigInt(height),
    timestamp: BigInt(timeMs),
    witnessAddress: raw.witness_address,
    version: 31n,
    witnessId: 0n,
    accountStateRoot: '',
  };
  return { blockID: blockIdOf(header), block_header: { raw_data: raw, witness_signature: '00'.repeat(65) } };
}

/** What a node says, by path; a function is asked with the body. */
type Says = Record<string, unknown>;
/** Every address an account with so many sun. */
const holds = (balance: unknown) => (body: { address: string }) => ({ address: body.address, ...(balance === undefined ? {} : { balance }) });

const HEALTHY: Says = {
  'wallet/getchainparameters': parameters(PARAMETERS),
  'wallet/getblock': block(70_000_019, 1_790_000_057_000),
  'walletsolidity/getblock': block(70_000_000, 1_790_000_000_000),
  'wallet/getaccount': holds(50_000_000),
  'wallet/getaccountresource': { freeNetUsed: 600, freeNetLimit: 600 },
  'wallet/getcontract': {},
  'wallet/triggerconstantcontract': (body: { function_selector: string }) =>
    body.function_selector === 'balanceOf(address)'
      ? { result: { result: true }, energy_used: 935, constant_result: [word(10n ** 12n)] }
      : { result: { result: true }, energy_used: 64_285, constant_result: [word(0n)], transaction: { ret: [{}] } },
  'wallet/broadcasthex': { result: true, code: 'SUCCESS', txid: 'ab'.repeat(32), message: '' },
};

function node(says: Says = {}, random = (_below: number) => 0) {
  const asked: { path: string; body: Record<string, unknown> }[] = [];
  const ask = async (path: string, body: Record<string, unknown>): Promise<unknown> => {
    asked.push({ path, body });
    const answer = { ...HEALTHY, ...says }[path];
    return typeof answer === 'function' ? answer(body) : answer;
  };
  return { payer: tronPayer(ask, random), asked };
}

const trx = (rawAmount: bigint, more: Partial<TransferIntent> = {}): TransferIntent => ({ sender: HOT, recipient: BOB, contract: null, rawAmount, ...more });
const usdt = (rawAmount: bigint, more: Partial<TransferIntent> = {}): TransferIntent => ({ ...trx(rawAmount), contract: USDT, ...more });
const reverts = (message: string, more: object = {}) => ({
  result: { result: true, message: Buffer.from(message).toString('hex') },
  energy_used: 500,
  ...more,
});

async function quoted(answer: Promise<Awaited<ReturnType<ReturnType<typeof tronPayer>['quote']>>>) {
  const result = await answer;
  if (!result.ok) throw new Error(result.rejected);
  return result.quote;
}

/** Answers of a token whose holders are given; every transfer takes what its recipient's holding makes it take. */
const token = (holders: Record<string, bigint>) => (body: { function_selector: string; parameter: string; owner_address: string }) => {
  const holding = (hex: string) => holders[hex] ?? 0n;
  if (body.function_selector === 'balanceOf(address)') return { result: { result: true }, constant_result: [word(holding(`41${body.parameter.slice(24)}`))] };
  if (holding(body.owner_address) < BigInt(`0x${body.parameter.slice(64)}`)) return reverts('REVERT opcode executed');
  return { result: { result: true }, energy_used: holding(`41${body.parameter.slice(24, 64)}`) > 0n ? 29_650 : 44_650, constant_result: [word(1n)] };
};

describe('a quote on TRON', () => {
  it('names the last solid block and expires by the head’s clock, 90 to 120 seconds on', async () => {
    const { fields, expiresAtMs } = await quoted(node().payer.quote(trx(1n)));
    expect(fields).toEqual({
      feeLimit: '0',
      refBlockBytes: '1d80',
      refBlockHash: block(70_000_000, 1_790_000_000_000).blockID.slice(16, 32),
      expirationMs: '1790000147000',
      timestampMs: '1790000057000',
    });
    expect(expiresAtMs).toBe(1_790_000_147_000);
    const late = node({}, (below) => below - 1).payer;
    expect((await quoted(late.quote(trx(1n)))).expiresAtMs).toBe(1_790_000_057_000 + 119_999);
  });

  it('is never twice the same, so that two transfers alike are two transactions', async () => {
    const { payer } = node({}, randomInt);
    const quotes = await Promise.all(Array.from({ length: 50 }, () => quoted(payer.quote(trx(1n)))));
    expect(new Set(quotes.map(({ fields }) => JSON.stringify(fields))).size).toBe(50);
    for (const { expiresAtMs } of quotes) expect(Number(expiresAtMs) - 1_790_000_057_000).toSatisfy((ms: number) => ms >= 90_000 && ms < 120_000);
  });

  it('of TRX costs its exact size in bandwidth and no energy', async () => {
    const quote = await quoted(node().payer.quote(trx(1_000_000n)));
    const points = bandwidthOf(trx(1_000_000n), readFields(quote.fields));
    expect(points).toBe(267n);
    expect(quote.rawFee).toBe(267_000n);
  });

  it('of TRX to an address that is no account yet costs 1.1 TRX instead', async () => {
    const says = { 'wallet/getaccount': ({ address: asked }: { address: string }) => (asked === hex41('2') ? {} : { address: asked, balance: 5_000_000 }) };
    expect((await quoted(node(says).payer.quote(trx(1n)))).rawFee).toBe(1_100_000n);
    expect((await quoted(node(says).payer.estimate(trx(1n)))).rawFee).toBe(1_100_000n);
  });

  it('of a token costs the simulated energy and a fifth more, at the chain’s price, and its bandwidth', async () => {
    const { payer, asked } = node();
    const quote = await quoted(payer.quote(usdt(1_000_000n)));
    expect(quote.fields.feeLimit).toBe('7714200');
    expect(bandwidthOf(usdt(1_000_000n), readFields(quote.fields))).toBe(345n);
    expect(quote.rawFee).toBe(7_714_200n + 345_000n);
    const simulated = asked.find(({ path, body }) => path === 'wallet/triggerconstantcontract' && body.function_selector === 'transfer(address,uint256)');
    expect(simulated?.body).toMatchObject({ owner_address: hex41('1'), parameter: `${'2'.repeat(40).padStart(64, '0')}${word(1_000_000n)}`, visible: false });
  });

  it('counts neither staked nor free resources: another transfer of ours may use them up first', async () => {
    const rich = { 'wallet/getaccountresource': { freeNetLimit: 600, NetLimit: 100_000, EnergyLimit: 10_000_000 } };
    for (const intent of [trx(1n), usdt(1n)]) {
      const plain = await quoted(node().payer.quote(intent));
      expect((await quoted(node(rich).payer.quote(intent))).rawFee).toBe(plain.rawFee);
      expect((await quoted(node(rich).payer.estimate(intent))).rawFee).toBe(plain.rawFee);
    }
  });

  it('of what the sender cannot pay is rejected; staked energy and free bandwidth are counted for that', async () => {
    const poor = { 'wallet/getaccount': holds(6_000_000) };
    expect(await node(poor).payer.quote(usdt(1n))).toEqual({ ok: false, rejected: 'the sender holds 6000000 sun and needs 6773500' });
    expect(await node(poor).payer.estimate(usdt(1n))).toMatchObject({ ok: true });
    const staked = { ...poor, 'wallet/getaccountresource': { freeNetLimit: 600, freeNetUsed: 255, EnergyLimit: 64_284, EnergyUsed: 10_000 } };
    expect(await node(staked).payer.quote(usdt(1n))).toMatchObject({ ok: true });
    const one = { ...poor, 'wallet/getaccountresource': { freeNetLimit: 600, freeNetUsed: 256, EnergyLimit: 4_285 } };
    expect(await node(one).payer.quote(usdt(1n))).toMatchObject({ ok: false, rejected: expect.stringContaining('needs 6345000') });
    expect(await node(poor).payer.quote(trx(5_732_000n))).toMatchObject({ ok: true });
    expect(await node(poor).payer.quote(trx(5_732_001n))).toMatchObject({ ok: false });
  });

  it('from an address that is no account yet is rejected, its estimate is not', async () => {
    const nobody = {
      'wallet/getaccount': ({ address: asked }: { address: string }) => (asked === hex41('1') ? {} : { address: asked, balance: 1 }),
      'wallet/getaccountresource': {},
    };
    for (const intent of [trx(1n), usdt(1n)]) {
      expect(await node(nobody).payer.quote(intent)).toEqual({ ok: false, rejected: 'the sender is not an account yet' });
      expect(await node(nobody).payer.estimate(intent)).toMatchObject({ ok: true });
    }
  });

  const refused: [string, TransferIntent, Says, RegExp, about?: 'amount'][] = [
    ['TRX to a contract', trx(1n, { recipient: USDT }), { 'wallet/getcontract': { contract_address: hex41('a'), bytecode: '60' } }, /is a contract/],
    ['TRX to its own sender', trx(1n, { recipient: HOT }), {}, /its own sender/],
    ['nothing', trx(0n), {}, /moves nothing/],
    ['more TRX than can be written exactly', trx(2n ** 53n), {}, /more TRX than/, 'amount'],
    ['more than an int64 of TRX', trx(2n ** 63n), {}, /more TRX than/, 'amount'],
    ['more than a uint256 of a token', usdt(2n ** 256n), {}, /more than a token/, 'amount'],
    ['a transfer the token reverts', usdt(1n), { 'wallet/triggerconstantcontract': reverts('REVERT opcode executed') }, /^REVERT opcode executed$/],
    [
      'a transfer the token reverts with a reason',
      usdt(1n),
      {
        'wallet/triggerconstantcontract': reverts('REVERT opcode executed', {
          constant_result: [`08c379a0${word(32n)}${word(11n)}${Buffer.from('blacklisted').toString('hex').padEnd(64, '0')}`],
        }),
      },
      /^blacklisted$/,
    ],
    [
      'a call only the transaction says failed',
      usdt(1n),
      { 'wallet/triggerconstantcontract': { result: { result: true }, energy_used: 64_285, transaction: { ret: [{ ret: 'FAILED' }] } } },
      /fails/,
    ],
    [
      'a token that is no contract',
      usdt(1n),
      {
        'wallet/triggerconstantcontract': { result: { code: 'CONTRACT_VALIDATE_ERROR', message: Buffer.from('Smart contract is not exist.').toString('hex') } },
      },
      /not exist/,
    ],
    [
      'a call that would burn more than any may',
      usdt(1n),
      { 'wallet/triggerconstantcontract': { result: { result: true }, energy_used: 5_000_001 } },
      /burn 500000100 sun/,
    ],
    [
      'a call above what the chain lets anybody burn',
      usdt(1n),
      { 'wallet/getchainparameters': parameters({ ...PARAMETERS, getMaxFeeLimit: 6_428_499 }) },
      /more than any transfer may/,
    ],
  ];
  it.each(refused)('of %s is rejected, and says when it is for the amount', async (_name, intent, says, reason, about) => {
    expect(await node(says).payer.quote(intent)).toEqual({ ok: false, rejected: expect.stringMatching(reason), ...(about === undefined ? {} : { about }) });
  });

  it('keeps its head-room below the caps', async () => {
    const tight = { 'wallet/getchainparameters': parameters({ ...PARAMETERS, getMaxFeeLimit: 6_428_500 }) };
    expect((await quoted(node(tight).payer.quote(usdt(1n)))).fields.feeLimit).toBe('6428500');
    const dear = { 'wallet/triggerconstantcontract': { result: { result: true }, energy_used: 5_000_000 }, 'wallet/getaccount': holds(10n ** 12n) };
    expect((await quoted(node(dear).payer.quote(usdt(1n)))).fields.feeLimit).toBe('500000000');
  });
});

describe('an estimate on TRON', () => {
  const empty = { 'wallet/triggerconstantcontract': token({}) };
  const bobHolds = { 'wallet/triggerconstantcontract': token({ [hex41('2')]: 5n }) };

  it('of tokens the sender lacks uses the documented energy, more for a recipient that holds none', async () => {
    expect((await quoted(node(empty).payer.estimate(usdt(100n)))).fields.feeLimit).toBe(String(130_285 * 120));
    expect(await node(empty).payer.quote(usdt(100n))).toMatchObject({ ok: false });
    const one = { 'wallet/triggerconstantcontract': token({ [hex41('2')]: 1n }) };
    expect((await quoted(node(one).payer.estimate(usdt(100n)))).fields.feeLimit).toBe(String((64_285 * 12 * 100) / 10));
  });

  it('of tokens only the recipient holds is simulated there', async () => {
    expect((await quoted(node(bobHolds).payer.estimate(usdt(100n)))).fields.feeLimit).toBe(String(29_650 * 120));
  });

  it('of more tokens than the sender holds is simulated with what it has', async () => {
    const some = { 'wallet/triggerconstantcontract': token({ [hex41('1')]: 5n }) };
    expect((await quoted(node(some).payer.estimate(usdt(100n)))).fields.feeLimit).toBe(String(44_650 * 120));
  });

  it('depends on the recipient, and not on what the sender holds', async () => {
    const rich = { 'wallet/triggerconstantcontract': token({ [hex41('1')]: 10n ** 9n, [hex41('2')]: 5n }) };
    const poor = { 'wallet/triggerconstantcontract': token({ [hex41('1')]: 1n, [hex41('2')]: 5n }), 'wallet/getaccount': {}, 'wallet/getaccountresource': {} };
    const fee = async (says: Says, recipient: string) => (await quoted(node(says).payer.estimate(usdt(100n, { recipient })))).rawFee;
    expect(await fee(rich, BOB)).toBe(await fee(poor, BOB));
    expect(await fee(rich, address('3'))).toBe(await fee(poor, address('3')));
    expect(await fee(rich, address('3'))).toBeGreaterThan(await fee(rich, BOB));
  });

  it('of a transfer its token refuses the sender is rejected, funded or not', async () => {
    const frozen = {
      'wallet/triggerconstantcontract': (body: { function_selector: string }) =>
        body.function_selector === 'balanceOf(address)' ? { result: { result: true }, constant_result: [word(1n)] } : reverts('REVERT opcode executed'),
    };
    for (const rawAmount of [1n, 100n]) expect(await node(frozen).payer.estimate(usdt(rawAmount))).toMatchObject({ ok: false });
  });
});

describe('a node that lies or fails is no quote, but an error:', () => {
  const param = (key: string, value: unknown): Says => ({ 'wallet/getchainparameters': parameters({ ...PARAMETERS, [key]: value }) });
  const simulated = (energy: unknown): Says => ({ 'wallet/triggerconstantcontract': { result: { result: true }, energy_used: energy } });
  const lies: [string, Says][] = [
    ['no parameters', { 'wallet/getchainparameters': {} }],
    ['parameters without the price of bandwidth', { 'wallet/getchainparameters': parameters(PARAMETERS, ['getTransactionFee']) }],
    ['an energy price of nothing', param('getEnergyFee', 0)],
    ['an energy price that is absent', param('getEnergyFee', undefined)],
    ['an absurd energy price', param('getEnergyFee', 2_001)],
    ['a negative energy price', param('getEnergyFee', -100)],
    ['a fractional energy price', param('getEnergyFee', 99.5)],
    ['an energy price in words', param('getEnergyFee', '100')],
    ['an absurd bandwidth price', param('getTransactionFee', 1_000_000)],
    ['an absurd price of accounts', param('getCreateNewAccountFeeInSystemContract', 10 ** 12)],
    ['a fee limit of nothing', param('getMaxFeeLimit', 0)],
    ['no energy', simulated(undefined)],
    ['less energy than any transfer takes', simulated(21)],
    ['negative energy', simulated(-64_285)],
    ['energy beyond a safe number', simulated(2 ** 60)],
    ['no result of the simulation', { 'wallet/triggerconstantcontract': {} }],
    ['an empty result of the simulation', { 'wallet/triggerconstantcontract': { result: {} } }],
    [
      'a node without simulations',
      {
        'wallet/triggerconstantcontract': {
          result: { code: 'CONTRACT_VALIDATE_ERROR', message: Buffer.from('this node does not support constant').toString('hex') },
        },
      },
    ],
    ['a simulation that timed out', { 'wallet/triggerconstantcontract': reverts("CPU timeout for 'PUSH1' operation executing") }],
    ['no head', { 'wallet/getblock': {} }],
    ['no solid block', { 'walletsolidity/getblock': {} }],
    ['a head whose id is another number’s', { 'wallet/getblock': { ...block(70_000_019, 1_790_000_057_000), blockID: block(70_000_020, 0).blockID } }],
    ['a head below the solid block', { 'wallet/getblock': block(69_999_999, 1_790_000_057_000) }],
    ['a head older than the solid block', { 'wallet/getblock': block(70_000_019, 1_789_999_999_999) }],
    ['an account that is no object', { 'wallet/getaccount': [] }],
    ['a negative balance', { 'wallet/getaccount': holds(-1) }],
    ['another account', { 'wallet/getaccount': { address: hex41('9'), balance: 50_000_000 } }],
    ['a text for a contract', { 'wallet/getcontract': 'none' }],
  ];
  it.each(lies)('%s', async (name, says) => {
    const { payer } = node(says);
    const intent = /account|balance|contract$/.test(name) && !name.includes('price') ? trx(1n) : usdt(1n);
    await expect(payer.quote(intent)).rejects.toThrow(ChainUnavailable);
  });

  it('a balance that is no number', async () => {
    for (const constant_result of [undefined, [], [''], ['00'], ['zz'.repeat(32)], [5]]) {
      const { payer } = node({ 'wallet/triggerconstantcontract': { result: { result: true }, constant_result } });
      await expect(payer.balance(HOT, USDT)).rejects.toThrow(ChainUnavailable);
    }
    await expect(node({ 'wallet/getaccount': holds(1.5) }).payer.balance(HOT, null)).rejects.toThrow(ChainUnavailable);
  });
});

describe('balances on TRON', () => {
  it('are exact beyond 2^53, and nothing where there is no account', async () => {
    expect(await node({ 'wallet/getaccount': holds(9_007_199_254_740_993n) }).payer.balance(HOT, null)).toBe(9_007_199_254_740_993n);
    expect(await node({ 'wallet/getaccount': {} }).payer.balance(HOT, null)).toBe(0n);
    expect(await node({ 'wallet/getaccount': holds(undefined) }).payer.balance(HOT, null)).toBe(0n);
    expect(
      await node({ 'wallet/triggerconstantcontract': { result: { result: true }, constant_result: [word(2n ** 256n - 1n)] } }).payer.balance(HOT, USDT),
    ).toBe(2n ** 256n - 1n);
  });
});

describe('a broadcast on TRON', () => {
  const hexed = (text: string) => Buffer.from(text).toString('hex');
  const answers: [string, unknown, { accepted: boolean; answer: string }][] = [
    ['taken', { result: true, txid: 'ab'.repeat(32) }, { accepted: true, answer: 'ab'.repeat(32) }],
    ['taken, without its id', { result: true }, { accepted: true, answer: 'SUCCESS' }],
    [
      'a bad signature',
      { code: 'SIGERROR', message: hexed('Validate signature error: miss sig or contract') },
      { accepted: false, answer: 'SIGERROR: Validate signature error: miss sig or contract' },
    ],
    [
      'known already',
      { code: 'DUP_TRANSACTION_ERROR', message: hexed('Dup transaction.'), txid: 'ab'.repeat(32) },
      { accepted: false, answer: 'DUP_TRANSACTION_ERROR: Dup transaction.' },
    ],
    [
      'busy, in plain text as broadcasthex writes it',
      { result: false, code: 'SERVER_BUSY', message: 'Server busy.' },
      { accepted: false, answer: 'SERVER_BUSY: Server busy.' },
    ],
    ['expired', { code: 'TRANSACTION_EXPIRATION_ERROR' }, { accepted: false, answer: 'TRANSACTION_EXPIRATION_ERROR' }],
    [
      'not passed on',
      { code: 'NOT_ENOUGH_EFFECTIVE_CONNECTION', message: hexed('Insufficient connection.') },
      { accepted: false, answer: 'NOT_ENOUGH_EFFECTIVE_CONNECTION: Insufficient connection.' },
    ],
    ['nothing', {}, { accepted: false, answer: 'no code' }],
    ['no object', null, { accepted: false, answer: 'no code' }],
    ['something true-like', { result: 'true' }, { accepted: false, answer: 'no code' }],
  ];
  it.each(answers)('answered with %s is told in words', async (_name, reply, told) => {
    const { payer, asked } = node({ 'wallet/broadcasthex': reply ?? (() => null) });
    expect(await payer.broadcast(Uint8Array.from([10, 11]))).toEqual(told);
    expect(asked).toEqual([{ path: 'wallet/broadcasthex', body: { transaction: '0a0b' } }]);
  });

  it('that nobody answers is merely unconfirmed', async () => {
    const away = tronPayer(async () => {
      throw new ChainUnavailable('nobody there');
    });
    expect(await away.broadcast(new Uint8Array([1]))).toEqual({ accepted: false, answer: 'nobody there' });
    await expect(away.quote(trx(1n))).rejects.toThrow(ChainUnavailable);
    await expect(away.estimate(usdt(1n))).rejects.toThrow(ChainUnavailable);
  });

  it('that the node refuses to look at is told in its words; anything else it refuses is no answer', async () => {
    const { payer } = node({
      ...Object.fromEntries(
        Object.keys(HEALTHY).map((path) => [path, () => Promise.reject(new TronRefused(path, 'class java.lang.NullPointerException : null'))]),
      ),
    });
    expect(await payer.broadcast(new Uint8Array([1]))).toEqual({ accepted: false, answer: 'wallet/broadcasthex: class java.lang.NullPointerException : null' });
    await expect(payer.quote(trx(1n))).rejects.toThrow(ChainUnavailable);
    await expect(payer.balance(HOT, null)).rejects.toThrow(ChainUnavailable);
  });

  it.each([
    ['text', 'no '.repeat(100_000)],
    ['hex of text', Buffer.from('no '.repeat(100_000)).toString('hex')],
    ['hex of no text', 'ff'.repeat(100_000)],
  ])('that the node refuses with endless %s is told in short', async (_what, message) => {
    const { payer } = node({ 'wallet/broadcasthex': () => ({ code: 'SIGERROR', message }) });
    expect((await payer.broadcast(new Uint8Array([1]))).answer.length).toBeLessThan(400);
  });

  it('there are no nonces and no bumps', async () => {
    expect(await node().payer.nonce(HOT)).toBeNull();
    expect(node().payer.bump).toBeNull();
  });
});
