import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { Invariant } from '#shared/core/errors.ts';

/** What a statement says beside what it is about: text alone, so that it reads the same wherever it is read. */
export type Said = Readonly<Record<string, string | null>>;

/** Something that was decided, in the words of whoever accepted it, signed so that nobody else can have said it. */
export interface Statement {
  /** What sort of thing is said, such as `cashout`: one never passes for another. */
  kind: string;
  /** Id of what it is about. */
  subject: string;
  /** The words that are signed. */
  text: string;
  /** Public half of the key, 64 hex digits. */
  publicKey: string;
  /** 64 bytes (RFC 8032). */
  signature: Uint8Array;
}

const KEY = /^[0-9a-f]{64}$/;
/** What DER puts before the 32 bytes of an Ed25519 key (RFC 8410). */
const PRIVATE_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** What `make` answers for a key, made once: to read a key takes longer than to sign with it, and a process knows but the few of its configuration. */
function onceForEachKey<T>(make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const one = make(key);
    made.set(key, one);
    return one;
  };
}

const privateOf = onceForEachKey((key): KeyObject => {
  if (!KEY.test(key)) throw new Invariant('a private key of statements has 64 hex digits');
  return createPrivateKey({ key: Buffer.concat([PRIVATE_PREFIX, Buffer.from(key, 'hex')]), format: 'der', type: 'pkcs8' });
});

const publicOf = onceForEachKey((key): KeyObject => {
  if (!KEY.test(key)) throw new Invariant('a public key of statements has 64 hex digits');
  return createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, Buffer.from(key, 'hex')]), format: 'der', type: 'spki' });
});

/** Public half of a private key of 64 hex digits. @throws Invariant when it is none */
export const publicHalf = onceForEachKey((privateKey): string => {
  const { x } = createPublicKey(privateOf(privateKey)).export({ format: 'jwk' });
  return Buffer.from(x as string, 'base64url').toString('hex');
});

/** Signs what is said about one thing. @throws Invariant when the key is none */
export function makeStatement(privateKey: string, { kind, subject, said }: { kind: string; subject: string; said: Said }): Statement {
  const text = textOf(kind, subject, said);
  return { kind, subject, text, publicKey: publicHalf(privateKey), signature: sign(null, Buffer.from(text), privateOf(privateKey)) };
}

/**
 * What a statement says, when one of the trusted keys signed it and it is of this kind and about this subject; null otherwise.
 * What stands beside its words (kind, subject and key in a row) counts for nothing.
 */
export function readStatement(trusted: readonly string[], statement: Statement, about: { kind: string; subject: string }): Said | null {
  const bytes = Buffer.from(statement.text);
  if (!trusted.some((key) => verify(null, bytes, publicOf(key), statement.signature))) return null;
  const read = JSON.parse(statement.text) as [string, string, string, [string, string | null][]];
  const [version, kind, subject, said] = read;
  return version === VERSION && kind === about.kind && subject === about.subject ? Object.fromEntries(said) : null;
}

const VERSION = 'sluice statement 1';

/** Every field in the order of its name: the same thing said twice is the same text. */
function textOf(kind: string, subject: string, said: Said): string {
  return JSON.stringify([VERSION, kind, subject, Object.entries(said).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

interface Configured {
  SLUICE_INTENT_KEY?: string | undefined;
  SLUICE_INTENT_PUBLIC_KEYS: readonly string[];
}

/** Keys whose statements this process believes: those it was given, and the public half of its own. */
export function trustedKeys({ SLUICE_INTENT_KEY: own, SLUICE_INTENT_PUBLIC_KEYS: given }: Configured): readonly string[] {
  return own === undefined ? given : [publicHalf(own), ...given];
}
