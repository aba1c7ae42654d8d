import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FaultKind } from '#ops/devnet/tron/faults.ts';
import { DEMO_TRON_TOKENS } from '#ops/devnet/tron/demo.ts';
import { type RunningTronNode, startTronNode } from '#ops/devnet/tron/start.ts';
import { ChainUnavailable, type FeeQuote, type Payer, type TransferIntent } from '#shared/chains/chain.ts';
import { decodeTronTransfer } from '#shared/chains/tron/decode.ts';
import { openTronApi, type TronApi } from '#shared/chains/tron/http.ts';
import { tronPayer } from '#shared/chains/tron/payer.ts';
import { tronSigner } from '#shared/chains/tron/signer.ts';

const SEED = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const path = (index: number) => `m/44'/195'/1'/0/${index}`;
const signer = tronSigner({ chainId: 'local' }, SEED);
const [hot, bob, deposit, nobody] = [0, 1, 2, 3].map((index) => signer.addressAt(path(index))) as [string, string, string, string];
const { USDT, USDC } = DEMO_TRON_TOKENS;
const TRX = 1_000_000n;

let node: RunningTronNode;
let api: TronApi;
let payer: Payer;

beforeEach(async () => {
  node = await startTronNode();
  api = openTronApi(node.url, undefined, { retryMs: 1 });
  payer = tronPayer(api);
  await node.control.fund(hot, 1_000n * TRX);
  await node.control.fund(bob, TRX);
  await node.control.mine(3);
});
afterEach(() => node.stop());

const trx = (rawAmount: bigint, more: Partial<TransferIntent> = {}): TransferIntent => ({ sender: hot, recipient: bob, contract: null, rawAmount, ...more });
const usdt = (rawAmount: bigint, more: Partial<TransferIntent> = {}): TransferIntent => ({ ...trx(rawAmount), contract: USDT, ...more });

async function quoted(intent: TransferIntent, from: 'quote' | 'estimate' = 'quote'): Promise<FeeQuote> {
  const answer = await payer[from](intent);
  if (!answer.ok) throw new Error(answer.rejected);
  return answer.quote;
}

async function signed(intent: TransferIntent, { fields }: FeeQuote) {
  const index = [hot, bob, deposit, nobody].indexOf(intent.sender);
  return signer.sign(path(index), { intent, nonce: null, fields });
}

/** What the chain says of a transaction: what it cost, and how its call ended. */
async function told(txid: string): Promise<{ fee: bigint; result: string | undefined; height: number | undefined }> {
  const info = (await api('wallet/gettransactioninfobyid', { value: txid })) as { fee?: number; blockNumber?: number; receipt?: { result?: string } };
  return { fee: BigInt(info.fee ?? 0), result: info.receipt?.result, height: info.blockNumber };
}

async function paid(intent: TransferIntent) {
  const quote = await quoted(intent);
  const { txid, signedBytes } = await signed(intent, quote);
  expect(await payer.broadcast(signedBytes)).toEqual({ accepted: true, answer: txid });
  await node.control.mine();
  return { quote, txid, signedBytes, ...(await told(txid)) };
}

describe('a payout on TRON', () => {
  it('of TRX arrives under the id the signer told; free bandwidth makes it free once, then it costs exactly the quote', async () => {
    const first = await paid(trx(5n));
    expect(first.fee).toBe(0n);
    await paid(trx(5n));
    const third = await paid(trx(100_000_000n));
    expect(third.fee).toBe(third.quote.rawFee);
    expect(third.fee).toBe(268_000n);
    expect(await payer.balance(bob, null)).toBe(TRX + 100_000_010n);
    expect(await payer.balance(hot, null)).toBe(1_000n * TRX - 100_000_010n - 268_000n);
  });

  it('of TRX to an address that is no account yet costs exactly 1.1 TRX', async () => {
    const { quote, fee } = await paid(trx(7n, { recipient: nobody }));
    expect(fee).toBe(1_100_000n);
    expect(quote.rawFee).toBe(1_100_000n);
    expect(await payer.balance(nobody, null)).toBe(7n);
    expect((await quoted(trx(7n, { recipient: nobody }))).rawFee).toBe(265_000n);
  });

  it.each(Object.entries(DEMO_TRON_TOKENS))('of %s arrives whatever the token returns, and burns no more than was quoted', async (_symbol, contract) => {
    await node.control.mint(contract, hot, 1_000n);
    await paid(trx(1n));
    await paid(trx(1n));
    const fresh = await paid(usdt(400n, { contract }));
    const again = await paid(usdt(100n, { contract }));
    for (const { result, fee, quote } of [fresh, again]) {
      expect(result).toBe('SUCCESS');
      expect(fee).toBeLessThanOrEqual(quote.rawFee);
      // A fifth of head-room on the energy is all that is quoted beyond what it takes.
      const feeLimit = BigInt(quote.fields.feeLimit as string);
      expect(quote.rawFee - fee).toBe(feeLimit / 6n);
    }
    expect(again.fee).toBeLessThan(fresh.fee);
    expect(await payer.balance(bob, contract)).toBe(500n);
    expect(await payer.balance(hot, contract)).toBe(500n);
  });

  it('still goes through when energy has become a fifth dearer since it was quoted', async () => {
    await node.control.mint(USDT, hot, 1_000n);
    const { txid, signedBytes } = await signed(usdt(1n), await quoted(usdt(1n)));
    await node.control.setParameter('getEnergyFee', 120n);
    await payer.broadcast(signedBytes);
    await node.control.mine();
    expect(await told(txid)).toMatchObject({ result: 'SUCCESS' });
  });

  it('burns nothing where energy and bandwidth are staked', async () => {
    await node.control.mint(USDT, hot, 1_000n);
    await node.control.setResources(hot, { energyLimit: 1_000_000n, netLimit: 10_000n });
    const { fee, result } = await paid(usdt(1n));
    expect({ fee, result }).toEqual({ fee: 0n, result: 'SUCCESS' });
  });

  it('that is broadcast twice happens once', async () => {
    const { signedBytes } = await paid(trx(5n));
    expect(await payer.broadcast(signedBytes)).toMatchObject({ accepted: false, answer: expect.stringMatching(/^DUP_TRANSACTION_ERROR: /) });
    await node.control.mine();
    expect(await payer.balance(bob, null)).toBe(TRX + 5n);
  });

  it('alike in everything to another one quoted in the same block is a second payout', async () => {
    const quotes = [await quoted(trx(5n)), await quoted(trx(5n))];
    for (const quote of quotes) await payer.broadcast((await signed(trx(5n), quote)).signedBytes);
    await node.control.mine();
    expect(await payer.balance(bob, null)).toBe(TRX + 10n);
  });

  it('names a solid block, so that it outlives a reorganisation of everything above', async () => {
    await node.control.setSolidLag(5);
    await node.control.mine(6);
    const { txid, signedBytes } = await signed(trx(5n), await quoted(trx(5n)));
    await node.control.reorg(5, 'drop');
    expect(await payer.broadcast(signedBytes)).toMatchObject({ accepted: true });
    await node.control.mine();
    expect((await told(txid)).height).toBeGreaterThan(0);
  });

  it('expires 90 to 120 seconds after the head it was quoted at, and then no block takes it', async () => {
    const { nowMs } = await node.control.status();
    const quote = await quoted(trx(5n));
    const { txid, signedBytes, expiresAtMs } = await signed(trx(5n), quote);
    expect(expiresAtMs).toBe(quote.expiresAtMs);
    expect(Number(expiresAtMs) - nowMs).toSatisfy((left: number) => left > 80_000 && left < 130_000);
    await node.control.warp(180);
    await node.control.mine();
    expect(await payer.broadcast(signedBytes)).toMatchObject({ accepted: false, answer: expect.stringMatching(/^TRANSACTION_EXPIRATION_ERROR/) });
    await node.control.mine(2);
    expect((await told(txid)).height).toBeUndefined();
  });

  it('is told apart by the node’s code when it is refused', async () => {
    const { fields } = await quoted(trx(5n));
    const lost = await signed(trx(5n), { rawFee: 0n, fields: { ...fields, refBlockHash: 'ff'.repeat(8) }, expiresAtMs: null });
    expect((await payer.broadcast(lost.signedBytes)).answer).toMatch(/^TAPOS_ERROR: /);
    const forged = Uint8Array.from((await signed(trx(5n), { rawFee: 0n, fields, expiresAtMs: null })).signedBytes);
    forged[forged.length - 2] = (forged.at(-2) as number) ^ 1;
    expect((await payer.broadcast(forged)).answer).toMatch(/^SIGERROR: /);
    const tooMuch = await signed(trx(2_000n * TRX), { rawFee: 0n, fields, expiresAtMs: null });
    expect((await payer.broadcast(tooMuch.signedBytes)).answer).toMatch(/^CONTRACT_VALIDATE_ERROR: .*balance is not sufficient/);
  });

  it('reads back from its bytes to what was asked for', async () => {
    await node.control.mint(USDC, hot, 10n);
    for (const intent of [trx(9n), usdt(9n, { contract: USDC })]) {
      const quote = await quoted(intent);
      const { txid, signedBytes, rawFeeLimit } = await signed(intent, quote);
      expect(await decodeTronTransfer(signedBytes)).toEqual({
        ...intent,
        nonce: null,
        txid,
        rawFeeLimit,
        expiresAtMs: quote.expiresAtMs,
        chainId: null,
        fields: quote.fields,
      });
      expect(rawFeeLimit).toBeLessThan(quote.rawFee);
    }
  });
});

describe('a quote on TRON', () => {
  it('of what the sender does not hold is rejected, its estimate is not', async () => {
    for (const contract of [null, USDT, USDC]) {
      const intent = { sender: bob, recipient: hot, contract, rawAmount: 10n ** 12n };
      expect(await payer.quote(intent)).toMatchObject({ ok: false });
      expect(await payer.estimate(intent)).toMatchObject({ ok: true });
    }
  });

  it('is the estimate, where the sender holds enough', async () => {
    await node.control.mint(USDT, hot, 1_000n);
    for (const intent of [trx(5n), trx(5n, { recipient: nobody }), usdt(5n), usdt(5n, { recipient: nobody })])
      expect((await quoted(intent)).rawFee).toBe((await quoted(intent, 'estimate')).rawFee);
  });

  it('depends on the recipient, never on what the sender holds', async () => {
    await node.control.mint(USDT, bob, 1_000n);
    const poor = { fresh: await quoted(usdt(5n, { recipient: nobody }), 'estimate'), known: await quoted(usdt(5n), 'estimate') };
    await node.control.mint(USDT, hot, 1_000n);
    await node.control.setResources(hot, { energyLimit: 1_000_000n, netLimit: 10_000n });
    const rich = { fresh: await quoted(usdt(5n, { recipient: nobody }), 'estimate'), known: await quoted(usdt(5n), 'estimate') };
    expect(poor.fresh.rawFee).toBe(rich.fresh.rawFee);
    expect(poor.known.rawFee).toBe(rich.known.rawFee);
    expect(rich.fresh.rawFee).toBe(130_285n * 120n + 345_000n);
    expect(rich.known.rawFee).toBe(64_285n * 120n + 345_000n);
  });

  it('of TRX to a contract or to its own sender is rejected, funded or not', async () => {
    for (const recipient of [USDT, hot]) {
      expect(await payer.quote(trx(5n, { recipient }))).toMatchObject({ ok: false });
      expect(await payer.estimate(trx(5n, { recipient }))).toMatchObject({ ok: false });
    }
  });

  it('of a token whose transfer fails is rejected in the token’s words', async () => {
    const contract = await node.control.script({ steps: [], outcome: 'REVERT', reason: 'paused' });
    expect(await payer.quote(usdt(5n, { contract }))).toEqual({ ok: false, rejected: 'paused' });
  });

  it('of a token that is no contract is rejected', async () => {
    expect(await payer.quote(usdt(5n, { contract: bob }))).toMatchObject({ ok: false, rejected: expect.stringContaining('not exist') });
  });

  it('works for a sender that is no account yet, and a top-up makes it one that can be swept whole', async () => {
    await node.control.mint(USDT, deposit, 700n);
    const sweep = { sender: deposit, recipient: hot, contract: USDT, rawAmount: 700n };
    expect(await payer.quote(sweep)).toEqual({ ok: false, rejected: 'the sender is not an account yet' });
    const needed = await quoted(sweep, 'estimate');
    await paid(trx(needed.rawFee, { recipient: deposit }));
    expect(await paid(sweep)).toMatchObject({ result: 'SUCCESS' });
    expect(await payer.balance(hot, USDT)).toBe(700n);

    const held = await payer.balance(deposit, null);
    const fee = (await quoted(trx(held, { sender: deposit, recipient: hot }), 'estimate')).rawFee;
    const rest = await paid({ sender: deposit, recipient: hot, contract: null, rawAmount: held - fee });
    expect(rest.fee).toBeLessThanOrEqual(fee);
  });

  const asked = [
    'wallet/getchainparameters',
    'wallet/getblock',
    'walletsolidity/getblock',
    'wallet/triggerconstantcontract',
    'wallet/getaccount',
    'wallet/getaccountresource',
  ];
  const faults: FaultKind[] = ['status-429', 'status-500', 'status-503', 'error', 'empty-array', 'drop', 'html', 'truncated'];
  it.each(asked)('is an error, not a number, when %s goes wrong', async (at) => {
    await node.control.mint(USDT, hot, 1_000n);
    for (const fault of faults) {
      await node.control.failNext(at, fault, 3);
      await expect(payer.quote(usdt(5n)), fault).rejects.toThrow(ChainUnavailable);
      await node.control.recover();
    }
    expect(await payer.quote(usdt(5n))).toMatchObject({ ok: true });
  });

  it('is an error, not a number, when the node cannot simulate, or is away; a broadcast is then merely unconfirmed', async () => {
    await node.control.mint(USDT, hot, 1_000n);
    await node.control.behave({ supportConstant: false });
    await expect(payer.quote(usdt(5n))).rejects.toThrow(ChainUnavailable);
    await expect(payer.estimate(usdt(5n))).rejects.toThrow(ChainUnavailable);
    const away = tronPayer(openTronApi('http://127.0.0.1:1', undefined, { retryMs: 1 }));
    await expect(away.quote(trx(5n))).rejects.toThrow(ChainUnavailable);
    await expect(away.estimate(trx(5n))).rejects.toThrow(ChainUnavailable);
    expect(await away.broadcast(new Uint8Array([2, 1]))).toMatchObject({ accepted: false });
  });
});
