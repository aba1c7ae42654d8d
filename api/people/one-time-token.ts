import { createHash } from 'node:crypto';

const BYTES = 32;

/** A secret that is shown once: 256 bits of chance in base64url, and what of it may be stored. Pure. */
export function newToken(randomBytes: (length: number) => Uint8Array): { text: string; hash: string } {
  const text = Buffer.from(randomBytes(BYTES)).toString('base64url');
  return { text, hash: hashToken(text) };
}

/** What stands for a token in the database. It needs no pepper: nobody guesses 256 bits. Pure. */
export function hashToken(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
