import { ChainUnavailable } from '../chain.ts';
import type { Header } from './replies.ts';

/**
 * A header whose known fields do not give its hash, with some among the others that may belong to a fork nobody here has heard of. Asking the same
 * node again changes nothing; another one, or two people, may.
 */
export class HeaderUnproven extends ChainUnavailable {
  readonly header: Header;
  /** All that was told of it, the same text for the same header. */
  readonly told: string;
  constructor(header: Header, fields: readonly string[], told: string) {
    super(
      `the header of block ${header.height} has fields that this release does not know (${fields.join(', ')}), so that its hash cannot be proven: ` +
        'it is read when a second provider tells the same header, or when two people accept these fields',
      { trouble: 'refused', unknownFields: fields },
    );
    this.name = 'HeaderUnproven';
    this.header = header;
    this.told = told;
  }
}

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
