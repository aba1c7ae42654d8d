import type { Deps } from '#api/deps.ts';
import { listSignable } from '#api/store/payouts.ts';
import { traceOfPayout } from '#api/store/traces.ts';
import { walletAddress } from '#api/payouts/rules/wallets.ts';
import type { TransferSigner } from '#shared/chains/chain.ts';
import { openSigner } from '#shared/chains/signers.ts';
import { spanWithin } from '#shared/platform/tracing.ts';
import { signPayout } from './sign-payout.ts';

const POLL_MILLISECONDS = 250;
/** A payout that must wait is tried again after this long. */
const WAIT_MILLISECONDS = 3_000;
const ROLES = ['hot', 'funding', 'held'] as const;

export interface Signer {
  /** Finishes the current payout, then stops. */
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
 * Signs planned payouts one at a time until it is stopped. A wallet's nonces are signed in order, and each pass takes only the next one of every
 * wallet.
 * Postgres says what is planned; this process keeps no state that must survive a crash.
 */
export function startSigner(deps: Deps, signers: ReadonlyMap<string, TransferSigner>): Signer {
  const networkIds = [...deps.chains.values()].map((chain) => chain.id);
  const waitingUntil = new Map<string, number>();
  let stopping = false;
  let rouse: () => void = () => undefined;

  const pass = async (): Promise<boolean> => {
    let progress = false;
    for (const id of await listSignable(deps.db.sql, networkIds)) {
      if (stopping) return false;
      if ((waitingUntil.get(id) ?? 0) > deps.wallClock()) continue;
      waitingUntil.delete(id);
      const sign = () => signPayout(deps, signers, id);
      const outcome = await spanWithin(await traceOfPayout(deps.db.sql, id), 'payout.sign', { payout: id }, sign).catch((error: unknown) => {
        deps.log.warn({ err: error, payout: id }, 'signing failed');
        return 'failed' as const;
      });
      if (outcome === 'signed') progress = true;
      else if (outcome !== 'gone') waitingUntil.set(id, deps.wallClock() + WAIT_MILLISECONDS);
    }
    return progress;
  };

  const loop = async (): Promise<void> => {
    while (!stopping) {
      try {
        if (await pass()) continue;
      } catch (error) {
        deps.log.warn({ err: error }, 'signing pass failed');
      }
      if (stopping) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL_MILLISECONDS);
        rouse = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const running = loop();
  return {
    stop: async () => {
      stopping = true;
      rouse();
      await running;
    },
  };
}
