import type { JSX } from 'preact';
import { formatFiat } from '#api/page/fiat.ts';
import type { PaymentsScreen, Surroundings } from './model.ts';
import { Badge, ChoiceField, CoinField, Coins, DayField, FilterForm, hrefOf, Moment, Pager, StatusTabs, Table } from './parts.tsx';

type Row = PaymentsScreen['items'][number];

const STATUSES = ['PENDING', 'SUCCESS', 'ACCEPTABLE', 'MISMATCH', 'EXPIRED'];

/** A gateway's payments, newest first. */
export function Payments({ screen, place }: { screen: PaymentsScreen; place: Surroundings }): JSX.Element {
  const { items, filter, later, next } = screen;
  const href = `${place.href}/payments`;
  return (
    <>
      <StatusTabs path={href} statuses={STATUSES} filter={filter} />
      <Filters path={href} filter={filter} networks={place.networks} />
      {items.length === 0 ? (
        <NoPayments
          sought={filter.q !== undefined}
          filtered={Object.keys(filter).length > 0 || later}
          path={href}
          further={next === null ? null : hrefOf(href, { ...filter, after: next })}
        />
      ) : (
        <section class="card card-table">
          <Table
            caption="Payments, the newest first"
            columns={[
              { title: 'Payment', look: 'rest' },
              { title: 'Amount', look: 'amount' },
              { title: 'Status', look: 'wide-only' },
              { title: 'Received', look: 'wide-only amount' },
              { title: 'Created', look: 'wide-only' },
              { title: 'Verified', look: 'wide-only' },
            ]}
          >
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
                <td class="amount">
                  <span class="figure">{row.openAmount && row.amount === '0' ? 'Open' : formatFiat(row.amount, row.currencyCode, 'en')}</span>
                  <span class="narrow-only">
                    <Badge status={row.status} />
                  </span>
                </td>
                <td class="wide-only">
                  <Badge status={row.status} />
                </td>
                <td class="wide-only amount">
                  <Received row={row} />
                </td>
                <td class="wide-only">
                  <Moment at={row.createdAt} />
                </td>
                <td class="wide-only">{row.verifiedAt === null ? <span class="hint">Not yet</span> : <Moment at={row.verifiedAt} />}</td>
              </tr>
            ))}
          </Table>
          <Pager path={href} screen={screen} one="payment" />
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

function Received({ row }: { row: Row }): JSX.Element | null {
  if (row.receivedAmount === undefined || row.receivedAssetSymbol === undefined) return null;
  return (
    <>
      <Coins amount={row.receivedAmount} asset={row.receivedAssetSymbol} />
      {row.receivedAmountUsd !== undefined && <span class="hint below">{formatFiat(row.receivedAmountUsd, 'USD', 'en')}</span>}
    </>
  );
}

const VERIFIED = { true: 'Verified', false: 'Not verified' };
const SANDBOX = { true: 'Sandbox only', false: 'No sandbox' };

function Filters({ path, filter, networks }: { path: string; filter: PaymentsScreen['filter']; networks: Surroundings['networks'] }): JSX.Element {
  return (
    <FilterForm path={path} filter={filter} kept={['status', 'q']}>
      <DayField name="createdFrom" title="Created from" filter={filter} />
      <DayField name="createdTo" title="Created before" filter={filter} />
      <CoinField title="Coin received" filter={filter} />
      <ChoiceField name="network" title="Network" filter={filter} options={networks} />
      <ChoiceField name="verified" title="Verified" filter={filter} options={VERIFIED} />
      <ChoiceField name="sandbox" title="Sandbox" filter={filter} options={SANDBOX} />
    </FilterForm>
  );
}

interface NoPaymentsProps {
  filtered: boolean;
  /** Whether something was looked for by name. */
  sought: boolean;
  path: string;
  /** Where older ones are looked through, when not all were. */
  further: string | null;
}

function NoPayments({ filtered, sought, path, further }: NoPaymentsProps): JSX.Element {
  if (further !== null)
    return (
      <section class="card empty">
        <p>None of the newest is like that.</p>
        <a class="button" href={further}>
          Look through older ones
        </a>
      </section>
    );
  if (filtered)
    return (
      <section class="card empty">
        <h2>No payment is like that</h2>
        {sought && <p>What is looked for has to be all of it: an order number as your shop stored it, an id, a transaction’s hash, or a deposit address.</p>}
        <a class="button" href={path}>
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
