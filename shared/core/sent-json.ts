/** What stands around the text of a document inside of an answer that JSON.stringify made; no value that anybody sends or the database holds has a U+0000. */
const MARK = '\u0000';
const MARKED = /"\\u0000((?:[^"\\]|\\.)*)\\u0000"/g;
const STRING_OR_SPACE = /("[^"\\]*(?:\\.[^"\\]*)*")|\s+/g;

/**
 * A JSON document of somebody else's that is given back as it was sent: its keys in their order, its numbers digit by digit, which
 * JSON.parse would round (contract 2.8). Only the space between its tokens is left out.
 */
export class SentJson {
  /** One line of JSON. */
  readonly text: string;

  /** `text` is known to be valid JSON with no key twice. */
  constructor(text: string) {
    this.text = text.replace(STRING_OR_SPACE, '$1');
  }

  /** A document of our own making. */
  static of(value: unknown): SentJson {
    return new SentJson(JSON.stringify(value));
  }

  /** The document as code reads it, its numbers rounded. */
  value(): unknown {
    return JSON.parse(this.text);
  }

  /** The members of an object in their order: the key, and the value as it was written. */
  members(): [key: string, text: string][] {
    return membersOf(this.text);
  }

  /** The value of one member of an object, null and absent alike undefined. */
  member(key: string): SentJson | undefined {
    const found = this.members().find(([name]) => name === key)?.[1];
    return found === undefined || found === 'null' ? undefined : new SentJson(found);
  }

  /** What JSON.stringify is to write until `withSent` puts the document itself there. */
  toJSON(): string {
    return `${MARK}${this.text}${MARK}`;
  }
}

/** The text of an answer with every document in it as it was sent; `json` is what JSON.stringify made of it. */
export function withSent(json: string): string {
  return json.includes('"\\u0000') ? json.replace(MARKED, (marked) => (JSON.parse(marked) as string).slice(1, -1)) : json;
}

function membersOf(text: string): [string, string][] {
  const members: [string, string][] = [];
  for (let at = 1; text[at] !== '}' && at < text.length; ) {
    const colon = endOfString(text, at);
    const end = endOfValue(text, colon + 1);
    members.push([JSON.parse(text.slice(at, colon)) as string, text.slice(colon + 1, end)]);
    at = text[end] === ',' ? end + 1 : end;
  }
  return members;
}

function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at) - 1;
    else if (character === '{' || character === '[') depth++;
    else if (depth === 0 && (character === ',' || character === '}' || character === ']')) return at;
    else if (character === '}' || character === ']') depth--;
  }
  return text.length;
}

/** Where a string of valid JSON ends that starts at `start`. */
export function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
