import type { SentJson } from '#shared/core/sent-json.ts';

/** One key of a cashout's metadata as it is shown to the person who approves it. */
export interface MetadataLine {
  key: string;
  value: string;
}

/**
 * What could make a line look like something else: control characters, what reverses or hides text, line ends, tags, and
 * half surrogate pairs.
 */
const DECEIVING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\u{e0000}-\u{e0fff}]|\p{Default_Ignorable_Code_Point}/gu;

/**
 * The metadata of a cashout key by key, `requester` first and the others by name, safe to be shown anywhere: whatever
 * deceives the eye or a terminal is written as its code point (contract 4.3). Nothing is left out.
 */
export function metadataLines(metadata: SentJson | null): MetadataLine[] {
  const members = metadata?.members() ?? [];
  members.sort(([a], [b]) => Number(b === 'requester') - Number(a === 'requester') || (a < b ? -1 : 1));
  return members.map(([key, text]) => ({ key: shown(key), value: shown(text.startsWith('"') ? (JSON.parse(text) as string) : text) }));
}

function shown(text: string): string {
  return text.replace(DECEIVING, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`);
}
