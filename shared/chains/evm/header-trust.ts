import type { HeaderUnproven } from './replies.ts';

/**
 * Whether a header is believed although nothing proves it (decision 0039). `told twice`: as if its hash proved it. `accepted`: it is read, but its
 * roots are one provider's word, and so prove nothing. False: it is not believed.
 */
export type HeaderTrust = (unproven: HeaderUnproven) => Promise<'told twice' | 'accepted' | false>;

/** Which header fields two people accepted, by now; asked only about a header that nothing proves. */
export type AcceptedFields = () => Promise<ReadonlySet<string>>;

/** Headers of which it is remembered who told them; a fork's fields are in every one. */
const REMEMBERED = 1_000;

/**
 * Believes a header that nothing proves once two providers told the very same one, or when two people accepted every field in it that nobody here
 * knows. One is made for all endpoints of a network; each asks under the name of its provider. Of a single provider, of `providers`, an accepted
 * header counts as told twice: nobody else can be asked, and accepting the field is to believe it.
 */
export function openHeaderTrust(accepted: AcceptedFields, providers: number): (provider: string) => HeaderTrust {
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
      if (known.size > 1) return 'told twice';
      const names = await accepted();
      if (!unknownFields.every((field) => names.has(field))) return false;
      // With an accepted field anybody can tell any content under the hash of a real block, which others tell too.
      return providers > 1 ? 'accepted' : 'told twice';
    };
}
