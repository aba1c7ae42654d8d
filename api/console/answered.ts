import type { Echoed } from '#api/console/page/model.ts';
import { SentJson, withSent } from '#shared/core/sent-json.ts';

/** An answer as a client of the API gets it. */
export function answered<T>(answer: unknown): T {
  return JSON.parse(withSent(JSON.stringify(answer))) as T;
}

/** What the merchant stored, member by member, each value as it was sent. */
export function echoed(kind: Echoed['kind'], sent: unknown): Echoed[] {
  return sent instanceof SentJson && sent.text.startsWith('{') ? sent.members().map(([name, value]) => ({ kind, name, value })) : [];
}
