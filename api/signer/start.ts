import type { Deps } from '#api/deps.ts';
import { type KnownHead, readHeadAndSignable } from '#api/store/signer-journal.ts';
import { traceOfPayout } from '#api/store/traces.ts';
import { walletAddress } from '#api/payouts/rules/wallets.ts';
import type { TransferSigner } from '#shared/chains/chain.ts';
import { openSigner } from '#shared/chains/signers.ts';
import { createBell } from '#shared/platform/bell.ts';
import { spanWithin } from '#shared/platform/tracing.ts';
import { LOOK_MILLISECONDS } from './journal/keep-journal.ts';
import { signPayout } from './sign-payout.ts';

/** How often payouts are looked for while there are any, while no word of them can arrive, and at most, however often somebody says that there are. */
const POLL_MILLISECONDS = 250;
/**
 * The longest that a payout waits of which no word arrived: the process that planned it was killed, or does not say so. A little less than between two looks after the journal, which
 * ask nothing then.
 */
const SAFETY_MILLISECONDS = LOOK_MILLISECONDS - POLL_MILLISECONDS;
/** A payout that must wait is tried again after this long. */
const WAIT_MILLISECONDS = 3_000;
const ROLES = ['hot', 'funding', 'held'] as const;

export interface Signer {
  /** Looks within a quarter of a second, because a payout may have been planned. */
  wake(): void;
  /** Finishes the current payouts, then stops. */
  stop(): Promise<void>;
}

/**
 * Derives the keys of every configured network from the seed, and checks that they are the keys the configuration names.
 * @throws Error naming the network, never the seed, when a wallet or the account xpub does not belong to the seed
 */
export function openSigners(deps: Pick<Deps, 'chains'>, seed: string): Map<string, TransferSigner> {
  const signers = new Map<string, TransferSigner>();
  for (const [name, chain] of deps.chains) {
    const signer = openSigner(chain.config, seed);
    for (const role of ROLES) {
      const expected = walletAddress(chain, role);
      const derived = signer.addressAt(chain.config.wallets[role].path);
      if (derived !== expected) throw new Error(`${name}: the ${role} wallet is configured as ${expected}, but the signer's key for it is ${derived}`);
    }
    const { accountPath, accountXpub } = chain.config;
    // On some families one key has several spellings; then the first two addresses below it are compared.
    const same = (index: number): boolean => chain.deriver.depositAddress(index) === signer.addressAt(`${accountPath}/0/${index}`);
    if (signer.xpubAt(accountPath) !== accountXpub && !(same(0) && same(1))) throw new Error(`${name}: the account xpub does not belong to the signer's seed`);
    signers.set(name, signer);
  }
  return signers;
}

/**
 * Signs planned payouts until it is stopped: one at a time of each network, and all networks side by side, because a payout may wait for its network's
 * nodes. A wallet's nonces are signed in order, and each pass takes only the next one of every wallet.
 * Postgres says what is planned; this process keeps no state that must survive a crash. Whoever plans wakes workers, and this listens to the same word:
 * it says only when to look, never what to sign. `deaf` is true while it may be lost, and then payouts are looked for four times a second. Each look also asks how far Postgres knows
 * the journal, which `hear` is told.
 */
export function startSigner(
  deps: Deps,
  signers: ReadonlyMap<string, TransferSigner>,
  deaf: () => boolean = () => true,
  hear: (head: KnownHead | undefined) => void = () => undefined,
): Signer {
  const networkIds = [...deps.chains.values()].map((chain) => chain.id);
  const waitingUntil = new Map<string, number>();
  /** Networks whose payouts are being signed. */
  const busy = new Map<string, Promise<void>>();
  let stopping = false;
  const bell = createBell(POLL_MILLISECONDS, deaf);

  const signOne = async (id: string): Promise<boolean> => {
    if ((waitingUntil.get(id) ?? 0) > deps.wallClock()) return false;
    waitingUntil.delete(id);
    const sign = () => signPayout(deps, signers, id);
    const outcome = await spanWithin(await traceOfPayout(deps.db.sql, id), 'payout.sign', { payout: id }, sign).catch((error: unknown) => {
      deps.log.warn({ err: error, payout: id }, 'signing failed');
      return 'failed' as const;
    });
    if (outcome !== 'signed' && outcome !== 'gone') waitingUntil.set(id, deps.wallClock() + WAIT_MILLISECONDS);
    return outcome === 'signed';
  };

  const signAll = async (networkId: string, ids: readonly string[]): Promise<void> => {
    let signed = false;
    try {
      for (const id of ids) if (!stopping && (await signOne(id))) signed = true;
    } catch (error) {
      deps.log.warn({ err: error }, 'signing pass failed');
    } finally {
      busy.delete(networkId);
    }
    // Once something was signed, the next nonce of its wallet can be.
    if (signed) bell.ring();
    else bell.ringSoon();
  };

  /** Begins to sign what can be signed; answers after how many milliseconds to look again, at the latest. */
  const pass = async (): Promise<number> => {
    const free = networkIds.filter((networkId) => !busy.has(networkId));
    const askedMs = performance.now();
    const { head, waiting, atMs } = await readHeadAndSignable(deps.db.sql, free);
    deps.hearClock?.(atMs, askedMs);
    hear(head);
    for (const networkId of free) {
      const ids = waiting.filter((one) => one.networkId === networkId).map(({ id }) => id);
      if (ids.length > 0) busy.set(networkId, signAll(networkId, ids));
    }
    return waiting.length > 0 ? POLL_MILLISECONDS : SAFETY_MILLISECONDS;
  };

  const loop = async (): Promise<void> => {
    while (!stopping) {
      let next = POLL_MILLISECONDS;
      try {
        next = await pass();
      } catch (error) {
        deps.log.warn({ err: error }, 'signing pass failed');
      }
      if (!stopping) await bell.rest(next);
    }
    await Promise.all(busy.values());
  };
  const running = loop();
  return {
    wake: bell.ringSoon,
    stop: async () => {
      stopping = true;
      bell.ring();
      await running;
    },
  };
}
