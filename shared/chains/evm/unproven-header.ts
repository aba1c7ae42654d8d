import { ChainUnavailable } from '../chain.ts';

/** A header whose fields do not give its hash, with some among them that may belong to a fork nobody here has heard of. */
export interface UnprovenHeader {
  height: number;
  hash: string;
  /** The names of those fields, in their order. */
  fields: readonly string[];
  /** All that was told of it, the same text for the same header. */
  told: string;
}

/** Whether a header is believed although nothing proves it (decision 0039). */
export type HeaderTrust = (header: UnprovenHeader) => boolean;

/** Refuses a header that nobody vouched for: asking the same node again changes nothing, another one or two people may. */
export function waitFor({ height, fields }: UnprovenHeader): never {
  throw new ChainUnavailable(
    `the header of block ${height} has fields that this release does not know (${fields.join(', ')}), so that its hash cannot be proven: ` +
      'it is read when a second provider tells the same header, or when two people accept these fields',
    { trouble: 'refused', unknownFields: fields },
  );
}
