import type { HeaderUnproven } from './replies.ts';

/** Whether a header is believed although nothing proves it (decision 0039). */
export type HeaderTrust = (unproven: HeaderUnproven) => Promise<boolean>;

/** Which header fields two people accepted, by now; asked only about a header that nothing proves. */
export type AcceptedFields = () => Promise<ReadonlySet<string>>;

/** Headers of which it is remembered who told them; a fork's fields are in every one. */
const REMEMBERED = 1_000;

/**
 * Believes a header that nothing proves once two providers told the very same one, or when two people accepted every field in it that nobody here
 * knows. One is made for all endpoints of a network; each asks under the name of its provider.
 */
export function openHeaderTrust(accepted: AcceptedFields): (provider: string) => HeaderTrust {
  const tellers = new Map<string, Set<string>>();
  return (provider) =>
    async ({ told, unknownFields }) => {
      const known = tellers.get(told) ?? new Set();
      known.add(provider);
      tellers.delete(told);
      tellers.set(told, known);
      for (const oldest of tellers.keys()) {
        if (tellers.size <= REMEMBERED) break;
        tellers.delete(oldest);
      }
      if (known.size > 1) return true;
      const names = await accepted();
      return unknownFields.every((field) => names.has(field));
    };
}
