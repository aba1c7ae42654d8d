import { translator } from '../messages.ts';
import { type CheckoutActions, type CheckoutProps, type CopyTarget, type HydrationData, initialProps, type Problem } from '../model.ts';
import type { Scenario, Snapshot } from '../snapshot.ts';
import { isResting, returnsByItself, shownState, stateOf } from '../state.ts';
import { isOldNews, serviceClock } from './clock.ts';
import { type Connection, type ConnectionEffects, connect, type Health } from './connection.ts';
import { injectedTransfer } from '../injected-transfer.ts';
import type { InjectedWallets } from './injected-wallets.ts';
import type { TabMemory } from './memory.ts';
import { payWithWallet } from './pay-with-wallet.ts';
import { openReturn } from './returning.ts';
import { selectOffer } from './selecting.ts';
import { speech } from './speech.ts';
import { timeNotices } from './time-notices.ts';
import type { CommandAnswer } from './wire.ts';

/** The effects that a page needs of its browser. */
export interface PageEffects extends Omit<ConnectionEffects, 'pollEveryMs'> {
  draw(props: CheckoutProps): void;
  /** Sends `{path}/{command}` (checkout.yaml). */
  send(command: 'select' | 'simulate', body: object): Promise<CommandAnswer>;
  copyText(text: string): Promise<boolean>;
  isVisible(): boolean;
  memory: TabMemory;
  /** The wallets of this browser; `changed` is called when there are others. */
  findWallets(changed: () => void): InjectedWallets;
  /** Goes to the merchant's page. */
  leaveFor(url: string): void;
  reload(): void;
  /** Opens the same page in another language. */
  openIn(language: string, choosing: boolean): void;
  /** Makes a reload show what is shown. */
  rememberChoosing(choosing: boolean): void;
  /** For whoever watches from outside. */
  tellHealth(health: Health): void;
}

/** What a browser tells the page. */
export interface LivePage {
  /** The tab is looked at again, the network is back, the device woke up. */
  returned(): void;
  left(): void;
  offline(): void;
}

/** ux C6. */
const POLL_MS = 3_000;
/** Of a page that nobody looks at, or on which nothing more is expected. */
const IDLE_POLL_MS = 15_000;
const TICK_MS = 1_000;
/** A tick that comes so much later than it should says that the device slept, which is not an event of its own. */
const SLEPT_MS = 5_000;
/** How long a copy button says that it copied. */
const COPIED_MS = 3_000;

/**
 * Brings a rendered page to life (ux C5–C7, C11): keeps its snapshot right, its times running, and does what the payer asks.
 * Holds all that changes, and draws whenever it does.
 * @param heardAt when the page's first byte came, by the browser's clock: its snapshot was true then
 */
export function openLivePage(effects: PageEffects, data: HydrationData, heardAt: number): LivePage {
  const translate = translator(data.language);
  const clock = serviceClock(effects.clock, { serverTime: data.snapshot.serverTime, at: heardAt });
  const speak = speech(effects.after, (spoken) => change({ spoken }));
  const sayTime = timeNotices(effects.memory, (minutes) => {
    const key = data.snapshot.payment.openAmount ? 'say.minutes-open' : 'say.minutes';
    speak(minutes === 0 ? translate('say.time-over') : translate(key, { count: minutes }));
  });
  // Who opens the page of a payment that was paid before wants to read it.
  const wasPaid = returnsByItself(stateOf(data.snapshot, clock.now(), data.choosing));
  const wayBack = openReturn({
    ...effects,
    isDue: () => !wasPaid && returnsByItself(state()),
    show: (returning) => change({ returning }),
    tell: (seconds) => speak(translate('returning.soon', { seconds, merchant: props.snapshot.merchant.name })),
    leave: () => effects.leaveFor(props.snapshot.returnUrl),
  });
  let props = initialProps(data);
  let health: Health = 'polling';
  let asked: Problem | null = data.problem;
  let stopSelecting = (): void => {};
  let selectingSince = 0;
  let cancelCopied = (): void => {};
  let isAsking = false;
  let tickedAt = effects.clock();

  const state = () => shownState({ ...props, now: clock.now() });
  const isIdle = () => !effects.isVisible() || isResting(state());

  function change(part: Partial<CheckoutProps>): void {
    props = { ...props, ...part, now: clock.now() };
    props = { ...props, ...lookForWallets() };
    effects.draw(props);
  }

  const problemNow = (): Problem | null => asked ?? (health === 'unavailable' ? { kind: 'unavailable' } : null);

  function showProblem(problem: Problem | null): void {
    asked = problem;
    change({ problem: problemNow() });
  }

  function onHealth(next: Health): void {
    if (next === health) return;
    const wasLost = health === 'lost';
    health = next;
    effects.tellHealth(health);
    change({ connectionLost: health === 'lost', problem: problemNow() });
    if (wasLost) speak(translate('say.connected'));
  }

  /** The server's page says why, once: something in between may refuse the snapshot alone, again and again. */
  function onRefused(): void {
    if (effects.memory.has('reloaded')) return;
    effects.memory.add('reloaded');
    effects.reload();
  }

  function onSnapshot(snapshot: Snapshot): void {
    clock.correct(snapshot.serverTime);
    if (isOldNews(Date.parse(snapshot.serverTime), Date.parse(props.snapshot.serverTime))) return;
    const before = stateOf(props.snapshot, clock.now(), props.choosing);
    // What was copied before belongs to the offer that was shown.
    const copied = snapshot.payment.selectedOfferId === props.snapshot.payment.selectedOfferId ? props.copied : null;
    props = { ...props, snapshot, copied };
    // What went wrong with a choice is no news on another screen.
    if (stateOf(snapshot, clock.now(), props.choosing) !== before) asked = null;
    if (props.selecting && !isWaitingFor(props.selecting.offerId)) {
      stopSelecting();
      asked = null;
      props = { ...props, selecting: null };
    }
    change({ problem: problemNow() });
    wayBack.look();
  }

  /** True while there is something to wait for between a choice and its address. */
  function isWaitingFor(offerId: string): boolean {
    const { payment, pendingDeposit } = props.snapshot;
    const isReady = payment.selectedOfferId === offerId && payment.offers.some((offer) => offer.id === offerId && offer.depositAddress !== undefined);
    return payment.status === 'PENDING' && !pendingDeposit && !isReady;
  }

  function select(offerId: string): void {
    stopSelecting();
    const before = props.snapshot.payment.selectedOfferId;
    const wasChoosing = props.choosing;
    selectingSince = effects.clock();
    effects.rememberChoosing(false);
    change({ choosing: false, selecting: { offerId, elapsedMs: 0 } });
    stopSelecting = selectOffer(
      {
        send: (id) => effects.send('select', { offerId: id }),
        refresh: connection.refresh,
        after: effects.after,
        isWanted: (id) => [id, before].includes(props.snapshot.payment.selectedOfferId),
      },
      {
        problem: showProblem,
        ended: (isFailed) => {
          // Back to the question: under an alert, the address of what was chosen before would look like the answer.
          const choosing = isFailed && wasChoosing;
          effects.rememberChoosing(choosing);
          change({ selecting: null, choosing });
        },
      },
      offerId,
    );
  }

  function choose(choosing: boolean): void {
    stopSelecting();
    effects.rememberChoosing(choosing);
    asked = null;
    change({ choosing, selecting: null, problem: problemNow() });
    const first = firstSelect(props);
    if (first !== null) select(first);
  }

  async function simulate(scenario: Scenario): Promise<void> {
    showProblem(null);
    const answer = await effects.send('simulate', { scenario });
    if (answer.kind === 'later' && answer.reason === 'busy') {
      showProblem({ kind: 'busy', ...(answer.waitMs === null ? {} : { retryAfterSeconds: Math.ceil(answer.waitMs / 1_000) }) });
    } else if (answer.kind !== 'done' && answer.kind !== 'working') showProblem({ kind: 'simulate-failed' });
    await connection.refresh();
  }

  async function copy(target: CopyTarget, text: string): Promise<void> {
    const isCopied = await effects.copyText(text);
    cancelCopied();
    change({ copied: isCopied ? target : null });
    speak(translate(isCopied ? `copied.${target}` : 'say.copy-failed'));
    cancelCopied = effects.after(COPIED_MS, () => change({ copied: null }));
  }

  /** What was sent is not offered to be sent again, also after a reload; which transfer it was is part of the fact. */
  const sentFact = (transfer: object): string => `wallet-sent:${JSON.stringify(transfer)}`;
  /** Stays when the page goes away, or the wallet fails, before it said what became of it. */
  const askedFact = (transfer: object): string => `wallet-asked:${JSON.stringify(transfer)}`;

  /** A wallet that was asked before the page was loaded anew may have sent: nobody should ask it again unwarned. */
  function wasAsked(): boolean {
    const transfer = injectedTransfer(props.snapshot, state());
    return transfer !== null && effects.memory.has(askedFact(transfer)) && !effects.memory.has(sentFact(transfer));
  }

  /** What the page shows of wallets, from what there is to be paid now. */
  function lookForWallets(): Pick<CheckoutProps, 'wallets' | 'walletAsked'> {
    const transfer = injectedTransfer(props.snapshot, state());
    if (transfer === null) return { wallets: [], walletAsked: null };
    if (effects.memory.has(sentFact(transfer))) return { wallets: [], walletAsked: 'sent' };
    return { wallets: injected.listed(), walletAsked: isAsking ? 'asking' : null };
  }

  async function payWith(walletId: string): Promise<void> {
    const provider = injected.provider(walletId);
    const transfer = injectedTransfer(props.snapshot, state());
    if (provider === undefined || transfer === null || isAsking || effects.memory.has(sentFact(transfer))) return;
    isAsking = true;
    effects.memory.add(askedFact(transfer));
    showProblem(null);
    const outcome = await payWithWallet(provider, () => injectedTransfer(props.snapshot, state()));
    isAsking = false;
    if (outcome !== 'failed') effects.memory.forget(askedFact(transfer));
    if (outcome === 'sent') {
      effects.memory.add(sentFact(transfer));
      speak(translate('wallet.sent'));
    }
    showProblem(outcome === 'failed' ? { kind: 'wallet-failed' } : outcome === 'wrong-network' ? { kind: 'wallet-network' } : null);
  }

  const actions: CheckoutActions = {
    payWith: (walletId) => void payWith(walletId),
    select,
    choose,
    simulate: (scenario) => void simulate(scenario),
    copy: (target, text) => void copy(target, text),
    stopReturning: wayBack.stop,
    changeLanguage: (tag) => effects.openIn(tag, props.choosing),
  };

  function lookAtTime(): void {
    if (!effects.isVisible()) return;
    const { payment, pendingDeposit } = props.snapshot;
    const left = Date.parse(payment.expiresAt) - clock.now();
    const isOver = left <= 0 && !pendingDeposit && ['PENDING', 'EXPIRED'].includes(payment.status);
    sayTime({ left, isShown: ['open', 'pay', 'ending'].includes(state()), isOver });
  }

  function tick(): void {
    const late = effects.clock() - tickedAt - TICK_MS;
    tickedAt = effects.clock();
    // Set back, a clock gives more time than there is; that is found out in the same way.
    if (Math.abs(late) > SLEPT_MS && effects.isVisible()) connection.returned();
    lookAtTime();
    const { selecting } = props;
    if (selecting) props = { ...props, selecting: { ...selecting, elapsedMs: effects.clock() - selectingSince } };
    if (!isIdle() || state() !== shownState(props)) change({});
    effects.after(untilNextSecond(Date.parse(props.snapshot.payment.expiresAt) - clock.now()), tick);
  }

  const injected = effects.findWallets(() => {
    if (props.actions !== null) change({});
  });
  effects.tellHealth(health);
  const connection: Connection = connect(
    { ...effects, pollEveryMs: () => (isIdle() ? IDLE_POLL_MS : POLL_MS) },
    { snapshot: onSnapshot, serverTime: clock.correct, health: onHealth, refused: onRefused },
  );
  effects.draw(props);
  asked ??= wasAsked() ? { kind: 'wallet-failed' } : null;
  change({ timeZone: undefined, actions, problem: problemNow() });
  wayBack.look();
  const first = firstSelect(props);
  if (first !== null) select(first);
  tick();

  return {
    returned: () => {
      tickedAt = effects.clock();
      connection.returned();
      change({});
    },
    left: () => {
      wayBack.left();
      connection.left();
    },
    offline: connection.offline,
  };
}

/** What is chosen without the payer: the only offer there is (ux C1), or the one whose address is still being prepared. */
function firstSelect({ snapshot, now, choosing }: CheckoutProps): string | null {
  const state = stateOf(snapshot, now, choosing);
  if (state === 'preparing') return snapshot.payment.selectedOfferId;
  const only = snapshot.payment.offers.length === 1 ? snapshot.payment.offers[0] : undefined;
  return state === 'choose' && !choosing && only ? only.id : null;
}

/** Milliseconds until the remaining time has one second less, and a little, since timers may be early. */
function untilNextSecond(remainingMs: number): number {
  return (((remainingMs % TICK_MS) + TICK_MS) % TICK_MS) + 5;
}
