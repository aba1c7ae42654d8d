import type { JSX } from 'preact';
import { formatFiat } from '#api/page/fiat.ts';
import type { PaymentsScreen, Surroundings } from './model.ts';
import { Badge, Coins, hrefOf, Moment, Pager, StatusTabs, Table } from './parts.tsx';

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

const YES_NO = [
  { name: 'verified', title: 'Verified', yes: 'Verified', no: 'Not verified' },
  { name: 'sandbox', title: 'Sandbox', yes: 'Sandbox only', no: 'No sandbox' },
];

/** Everything else that a list may be narrowed by; open where it is. */
function Filters({ path, filter, networks }: { path: string; filter: PaymentsScreen['filter']; networks: Surroundings['networks'] }): JSX.Element {
  const { status, q, ...narrowed } = filter;
  return (
    <details class="filters" open={Object.keys(narrowed).length > 0}>
      <summary>Filter</summary>
      <form method="get" action={path}>
        {status !== undefined && <input type="hidden" name="status" value={status} />}
        {q !== undefined && <input type="hidden" name="q" value={q} />}
        <label>
          Created from
          <input type="date" name="createdFrom" value={filter.createdFrom?.slice(0, 10)} />
        </label>
        <label>
          Created before
          <input type="date" name="createdTo" value={filter.createdTo?.slice(0, 10)} />
        </label>
        <label>
          Coin received
          <input name="asset" size={8} maxLength={64} value={filter.asset} placeholder="USDT" />
        </label>
        <label>
          Network
          <select name="network">
            <option value="">Any</option>
            {Object.entries(networks).map(([name, title]) => (
              <option value={name} selected={filter.network === name}>
                {title}
              </option>
            ))}
          </select>
        </label>
        {YES_NO.map(({ name, title, yes, no }) => (
          <label>
            {title}
            <select name={name}>
              <option value="">Any</option>
              <option value="true" selected={filter[name] === 'true'}>
                {yes}
              </option>
              <option value="false" selected={filter[name] === 'false'}>
                {no}
              </option>
            </select>
          </label>
        ))}
        <button class="button button-small" type="submit">
          Show
        </button>
        {Object.keys(filter).length > 0 && (
          <a class="button button-small" href={path}>
            Show all
          </a>
        )}
      </form>
    </details>
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
