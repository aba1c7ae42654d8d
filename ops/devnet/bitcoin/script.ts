import { address, networks, opcodes, script as scripts } from 'bitcoinjs-lib';
import { toHex } from './bytes.ts';
import { withChecksum } from './descriptor.ts';

/** The kinds of output script a node tells apart. */
export type ScriptType =
  | 'pubkeyhash'
  | 'scripthash'
  | 'witness_v0_keyhash'
  | 'witness_v0_scripthash'
  | 'witness_v1_taproot'
  | 'anchor'
  | 'witness_unknown'
  | 'multisig'
  | 'pubkey'
  | 'nulldata'
  | 'nonstandard';

const NETWORK = networks.regtest;
const OP_NAMES = new Map(Object.entries(opcodes).map(([name, code]) => [code, name]));
const SIGHASH_NAMES: Record<number, string> = {
  1: 'ALL',
  2: 'NONE',
  3: 'SINGLE',
  129: 'ALL|ANYONECANPAY',
  130: 'NONE|ANYONECANPAY',
  131: 'SINGLE|ANYONECANPAY',
};

/** Program of a witness output (BIP-141), or null when the script is none. */
export function witnessProgram(script: Uint8Array): { version: number; program: Uint8Array } | null {
  const [version, length] = script;
  if (version === undefined || length === undefined || script.length < 4 || script.length > 42 || length !== script.length - 2) return null;
  if (version !== 0 && (version < 0x51 || version > 0x60)) return null;
  return { version: version === 0 ? 0 : version - 0x50, program: script.subarray(2) };
}

export function typeOf(script: Uint8Array): ScriptType {
  const witness = witnessProgram(script);
  if (witness !== null) {
    const { version, program } = witness;
    if (version === 0) return program.length === 20 ? 'witness_v0_keyhash' : program.length === 32 ? 'witness_v0_scripthash' : 'nonstandard';
    if (version === 1 && program.length === 32) return 'witness_v1_taproot';
    return version === 1 && toHex(program) === '4e73' ? 'anchor' : 'witness_unknown';
  }
  const hex = toHex(script);
  if (/^76a914[0-9a-f]{40}88ac$/.test(hex)) return 'pubkeyhash';
  if (/^a914[0-9a-f]{40}87$/.test(hex)) return 'scripthash';
  if (/^(21[0-9a-f]{66}|41[0-9a-f]{130})ac$/.test(hex)) return 'pubkey';
  if (script[0] === opcodes.OP_RETURN && isPushOnly(script.subarray(1))) return 'nulldata';
  return multisigOf(script) === null ? 'nonstandard' : 'multisig';
}

/** The address of an output script; null for the kinds that have none. */
export function addressOf(script: Uint8Array): string | null {
  const type = typeOf(script);
  if (type === 'multisig' || type === 'pubkey' || type === 'nulldata' || type === 'nonstandard') return null;
  const witness = witnessProgram(script);
  return witness === null ? address.fromOutputScript(script, NETWORK) : address.toBech32(witness.program, witness.version, NETWORK.bech32);
}

/** The output script of an address; null when the text is no address of this network. */
export function scriptOfAddress(text: string): Uint8Array | null {
  try {
    return address.toOutputScript(text, NETWORK);
  } catch {
    return witnessScript(text);
  }
}

/** Programs of lengths bitcoinjs-lib does not know, as the anchor's. */
function witnessScript(text: string): Uint8Array | null {
  try {
    const { version, prefix, data } = address.fromBech32(text);
    if (prefix !== NETWORK.bech32 || version === 0 || data.length < 2 || data.length > 40) return null;
    return Uint8Array.of(0x50 + version, data.length, ...data);
  } catch {
    return null;
  }
}

/** Keys and threshold of a script `m <key>… n OP_CHECKMULTISIG`; null when it is none. */
export function multisigOf(script: Uint8Array): { required: number; keys: Uint8Array[] } | null {
  if (script[script.length - 1] !== opcodes.OP_CHECKMULTISIG) return null;
  const parts = scripts.decompile(script);
  if (parts === null || parts.length < 4) return null;
  const required = smallNumber(parts[0]);
  const total = smallNumber(parts[parts.length - 2]);
  const keys = parts.slice(1, -2);
  if (required === null || total !== keys.length || required < 1 || required > keys.length) return null;
  const isKey = (part: number | Uint8Array): part is Uint8Array => typeof part !== 'number' && (part.length === 33 || part.length === 65);
  return keys.every(isKey) ? { required, keys } : null;
}

function smallNumber(part: number | Uint8Array | undefined): number | null {
  return typeof part === 'number' && part >= 0x51 && part <= 0x60 ? part - 0x50 : null;
}

/** What a script pushes when it does nothing else; null otherwise. */
export function pushesOf(script: Uint8Array): Uint8Array[] | null {
  const parts = scripts.decompile(script);
  if (parts === null || !isPushOnly(script)) return null;
  return parts.map((part) => (typeof part === 'number' ? (part === 0 ? new Uint8Array(0) : Uint8Array.of(part === 0x4f ? 0x81 : part - 0x50)) : part));
}

export function isPushOnly(script: Uint8Array): boolean {
  const parts = scripts.decompile(script);
  return parts?.every((part) => typeof part !== 'number' || part <= 0x60) ?? false;
}

/** A script in words as Bitcoin Core writes it; signatures of inputs end with the name of their hash type. */
export function asmOf(script: Uint8Array, ofInput = false): string {
  const parts = scripts.decompile(script);
  if (parts === null) return '[error]';
  return parts.map((part) => (typeof part === 'number' ? opName(part) : pushed(part, ofInput))).join(' ');
}

function opName(code: number): string {
  if (code === 0) return '0';
  if (code === 0x4f) return '-1';
  if (code >= 0x51 && code <= 0x60) return String(code - 0x50);
  return OP_NAMES.get(code) ?? 'OP_UNKNOWN';
}

function pushed(bytes: Uint8Array, ofInput: boolean): string {
  if (bytes.length <= 4) return String(scripts.number.decode(bytes, 4, false));
  const name = ofInput && scripts.isCanonicalScriptSignature(bytes) ? SIGHASH_NAMES[bytes[bytes.length - 1] ?? 0] : undefined;
  return name === undefined ? toHex(bytes) : `${toHex(bytes.subarray(0, -1))}[${name}]`;
}

/** An output script as the RPC prints it. */
export function scriptPubKeyJson(script: Uint8Array): Record<string, unknown> {
  const at = addressOf(script);
  return { asm: asmOf(script), desc: describe(script), hex: toHex(script), ...(at !== null && { address: at }), type: typeOf(script) };
}

/** The descriptor a node infers without knowing any key. */
export function describe(script: Uint8Array): string {
  const type = typeOf(script);
  if (type === 'witness_v1_taproot') return withChecksum(`rawtr(${toHex(script.subarray(2))})`);
  if (type === 'pubkey') return withChecksum(`pk(${toHex(script.subarray(1, -1))})`);
  const multisig = multisigOf(script);
  if (multisig !== null) return withChecksum(`multi(${[multisig.required, ...multisig.keys.map(toHex)].join(',')})`);
  const at = addressOf(script);
  return withChecksum(at === null ? `raw(${toHex(script)})` : `addr(${at})`);
}
