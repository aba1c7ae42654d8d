import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** Of advisory locks; the second number is what is counted. */
const LOCK_CLASS = 7_582_041;

/** Somebody who asks for a receipt by mail. */
export interface ReceiptRequest {
  id: string;
  paymentId: string;
  gatewayId: string;
  /** 32 bytes. */
  addressHash: Buffer;
}

/** How many mails there may be in `seconds`. */
export interface ReceiptLimits {
  seconds: number;
  /** Of a payment, sent or not. */
  ofPayment: number;
  /** Sent to an address, whoever's payments they are of. */
  toAddress: number;
  /** Sent of all payments of a gateway; a few more when many ask at once. */
  ofGateway: number;
}

/**
 * Notes that somebody asks for a receipt, and says whether it may be sent: `refused` tells nothing but of the payment and its gateway, and is not noted;
 * `silent` is that the address had its share. Locks the payment's count, then the address's, so that two at once are counted as two.
 */
export async function noteReceiptMail(tx: Tx, request: ReceiptRequest, limits: ReceiptLimits): Promise<'sent' | 'silent' | 'refused'> {
  const { id, paymentId, gatewayId, addressHash } = request;
  await tx`select pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(${paymentId}))`;
  await tx`select pg_advisory_xact_lock(${LOCK_CLASS + 1}, hashtext(${addressHash.toString('hex')}))`;
  const since = tx`sluice_now() - make_interval(secs => ${limits.seconds})`;
  const [row] = await tx<{ sent: boolean }[]>`
    insert into receipt_mails (id, payment_id, gateway_id, address_hash, sent)
    select ${id}, ${paymentId}, ${gatewayId}, ${addressHash},
      (select count(*) from receipt_mails where address_hash = ${addressHash} and sent and at > ${since}) < ${limits.toAddress}
    where (select count(*) from receipt_mails where payment_id = ${paymentId} and at > ${since}) < ${limits.ofPayment}
      and (select count(*) from (select 1 from receipt_mails where gateway_id = ${gatewayId} and sent and at > ${since} limit ${limits.ofGateway}) recent) < ${limits.ofGateway}
    returning sent`;
  if (row === undefined) return 'refused';
  return row.sent ? 'sent' : 'silent';
}

/** Forgets what counts no more, at most `limit` rows; answers how many. */
export async function forgetReceiptMails(sql: Reads, { seconds, limit }: { seconds: number; limit: number }): Promise<number> {
  const gone = await sql`
    delete from receipt_mails where id in (
      select id from receipt_mails where at < sluice_now() - make_interval(secs => ${seconds}) order by at limit ${limit}) returning 1`;
  return gone.length;
}
