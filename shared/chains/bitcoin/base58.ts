import { hash } from 'node:crypto';
import { createBase58check } from '@scure/base';

/** Bytes as base58 text with four bytes of double SHA-256 after them. */
export const base58check = createBase58check((bytes: Uint8Array) => new Uint8Array(hash('sha256', bytes, 'buffer')));
