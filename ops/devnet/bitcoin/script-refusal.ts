/** Why a script refuses a spend, in Bitcoin Core's words (script/script_error.cpp). */
export class ScriptRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ScriptRefusal';
  }
}

export const WORDS = {
  badSignature: 'Signature must be zero for failed CHECK(MULTI)SIG operation',
  notDer: 'Non-canonical DER signature',
  highS: 'Non-canonical signature: S value is unnecessarily high',
  hashType: 'Signature hash type missing or not understood',
  keyMismatch: 'Script failed an OP_EQUALVERIFY operation',
  scriptMismatch: 'Script evaluated without error but finished with a false/empty top stack element',
  witnessMismatch: 'Witness program hash mismatch',
  emptyWitness: 'Witness program was passed an empty witness',
  malleated: 'Witness requires empty scriptSig',
  malleatedP2sh: 'Witness requires only-redeemscript scriptSig',
  unexpectedWitness: 'Witness provided for non-witness script',
  notPushes: 'Only push operators allowed in signatures',
  largePush: 'Data push larger than necessary',
  nullDummy: 'Dummy CHECKMULTISIG argument must be zero',
  cleanStack: 'Stack size must be exactly one after execution',
  shortStack: 'Operation not valid with the current stack size',
  keyType: 'Using non-compressed keys in segwit',
  schnorrSize: 'Invalid Schnorr signature size',
  schnorrHashType: 'Invalid Schnorr signature hash type',
  schnorr: 'Invalid Schnorr signature',
  /** Not Bitcoin Core's: it runs any script. */
  unknown: 'this local node runs no such script',
} as const;
