import { POLICY } from '#shared/core/policy.ts';

/** The beginning of what a receiver answered, as text that may be shown anywhere. */
export interface WebhookAnswer {
  body: string;
  contentType: string | null;
  retryAfter: string | null;
}

const HEADER_CHARACTERS = 200;

/**
 * Makes text of the beginning of an answer, of which `bytes` are at most the first kilobyte: what is no UTF-8, and what shows nothing or turns the text around it (control
 * characters, marks of direction, code points that nobody assigned), becomes U+FFFD; tabs and line breaks stay. At most as many characters as bytes came. Pure.
 */
export function readWebhookAnswer(bytes: Uint8Array, headers: { contentType: string | undefined; retryAfter: string | undefined }): WebhookAnswer {
  // A character that the cut went through is left out; one that the receiver itself did not finish is not UTF-8.
  const cut = bytes.length >= POLICY.webhookAnswerBytes;
  return {
    body: printable(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: cut })),
    contentType: header(headers.contentType),
    retryAfter: header(headers.retryAfter),
  };
}

function header(value: string | undefined): string | null {
  return value === undefined ? null : printable(value).slice(0, HEADER_CHARACTERS);
}

function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(/[\p{C}\u2028\u2029]/gu, (one) => (one === '\n' || one === '\t' ? one : '\ufffd'));
}
