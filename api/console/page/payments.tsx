import type { JSX } from 'preact';
import { formatFiat } from '#api/page/fiat.ts';
import type { PaymentsScreen, Surroundings } from './model.ts';
import { Badge, Moment, Pager, StatusTabs } from './parts.tsx';

type Row = PaymentsScreen['items'][number];

const STATUSES = ['PENDING', 'SUCCESS', 'ACCEPTABLE', 'MISMATCH', 'EXPIRED'];

/** A gateway's payments, newest first. */
export function Payments({ screen, place }: { screen: PaymentsScreen; place: Surroundings }): JSX.Element {
  const { items, total, next, later, status } = screen;
  const href = `${place.href}/payments`;
  return (
    <>
      <StatusTabs href={href} statuses={STATUSES} status={status} />
      {items.length === 0 ? (
        <NoPayments filtered={status !== null || later} href={href} />
      ) : (
        <section class="card card-table">
          <table>
            <caption class="hidden-visually">Payments, the newest first</caption>
            <thead>
              <tr>
                <th scope="col" class="rest">
                  Payment
                </th>
                <th scope="col" class="amount">
                  Amount
                </th>
                <th scope="col">Status</th>
                <th scope="col" class="wide-only">
                  Created
                </th>
                <th scope="col" class="wide-only">
                  Verified
                </th>
              </tr>
            </thead>
            <tbody>
              {items.map((row) => (
                <tr>
                  <th scope="row">
                    <a class="row-name" href={`${href}/${row.paymentUid}`}>
                      {referenceOf(row)}
                    </a>
                    {row.isSandbox && <span class="badge badge-quiet">Sandbox</span>}
                    <span class="hint narrow-only">
                      <Moment at={row.createdAt} />
                    </span>
                  </th>
                  <td class="amount figure">{row.openAmount && row.amount === '0' ? 'Open' : formatFiat(row.amount, row.currencyCode, 'en')}</td>
                  <td>
                    <Badge status={row.status} />
                  </td>
                  <td class="wide-only">
                    <Moment at={row.createdAt} />
                  </td>
                  <td class="wide-only">{row.verifiedAt === null ? <span class="hint">Not yet</span> : <Moment at={row.verifiedAt} />}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <Pager href={href} total={total} shown={items.length} next={next} later={later} status={status} one="payment" />
        </section>
      )}
    </>
  );
}

/** What the shop calls it, or else the beginning of its id. Pure. */
export function referenceOf({ paymentUid, callbackParams, webhookParams }: Pick<Row, 'paymentUid' | 'callbackParams' | 'webhookParams'>): string {
  const fields = { ...(callbackParams ?? {}), ...(webhookParams ?? {}) } as Record<string, unknown>;
  const name = ['reference', 'order', 'orderId', 'order_id', 'invoice'].find((one) => ['string', 'number'].includes(typeof fields[one]));
  const reference = name === undefined ? '' : String(fields[name]).trim();
  return reference === '' ? paymentUid.slice(0, 8) : reference.length > 60 ? `${reference.slice(0, 59)}…` : reference;
}

function NoPayments({ filtered, href }: { filtered: boolean; href: string }): JSX.Element {
  if (filtered)
    return (
      <section class="card empty">
        <p>No payment is like that.</p>
        <a class="button" href={href}>
          Show all payments
        </a>
      </section>
    );
  return (
    <section class="card empty">
      <h2>No payments yet</h2>
      <p>Your shop makes one with its API key; it is here as soon as it is made.</p>
      <pre>
        <code>{`curl <api>/payments -H 'X-Api-Key: <key>' \\
  -H 'Content-Type: application/json' \\
  -d '{"currencyCode":"USD","amount":"49.90","callbackUrl":"https://shop.example/thanks"}'`}</code>
      </pre>
    </section>
  );
}
