import type { Tx } from '#shared/platform/postgres.ts';

/** A header field that two people accept for a network (decision 0039). */
export interface AcceptedHeaderField {
  networkId: string;
  field: string;
  proposalId: string;
  /** Both of them. */
  acceptedBy: string;
}

/** Writes it down; one that is accepted already stays as it is. */
export async function insertAcceptedHeaderField(tx: Tx, { networkId, field, proposalId, acceptedBy }: AcceptedHeaderField): Promise<void> {
  await tx`insert into accepted_header_fields (network_id, field, proposal_id, accepted_by) values (${networkId}, ${field}, ${proposalId}, ${acceptedBy})
    on conflict (network_id, field) do nothing`;
}
