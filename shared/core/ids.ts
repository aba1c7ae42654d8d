const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** True when `text` is a UUID of any version; anything else in a path is an unknown id (decisions 8). */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Formats 16 random bytes as a version 4 UUID (RFC 9562); the bytes are an argument so that tests can choose them. */
export function uuidFrom(bytes: Uint8Array): string {
  return formatUuid(bytes, 4);
}

/** What ids are made of: chance, and milliseconds since the epoch. */
export interface IdSource {
  randomBytes(length: number): Uint8Array;
  wallClock(): number;
}

/**
 * An id for a table that grows with payments, as a version 7 UUID (RFC 9562 5.7): rows that are made together lie together in every index of it. Most of it can
 * be guessed from its time, so that nothing may be opened by knowing it: ids of payments, and others that merchants are told, are made by `uuidFrom`
 * (decision 0058).
 */
export function rowId({ randomBytes, wallClock }: IdSource): string {
  const bytes = Uint8Array.from(randomBytes(16));
  const time = BigInt(Math.floor(wallClock()));
  for (let i = 0; i < 6; i++) bytes[i] = Number((time >> BigInt(8 * (5 - i))) & 0xffn);
  return formatUuid(bytes, 7);
}

/** Each byte as two hex digits. */
const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function formatUuid(bytes: Uint8Array, version: number): string {
  const b = Uint8Array.from(bytes.subarray(0, 16));
  b[6] = ((b[6] ?? 0) & 0x0f) | (version << 4);
  b[8] = ((b[8] ?? 0) & 0x3f) | 0x80;
  let hex = '';
  for (const byte of b) hex += PAIRS[byte];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
