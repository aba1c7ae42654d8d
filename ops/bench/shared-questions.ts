import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { nameOfScope } from '#api/store/idempotency.ts';
import { listOffers, type Offer } from '#api/store/payment-offers.ts';
import { findPayment, type Payment } from '#api/store/payments.ts';
import { type Create, MOST_CREATES, sharedCreates } from '#api/store/shared-creates.ts';
import { sharedReads } from '#api/store/shared-reads.ts';
import { SentJson } from '#shared/core/sent-json.ts';
import type { Database, Tx } from '#shared/platform/postgres.ts';
import type { Subject } from './subject.ts';

/** What requests of one moment share statements for: asked by one of them, and by as many as share one. */
export const SHARED_QUESTIONS: Readonly<Record<string, (subject: Subject) => Promise<unknown>>> = {
  'public read': (subject) => readPayments(subject, [subject.paymentId]),
  'public reads of one moment': (subject) =>
    readPayments(
      subject,
      subject.kept.map(({ paymentId }) => paymentId),
    ),
  'replies to duplicates of one moment': ({ database, kept }) => Promise.all(kept.map((scope) => sharedReads(database).storedReply(scope))),
  'replies nobody has of one moment': ({ database, kept }) =>
    Promise.all(kept.map((scope) => sharedReads(database).storedReply({ ...scope, key: `no ${scope.key}` }))),
  'what a create asks': async ({ database, gatewayId }) => {
    const reads = sharedReads(database);
    await Promise.all([reads.apiKey(randomUUID()), reads.gateway(gatewayId), reads.isActiveCurrency('USD'), reads.enabledAssets(null)]);
  },
  'a create': (subject) => writePayments(subject, 1),
  'creates of one moment': (subject) => writePayments(subject, MOST_CREATES),
};

async function readPayments({ database }: Subject, ids: readonly string[]): Promise<void> {
  const reads = sharedReads(database);
  await Promise.all(
    ids.map(async (id) => {
      const payment = (await reads.payment(id)) as Payment;
      await Promise.all([reads.gateway(payment.gatewayId), reads.offers(id), reads.addresses(id), reads.deposits(payment), reads.withParams(payment)]);
    }),
  );
}

async function writePayments({ database, paymentId, gatewayId }: Subject, count: number): Promise<void> {
  const [payment, offers] = [(await findPayment(database.sql, paymentId)) as Payment, await listOffers(database.sql, paymentId)];
  const write = sharedCreates({ db: takenBack(database), log: pino({ level: 'silent' }) });
  const alone = (): never => {
    throw new Error('a create of many was to be written with them');
  };
  await Promise.all(Array.from({ length: count }, () => write(createLike(payment, offers, gatewayId), alone, () => false)));
}

/** A create with everything that one may come with. */
function createLike(payment: Payment, offers: readonly Offer[], gatewayId: string): Create {
  const id = randomUUID();
  const scope = { gatewayId, operation: 'createPayment', key: id };
  const document = SentJson.of({ order: id });
  return {
    toWrite: {
      payment: { ...payment, id, gatewayId, billing: 'STANDARD', title: 'Shoes', reference: id, callbackParams: document, webhookParams: document },
      offers: offers.map((offer) => ({ ...offer, id: randomUUID() })),
      traceparent: `00-${id.replaceAll('-', '')}-00f067aa0ba902b7-01`,
    },
    key: { scope, fingerprint: Buffer.from(nameOfScope(scope)) },
    reply: ({ id: made }) => ({ status: 201, data: { paymentUid: made }, resourceId: made, body: made }),
  };
}

/** The same database, whose transactions are taken back when all is done in them. */
function takenBack(database: Database): Database {
  const transaction = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    let done: { result: T } | undefined;
    try {
      await database.transaction(async (tx) => {
        done = { result: await work(tx) };
        throw new Error('taken back');
      });
    } catch (error) {
      if (done === undefined) throw error;
    }
    return (done as { result: T }).result;
  };
  return { ...database, transaction };
}
