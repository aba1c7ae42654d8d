import type { ScreeningQuestion } from '#api/clients/screening/provider.ts';
import type { Chain, DepositScreen, DepositToScreen, DestinationToScreen, Gateway, Screening } from '#api/deps.ts';
import type { ScreeningSubject } from '#api/store/screenings.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { Screen } from '#state-machines/settlement/settlement.ts';
import { buyVerdict, type ScreeningDeps } from './purchase.ts';
import { findSanctioned } from './sanctioned.ts';
import { tendScreenings } from './tend.ts';

/** Screening as every use case is given it. */
export function openScreening(deps: ScreeningDeps): Screening {
  for (const result of ['verdict', 'error']) deps.metrics?.amlScreens.inc({ provider: deps.sources.provider.name, result }, 0);
  return {
    destination: (input) => screenDestination(deps, input),
    deposit: (input) => screenDeposit(deps, input),
    tend: () => tendScreenings(deps),
    sources: () => ({ provider: deps.sources.provider.name, sanctioned: deps.sources.sanctions?.size() ?? null }),
  };
}

/**
 * The score of a destination, bought at most once a day per gateway and address (decisions 10). The sanctions list speaks
 * first and for nothing, also over a verdict that was bought. Locks the gateway's credits for moments.
 */
async function screenDestination(deps: ScreeningDeps, input: DestinationToScreen): Promise<Screen> {
  requireScreening(input.gateway);
  const subject: ScreeningSubject = { ...whose(input), address: input.address, depositId: null };
  const sanctioned = await findSanctioned(deps, subject, [input.address]);
  if (sanctioned !== undefined) return { score: sanctioned.score };
  const bought = await buyVerdict(deps, {
    subject,
    question: { ...about(input), direction: 'withdrawal', address: input.chain.codec.display(input.address) },
    patient: true,
  });
  if (bought === 'pending') return 'unavailable';
  return typeof bought === 'string' ? bought : { score: bought.score };
}

/** The score of a deposit, bought once for all time. A check that the provider still works on is asked for again when somebody asks again. */
async function screenDeposit(deps: ScreeningDeps, input: DepositToScreen): Promise<DepositScreen> {
  requireScreening(input.gateway);
  const { chain, depositId, txid, recipient, senders } = input;
  const subject: ScreeningSubject = { ...whose(input), address: recipient, depositId };
  const bought =
    (await findSanctioned(deps, subject, senders)) ??
    (await buyVerdict(deps, {
      subject,
      question: { ...about(input), direction: 'deposit', txid, recipient: chain.codec.display(recipient), senders: senders.map(chain.codec.display) },
      patient: false,
    }));
  return typeof bought === 'string' ? bought : { score: bought.score, ref: bought.id };
}

function whose({ gateway, chain }: { gateway: Gateway; chain: Chain }): { gatewayId: string; networkId: string } {
  return { gatewayId: gateway.id, networkId: chain.id };
}

function about({ chain, amountUsd }: Pick<DestinationToScreen, 'chain' | 'amountUsd'>): Pick<ScreeningQuestion, 'network' | 'amountUsd'> {
  return { network: chain.config, ...(amountUsd !== undefined && { amountUsd }) };
}

/** Nothing is spent for a gateway that did not ask for it. */
function requireScreening(gateway: Gateway): void {
  if (!gateway.settings.screening.enabled) throw new Invariant(`gateway ${gateway.id} does not screen, and was to be screened for`);
}
