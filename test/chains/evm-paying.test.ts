import { bytesToHex, hexToBytes, keccak256, parseTransaction, serializeTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAUCET } from '#ops/dev/local-evm.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { ChainUnavailable, type Payer, type SigningRequest, type TransferIntent, type TransferSigner } from '#shared/chains/chain.ts';
import { decodeEvmTransfer } from '#shared/chains/evm/decode.ts';
import { evmPayer } from '#shared/chains/evm/payer.ts';
import { openRpc } from '#shared/chains/evm/rpc.ts';
import { compare, evmSigner } from '#shared/chains/evm/signer.ts';
import { Invariant } from '#shared/core/errors.ts';
import { aChain, type TestChain } from '#test/harness/chain.ts';

const SEED = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const HOT = "m/44'/60'/1'/0/0";
const BOB = '0x0000000000000000000000000000000000000b0b';
const LOCAL = { chainId: '31337' };

let chain: TestChain;
let payer: Payer;
let signer: TransferSigner;
let hot: string;

beforeAll(async () => {
  signer = evmSigner(LOCAL, SEED);
  hot = signer.addressAt(HOT);
  chain = await aChain({ fund: [hot] });
  payer = evmPayer(LOCAL, openRpc(chain.url));
});
afterAll(() => chain.stop());

const native = (rawAmount: bigint, more: Partial<TransferIntent> = {}): TransferIntent => ({ sender: hot, recipient: BOB, contract: null, rawAmount, ...more });

async function signed(
  intent: TransferIntent,
  nonce?: number,
): Promise<{ request: SigningRequest; txid: string; signedBytes: Uint8Array; rawFeeLimit: bigint }> {
  const priced = await payer.estimate(intent);
  if (!priced.ok) throw new Error(priced.rejected);
  const request = { intent, nonce: nonce ?? (await payer.nonce(hot)), fields: priced.quote.fields };
  return { request, ...(await signer.sign(HOT, request)) };
}

/** The node mines at once, but answers before it has. */
const mined = (txid: string) => waitFor(() => chain.node.receipt(txid), { what: `transaction ${txid}` });

describe('a payout', () => {
  it('of native coin arrives, at no more than the quoted fee, under the transaction id the signer told', async () => {
    const before = await payer.balance(hot, null);
    const quote = await payer.quote(native(12_345n));
    const { txid, signedBytes, rawFeeLimit } = await signed(native(12_345n));
    expect(await payer.broadcast(signedBytes)).toEqual({ accepted: true, answer: txid });
    expect((await mined(txid)).status).toBe('0x1');
    expect(await payer.balance(BOB, null)).toBe(12_345n);
    expect(before - (await payer.balance(hot, null)) - 12_345n).toBeLessThanOrEqual(rawFeeLimit);
    expect(quote.ok && quote.quote.rawFee >= rawFeeLimit / 2n).toBe(true);
  });

  it('of a token whose transfer returns nothing arrives', async () => {
    await chain.mint(chain.tokens.USDT, hot, 1_000n);
    const intent = native(400n, { contract: chain.tokens.USDT });
    const { txid, signedBytes } = await signed(intent);
    await payer.broadcast(signedBytes);
    expect((await mined(txid)).status).toBe('0x1');
    expect(await payer.balance(BOB, chain.tokens.USDT)).toBe(400n);
    expect(await payer.balance(hot, chain.tokens.USDT)).toBe(600n);
  });

  it('that is broadcast twice happens once', async () => {
    const { txid, signedBytes } = await signed(native(1n));
    const before = await payer.balance(BOB, null);
    await payer.broadcast(signedBytes);
    await mined(txid);
    expect((await payer.broadcast(signedBytes)).accepted).toBe(false);
    expect(await payer.balance(BOB, null)).toBe(before + 1n);
  });
});

describe('a quote', () => {
  it('depends on the recipient: a contract that does more costs more', async () => {
    const router = await chain.deploy('Router');
    const toToken = await payer.estimate({ sender: hot, recipient: router, contract: chain.tokens.USDC, rawAmount: 1n });
    const plain = await payer.estimate(native(1n));
    expect(toToken.ok && plain.ok && toToken.quote.rawFee > plain.quote.rawFee).toBe(true);
  });

  it('of what the sender does not hold is rejected, its estimate is not', async () => {
    const poor = '0x00000000000000000000000000000000000000aa';
    for (const contract of [null, chain.tokens.USDT, chain.tokens.USDC]) {
      const intent = { sender: poor, recipient: BOB, contract, rawAmount: 10n ** 30n };
      expect(await payer.quote(intent)).toMatchObject({ ok: false });
      expect(await payer.estimate(intent)).toMatchObject({ ok: true });
    }
  });

  it('of a transfer the recipient would refuse is rejected, funded or not', async () => {
    const intent = native(5n, { recipient: chain.tokens.USDT });
    expect(await payer.quote(intent)).toMatchObject({ ok: false });
    expect(await payer.estimate(intent)).toMatchObject({ ok: false });
  });

  it("offers at least the network's smallest tip and twice the base fee", async () => {
    const quote = await payer.quote(native(1n));
    if (!quote.ok) throw new Error(quote.rejected);
    const block = await chain.node.call<{ baseFeePerGas: string }>('eth_getBlockByNumber', ['latest', false]);
    const tip = BigInt(quote.quote.fields.maxPriorityFeePerGas as string);
    expect(tip).toBeGreaterThanOrEqual(1_000_000_000n);
    expect(BigInt(quote.quote.fields.maxFeePerGas as string)).toBe(2n * BigInt(block.baseFeePerGas) + tip);
  });

  it('is an error, not a number, when the node is away; a broadcast is then merely unconfirmed', async () => {
    const away = evmPayer(LOCAL, openRpc('http://127.0.0.1:1'));
    await expect(away.quote(native(1n))).rejects.toThrow(ChainUnavailable);
    await expect(away.estimate(native(1n))).rejects.toThrow(ChainUnavailable);
    expect(await away.broadcast(new Uint8Array([2, 1]))).toMatchObject({ accepted: false });
  });
});

describe('the signer', () => {
  it('reads its bytes back to exactly the request', async () => {
    for (const contract of [null, chain.tokens.USDC]) {
      const intent = native(987_654_321n, { contract });
      const { request, txid, signedBytes, rawFeeLimit } = await signed(intent, 77);
      expect(await decodeEvmTransfer(signedBytes)).toEqual({
        ...intent,
        nonce: 77,
        txid,
        rawFeeLimit,
        expiresAtMs: null,
        chainId: '31337',
        fields: request.fields,
      });
      expect(txid).toBe(keccak256(signedBytes));
    }
  });

  it('signs for no sender but the key at the path', async () => {
    const { request } = await signed(native(1n));
    await expect(signer.sign(HOT, { ...request, intent: { ...request.intent, sender: BOB } })).rejects.toThrow(/differ from the request in their sender/);
    await expect(signer.sign('m/44/../0', request)).rejects.toThrow(Invariant);
  });

  it('refuses a plan without usable fees', async () => {
    const { request } = await signed(native(1n));
    for (const gas of ['', '-1', '1e9', '0x5208', undefined]) {
      const fields = { ...request.fields, ...(gas === undefined ? {} : { gas }) };
      if (gas === undefined) delete (fields as { gas?: string }).gas;
      await expect(signer.sign(HOT, { ...request, fields })).rejects.toThrow(/no usable gas/);
    }
  });

  const changes: [string, (request: SigningRequest) => SigningRequest][] = [
    ['recipient', (r) => ({ ...r, intent: { ...r.intent, recipient: FAUCET.address } })],
    ['contract', (r) => ({ ...r, intent: { ...r.intent, contract: BOB } })],
    ['amount', (r) => ({ ...r, intent: { ...r.intent, rawAmount: r.intent.rawAmount + 1n } })],
    ['nonce', (r) => ({ ...r, nonce: (r.nonce ?? 0) + 1 })],
    ['gas', (r) => ({ ...r, fields: { ...r.fields, gas: '1' } })],
    ['maxFeePerGas', (r) => ({ ...r, fields: { ...r.fields, maxFeePerGas: '1' } })],
    ['maxPriorityFeePerGas', (r) => ({ ...r, fields: { ...r.fields, maxPriorityFeePerGas: '1' } })],
  ];
  it.each(changes)('refuses bytes whose %s is not the one asked for', async (what, change) => {
    const { request, signedBytes } = await signed(native(5n, { contract: chain.tokens.USDC }));
    const decoded = await decodeEvmTransfer(signedBytes);
    expect(() => compare(LOCAL, request, decoded)).not.toThrow();
    expect(() => compare(LOCAL, change(request), decoded)).toThrow(`differ from the request in their ${what}`);
    expect(() => compare({ chainId: '1' }, request, decoded)).toThrow('differ from the request in their chain');
  });

  it('refuses a seed that is no mnemonic, without repeating it', () => {
    expect(() => evmSigner(LOCAL, 'correct horse battery staple')).toThrow(/^the signer seed is not a valid BIP-39 mnemonic$/);
  });
});

describe('signed bytes that are anything but one transfer are refused:', () => {
  const account = privateKeyToAccount(FAUCET.privateKey as `0x${string}`);
  const base = { chainId: 31_337, nonce: 0, gas: 100_000n, to: BOB as `0x${string}`, value: 0n };
  const fees = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n };
  const transfer = `0xa9059cbb${BOB.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}` as const;
  const odd: [string, Parameters<typeof account.signTransaction>[0]][] = [
    ['a legacy transaction', { ...base, type: 'legacy', gasPrice: 10n }],
    ['another call', { ...base, ...fees, type: 'eip1559', data: `0x095ea7b3${transfer.slice(10)}` }],
    ['a transfer with more behind it', { ...base, ...fees, type: 'eip1559', data: `${transfer}00` }],
    ['a transfer with dirty address padding', { ...base, ...fees, type: 'eip1559', data: transfer.replace('a9059cbb00', 'a9059cbb41') as `0x${string}` }],
    ['a token transfer that also moves coin', { ...base, ...fees, type: 'eip1559', data: transfer, value: 1n }],
    ['a contract creation', { ...base, ...fees, type: 'eip1559', to: null, data: '0x60' }],
    ['an access list', { ...base, ...fees, type: 'eip1559', accessList: [{ address: BOB as `0x${string}`, storageKeys: [] }] }],
  ];
  it.each(odd)('%s', async (_name, transaction) => {
    const bytes = hexToBytes(await account.signTransaction(transaction));
    await expect(decodeEvmTransfer(bytes)).rejects.toThrow(Invariant);
  });

  it('bytes without a signature, cut short, or of nothing', async () => {
    const whole = await account.signTransaction({ ...base, ...fees, type: 'eip1559' });
    const unsigned = serializeTransaction({ ...base, ...fees, type: 'eip1559' });
    for (const bytes of [hexToBytes(unsigned), hexToBytes(whole).slice(0, -3), new Uint8Array()])
      await expect(decodeEvmTransfer(bytes)).rejects.toThrow(Invariant);
  });

  it('a signature of somebody else shows as another sender', async () => {
    const bytes = hexToBytes(await account.signTransaction({ ...base, ...fees, type: 'eip1559', value: 5n }));
    expect((await decodeEvmTransfer(bytes)).sender).toBe(FAUCET.address);
    expect(parseTransaction(bytesToHex(bytes) as `0x02${string}`).value).toBe(5n);
  });
});
