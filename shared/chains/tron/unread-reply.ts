import { parseLossless } from './json.ts';

/** A reply as it came, of which nothing was made yet. */
export class UnreadReply {
  readonly bytes: Buffer;
  readonly #read: () => unknown;

  /** `read` makes of all of it what it would have been answered as. */
  constructor(bytes: Buffer, read: () => unknown) {
    this.bytes = bytes;
    this.#read = read;
  }

  /** @throws ChainUnavailable when it is no answer */
  read(): unknown {
    return this.#read();
  }

  /** What stands between two places of it, after a walk over them: they are JSON in ASCII. */
  part(from: number, to: number): unknown {
    return parseLossless(this.bytes.toString('latin1', from, to));
  }
}

/** An answer as careful readers want it, whether somebody read it before or not. @throws ChainUnavailable when it is none */
export function readReply(answer: unknown): unknown {
  return answer instanceof UnreadReply ? answer.read() : answer;
}
