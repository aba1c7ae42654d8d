/**
 * Shortens a node's words and replaces characters that logs, databases or terminals do not accept. A contract that is to be paid can choose some of
 * these words, and they are stored and shown.
 */
export function printable(words: string, longest: number): string {
  return words.slice(0, longest).replace(/\p{Cc}|\p{Surrogate}/gu, '\ufffd');
}
