import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FeeQuote, Payer, TransferIntent, TransferSigner } from '#shared/chains/chain.ts';
import { evmPayer } from '#shared/chains/evm/payer.ts';
import { openRpc } from '#shared/chains/evm/rpc.ts';
import { evmSigner } from '#shared/chains/evm/signer.ts';
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
  chain = await aChain({ fund: [hot], blockSeconds: 0 });
  payer = evmPayer(LOCAL, openRpc(chain.url));
});
afterAll(() => chain.stop());

const bump = (fields: Record<string, string>) => (payer.bump as (fields: Record<string, string>) => Promise<FeeQuote>)(fields);
const transfer = (rawAmount: bigint): TransferIntent => ({ sender: hot, recipient: BOB, contract: null, rawAmount });
const send = async (intent: TransferIntent, nonce: number, fields: Record<string, string>) =>
  payer.broadcast((await signer.sign(HOT, { intent, nonce, fields })).signedBytes);
const quoted = async (intent: TransferIntent): Promise<Record<string, string>> => {
  const answer = await payer.quote(intent);
  if (!answer.ok) throw new Error(answer.rejected);
  return answer.quote.fields;
};
const raise = (fields: Record<string, string>, percent: bigint) => ({
  ...fields,
  ...Object.fromEntries(
    ['maxFeePerGas', 'maxPriorityFeePerGas'].map((name) => [name, ((BigInt(fields[name] as string) * (100n + percent)) / 100n).toString()]),
  ),
});

describe('a bump', () => {
  it('is what a node takes for a replacement, where no raise is refused; the nonce is used once', async () => {
    const nonce = (await payer.nonce(hot)) as number;
    const fields = await quoted(transfer(7n));
    expect(await send(transfer(7n), nonce, fields)).toMatchObject({ accepted: true });
    expect(await send(transfer(8n), nonce, raise(fields, 0n))).toMatchObject({ accepted: false, answer: expect.stringContaining('underpriced') });
    const raised = await bump(fields);
    expect(await send(transfer(7n), nonce, raised.fields)).toMatchObject({ accepted: true });
    await chain.mine(2);
    expect(await chain.balance(BOB)).toBe(7n);
    expect(await payer.nonce(hot)).toBe(nonce + 1);
  });

  it('raises both caps by an eighth, rounded up, when the market asks for less, and leaves the gas as it is', async () => {
    const last = { gas: '25200', maxFeePerGas: '900000000001', maxPriorityFeePerGas: '800000000003' };
    const { fields, rawFee, expiresAtMs } = await bump(last);
    expect(fields).toEqual({ gas: '25200', maxFeePerGas: '1012500000002', maxPriorityFeePerGas: '900000000004' });
    expect(rawFee).toBe(25_200n * 1_012_500_000_002n);
    expect(expiresAtMs).toBeNull();
  });

  it('follows the market when that is dearer, and never offers a tip above what it pays in all', async () => {
    const market = await quoted(transfer(1n));
    const { fields } = await bump({ gas: '21000', maxFeePerGas: '1', maxPriorityFeePerGas: '1' });
    expect(BigInt(fields.maxFeePerGas as string)).toBeGreaterThanOrEqual(BigInt(market.maxFeePerGas as string) / 2n);
    const odd = await bump({ gas: '21000', maxFeePerGas: '1', maxPriorityFeePerGas: '80000000000000' });
    expect(BigInt(odd.fields.maxFeePerGas as string)).toBeGreaterThanOrEqual(BigInt(odd.fields.maxPriorityFeePerGas as string));
  });

  it.each(['gas', 'maxFeePerGas', 'maxPriorityFeePerGas'])('is none of fields without a usable %s', async (name) => {
    const fields = { gas: '21000', maxFeePerGas: '10', maxPriorityFeePerGas: '1' };
    for (const value of ['', '-1', '1e9', '0x1']) await expect(bump({ ...fields, [name]: value })).rejects.toThrow(Invariant);
  });
});

it('a close sends nothing from a wallet to itself under the nonce, and takes the transfer’s place', async () => {
  const nonce = (await payer.nonce(hot)) as number;
  const before = await chain.balance(BOB);
  const fields = await quoted(transfer(9n));
  await send(transfer(9n), nonce, fields);
  const nothing = { sender: hot, recipient: hot, contract: null, rawAmount: 0n };
  const gas = await payer.estimate(nothing);
  if (!gas.ok) throw new Error(gas.rejected);
  const raised = await bump({ ...fields, gas: gas.quote.fields.gas as string });
  expect(await send(nothing, nonce, raised.fields)).toMatchObject({ accepted: true });
  await chain.mine(2);
  expect(await chain.balance(BOB)).toBe(before);
  expect(await payer.nonce(hot)).toBe(nonce + 1);
});
