import type { Deps, Reply } from '#api/deps.ts';
import { insertAcceptedHeaderField } from '#api/store/chain-blocks.ts';
import { Invariant, invalid } from '#shared/core/errors.ts';
import type { Act } from './act.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readText } from './input.ts';
import { propose } from './propose.ts';

const MAX_REASON = 500;
const MAX_FIELD = 64;
/** As nodes name the fields of a header. */
const FIELD = /^[A-Za-z][A-Za-z0-9]{0,63}$/;

/**
 * POST /header-fields: proposes to believe headers of a network that have a field which this release does not know, although nothing proves their
 * hash (decision 0039). Nothing is believed before a second person confirms it.
 * @throws validation_error naming network, field or reason
 */
export async function proposeHeaderField(deps: Deps, call: OperatorCall): Promise<Reply> {
  const fields = fieldsOf(call.body);
  const network = readText(fields, 'network');
  if (deps.chains.get(network)?.config.family !== 'evm') throw invalid('network', 'is no EVM network of this deployment');
  const field = readText(fields, 'field', MAX_FIELD);
  if (!FIELD.test(field)) throw invalid('field', 'must be the name of a field as nodes write it');
  return propose(deps, {
    act: 'header-field.accept',
    target: `${network} ${field}`,
    content: { network, field },
    reason: readText(fields, 'reason', MAX_REASON),
  });
}

/** Writes down what two people accept; every process that reads the network heeds it within its next look at a header. */
export const acceptHeaderField: Act = {
  async execute(tx, deps, { proposal, confirmedBy }) {
    const { network, field } = proposal.content as { network: string; field: string };
    const chain = deps.chains.get(network);
    if (chain === undefined) throw new Invariant(`${network} is no network of this deployment any more`);
    await insertAcceptedHeaderField(tx, { networkId: chain.id, field, proposalId: proposal.id, acceptedBy: `${proposal.proposedBy}, ${confirmedBy}` });
    return { network, field };
  },
};
