import { visibleText } from '#shared/core/visible-text.ts';
import type { SentJson } from '#shared/core/sent-json.ts';

/** One key of a cashout's metadata as it is shown to the person who approves it. */
export interface MetadataLine {
  key: string;
  value: string;
}

/**
 * The metadata of a cashout key by key, `requester` first and the others by name, safe to be shown anywhere: whatever
 * deceives the eye or a terminal is written as its code point (contract 4.3). Nothing is left out.
 */
export function metadataLines(metadata: SentJson | null): MetadataLine[] {
  const members = metadata?.members() ?? [];
  members.sort(([a], [b]) => Number(b === 'requester') - Number(a === 'requester') || (a < b ? -1 : 1));
  return members.map(([key, text]) => ({ key: visibleText(key), value: visibleText(text.startsWith('"') ? (JSON.parse(text) as string) : text) }));
}
