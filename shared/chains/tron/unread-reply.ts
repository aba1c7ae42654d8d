import { Unread } from '../unread.ts';
import { parseLossless } from './json.ts';

/** A reply as it came, of which nothing was made yet. */
export class UnreadReply {
  readonly #told: Unread;
  readonly #read: (bytes: Buffer) => unknown;

  /** `read` makes of all of it what it would have been answered as; `released` hears once that the bytes are read no more. */
  constructor(bytes: Buffer, read: (bytes: Buffer) => unknown, released?: () => void) {
    this.#told = new Unread(bytes, released);
    this.#read = read;
  }

  /** @throws Invariant once it was released */
  get bytes(): Buffer {
    return this.#told.bytes;
  }

  /** Nobody reads this any more (unread.ts). */
  release(): void {
    this.#told.release();
  }

  /** @throws ChainUnavailable when it is no answer, Invariant once it was released */
  read(): unknown {
    return this.#read(this.bytes);
  }

  /** What stands between two places of it, after a walk over them: they are JSON in ASCII. */
  part(from: number, to: number): unknown {
    return parseLossless(this.bytes.toString('latin1', from, to));
  }
}

/** An answer as careful readers want it, whether somebody walked over it before or not; nobody reads it again. @throws ChainUnavailable when it is none */
export function readReply(answer: unknown): unknown {
  if (!(answer instanceof UnreadReply)) return answer;
  const read = answer.read();
  answer.release();
  return read;
}
