import { groupBy } from '#shared/core/group-by.ts';
import type { Database } from '#shared/platform/postgres.ts';
import { together } from '#shared/platform/together.ts';
import { listActiveAssets, listCurrencies, type StoredAsset } from './assets.ts';
import { type DepositAddress, listDepositAddressesOf } from './deposit-addresses.ts';
import { findApiKeys, findGateways, type StoredApiKey, type StoredGateway } from './gateways.ts';
import { findStoredReplies, type IdempotencyScope, nameOfScope, scopeOf, type StoredReply } from './idempotency.ts';
import { listPaymentDeposits, listPaymentDepositsOf, type PaymentDeposit } from './payment-deposits.ts';
import { listOffersOf, type Offer } from './payment-offers.ts';
import { findPayments, type Payment } from './payments.ts';
import { listSandboxDeposits, listSandboxDepositsOf } from './sandbox-deposits.ts';
import { asSent, hasParams, listSent } from './sent-json.ts';

/** A payment that more arrived for is read by itself: anybody can send dust to an address, and nobody else is to wait for what that takes. */
const DEPOSITS_READ_TOGETHER = 16;

/**
 * What nearly every request asks first. Requests of one moment share a statement, and each still gets what was true after it asked: nothing is
 * remembered. Locks nothing.
 */
export interface SharedReads {
  /** A key by its public half, with its gateway; revoked ones included. */
  apiKey(id: string): Promise<StoredApiKey | undefined>;
  /** True when payments may be priced in `code` (upper case). */
  isActiveCurrency(code: string): Promise<boolean>;
  /** The reply kept under an Idempotency-Key; undefined when none was committed. */
  storedReply(scope: IdempotencyScope): Promise<StoredReply | undefined>;
  /** The active assets among `ids` (all active ones when null), as a gateway's settings name them, by network and symbol. */
  enabledAssets(ids: readonly string[] | null): Promise<StoredAsset[]>;
  /** A gateway by its id. */
  gateway(id: string): Promise<StoredGateway | undefined>;
  /** A payment by its id, whoever's it is. */
  payment(id: string): Promise<Payment | undefined>;
  /** A payment's offers in listing order. */
  offers(paymentId: string): Promise<readonly Offer[]>;
  /** A payment's addresses, oldest first. */
  addresses(paymentId: string): Promise<readonly DepositAddress[]>;
  /** What arrived for a payment, simulated where it is of the sandbox, in chain order. */
  deposits(payment: Pick<Payment, 'id' | 'sandbox'>): Promise<readonly PaymentDeposit[]>;
  /** The same payment with what its merchant stored with it as it was sent. */
  withParams(payment: Payment): Promise<Payment>;
}

const ofDatabase = new WeakMap<Database, SharedReads>();

/** The reads that share statements on one connected database. */
export function sharedReads(db: Database): SharedReads {
  const known = ofDatabase.get(db);
  if (known !== undefined) return known;
  const apiKey = together(async (ids) => new Map((await findApiKeys(db.sql, ids)).map((key) => [key.id, key])));
  const replies = together(async (names) => findStoredReplies(db.sql, names.map(scopeOf)));
  // Both tables are short, so that all of one costs what a part of it does.
  const currencies = together(async () => new Map([['', new Set((await listCurrencies(db.sql)).flatMap(({ code, active }) => (active ? [code] : [])))]]));
  const assets = together(async () => new Map([['', await listActiveAssets(db.sql)]]));
  const gateways = together(async (ids) => new Map((await findGateways(db.sql, ids)).map((gateway) => [gateway.id, gateway])));
  const payments = together(async (ids) => new Map((await findPayments(db.sql, ids)).map((payment) => [payment.id, payment])));
  const ofPayment = <T extends { paymentId: string }>(list: (ids: readonly string[]) => Promise<readonly T[]>): ((id: string) => Promise<readonly T[]>) => {
    const read = together(async (ids) => groupBy(await list(ids), ({ paymentId }) => paymentId));
    return async (id) => (await read(id)) ?? [];
  };
  const onChain = ofPayment((ids) => listPaymentDepositsOf(db.sql, ids, DEPOSITS_READ_TOGETHER + 1));
  const simulated = ofPayment((ids) => listSandboxDepositsOf(db.sql, ids, DEPOSITS_READ_TOGETHER + 1));
  const documents = together(async (ids) => groupBy(await listSent(db.sql, ids), ({ owner }) => owner));
  const reads: SharedReads = {
    apiKey,
    storedReply: (scope) => replies(nameOfScope(scope)),
    isActiveCurrency: async (code) => (await currencies(''))?.has(code) === true,
    async enabledAssets(ids) {
      const active = (await assets('')) ?? [];
      // They are kept as whoever set them wrote them.
      const named = ids === null ? undefined : new Set(ids.map((id) => id.toLowerCase()));
      return active.filter(({ id }) => named?.has(id) ?? true);
    },
    gateway: gateways,
    // Anybody may write an id in capitals.
    payment: (id) => payments(id.toLowerCase()),
    offers: ofPayment((ids) => listOffersOf(db.sql, ids)),
    addresses: ofPayment((ids) => listDepositAddressesOf(db.sql, ids)),
    async deposits({ id, sandbox }) {
      const some = await (sandbox ? simulated : onChain)(id);
      return some.length > DEPOSITS_READ_TOGETHER ? (sandbox ? listSandboxDeposits : listPaymentDeposits)(db.sql, id) : some;
    },
    withParams: async (payment) => (hasParams(payment) ? asSent(payment, (await documents(payment.id)) ?? []) : payment),
  };
  ofDatabase.set(db, reads);
  return reads;
}
