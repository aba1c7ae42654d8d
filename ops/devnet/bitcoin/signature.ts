import * as ecc from 'tiny-secp256k1';
import { script as scripts } from 'bitcoinjs-lib';
import { ScriptRefusal, WORDS } from './script-refusal.ts';
import type { Spent, Tx } from './transaction.ts';

/** Whether a signature of a script is one by this key. @throws ScriptRefusal when it is written as none may be */
export type SignatureCheck = (signature: Uint8Array, key: Uint8Array) => boolean;

/** Half the order of the curve: signatures above it are refused (BIP-146). */
const HALF_ORDER = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex');
const HASH_TYPES = [1, 2, 3, 0x81, 0x82, 0x83];
const SINGLE = 3;

/** Signatures over what scripts before segwit hash. */
export function legacyCheck(tx: Tx, index: number, code: Uint8Array): SignatureCheck {
  return signatureCheck((hashType) => tx.raw.hashForSignature(index, code, hashType));
}

/** Signatures over what BIP-143 hashes. */
export function segwitCheck(tx: Tx, index: number, code: Uint8Array, value: bigint): SignatureCheck {
  return signatureCheck((hashType) => tx.raw.hashForWitnessV0(index, code, value, hashType));
}

function signatureCheck(hash: (hashType: number) => Uint8Array): SignatureCheck {
  return (signature, key) => {
    if (signature.length === 0) return false;
    const { compact, hashType } = decoded(signature);
    return ecc.isPoint(key) && ecc.verify(hash(hashType), key, compact, true);
  };
}

/** Strict DER, low S, a known hash type (BIP-66, BIP-146). */
function decoded(signature: Uint8Array): { compact: Uint8Array; hashType: number } {
  const hashType = signature[signature.length - 1] ?? 0;
  // The library reads no unknown hash types: the form is looked at with a known one in its place.
  const compact = compactOf(Uint8Array.of(...signature.subarray(0, -1), 1));
  if (compact === null) throw new ScriptRefusal(WORDS.notDer);
  if (Buffer.compare(compact.subarray(32), HALF_ORDER) > 0) throw new ScriptRefusal(WORDS.highS);
  if (!HASH_TYPES.includes(hashType)) throw new ScriptRefusal(WORDS.hashType);
  return { compact, hashType };
}

function compactOf(signature: Uint8Array): Uint8Array | null {
  try {
    return scripts.signature.decode(signature).signature;
  } catch {
    return null;
  }
}

/** The one signature of a taproot key path (BIP-341). @throws ScriptRefusal */
export function checkSchnorr(tx: Tx, index: number, spent: readonly Spent[], key: Uint8Array, signature: Uint8Array): void {
  if (signature.length !== 64 && signature.length !== 65) throw new ScriptRefusal(WORDS.schnorrSize);
  const hashType = signature[64] ?? 0;
  const known = signature.length === 64 || HASH_TYPES.includes(hashType);
  if (!known || ((hashType & SINGLE) === SINGLE && index >= tx.raw.outs.length)) throw new ScriptRefusal(WORDS.schnorrHashType);
  const hash = tx.raw.hashForWitnessV1(
    index,
    spent.map((each) => each.script),
    spent.map((each) => each.value),
    hashType,
  );
  if (!ecc.isXOnlyPoint(key) || !ecc.verifySchnorr(hash, key, signature.subarray(0, 64))) throw new ScriptRefusal(WORDS.schnorr);
}
