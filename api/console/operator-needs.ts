import type { ChainLine, Need, OverviewScreen } from '#api/console/page/operator-model.ts';

/** How many of something there are, as far as they were counted. */
export interface Counted {
  count: number;
  more: boolean;
}

/** What the needs of a deployment follow from. */
export interface Facts extends Pick<OverviewScreen, 'chains' | 'freezes' | 'prices' | 'canary' | 'audited'> {
  /** Wall time, which audits and canaries are noted in: the service clock of a development deployment may be weeks ahead. */
  wallNow: string;
  held: Counted;
  proposals: Counted;
  pendingApproval: Counted;
  underfunded: Counted;
  waitingScreening: Counted;
  /** Gateways that asked for screening credit, the last that asked first. */
  creditAsks: readonly { gatewayId: string }[];
  deadJobs: Counted;
  unallocated: Counted;
  unexplained: Counted;
}

/** Blocks a network may be behind its chain's head before somebody should look. */
const BEHIND = 50;
/** Longer than a night without a look at everything that found nothing. */
const AUDIT_HOURS = 36;
/** A canary pays every minute. */
const CANARY_MINUTES = 10;

/** What an operator has to look at, the worst first: what stops cashouts, then what waits for a person, then what may become either. Pure. */
export function needsOf(facts: Facts): Need[] {
  const { freezes, chains, prices } = facts;
  const unknown = freezes.unknownTransactions.reduce((sum, { transactions }) => sum + transactions, 0);
  const signs = freezes.signerJournal === null || freezes.signerJournal.state === 'open';
  return [
    need('frozen', freezes.freezes.length, '/money'),
    need('halted', freezes.haltedWallets.length, '/money'),
    need('signer', signs ? 0 : 1, '/money'),
    need('comparing', freezes.awaitingNetworks.length, '/money'),
    need('unknown-outgoing', unknown, '/cashouts/outgoing'),
    need('unattended', chains.filter(({ led, pausedAt }) => !led && pausedAt === null).length, '/networks'),
    need('behind', chains.filter((chain) => chain.led && lagOf(chain) > BEHIND).length, '/networks'),
    counted('held', facts.held, '/screening'),
    counted('proposed', facts.proposals, '/screening'),
    counted('waiting-approval', facts.pendingApproval, '/cashouts?status=PENDING_APPROVAL'),
    counted('underfunded', facts.underfunded, '/cashouts?status=UNDERFUNDED'),
    counted('waiting-screening', facts.waitingScreening, '/cashouts?status=WAITING_AML_CREDIT'),
    need('credit-asked', facts.creditAsks.length, facts.creditAsks.length === 1 ? `/gateways/${facts.creditAsks[0]?.gatewayId}` : '/audit/acts'),
    counted('dead-jobs', facts.deadJobs, '/jobs?state=dead'),
    counted('unallocated', facts.unallocated, '/deposits?state=unallocated'),
    counted('unexplained', facts.unexplained, '/deposits?state=unexplained'),
    need('prices', prices.unusable.length, '/prices'),
    need('paused', chains.filter(({ pausedAt }) => pausedAt !== null).length, '/networks'),
    need('books', isOld(facts.audited?.oldest ?? null, facts.wallNow, AUDIT_HOURS * 60) ? 1 : 0, '/money'),
    need('canary', isSick(facts) ? 1 : 0, '/jobs'),
  ].filter(({ count }) => count > 0);
}

/** Blocks that were published or are about to be, and that the books do not know yet. Pure. */
export function lagOf({ head, applied }: Pick<ChainLine, 'head' | 'applied'>): number {
  return head === null || applied === null ? 0 : Math.max(0, head - applied);
}

function isSick({ canary, wallNow }: Pick<Facts, 'canary' | 'wallNow'>): boolean {
  return canary !== null && (canary.problem !== null || isOld(canary.succeededAt ?? canary.attemptedAt, wallNow, CANARY_MINUTES));
}

function isOld(at: string | null, now: string, minutes: number): boolean {
  return at !== null && Date.parse(now) - Date.parse(at) > minutes * 60_000;
}

function need(kind: Need['kind'], count: number, path: string): Need {
  return { kind, count, more: false, path };
}

function counted(kind: Need['kind'], { count, more }: Counted, path: string): Need {
  return { kind, count, more, path };
}
