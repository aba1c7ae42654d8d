import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scriptOfAddress } from '#shared/chains/bitcoin/address.ts';
import { bitcoinDecoder } from '#shared/chains/bitcoin/decode.ts';
import { outpointOf, readFields, writeFields } from '#shared/chains/bitcoin/fields.ts';
import { satoshisOf } from '#shared/chains/bitcoin/json.ts';
import { bitcoinParams } from '#shared/chains/bitcoin/params.ts';
import { bitcoinPayer } from '#shared/chains/bitcoin/payer.ts';
import { decodePsbt } from '#shared/chains/bitcoin/psbt.ts';
import { openBitcoinRpc } from '#shared/chains/bitcoin/rpc.ts';
import { addressOfScript } from '#shared/chains/bitcoin/script.ts';
import { bitcoinSigner } from '#shared/chains/bitcoin/signer.ts';
import { networkBytes } from '#shared/chains/bitcoin/spend.ts';
import { dustOf } from '#shared/chains/bitcoin/vsize.ts';
import type { DecodedTransfer, FeeQuote, OwnOutput, Payer, SigningRequest, TransferIntent } from '#shared/chains/chain.ts';
import { type Rpc, RpcRefused } from '#shared/chains/rpc.ts';
import { aBitcoinChain, type BitcoinChain } from '#test/harness/bitcoin-chain.ts';
import { times } from '#test/harness/counts.ts';

const SEED = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const HOT = "m/84'/1'/1'/0/0";
const NETWORK = { chainId: 'regtest' };
const params = bitcoinParams('regtest');
const signer = bitcoinSigner(NETWORK, SEED);
const decode = bitcoinDecoder('regtest');
const hot = signer.addressAt(HOT);
const paths = Object.fromEntries([0, 1, 2, 3].map((index) => [signer.addressAt(`m/84'/1'/0'/0/${index}`), `m/84'/1'/0'/0/${index}`]));
const deposits = Object.keys(paths);
const RECIPIENTS = {
  p2pkh: `76a914${'11'.repeat(20)}88ac`,
  p2sh: `a914${'22'.repeat(20)}87`,
  p2wpkh: `0014${'33'.repeat(20)}`,
  p2wsh: `0020${'44'.repeat(32)}`,
  p2tr: `5120${'55'.repeat(32)}`,
};
const addressOf = (script: string) => addressOfScript(script, params) as string;
const BOB = addressOf(RECIPIENTS.p2wpkh);

let chain: BitcoinChain;
let rpc: Rpc;
let payer: Payer;

beforeAll(async () => {
  chain = await aBitcoinChain();
  rpc = openBitcoinRpc(chain.url, undefined, { retryMs: 1 });
  payer = bitcoinPayer(NETWORK, rpc);
});
afterAll(() => chain.stop());

const to = (rawAmount: bigint, more: Partial<TransferIntent> = {}): TransferIntent => ({ sender: hot, recipient: BOB, contract: null, rawAmount, ...more });
const close = to(0n, { recipient: hot });

/** Confirmed outputs of these amounts, at our addresses in turn. */
async function given(...amounts: bigint[]): Promise<OwnOutput[]> {
  const owners = [...deposits, hot];
  const outputs = amounts.map((rawAmount, at) => ({ to: owners[at % owners.length] as string, rawAmount }));
  const { txid } = await chain.purse.pay(outputs);
  await chain.mine();
  return outputs.map(({ to: address, rawAmount }, vout) => ({ txid, vout, rawAmount, address }));
}

/** The payer on a node that estimates so many satoshis per virtual byte. */
function at(perVbyte: bigint, network = {}): Payer {
  const told = `0.${(perVbyte * 1_000n).toString().padStart(8, '0')}`;
  return bitcoinPayer({ ...NETWORK, ...network }, async (method, more) => (method === 'estimatesmartfee' ? { feerate: told, blocks: 3 } : rpc(method, more)));
}

async function quoted(intent: TransferIntent, coins: readonly OwnOutput[], from = payer): Promise<FeeQuote> {
  const answer = await from.quote(intent, coins);
  if (!answer.ok) throw new Error(answer.rejected);
  return answer.quote;
}

const sign = (intent: TransferIntent, fields: SigningRequest['fields']) => signer.sign(HOT, { intent, nonce: null, fields, paths });
const hexOf = (signedBytes: Uint8Array) => networkBytes(decodePsbt(signedBytes)).toString('hex');
const waits = async (txid: string) => ((await rpc('getrawmempool', [])) as string[]).includes(txid);

/** What the node would say of a transaction: what it pays for how many virtual bytes, or why not. */
async function judged(signedBytes: Uint8Array): Promise<{ allowed: boolean; fee: bigint; vsize: bigint; reason: string | undefined }> {
  const [answer] = (await rpc('testmempoolaccept', [[hexOf(signedBytes)]])) as [
    { allowed: boolean; vsize?: number; fees?: { base: unknown }; 'reject-reason'?: string },
  ];
  return { allowed: answer.allowed, fee: satoshisOf(answer.fees?.base) ?? 0n, vsize: BigInt(answer.vsize ?? 0), reason: answer['reject-reason'] };
}

describe('a payout on Bitcoin', () => {
  it.each(Object.entries(RECIPIENTS))('to %s costs what was quoted and estimated, at no less than the rate', async (_kind, script) => {
    const coins = await given(40_000n, 70_000n, 30_000n);
    const intent = to(90_000n, { recipient: addressOf(script) });
    const node = at(7n);
    const quote = await quoted(intent, coins, node);
    expect(await node.estimate(intent, coins)).toEqual({ ok: true, quote });
    const { txid, signedBytes, rawFeeLimit } = await sign(intent, quote.fields);
    expect(rawFeeLimit).toBe(quote.rawFee);
    const { allowed, fee, vsize } = await judged(signedBytes);
    expect({ allowed, fee }).toEqual({ allowed: true, fee: quote.rawFee });
    expect(fee).toBeGreaterThanOrEqual(7n * vsize);
    // Signatures shorter than the longest are all that is paid too much.
    expect(fee).toBeLessThanOrEqual(7n * (vsize + 2n));
    expect(await node.broadcast(signedBytes)).toEqual({ accepted: true, answer: txid });
    await chain.mine();
    const paid = (await rpc('gettxout', [txid, 0])) as { value: unknown; scriptPubKey: { hex: string } };
    expect([satoshisOf(paid.value), paid.scriptPubKey.hex]).toEqual([90_000n, script]);
    const back = (await rpc('gettxout', [txid, 1])) as { value: unknown; scriptPubKey: { hex: string } };
    expect([satoshisOf(back.value), back.scriptPubKey.hex]).toEqual([100_000n - 90_000n - fee, scriptOfAddress(hot, params)]);
  });

  it('without change gives nothing back, and its balance is gone to the satoshi', async () => {
    const [address] = deposits as [string];
    const before = await payer.balance(address, null);
    const [coin] = (await given(50_000n)) as [OwnOutput];
    expect(await payer.balance(address, null)).toBe(before + 50_000n);
    const fee = (await quoted(to(10_000n), [{ ...coin, rawAmount: 10_000n + 550n }])).rawFee;
    const intent = to(50_000n - fee);
    const { fields } = await quoted(intent, [coin]);
    expect(fields.change).toBe('');
    const { signedBytes } = await sign(intent, fields);
    expect((await payer.broadcast(signedBytes)).accepted).toBe(true);
    await chain.mine();
    expect(await payer.balance(address, null)).toBe(before);
    expect(await payer.nonce(hot)).toBeNull();
  });

  it('below what nodes pass on is refused, and exactly that is taken, for every kind of recipient', async () => {
    for (const script of Object.values(RECIPIENTS)) {
      const recipient = addressOf(script);
      const least = dustOf(script);
      const coins = await given(20_000n);
      expect(await payer.quote(to(least - 1n, { recipient }), coins)).toMatchObject({ ok: false, rejected: expect.stringContaining(String(least)) });
      expect(await payer.estimate(to(least - 1n, { recipient }))).toMatchObject({ ok: false });
      const { fields } = await quoted(to(least, { recipient }), coins);
      expect((await judged((await sign(to(least, { recipient }), fields)).signedBytes)).allowed).toBe(true);
      // The node agrees that one less is too little.
      const change = { rawAmount: (readFields(fields).change?.rawAmount ?? 0n) + 1n, address: hot };
      const smaller = await sign(to(least - 1n, { recipient }), writeFields({ ...readFields(fields), change }));
      expect(await judged(smaller.signedBytes)).toMatchObject({ allowed: false, reason: expect.stringMatching(/dust/) });
    }
  });

  it('that cannot be is refused in words, without a word of lacking coins', async () => {
    const coins = await given(20_000n);
    const cases: [TransferIntent, RegExp, 'amount' | undefined][] = [
      [to(0n), /moves nothing/, 'amount'],
      [to(1n), /below the 294 satoshis/, 'amount'],
      [to(10_000n, { contract: BOB }), /no tokens/, undefined],
      [to(21n * 10n ** 14n + 1n), /more than there will ever be/, 'amount'],
    ];
    for (const [intent, words, about] of cases)
      for (const ask of [payer.quote, payer.estimate]) expect(await ask(intent, coins)).toEqual({ ok: false, rejected: expect.stringMatching(words), about });
  });

  it('that the coins do not cover says how much one more output would have to bring, and is estimated all the same', async () => {
    const coins = await given(20_000n, 10_000n);
    const node = at(5n);
    const answer = await node.quote(to(40_000n), coins);
    if (answer.ok || answer.lacking === undefined) throw new Error('it is covered');
    const enough = [...coins, { ...(await given(1_000n))[0], rawAmount: answer.lacking } as OwnOutput];
    expect(await node.quote(to(40_000n), enough)).toMatchObject({ ok: true });
    const one = { ok: true, quote: { rawFee: 5n * 141n, fields: {}, expiresAtMs: null } };
    expect(await node.estimate(to(40_000n), coins)).toEqual(one);
    expect(await node.estimate(to(40_000n))).toEqual(one);
    expect(await node.estimate(to(40_000n, { recipient: addressOf(RECIPIENTS.p2tr) }))).toMatchObject({ quote: { rawFee: 5n * 153n } });
    // With one output that is enough, and change, it is the very same.
    expect((await quoted(to(40_000n), await given(80_000n), node)).rawFee).toBe(5n * 141n);
  });
});

describe('handing over the bytes of a Bitcoin payout', () => {
  it('is accepted as long as they wait, and when a block holds them', async () => {
    const intent = to(50_000n);
    const { txid, signedBytes } = await sign(intent, (await quoted(intent, await given(80_000n))).fields);
    expect(await payer.broadcast(signedBytes)).toEqual({ accepted: true, answer: txid });
    expect(await payer.broadcast(signedBytes)).toMatchObject({ accepted: true });
    await chain.mine();
    expect(await payer.broadcast(signedBytes)).toMatchObject({ accepted: true, answer: expect.stringMatching(/-27/) });
  });

  it('is answered in the node’s words when something else spent their coins, or their fee is too low', async () => {
    const coins = await given(80_000n);
    const one = await sign(to(50_000n), (await quoted(to(50_000n), coins)).fields);
    const other = await sign(to(60_000n), (await quoted(to(60_000n), coins)).fields);
    expect((await payer.broadcast(one.signedBytes)).accepted).toBe(true);
    expect(await payer.broadcast(other.signedBytes)).toMatchObject({ accepted: false, answer: expect.stringMatching(/replace|conflict|fee.*\(-26\)/i) });
    await chain.mine();
    expect(await payer.broadcast(other.signedBytes)).toMatchObject({ accepted: false, answer: expect.stringMatching(/missing.*\(-25\)/i) });
    const [cheap] = (await given(80_000n)) as [OwnOutput];
    const free = await sign(to(79_995n), writeFields({ inputs: [cheap], change: null }));
    expect(await payer.broadcast(free.signedBytes)).toMatchObject({ accepted: false, answer: expect.stringMatching(/min relay fee not met.*\(-26\)/) });
  });

  it.each<[number, string, boolean]>([
    [-27, 'Transaction already in block chain', true],
    [-27, 'in other words', true],
    [-26, 'txn-already-in-mempool', true],
    [-26, 'txn-already-known', true],
    [-26, 'txn-mempool-conflict', false],
    [-26, 'mempool min fee not met, 110 < 220', false],
    [-25, 'bad-txns-inputs-missingorspent', false],
    [-25, 'Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)', false],
  ])('reads code %i, %s, as it is meant', async (code, message, accepted) => {
    const refusing = bitcoinPayer(NETWORK, async (method) => {
      throw new RpcRefused(method, code, message, undefined);
    });
    const [coin] = (await given(80_000n)) as [OwnOutput];
    const { signedBytes } = await sign(to(70_000n), writeFields({ inputs: [coin], change: null }));
    expect(await refusing.broadcast(signedBytes)).toEqual({ accepted, answer: `sendrawtransaction: ${message} (${code})` });
  });

  it('says no, and throws nothing, for bytes that are no payout of ours and for a node that is away', async () => {
    expect(await payer.broadcast(new Uint8Array([1, 2, 3]))).toMatchObject({ accepted: false });
    const away = bitcoinPayer(NETWORK, openBitcoinRpc('http://sluice:secret@127.0.0.1:1', undefined, { retryMs: 1 }));
    const [coin] = (await given(80_000n)) as [OwnOutput];
    const { signedBytes } = await sign(to(70_000n), writeFields({ inputs: [coin], change: null }));
    const { accepted, answer } = await away.broadcast(signedBytes);
    expect({ accepted, secret: answer.includes('secret') }).toEqual({ accepted: false, secret: false });
  });
});

/** Signs and hands over one attempt after the other, each in place of all before it. */
function aPayout() {
  const attempts: DecodedTransfer[] = [];
  return {
    attempts,
    async take(intent: TransferIntent, { fields, rawFee }: FeeQuote): Promise<DecodedTransfer> {
      const anchor = readFields(fields).inputs[0] as OwnOutput;
      const meant = intent.rawAmount > 0n ? intent : { ...intent, rawAmount: anchor.rawAmount - rawFee };
      const { signedBytes, txid } = await sign(meant, fields);
      expect(await payer.broadcast(signedBytes)).toEqual({ accepted: true, answer: txid });
      for (const { txid: earlier } of attempts) expect(await waits(earlier)).toBe(false);
      const decoded = await decode(signedBytes);
      attempts.unshift(decoded);
      return decoded;
    },
  };
}

const anchorOf = ({ fields }: DecodedTransfer) => outpointOf(readFields(fields).inputs[0] as OwnOutput);

describe('replacing the bytes of a Bitcoin payout', () => {
  it('is taken by the node every time: the anchor first, nothing it spent left out, dearer in all and per byte, and closed at last', async () => {
    const rises = fc.record({
      amounts: fc.array(fc.bigInt({ min: 8_000n, max: 60_000n }), { minLength: 3, maxLength: 6 }),
      share: fc.bigInt({ min: 10n, max: 60n }),
      start: fc.bigInt({ min: 1n, max: 4n }),
      market: fc.array(fc.bigInt({ min: 1n, max: 20n }), { minLength: 1, maxLength: 3 }),
      recipient: fc.constantFrom(...Object.values(RECIPIENTS)).map(addressOf),
    });
    await fc.assert(
      fc.asyncProperty(rises, async ({ amounts, share, start, market, recipient }) => {
        const coins = await given(...amounts);
        const intent = to((amounts.reduce((a, b) => a + b) * share) / 100n, { recipient });
        const payout = aPayout();
        await payout.take(intent, await quoted(intent, coins, at(start)));
        for (const rate of market) {
          const [before] = payout.attempts as [DecodedTransfer];
          const quote = await at(rate).bump?.(before.fields, { intent, coins, replaced: payout.attempts });
          // Only when everything is spent already and change cannot pay.
          if (quote === null || quote === undefined) break;
          const now = await payout.take(intent, quote);
          expect(anchorOf(now)).toBe(anchorOf(before));
          const spent = readFields(now.fields).inputs.map(outpointOf);
          expect(spent).toEqual(expect.arrayContaining(readFields(before.fields).inputs.map(outpointOf)));
          expect(now.rawFeeLimit).toBeGreaterThan(before.rawFeeLimit);
          const { change } = readFields(now.fields);
          expect(change === null || change.rawAmount >= 294n).toBe(true);
          expect({ recipient: now.recipient, rawAmount: now.rawAmount }).toEqual({ recipient, rawAmount: intent.rawAmount });
        }
        const [newest] = payout.attempts as [DecodedTransfer];
        const anchor = readFields(newest.fields).inputs[0] as OwnOutput;
        const quote = await payer.bump?.(newest.fields, { intent: close, coins: [anchor], replaced: payout.attempts });
        if (quote === null || quote === undefined) return;
        const closed = await payout.take(close, quote);
        expect(closed).toMatchObject({
          recipient: hot,
          rawAmount: anchor.rawAmount - quote.rawFee,
          fields: { inputs: writeFields({ inputs: [anchor], change: null }).inputs, change: '' },
        });
        await chain.mine();
        const back = (await rpc('gettxout', [closed.txid, 0])) as { value: unknown };
        expect(satoshisOf(back.value)).toBe(anchor.rawAmount - quote.rawFee);
      }),
      { numRuns: times(240) },
    );
  });

  it('adds an output when neither the change nor the first ones can pay for more', async () => {
    const [anchor, further] = (await given(52_000n, 30_000n)) as [OwnOutput, OwnOutput];
    const intent = to(50_000n);
    const payout = aPayout();
    const first = await payout.take(intent, await quoted(intent, [anchor], at(2n)));
    expect(await at(60n).bump?.(first.fields, { intent, coins: [anchor], replaced: payout.attempts })).toBeNull();
    const quote = await at(60n).bump?.(first.fields, { intent, coins: [anchor, further], replaced: payout.attempts });
    const second = await payout.take(intent, quote as FeeQuote);
    expect(readFields(second.fields).inputs).toEqual([anchor, further]);
  });

  it('ends at the cap, raises by an eighth at least, and outbids the dearest of the earlier ones, not only the newest', async () => {
    const coins = await given(500_000n);
    const intent = to(50_000n);
    const payout = aPayout();
    const first = await payout.take(intent, await quoted(intent, coins, at(16n)));
    const dear = await payout.take(intent, (await at(100n).bump?.(first.fields, { intent, coins, replaced: payout.attempts })) as FeeQuote);
    const capped = (limit: string) => at(3n, { feeRate: { cap: limit } });
    expect(await capped('100').bump?.(first.fields, { intent, coins, replaced: [first, dear] })).toBeNull();
    const eighth = (await at(3n).bump?.(first.fields, { intent, coins, replaced: [first, dear] })) as FeeQuote;
    expect(eighth.rawFee).toBeGreaterThanOrEqual((dear.rawFeeLimit * 9n) / 8n);
    const atCap = (await capped('105').bump?.(first.fields, { intent, coins, replaced: [first, dear] })) as FeeQuote;
    expect(atCap.rawFee).toBe(105n * 141n);
    await payout.take(intent, atCap);
    // To outbid one that spent much more, this one would have to pay more per byte than the cap.
    const many = Array.from({ length: 40 }, (_, vout) => ({ ...(coins[0] as OwnOutput), vout }));
    const large = { ...dear, rawFeeLimit: 75_000n, fields: writeFields({ inputs: many, change: null }) };
    expect(await capped('500').bump?.(first.fields, { intent, coins, replaced: [first, large] })).toBeNull();
    expect(await capped('900').bump?.(first.fields, { intent, coins, replaced: [first, large] })).toMatchObject({ rawFee: 75_000n + 141n });
  });

  it('needs to know the payout, and closes nothing whose anchor the fee would use up', async () => {
    const [small, large] = (await given(3_000n, 90_000n)) as [OwnOutput, OwnOutput];
    const intent = to(80_000n);
    const { signedBytes } = await sign(intent, writeFields({ inputs: [small, large], change: { rawAmount: 10_000n, address: hot } }));
    const decoded = await decode(signedBytes);
    await expect(payer.bump?.(decoded.fields)).rejects.toThrow(/what it replaces/);
    expect(await payer.bump?.(decoded.fields, { intent: close, coins: [small], replaced: [decoded] })).toBeNull();
    expect(await at(5n).quote(close, [small])).toMatchObject({ ok: true, quote: { rawFee: 550n, fields: { change: '' } } });
    expect(await at(30n).quote(close, [small])).toMatchObject({ ok: false, rejected: expect.stringMatching(/uses up/) });
  });
});
