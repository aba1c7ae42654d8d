import { ChainUnavailable } from '../chain.ts';
import { printable } from '../printable.ts';
import { type TronApi, TronRefused } from './http.ts';

/** The same requests, with a node's refusal told as no answer: what the payer asks has no wrong way of asking. */
export function sureOf(ask: TronApi): TronApi {
  return async (path, body) => {
    try {
      return await ask(path, body);
    } catch (error) {
      if (error instanceof TronRefused) throw new ChainUnavailable(error.message, { cause: error });
      throw error;
    }
  };
}

/** As much of it as anybody reads, in characters; merchants are shown why a transfer is refused. */
const LONGEST_MESSAGE = 300;

/** The text of a message, which most replies write as the hex of UTF-8 and some (broadcasthex) as it is; cut short when it is long. */
export function readMessageText(message: unknown): string {
  if (typeof message !== 'string') return '';
  const value = message.slice(0, 2 * LONGEST_MESSAGE);
  if (!/^([0-9a-fA-F]{2})+$/.test(value)) return printable(value, LONGEST_MESSAGE);
  const text = Buffer.from(value, 'hex').toString('utf8');
  // A message that merely looks like hex stays what it is.
  return /^[\x20-\x7e\s]+$/.test(text) ? text : value.slice(0, LONGEST_MESSAGE);
}

/**
 * Reads the reply to a broadcast. Neither answer proves anything (reliability D14): a node fills its list of known ids before
 * it looks at a transaction, so DUP_TRANSACTION_ERROR may be about one that no block will ever hold, and one it says it
 * could not pass on may be on its way.
 */
export function readBroadcast(value: unknown): { accepted: boolean; answer: string } {
  const reply = (value ?? {}) as { result?: unknown; txid?: unknown; code?: unknown; message?: unknown };
  if (reply.result === true) return { accepted: true, answer: typeof reply.txid === 'string' ? reply.txid : 'SUCCESS' };
  const code = typeof reply.code === 'string' ? reply.code : 'no code';
  const message = readMessageText(reply.message);
  return { accepted: false, answer: message === '' ? code : `${code}: ${message}` };
}
