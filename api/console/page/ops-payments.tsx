import type { JSX } from 'preact';
import { AllocateAct, HeldActs, InquiriesAct, MisplacedCoins } from './ops-acts.tsx';
import { formatFiat } from '#api/page/fiat.ts';
import type { Surroundings } from './model.ts';
import type { CreditLine, HistoryLine, OpsDepositsScreen, OpsPaymentRow, OpsPaymentScreen, OpsPaymentsScreen } from './operator-model.ts';
import { factsIn, Listed, OfGateway, WalkFields, WordTabs } from './ops-parts.tsx';
import { Badge, ChoiceField, Code, Coins, Fact, Facts, FilterForm, Moment, networkTitle, Short, Table } from './parts.tsx';
import { Payment } from './payment.tsx';
import { type Translate, useTexts } from './texts.ts';
import { wordFor } from './words.ts';

/** Payments of every gateway. */
export function OpsPayments({ screen, place }: { screen: OpsPaymentsScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { filter, gateways } = screen;
  const path = `${place.href}/payments`;
  return (
    <>
      <WordTabs path={path} name="status" titles={statusTitles(t, ['PENDING', 'SUCCESS', 'ACCEPTABLE', 'MISMATCH', 'EXPIRED'])} filter={filter} />
      <FilterForm path={path} filter={filter} kept={['status']}>
        <WalkFields filter={filter} />
        <ChoiceField name="amlState" title={t('ops.screening')} filter={filter} options={statusTitles(t, ['HELD', 'RELEASED', 'REFUNDED', 'WITHHELD'])} />
      </FilterForm>
      <Listed
        screen={screen}
        path={path}
        caption={t('ops-section.payments')}
        columns={[
          { title: t('ops.amount'), look: 'rest' },
          { title: t('ops.gateway'), look: 'wide-only' },
          { title: t('ops.status') },
          { title: t('ops.received'), look: 'amount wide-only' },
          { title: t('ops.created'), look: 'wide-only' },
        ]}
        none={t('ops.payments-none')}
        why={t('ops.payments-none-why')}
        row={(row) => (
          <tr>
            <th scope="row">
              <a class="row-name" href={`${path}/${row.id}`}>
                {formatFiat(row.amount, row.currencyCode, 'en')}
              </a>
              {row.isSandbox && <span class="badge badge-quiet">{t('ops.sandbox')}</span>}
              <span class="hint below">{row.id.slice(0, 8)}</span>
              <span class="hint narrow-only">
                <OfGateway id={row.gatewayId} names={gateways} place={place} />
              </span>
            </th>
            <td class="wide-only">
              <OfGateway id={row.gatewayId} names={gateways} place={place} />
            </td>
            <td>
              <Badge status={row.status} />
              {row.amlState !== null && (
                <span class="below">
                  <Badge status={row.amlState} />
                </span>
              )}
            </td>
            <td class="amount wide-only">
              <Received row={row} />
            </td>
            <td class="wide-only">
              <Moment at={row.createdAt} />
            </td>
          </tr>
        )}
      />
    </>
  );
}

/** What statuses are called in tabs and choices: each by its text. Pure. */
export function statusTitles<Status extends StatusName>(t: Translate, statuses: readonly Status[]): Record<string, string> {
  return Object.fromEntries(statuses.map((status) => [status, t(`status.${status}`)]));
}

type Keys = Parameters<Translate>[0];
type StatusName = Keys extends infer Key ? (Key extends `status.${infer Name}` ? Name : never) : never;

export function Received({
  row: { receivedAmount, receivedAssetSymbol },
}: {
  row: Pick<OpsPaymentRow, 'receivedAmount' | 'receivedAssetSymbol'>;
}): JSX.Element | null {
  return receivedAmount === null || receivedAssetSymbol === null ? null : <Coins amount={receivedAmount} asset={receivedAssetSymbol} />;
}

/** One payment as its merchant sees it, and below what only operators do: who sent it, and what screening made of it. */
export function OpsPayment({ screen, place }: { screen: OpsPaymentScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { payment, gateway, deposits, credits, aml, amlState } = screen;
  return (
    <>
      <Payment screen={payment} place={place} />
      {amlState === 'HELD' && <HeldActs place={place} id={payment.record.outcome.paymentUid} />}
      {screen.misplaced.length > 0 && <MisplacedCoins place={place} id={payment.record.outcome.paymentUid} misplaced={screen.misplaced} />}
      {!payment.record.isSandbox && <InquiriesAct place={place} id={payment.record.outcome.paymentUid} />}
      <div class="pair">
        <section class="card" aria-labelledby="whose">
          <h2 id="whose">{t('ops.gateway')}</h2>
          <Facts>
            <Fact name={t('ops.gateway')}>
              <a href={`${place.href}/gateways/${gateway.id}`}>{gateway.name}</a>
            </Fact>
            <Fact name={t('ops.jobs-of')}>
              <a href={`${place.href}/jobs?q=${payment.record.outcome.paymentUid}`}>{t('ops.show-jobs')}</a>
            </Fact>
          </Facts>
        </section>
        <section class="card" aria-labelledby="screening">
          <h2 id="screening">{t('ops.screening')}</h2>
          {amlState === null && credits.every(({ screening }) => screening === 'none') ? (
            <p class="hint">{t('ops.screening-none')}</p>
          ) : (
            <Evidence credits={credits} events={aml.events} />
          )}
        </section>
      </div>
      {aml.refunds.length > 0 && (
        <section class="card card-table" aria-labelledby="refunds">
          <h2 id="refunds">{t('ops.refunds')}</h2>
          <Table
            caption={t('ops.refunds')}
            columns={[{ title: t('ops.to'), look: 'rest' }, { title: t('ops.amount'), look: 'amount' }, { title: t('ops.status') }]}
          >
            {aml.refunds.map((refund) => (
              <tr>
                <th scope="row">
                  <Code text={refund.address} what={t('ops.the-address')} />
                  <span class="hint below">{refund.reason}</span>
                </th>
                <td class="amount">
                  <Coins amount={refund.amount} asset={refund.assetSymbol} />
                </td>
                <td>
                  <Badge status={refund.status} />
                  {refund.failure !== null && <span class="hint below">{refund.failure}</span>}
                </td>
              </tr>
            ))}
          </Table>
        </section>
      )}
      <section class="card card-table" aria-labelledby="deposits">
        <h2 id="deposits">{t('ops-section.deposits')}</h2>
        {deposits.length === 0 ? (
          <p class="hint">{t('ops.deposits-of-none')}</p>
        ) : (
          <Table
            caption={t('ops-section.deposits')}
            columns={[
              { title: t('ops.transaction'), look: 'rest' },
              { title: t('ops.amount'), look: 'amount' },
              { title: t('ops.sender'), look: 'wide-only' },
              { title: t('ops.block'), look: 'amount wide-only' },
              { title: t('ops.state'), look: 'wide-only' },
            ]}
          >
            {deposits.slice(0, MOST).map((deposit) => (
              <tr>
                <th scope="row">
                  <Code text={deposit.txHash} what={t('ops.the-hash')} />
                  <span class="hint below">{networkTitle(place, deposit.network)}</span>
                  <span class="narrow-only">
                    <Badge status={deposit.state} />
                  </span>
                </th>
                <td class="amount">
                  <Coins amount={deposit.amount} asset={deposit.assetSymbol} />
                  {deposit.usdPrice !== null && <span class="hint below">{t('ops.at-price', { price: deposit.usdPrice })}</span>}
                </td>
                <td class="wide-only">
                  <Short text={deposit.sender} />
                </td>
                <td class="amount wide-only">
                  <span class="figure">{deposit.height}</span>
                </td>
                <td class="wide-only">
                  <Badge status={deposit.state} />
                </td>
              </tr>
            ))}
          </Table>
        )}
        {deposits.length > MOST && (
          <a href={`${place.href}/deposits?q=${payment.record.outcome.paymentUid}`}>{t('ops.all-deposits', { count: deposits.length })}</a>
        )}
      </section>
    </>
  );
}

/** Most rows of a payment's deposits: whoever sends a thousand coins one by one makes a page no longer. */
const MOST = 50;

/** What screening said of each credit, and what was decided about it with what. */
export function Evidence({ credits, events }: { credits: readonly CreditLine[]; events: readonly HistoryLine[] }): JSX.Element {
  const t = useTexts();
  return (
    <>
      <Facts>
        {credits.slice(0, MOST).map((credit) => (
          <Fact name={`${credit.net} ${credit.assetSymbol}`}>
            <Badge status={credit.taken ?? credit.screening} />{' '}
            {credit.riskScore === null ? <span class="hint">{t('ops.no-score')}</span> : t('ops.score', { score: credit.riskScore })}
          </Fact>
        ))}
      </Facts>
      {events.length > 0 && (
        <ol class="history" data-part="evidence">
          {events.slice(-MOST).map(({ event, to, actor, at, facts }) => (
            <li>
              <p>
                <Badge status={to} /> <span class="hint">{wordFor(t, 'screening-event', event)}</span> · {actor} · <Moment at={at} />
              </p>
              <FactList facts={facts} />
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

/** An act on hundreds of jobs names each: the operator API tells all of them, and the page stays light. */
const LONGEST_FACT = 1_000;

/** What somebody saw when they decided, for whoever unfolds it. */
export function FactList({ facts }: { facts: HistoryLine['facts'] }): JSX.Element | null {
  const t = useTexts();
  const lines = factsIn(facts);
  if (lines.length === 0) return null;
  return (
    <details>
      <summary>{t('ops.show-facts')}</summary>
      <Facts>
        {lines.map(({ name, value }) => (
          <Fact name={<code>{name}</code>}>
            <code>{value.length > LONGEST_FACT ? `${value.slice(0, LONGEST_FACT)}…` : value}</code>
          </Fact>
        ))}
      </Facts>
    </details>
  );
}

const DEPOSIT_STATES = ['unallocated', 'unexplained', 'seen', 'credited', 'dust', 'dropped'] as const;

/** What came to addresses of the deployment, and what nobody could be credited for. */
export function OpsDeposits({ screen, place }: { screen: OpsDepositsScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { filter, gateways } = screen;
  const path = `${place.href}/deposits`;
  return (
    <>
      <WordTabs path={path} name="state" titles={statusTitles(t, DEPOSIT_STATES)} filter={filter} />
      <FilterForm path={path} filter={filter} kept={['state']}>
        <WalkFields filter={filter} />
      </FilterForm>
      {filter.state === 'unexplained' && <p class="hint">{t('ops.unexplained-why')}</p>}
      {filter.state === 'unallocated' && <p class="hint">{t('ops.unallocated-why')}</p>}
      <Listed
        screen={screen}
        path={path}
        caption={t('ops-section.deposits')}
        columns={[
          { title: t('ops.what-came'), look: 'rest' },
          { title: t('ops.amount'), look: 'amount' },
          { title: t('ops.gateway'), look: 'wide-only' },
          { title: t('ops.state') },
          { title: t('ops.seen'), look: 'wide-only' },
        ]}
        none={t('ops.deposits-none')}
        why={t('ops.deposits-none-why')}
        row={(row) => (
          <tr>
            <th scope="row">
              <Short text={row.txHash ?? row.address ?? row.id} />
              <span class="hint below">{networkTitle(place, row.network)}</span>
              {row.paymentId !== null && (
                <a class="below" href={`${place.href}/payments/${row.paymentId}`}>
                  {t('ops.payment', { id: row.paymentId.slice(0, 8) })}
                </a>
              )}
              {row.state === 'unallocated' && <AllocateAct place={place} id={row.id} paymentId={row.paymentId} />}
            </th>
            <td class="amount">
              <Coins amount={row.amount} asset={row.assetSymbol} />
            </td>
            <td class="wide-only">
              <OfGateway id={row.gatewayId} names={gateways} place={place} />
            </td>
            <td>
              <Badge status={row.state} />
            </td>
            <td class="wide-only">
              <Moment at={row.seenAt} />
            </td>
          </tr>
        )}
      />
    </>
  );
}
