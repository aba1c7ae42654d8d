import type { JSX } from 'preact';
import { formatFiat } from '#api/page/fiat.ts';
import type { PaymentsScreen, Surroundings } from './model.ts';
import { Badge, ChoiceField, CoinField, Coins, DayField, FilterForm, hrefOf, Moment, Pager, StatusTabs, Table } from './parts.tsx';
import { useTexts } from './texts.ts';

type Row = PaymentsScreen['items'][number];

const STATUSES = ['PENDING', 'SUCCESS', 'ACCEPTABLE', 'MISMATCH', 'EXPIRED'];

/** A gateway's payments, newest first. */
export function Payments({ screen, place }: { screen: PaymentsScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
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
            caption={t('payments.caption')}
            columns={[
              { title: t('payments.payment'), look: 'rest' },
              { title: t('payments.amount'), look: 'amount' },
              { title: t('parts.status'), look: 'wide-only' },
              { title: t('payments.received'), look: 'wide-only amount' },
              { title: t('payments.created'), look: 'wide-only' },
              { title: t('payments.verified'), look: 'wide-only' },
            ]}
          >
            {items.map((row) => (
              <tr>
                <th scope="row">
                  <a class="row-name" href={`${href}/${row.paymentUid}`}>
                    {referenceOf(row)}
                  </a>
                  {row.isSandbox && <span class="badge badge-quiet">{t('parts.sandbox')}</span>}
                  <span class="hint narrow-only">
                    <Moment at={row.createdAt} />
                  </span>
                </th>
                <td class="amount">
                  <span class="figure">{row.openAmount && row.amount === '0' ? t('payments.open') : formatFiat(row.amount, row.currencyCode, 'en')}</span>
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
                <td class="wide-only">{row.verifiedAt === null ? <span class="hint">{t('parts.not-yet')}</span> : <Moment at={row.verifiedAt} />}</td>
              </tr>
            ))}
          </Table>
          <Pager path={href} screen={screen} />
        </section>
      )}
    </>
  );
}

/** What the shop calls it, or else the beginning of its id. Pure. */
export function referenceOf({
  paymentUid,
  reference: own,
  callbackParams,
  webhookParams,
}: Pick<Row, 'paymentUid' | 'reference' | 'callbackParams' | 'webhookParams'>): string {
  const fields = { ...(callbackParams ?? {}), ...(webhookParams ?? {}), ...(own !== undefined && { reference: own }) } as Record<string, unknown>;
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

function Filters({ path, filter, networks }: { path: string; filter: PaymentsScreen['filter']; networks: Surroundings['networks'] }): JSX.Element {
  const t = useTexts();
  return (
    <FilterForm path={path} filter={filter} kept={['status', 'q']}>
      <DayField name="createdFrom" title={t('payments.created-from')} filter={filter} />
      <DayField name="createdTo" title={t('payments.created-before')} filter={filter} />
      <CoinField title={t('payments.coin-received')} filter={filter} />
      <ChoiceField name="network" title={t('parts.network')} filter={filter} options={networks} />
      <ChoiceField
        name="verified"
        title={t('payments.verified')}
        filter={filter}
        options={{ true: t('payments.verified'), false: t('payments.not-verified') }}
      />
      <ChoiceField name="sandbox" title={t('parts.sandbox')} filter={filter} options={{ true: t('payments.sandbox-only'), false: t('payments.no-sandbox') }} />
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
  const t = useTexts();
  if (further !== null)
    return (
      <section class="card empty">
        <p>{t('parts.none-newest')}</p>
        <a class="button" href={further}>
          {t('parts.look-older')}
        </a>
      </section>
    );
  if (filtered)
    return (
      <section class="card empty">
        <h2>{t('payments.none-title')}</h2>
        {sought && <p>{t('payments.none-sought')}</p>}
        <a class="button" href={path}>
          {t('payments.show-all')}
        </a>
      </section>
    );
  return (
    <section class="card empty">
      <h2>{t('payments.empty-title')}</h2>
      <p>{t('payments.empty')}</p>
      <pre>
        <code>{`curl <api>/payments -H 'X-Api-Key: <key>' \\
  -H 'Content-Type: application/json' \\
  -d '{"currencyCode":"USD","amount":"49.90","callbackUrl":"https://shop.example/thanks"}'`}</code>
      </pre>
    </section>
  );
}
