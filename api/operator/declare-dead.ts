import type { Deps, Reply } from '#api/deps.ts';
import { say } from '#api/intents/say.ts';
import { DEATH, deathSubject } from '#api/signer/death.ts';
import { invalid } from '#shared/core/errors.ts';
import type { Act } from './act.ts';
import type { OperatorCall } from './deps.ts';
import { fieldsOf, readText } from './input.ts';
import { propose } from './propose.ts';

const MAX_REASON = 500;
const MAX_SLOT = 160;
/** As the signer names it in the reason it does not sign for. */
const SLOT = /^(nonce:[0-9A-Za-z]{20,100}:\d{1,15}|output:[0-9a-f]{64}:\d{1,10}|txid:(0x)?[0-9a-f]{64})$/;

/**
 * POST /deaths: proposes to tell the signer that what it signed for one nonce, output or transaction will never be mined, where it finds no two
 * providers who say so (decisions 10). Nothing is told before a second person confirms it.
 * @throws validation_error naming network, slot or reason
 */
export async function proposeDeath(deps: Deps, call: OperatorCall): Promise<Reply> {
  const fields = fieldsOf(call.body);
  const network = readText(fields, 'network');
  if (!deps.chains.has(network)) throw invalid('network', 'is no network of this deployment');
  const slot = readText(fields, 'slot', MAX_SLOT);
  if (!SLOT.test(slot)) throw invalid('slot', 'must be nonce:<wallet>:<nonce>, output:<txid>:<vout> or txid:<txid>, as the signer says it');
  return propose(deps, { act: 'death.declare', target: slot, content: { network, slot }, reason: readText(fields, 'reason', MAX_REASON) });
}

/** Signs what two people say about a slot; a provider that saw it pay is believed by the signer all the same. */
export const declareDead: Act = {
  async execute(tx, deps, { proposal, confirmedBy }) {
    const { network, slot } = proposal.content as { network: string; slot: string };
    const { proposedBy, reason } = proposal;
    const subject = deathSubject({ network, slot });
    // By the clock of this machine, as the journal's times are of the signer's: no row may move it into what is signed later.
    const at = String(Date.now());
    await say(tx, deps, { kind: DEATH, subject, said: { proposal: proposal.id, proposedBy, confirmedBy, reason, at } });
    return { statement: subject };
  },
};
