import * as ecc from 'tiny-secp256k1';
import { crypto, script as scripts, Transaction } from 'bitcoinjs-lib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashOf, sha256 } from '#ops/devnet/bitcoin/bytes.ts';
import { addressOf } from '#ops/devnet/bitcoin/script.ts';
import { derSignature, publicKeyOf } from '#ops/devnet/bitcoin/sign.ts';
import { aBitcoinChain, type BitcoinChain } from '#test/harness/bitcoin-chain.ts';
import { aPurse, type Purse, type PurseCoin, type SignedByPurse } from '#test/harness/bitcoin-purse.ts';
import { refusalOf } from './bitcoin-node.ts';

const KINDS = ['legacy', 'p2sh-segwit', 'bech32', 'bech32m'] as const;
const ALICE = new Uint8Array(32).fill(21);
const [REJECTED, MISSING, MINED] = [-26, -25, -27];

let chain: BitcoinChain;
beforeAll(async () => {
  chain = await aBitcoinChain({ blockSeconds: 0 });
});
afterAll(() => chain.stop());

/** A purse with one confirmed coin of a million satoshis. */
async function funded(key: Uint8Array, kind: (typeof KINDS)[number] = 'bech32'): Promise<Purse> {
  const purse = aPurse(chain.node, key, kind);
  await chain.purse.pay([{ to: purse.address, rawAmount: 1_000_000n }]);
  await chain.mine();
  await purse.look();
  return purse;
}

async function refused(hex: string): Promise<{ code: number; message: string }> {
  return refusalOf(chain.node, 'sendrawtransaction', [hex, 0]);
}

/** The bytes with one part of the first input changed. */
function changed(signed: SignedByPurse, change: (input: Transaction['ins'][number]) => Partial<Transaction['ins'][number]>): string {
  const raw = signed.raw.clone();
  const [input] = raw.ins;
  if (input !== undefined) raw.ins[0] = { ...input, ...change(input) };
  return raw.toHex();
}

const flipped = (bytes: Uint8Array, at: number): Uint8Array => bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));

describe.each(KINDS)('an output of kind %s', (kind) => {
  it('is spent by its key alone: neither the amount nor the signature may be touched', async () => {
    const purse = await funded(ALICE, kind);
    const signed = await purse.sign([{ to: chain.outsider, rawAmount: 400_000n }]);
    const raised = signed.raw.clone();
    const [output] = raised.outs;
    if (output !== undefined) raised.outs[0] = { ...output, value: output.value + 1n };
    expect(await refused(raised.toHex())).toMatchObject({ code: REJECTED, message: expect.stringContaining('script-verify-flag-failed') });
    const forged = changed(signed, ({ witness, script }) =>
      kind === 'legacy' ? { script: flipped(script, 20) } : { witness: [flipped(witness[0] ?? script, 20), ...witness.slice(1)] },
    );
    expect(await refused(forged)).toMatchObject({ code: REJECTED, message: expect.stringContaining('script-verify-flag-failed') });
    expect((await refused(changed(signed, () => ({ witness: [], script: new Uint8Array(0) })))).code).toBe(REJECTED);
    const stranger = aPurse(chain.node, new Uint8Array(32).fill(99), kind).signRaw(signed.raw.clone(), signed.spends);
    expect((await refused(stranger.hex)).message).toMatch(/script-verify-flag-failed/);
    await expect(chain.mineOnly([stranger.hex])).rejects.toThrow(/TestBlockValidity failed: .*script-verify-flag-failed/);
    expect(await chain.send(signed.hex)).toBe(signed.txid);
    await chain.mine();
    expect((await refused(signed.hex)).code).toBe(MINED);
  });
});

describe('scripts of several keys', () => {
  const keys = [1, 2, 3].map((fill) => new Uint8Array(32).fill(fill));
  const multisig = scripts.compile([0x52, ...keys.map(publicKeyOf), 0x53, 0xae]);
  const nested = Uint8Array.of(0x00, 0x20, ...sha256(multisig));
  const ways = {
    'P2SH multisig': Uint8Array.of(0xa9, 0x14, ...crypto.hash160(multisig), 0x87),
    'P2WSH multisig': nested,
    'P2SH-P2WSH multisig': Uint8Array.of(0xa9, 0x14, ...crypto.hash160(nested), 0x87),
  };

  it.each(Object.entries(ways))('%s takes two signatures of three in the order of the keys', async (name, script) => {
    const to = addressOf(script) ?? '';
    const { txid } = await chain.purse.pay([{ to, rawAmount: 500_000n }]);
    await chain.mine();
    const signed = (signers: readonly number[]): string => {
      const raw = new Transaction();
      raw.version = 2;
      raw.addInput(hashOf(txid), 0, 0xfffffffd);
      raw.addOutput(scriptOf(chain.outsider), 490_000n);
      const hash = name === 'P2SH multisig' ? raw.hashForSignature(0, multisig, 1) : raw.hashForWitnessV0(0, multisig, 500_000n, 1);
      const signatures = signers.map((at) => derSignature(hash, keys[at] ?? ALICE));
      if (name === 'P2SH multisig') raw.setInputScript(0, scripts.compile([0x00, ...signatures, multisig]));
      else raw.setWitness(0, [new Uint8Array(0), ...signatures, multisig]);
      if (name === 'P2SH-P2WSH multisig') raw.setInputScript(0, scripts.compile([nested]));
      return raw.toHex();
    };
    for (const signers of [[0], [1, 0], [0, 0], [0, 9]]) expect((await refused(signed(signers))).code, `signed by ${signers}`).toBe(REJECTED);
    await chain.send(signed([0, 2]));
    await chain.mine();
    expect(await chain.node.call('gettxout', [txid, 0])).toBeNull();
  });

  const scriptOf = (address: string): Uint8Array => {
    const known = Object.values(ways).find((script) => addressOf(script) === address);
    return known ?? Uint8Array.of(0x00, 0x14, ...Buffer.from('0417bc7455808df8fed603262641526ef0b14166', 'hex'));
  };
});

describe('signatures that mean the same but are written otherwise', () => {
  it('are refused: high S, an unknown hash type, anything in the script of a witness input', async () => {
    const purse = await funded(new Uint8Array(32).fill(22));
    const signed = await purse.sign([{ to: chain.outsider, rawAmount: 400_000n }]);
    const [signature = new Uint8Array(0), key = new Uint8Array(0)] = signed.raw.ins[0]?.witness ?? [];
    const { signature: compact } = scripts.signature.decode(signature);
    const high = Uint8Array.of(...compact.subarray(0, 32), ...ecc.privateNegate(compact.slice(32)));
    expect((await refused(changed(signed, () => ({ witness: [scripts.signature.encode(high, 1), key] })))).message).toMatch(/S value is unnecessarily high/);
    expect((await refused(changed(signed, () => ({ witness: [Uint8Array.of(...signature.subarray(0, -1), 5), key] })))).message).toMatch(/hash type/);
    expect((await refused(changed(signed, () => ({ script: Uint8Array.of(0x51) })))).message).toMatch(/Witness requires empty scriptSig/);
    expect((await refused(changed(signed, () => ({ witness: [signature, flipped(key, 7)] })))).message).toMatch(/OP_EQUALVERIFY/);
  });
});

describe('coins', () => {
  it('are spent once: the second spender is refused while the first waits, unless it pays for the replacement, and after it is mined', async () => {
    const purse = await funded(new Uint8Array(32).fill(23));
    const first = await purse.sign([{ to: chain.outsider, rawAmount: 100_000n }], { fee: 1_000n });
    const second = await purse.sign([{ to: purse.address, rawAmount: 100_000n }], { fee: 1_000n, coins: first.spends });
    await chain.send(first.hex);
    expect(await chain.send(first.hex)).toBe(first.txid);
    expect(await refused(second.hex)).toMatchObject({ code: REJECTED, message: expect.stringContaining('insufficient fee') });
    await chain.mine();
    expect(await refused(second.hex)).toEqual({ code: MISSING, message: 'sendrawtransaction: bad-txns-inputs-missingorspent' });
    await expect(chain.mineOnly([second.hex])).rejects.toThrow(/bad-txns-inputs-missingorspent/);
  });

  it('are never made of nothing, nor spent twice in one block or one transaction', async () => {
    const purse = await funded(new Uint8Array(32).fill(24));
    const [coin] = (await purse.coins()) as [PurseCoin];
    const more = rawOf([coin], [{ script: purse.script, value: coin.value + 1n }]);
    expect((await refused(purse.signRaw(more, [coin]).hex)).message).toMatch(/bad-txns-in-belowout/);
    const twice = rawOf([coin, coin], [{ script: purse.script, value: coin.value }]);
    expect((await refused(purse.signRaw(twice, [coin, coin]).hex)).message).toMatch(/bad-txns-inputs-duplicate/);
    const [one, other] = [1_000n, 2_000n].map((fee) => purse.signRaw(rawOf([coin], [{ script: purse.script, value: coin.value - fee }]), [coin]).hex);
    await expect(chain.mineOnly([one ?? '', other ?? ''])).rejects.toThrow(/bad-txns-inputs-missingorspent/);
  });

  it('of a coinbase may be spent a hundred blocks later, and not one sooner', async () => {
    const miner = aPurse(chain.node, new Uint8Array(32).fill(25));
    const [hash] = await chain.node.call<[string]>('generatetoaddress', [1, miner.address]);
    const { tx } = await chain.node.call<{ tx: [{ txid: string; vout: [{ value: string }] }] }>('getblock', [hash, 2]);
    const coin = { txid: tx[0].txid, vout: 0, value: BigInt(tx[0].vout[0].value.replace('.', '')), script: miner.script };
    const spend = miner.signRaw(rawOf([coin], [{ script: miner.script, value: coin.value - 1_000n }]), [coin]);
    await chain.mine(98);
    expect(await refused(spend.hex)).toMatchObject({ code: REJECTED, message: expect.stringContaining('bad-txns-premature-spend-of-coinbase') });
    await expect(chain.mineOnly([spend.hex])).rejects.toThrow(/premature-spend/);
    await chain.mine();
    expect(await chain.send(spend.hex)).toBe(spend.txid);
    await chain.mine();
  });

  it('locked by height or by age wait for it', async () => {
    const purse = await funded(new Uint8Array(32).fill(26));
    const [coin] = (await purse.coins()) as [PurseCoin];
    const height = await chain.node.height();
    const locked = rawOf([coin], [{ script: purse.script, value: coin.value - 1_000n }]);
    locked.locktime = height + 1;
    expect((await refused(purse.signRaw(locked, [coin]).hex)).message).toMatch(/non-final/);
    const aged = rawOf([coin], [{ script: purse.script, value: coin.value - 2_000n }], 3);
    expect((await refused(purse.signRaw(aged, [coin]).hex)).message).toMatch(/non-BIP68-final/);
    await chain.mine(2);
    await chain.send(purse.signRaw(aged, [coin]).hex);
    await chain.mine();
  });
});

function rawOf(coins: readonly PurseCoin[], outputs: readonly { script: Uint8Array; value: bigint }[], sequence = 0xfffffffd): Transaction {
  const raw = new Transaction();
  raw.version = 2;
  for (const { txid, vout } of coins) raw.addInput(hashOf(txid), vout, sequence);
  for (const { script, value } of outputs) raw.addOutput(script, value);
  return raw;
}
