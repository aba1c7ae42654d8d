import { crypto, script as scripts } from 'bitcoinjs-lib';
import { equalBytes, sha256 } from './bytes.ts';
import { isPushOnly, multisigOf, pushesOf, typeOf, witnessProgram } from './script.ts';
import { ScriptRefusal, WORDS } from './script-refusal.ts';
import { checkSchnorr, legacyCheck, type SignatureCheck, segwitCheck } from './signature.ts';
import type { Spent, Tx } from './transaction.ts';

/** Checks the script and every signature of one input; scripts beyond the standard ones are refused. @throws ScriptRefusal */
export function checkSpend(tx: Tx, index: number, spent: readonly Spent[]): void {
  const input = tx.raw.ins[index];
  const prevout = spent[index];
  if (input === undefined || prevout === undefined) throw new Error('no such input');
  const spend: Spend = { tx, index, spent, pushes: pushed(input.script), witness: input.witness, value: prevout.value };
  const { script } = prevout;
  if (witnessProgram(script) !== null) {
    if (input.script.length > 0) throw new ScriptRefusal(WORDS.malleated);
    checkWitness(spend, script);
  } else if (typeOf(script) === 'scripthash') checkScriptHash(spend, script.subarray(2, 22));
  else if (typeOf(script) === 'pubkeyhash') {
    refuseWitness(spend);
    checkKeyHash(spend.pushes, script.subarray(3, 23), legacyCheck(tx, index, script));
  } else throw new ScriptRefusal(WORDS.unknown);
}

/** One input and what it shows. */
interface Spend {
  tx: Tx;
  index: number;
  spent: readonly Spent[];
  /** What its script pushes. */
  pushes: Uint8Array[];
  witness: Uint8Array[];
  value: bigint;
}

function pushed(script: Uint8Array): Uint8Array[] {
  if (!isPushOnly(script)) throw new ScriptRefusal(WORDS.notPushes);
  const parts = scripts.decompile(script) ?? [];
  if (!equalBytes(scripts.compile(parts), script)) throw new ScriptRefusal(WORDS.largePush);
  return pushesOf(script) ?? [];
}

function checkScriptHash(spend: Spend, hash: Uint8Array): void {
  const { tx, index, pushes } = spend;
  const redeem = pushes[pushes.length - 1];
  if (redeem === undefined) throw new ScriptRefusal(WORDS.shortStack);
  if (!equalBytes(crypto.hash160(redeem), hash)) throw new ScriptRefusal(WORDS.scriptMismatch);
  if (witnessProgram(redeem) !== null) {
    if (pushes.length !== 1) throw new ScriptRefusal(WORDS.malleatedP2sh);
    checkWitness(spend, redeem);
  } else {
    refuseWitness(spend);
    checkMultisig(pushes.slice(0, -1), redeem, legacyCheck(tx, index, redeem));
  }
}

function checkWitness(spend: Spend, script: Uint8Array): void {
  const { tx, index, witness, value } = spend;
  const type = typeOf(script);
  const program = script.subarray(2);
  // Anybody may spend an anchor, without saying anything.
  if (type === 'anchor' && witness.length === 0) return;
  if (type === 'witness_v0_keyhash') {
    if (witness.length !== 2) throw new ScriptRefusal(WORDS.witnessMismatch);
    const code = Uint8Array.of(0x76, 0xa9, 0x14, ...program, 0x88, 0xac);
    checkKeyHash(witness, program, compressedOnly(segwitCheck(tx, index, code, value)));
  } else if (type === 'witness_v0_scripthash') {
    const inner = witness[witness.length - 1];
    if (inner === undefined) throw new ScriptRefusal(WORDS.emptyWitness);
    if (!equalBytes(sha256(inner), program)) throw new ScriptRefusal(WORDS.witnessMismatch);
    checkMultisig(witness.slice(0, -1), inner, compressedOnly(segwitCheck(tx, index, inner, value)));
  } else if (type === 'witness_v1_taproot' && witness.length <= 1) {
    const [signature] = witness;
    if (signature === undefined) throw new ScriptRefusal(WORDS.emptyWitness);
    checkSchnorr(tx, index, spend.spent, program, signature);
  }
  // Script paths, annexes and later versions are somebody else's.
  else throw new ScriptRefusal(WORDS.unknown);
}

function compressedOnly(verify: SignatureCheck): SignatureCheck {
  return (signature, key) => {
    if (key.length !== 33) throw new ScriptRefusal(WORDS.keyType);
    return verify(signature, key);
  };
}

function checkKeyHash(stack: Uint8Array[], hash: Uint8Array, verify: SignatureCheck): void {
  const [signature, key] = stack.slice(-2);
  if (signature === undefined || key === undefined) throw new ScriptRefusal(WORDS.shortStack);
  if (!equalBytes(crypto.hash160(key), hash)) throw new ScriptRefusal(WORDS.keyMismatch);
  if (!verify(signature, key)) throw new ScriptRefusal(signature.length === 0 ? WORDS.scriptMismatch : WORDS.badSignature);
  if (stack.length !== 2) throw new ScriptRefusal(WORDS.cleanStack);
}

/** Signatures must come in the order of the keys, each key at most once (OP_CHECKMULTISIG). */
function checkMultisig(stack: Uint8Array[], script: Uint8Array, verify: SignatureCheck): void {
  const multisig = multisigOf(script);
  if (multisig === null) throw new ScriptRefusal(WORDS.unknown);
  const [dummy, ...signatures] = stack;
  if (dummy === undefined || signatures.length < multisig.required) throw new ScriptRefusal(WORDS.shortStack);
  if (signatures.length > multisig.required) throw new ScriptRefusal(WORDS.cleanStack);
  if (dummy.length > 0) throw new ScriptRefusal(WORDS.nullDummy);
  let from = 0;
  for (const signature of signatures) {
    const at = multisig.keys.findIndex((key, position) => position >= from && verify(signature, key));
    if (at < 0) throw new ScriptRefusal(signatures.every((each) => each.length === 0) ? WORDS.scriptMismatch : WORDS.badSignature);
    from = at + 1;
  }
}

function refuseWitness({ witness }: Spend): void {
  if (witness.length > 0) throw new ScriptRefusal(WORDS.unexpectedWitness);
}
