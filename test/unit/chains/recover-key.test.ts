import { secp256k1 } from '@noble/curves/secp256k1.js';
import { expect, it } from 'vitest';
import { recoverKey } from '#shared/chains/evm/recover-key.ts';
import { keccak } from '#shared/chains/evm/keccak.ts';
import { chanceOf } from '#test/fixtures/mutated-replies.ts';
import { FULL } from '#test/harness/counts.ts';

const COUNT = FULL ? 10_000 : 1_000;
const ORDER = secp256k1.Point.CURVE().n;
const FIELD = secp256k1.Point.CURVE().p;

interface Signed {
  hash: Uint8Array;
  r: bigint;
  s: bigint;
  parity: bigint;
}

/** What the library in JavaScript finds, or that it finds nobody. */
function oracle({ hash, r, s, parity }: Signed): string {
  try {
    return Buffer.from(new secp256k1.Signature(r, s, Number(parity)).recoverPublicKey(hash).toBytes(false).subarray(1)).toString('hex');
  } catch {
    return 'nobody';
  }
}

function ours({ hash, ...signature }: Signed): string {
  try {
    return Buffer.from(recoverKey(hash, signature)).toString('hex');
  } catch {
    return 'nobody';
  }
}

/** The same bytes for the same text. */
const madeOf = (text: string): Uint8Array => keccak(Buffer.from(text));
const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);

/** A signature of key number `i`, and the key. */
function signed(i: number): { signature: Signed; key: string } {
  const [secret, hash] = [madeOf(`secret ${i}`), madeOf(`message ${i}`)];
  const bytes = secp256k1.sign(hash, secret, { prehash: false, format: 'recovered' });
  const { r, s, recovery } = secp256k1.Signature.fromBytes(bytes, 'recovered');
  return { signature: { hash, r, s, parity: BigInt(recovery ?? 0) }, key: Buffer.from(secp256k1.getPublicKey(secret, false).subarray(1)).toString('hex') };
}

const EDGES = [
  0n,
  1n,
  2n,
  ORDER / 2n,
  ORDER / 2n + 1n,
  ORDER - 1n,
  ORDER,
  ORDER + 1n,
  FIELD - ORDER,
  FIELD - 1n,
  FIELD,
  FIELD + 1n,
  2n ** 256n - 1n,
  2n ** 256n,
  -1n,
];

/** Ways to change a signature: what is malleable, what belongs to somebody else, and what is none. */
const CHANGES: readonly ((one: Signed, chance: () => number) => Signed)[] = [
  (one) => one,
  (one) => ({ ...one, s: ORDER - one.s, parity: 1n - one.parity }),
  (one) => ({ ...one, s: ORDER - one.s }),
  (one) => ({ ...one, parity: 1n - one.parity }),
  (one, chance) => ({ ...one, r: EDGES[Math.floor(chance() * EDGES.length)] as bigint }),
  (one, chance) => ({ ...one, s: EDGES[Math.floor(chance() * EDGES.length)] as bigint }),
  // About every second number is the place of no point.
  (one, chance) => ({ ...one, r: numberOf(madeOf(`r ${chance()}`)) }),
  (one, chance) => ({ ...one, s: numberOf(madeOf(`s ${chance()}`)) }),
  (one, chance) => ({ ...one, hash: madeOf(`hash ${chance()}`) }),
  (one) => ({ ...one, hash: new Uint8Array(32) }),
  (one) => ({ ...one, hash: new Uint8Array(32).fill(255) }),
  // A hash for which the key would be the point at infinity.
  (one) => ({ ...one, r: secp256k1.Point.BASE.x, s: 1n, parity: 0n, hash: Buffer.from('1'.padStart(64, '0'), 'hex') }),
];

it(`finds whom the library in JavaScript finds, and nobody where that finds nobody: ${COUNT} signatures`, { timeout: 60_000 + 60 * COUNT }, () => {
  let nobody = 0;
  for (let i = 0; i < COUNT; i++) {
    const { signature, key } = signed(i % 100);
    const chance = chanceOf(20_261_124 + i);
    const change = CHANGES[i % CHANGES.length] as (typeof CHANGES)[number];
    const changed = change(signature, chance);
    const found = ours(changed);
    expect(found, `signature ${i}`).toBe(oracle(changed));
    if (i % CHANGES.length < 2) expect(found).toBe(key);
    if (found === 'nobody') nobody += 1;
  }
  expect(nobody).toBeGreaterThan(COUNT / 10);
});

it('finds nobody for a signature that names neither of two keys', () => {
  const { signature } = signed(1);
  for (const parity of [-1n, 2n, 3n, 27n, 2n ** 64n]) expect(ours({ ...signature, parity })).toBe('nobody');
});
