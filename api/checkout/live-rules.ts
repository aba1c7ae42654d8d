import type { Snapshot } from './page/snapshot.ts';

/** A moment later than a deadline, so that whoever looks then is past it. */
const PAST_MS = 50;

/** What a snapshot says beside its time: as long as it is the same, there is nothing to show. Pure. */
export function contentOf({ serverTime: _, ...content }: Snapshot): string {
  return JSON.stringify(content);
}

/**
 * Whether a payment may look different when a network moves on: its coins wait there for confirmations, or its address there
 * waits to be watched. Pure.
 */
export function isConcerned({ payment, pendingDeposit }: Snapshot, network: string): boolean {
  if (pendingDeposit !== null) return pendingDeposit.network === network;
  if (payment.status !== 'PENDING' || payment.selectedOfferId === null) return false;
  return payment.offers.some((offer) => offer.id === payment.selectedOfferId && offer.assetNetwork === network && offer.depositAddress === undefined);
}

/** How long until a payment is worth another look without any news of it, in milliseconds. Pure. */
export function nextLook({ serverTime, payment, graceEndsAt, pendingDeposit }: Snapshot, pace: { open: number; resting: number }): number {
  const now = Date.parse(serverTime);
  const moves = payment.status === 'PENDING' || pendingDeposit !== null || (payment.status === 'EXPIRED' && Date.parse(graceEndsAt) > now);
  const ahead = (payment.status === 'PENDING' || payment.status === 'EXPIRED' ? [payment.expiresAt, graceEndsAt] : [])
    .map((moment) => Date.parse(moment) - now)
    .filter((wait) => wait >= 0);
  return Math.min(moves ? pace.open : pace.resting, ...ahead.map((wait) => wait + PAST_MS));
}
