import { Invariant } from '#shared/core/errors.ts';
import { readFields } from './protobuf.ts';

/** The field numbers a message may have, and what each of them is. */
export type Shape = Readonly<Record<number, 'integer' | 'bytes'>>;

/** A message read by its shape; absent fields are absent. */
export interface Message {
  integers: ReadonlyMap<number, bigint>;
  bytes: ReadonlyMap<number, Uint8Array>;
}

/**
 * Reads one message in which every field appears at most once. It does not judge the spelling (order, padded numbers,
 * zeros written out): whoever needs that writes what was read again and compares.
 * @throws Invariant naming `what` when the bytes are cut short or hold a field the shape does not know, a second one or one of another type
 */
export function readMessage(bytes: Uint8Array, shape: Shape, what: string): Message {
  const fields = readFields(bytes);
  if (fields === undefined) throw new Invariant(`${what} is cut short or no message`);
  const integers = new Map<number, bigint>();
  const texts = new Map<number, Uint8Array>();
  for (const { number, value } of fields) {
    if (value === null || shape[number] !== (typeof value === 'bigint' ? 'integer' : 'bytes'))
      throw new Invariant(`${what} has a field ${number} that a transfer does not have`);
    if (integers.has(number) || texts.has(number)) throw new Invariant(`${what} has field ${number} twice`);
    if (typeof value === 'bigint') integers.set(number, value);
    else texts.set(number, value);
  }
  return { integers, bytes: texts };
}

/** The bytes of one field. @throws Invariant naming `what` when it is absent */
export function requireBytes(message: Message, field: number, what: string): Uint8Array {
  const bytes = message.bytes.get(field);
  if (bytes === undefined) throw new Invariant(`${what} lacks field ${field}`);
  return bytes;
}
