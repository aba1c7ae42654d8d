import { createLogoClient, type Logo, type LogoClient } from '#api/clients/merchant-logo.ts';
import type { Deps, Reply } from '#api/deps.ts';
import { loadHostedPayment } from '#api/payments/load.ts';
import { selectHostedOffer } from '#api/payments/select-offer.ts';
import { type Simulation, simulatePayment } from '#api/payments/simulate.ts';
import { webhookPolicy } from '#api/payments/webhook-policy.ts';
import { findLogo } from '#api/store/gateway-logos.ts';
import { findGateway } from '#api/store/gateways.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { coalesce } from './coalesce.ts';
import { mailReceipt, mailsReceiptOf, type ReceiptToMail } from './mail-receipt.ts';
import type { Snapshot } from './page/snapshot.ts';
import { type HostedPayment, readHosted } from './read-snapshot.ts';

/** Half of the pool of transactions: however many pages ask, the other half is there for what is paid. */
const READS_AT_ONCE = 10;
/** Longer than a busy database takes, and shorter than a payer waits before an empty window. */
const PATIENCE_MS = 8_000;

/** All that a hosted page can ask for, over whichever channel; each throws not_found, and forbidden for a payment in API mode. */
export interface HostedCheckout {
  /** Answers what was so after the question; whoever asks for the same payment at once shares one read. @throws service_unavailable when the database says nothing */
  read(deps: Deps, paymentId: string): Promise<HostedPayment>;
  /** 200 once the address is watched, 202 until then (contract 2.5). @throws conflict, service_unavailable */
  select(deps: Deps, call: { paymentId: string; offerId: string }): Promise<Reply>;
  /** @throws conflict, validation_error, service_unavailable */
  simulate(deps: Deps, call: { paymentId: string; clientIp: string; simulation: Simulation }): Promise<void>;
  /** The merchant's logo; null where there is none to show. */
  logo(deps: Deps, paymentId: string): Promise<Logo | null>;
  /** Whether the receipt of such a payment can be asked for by mail. */
  mailsReceiptOf(snapshot: Snapshot): boolean;
  /** False where the payment had as many today as it gets; what it says of the address is nothing. */
  mailReceipt(deps: Deps, receipt: ReceiptToMail): Promise<boolean>;
}

/** The hosted checkout over the database, remembering the logos that it fetched; one for all pages of a process. */
export function openHostedCheckout(deps: Deps, { patienceMs = PATIENCE_MS } = {}): HostedCheckout {
  const read = coalesce((paymentId) => readHosted(deps, paymentId), READS_AT_ONCE);
  const logos: LogoClient = createLogoClient({ policy: webhookPolicy(deps.config), now: deps.wallClock });
  return {
    read: (_through, paymentId) => inTime(read(paymentId), patienceMs),
    select: selectHostedOffer,
    simulate: async (through, call) => {
      await loadHostedPayment(through, call);
      await simulatePayment(through, call);
    },
    logo: async (through, paymentId) => {
      const payment = await loadHostedPayment(through, { paymentId });
      const gateway = await findGateway(through.db.sql, payment.gatewayId);
      const { logo = null, logoUrl: url = null } = gateway?.settings.branding ?? {};
      const uploaded = logo === null ? undefined : await findLogo(through.db.sql, payment.gatewayId, logo);
      if (uploaded !== undefined) return uploaded;
      return url === null ? null : logos.logo(url);
    },
    mailsReceiptOf: (snapshot) => mailsReceiptOf(deps.config, snapshot),
    mailReceipt,
  };
}

async function inTime<T>(answer: Promise<T>, patienceMs: number): Promise<T> {
  let late: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(new ServiceError('service_unavailable', { retryAfterSeconds: 5 })), patienceMs);
  });
  return Promise.race([answer, silence]).finally(() => clearTimeout(late));
}
