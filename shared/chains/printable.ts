/**
 * What a node says, cut short and without what no log, database or terminal takes: a contract that is to be paid chooses some of the words,
 * and they are stored and shown.
 */
export function printable(words: string, longest: number): string {
  return words.slice(0, longest).replace(/\p{Cc}|\p{Surrogate}/gu, '\ufffd');
}
