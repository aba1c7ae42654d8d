import type { JSX } from 'preact';
import { formatFiat } from '#api/page/fiat.ts';
import type { Surroundings } from './model.ts';
import type { MoneyScreen, OpsExpensesScreen, OpsInvoicesScreen, OpsPricesScreen } from './operator-model.ts';
import { scopeTitle } from './ops-overview.tsx';
import { Empty, TextField } from './ops-parts.tsx';
import { duration } from './payment.tsx';
import { ChoiceField, Coins, FilterForm, Moment, networkTitle, Table } from './parts.tsx';
import { ClearAct, FreezeActs, PriceAct, UnfreezeAct } from './ops-acts.tsx';
import { useTexts } from './texts.ts';
import { wordFor } from './words.ts';

/** What is held against what is owed, by the books and by the chain, and what stops dispatch. */
export function Money({ screen: { positions, checks, freezes }, place }: { screen: MoneyScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const lifts = place.permissions.includes('freeze:operate');
  return (
    <>
      <MoneyTabs place={place} here="money" />
      <section class="card card-table" aria-labelledby="positions">
        <h2 id="positions">{t('ops.positions')}</h2>
        {positions.length === 0 ? (
          <p class="hint">{t('ops.positions-none')}</p>
        ) : (
          <>
            <p class="hint">{t('ops.positions-why')}</p>
            <Table
              caption={t('ops.positions')}
              columns={[
                { title: t('ops.asset'), look: 'rest' },
                { title: t('ops.held-by-books'), look: 'amount' },
                { title: t('ops.owed'), look: 'amount wide-only' },
                { title: t('ops.owed-held'), look: 'amount wide-only' },
                { title: t('ops.nobodys'), look: 'amount wide-only' },
                { title: t('ops.chain-less-books'), look: 'amount wide-only' },
              ]}
            >
              {positions.map((one) => (
                <tr>
                  <th scope="row">
                    {one.symbol}
                    <span class="hint below">{networkTitle(place, one.network)}</span>
                    <span class="narrow-only">
                      {t('ops.chain-less-books')}: <Difference one={one} />
                    </span>
                  </th>
                  <td class="amount">
                    <span class="figure">{one.held}</span>
                  </td>
                  <td class="amount wide-only">
                    <span class="figure">{one.green}</span>
                  </td>
                  <td class="amount wide-only">
                    <span class="figure">{one.heldPool}</span>
                  </td>
                  <td class="amount wide-only">
                    <span class="figure">{one.unallocated}</span>
                  </td>
                  <td class="amount wide-only">
                    <Difference one={one} />
                  </td>
                </tr>
              ))}
            </Table>
          </>
        )}
      </section>
      <section class="card card-table" aria-labelledby="freezes">
        <h2 id="freezes">{t('ops.freezes')}</h2>
        {freezes.freezes.length === 0 && freezes.haltedWallets.length === 0 ? (
          <p class="hint">{t('ops.freezes-none')}</p>
        ) : (
          <Table
            caption={t('ops.freezes')}
            columns={[{ title: t('ops.what'), look: 'rest' }, { title: t('ops.why') }, { title: t('ops.since'), look: 'wide-only' }]}
          >
            {freezes.freezes.flatMap(({ scope, reason, frozenAt }) => [
              <tr>
                <th scope="row">{scopeTitle(t('ops.everything'), scope, place)}</th>
                <td>{reason}</td>
                <td class="wide-only">
                  <Moment at={frozenAt} />
                </td>
              </tr>,
              lifts && (
                <tr>
                  <td colSpan={3}>
                    <UnfreezeAct place={place} scope={scope} />
                  </td>
                </tr>
              ),
            ])}
            {freezes.haltedWallets.flatMap(({ network, role, address, reason, unexplained }) => [
              <tr>
                <th scope="row">{t('ops.wallet-of', { role: wordFor(t, 'wallet', role), network: networkTitle(place, network) })}</th>
                <td>{reason}</td>
                <td class="wide-only">{unexplained.length > 0 ? t('ops.unexplained-count', { count: unexplained.length }) : ''}</td>
              </tr>,
              lifts && (
                <tr>
                  <td colSpan={3}>
                    <ClearAct place={place} network={network} wallet={address} />
                  </td>
                </tr>
              ),
            ])}
          </Table>
        )}
        <FreezeActs place={place} />
      </section>
      <section class="card card-table" aria-labelledby="checks">
        <h2 id="checks">{t('ops.checks')}</h2>
        <p class="hint">{t(checks.length === 0 ? 'ops.audit-never-why' : 'ops.checks-why')}</p>
        {checks.length > 0 && (
          <Table caption={t('ops.checks')} columns={[{ title: t('ops.check'), look: 'rest' }, { title: t('ops.last-clean') }]}>
            {checks.map(({ check, wholeAt }) => (
              <tr>
                <th scope="row">{check}</th>
                <td>
                  <Moment at={wholeAt} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </section>
    </>
  );
}

function Difference({ one: { difference, accepted, readAt } }: { one: MoneyScreen['positions'][number] }): JSX.Element {
  const t = useTexts();
  if (difference === null) return <span class="hint">{t('ops.not-compared')}</span>;
  return (
    <>
      <span class={difference === '0' ? 'figure' : 'figure badge badge-warning'}>{difference.replace('-', '−')}</span>
      {accepted !== null && accepted !== '0' && <span class="hint below">{t('ops.accepted', { amount: accepted })}</span>}
      {readAt !== null && (
        <span class="hint below">
          <Moment at={readAt} />
        </span>
      )}
    </>
  );
}

function MoneyTabs({ place, here }: { place: Surroundings; here: 'money' | 'money/invoices' | 'money/expenses' }): JSX.Element {
  const t = useTexts();
  const tabs = { money: t('ops.books'), 'money/invoices': t('ops.invoices'), 'money/expenses': t('ops.expenses') };
  return (
    <nav class="tabs" aria-label={t('ops-section.money')}>
      {Object.entries(tabs).map(([path, title]) => (
        <a href={`${place.href}/${path}`} aria-current={path === here ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}

/** What monthly-billed gateways owe. */
export function Invoices({ screen: { items, filter, more }, place }: { screen: OpsInvoicesScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const path = `${place.href}/money/invoices`;
  return (
    <>
      <MoneyTabs place={place} here="money/invoices" />
      <MonthFilters path={path} filter={filter} />
      {items.length === 0 ? (
        <Empty title={t('ops.invoices-none')} text={t('ops.invoices-none-why')} />
      ) : (
        <section class="card card-table">
          <Table
            caption={t('ops.invoices')}
            columns={[
              { title: t('ops.gateway'), look: 'rest' },
              { title: t('ops.month') },
              { title: t('ops.lines'), look: 'amount wide-only' },
              { title: t('ops.due-amount'), look: 'amount' },
            ]}
          >
            {items.map((one) => (
              <tr>
                <th scope="row">
                  <a href={`${place.href}/gateways/${one.gatewayId}`}>{one.gatewayName}</a>
                </th>
                <td>{one.month}</td>
                <td class="amount wide-only">{one.lineCount}</td>
                <td class="amount">
                  <span class="figure">{formatFiat(one.amountDue, one.currencyCode, 'en')}</span>
                </td>
              </tr>
            ))}
          </Table>
          {more && <p class="hint">{t('ops.newest-only', { count: items.length })}</p>}
        </section>
      )}
    </>
  );
}

/** What the platform bore, by gateway, month and asset. */
export function Expenses({ screen: { items, filter, more }, place }: { screen: OpsExpensesScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const path = `${place.href}/money/expenses`;
  return (
    <>
      <MoneyTabs place={place} here="money/expenses" />
      <MonthFilters path={path} filter={filter} billing />
      {items.length === 0 ? (
        <Empty title={t('ops.expenses-none')} text={t('ops.expenses-none-why')} />
      ) : (
        <section class="card card-table">
          <Table
            caption={t('ops.expenses')}
            columns={[
              { title: t('ops.gateway'), look: 'rest' },
              { title: t('ops.month') },
              { title: t('ops.amount'), look: 'amount' },
              { title: t('ops.usd'), look: 'amount wide-only' },
            ]}
          >
            {items.map((one) => (
              <tr>
                <th scope="row">
                  <a href={`${place.href}/gateways/${one.gatewayId}`}>{one.gatewayName}</a>
                  <span class="hint below">{t(one.billing === 'MONTHLY' ? 'billing.MONTHLY' : 'billing.PLATFORM')}</span>
                </th>
                <td>{one.month}</td>
                <td class="amount">
                  <Coins amount={one.amount} asset={one.assetSymbol} />
                  <span class="hint below">{networkTitle(place, one.network)}</span>
                </td>
                <td class="amount wide-only">
                  <span class="figure">{formatFiat(one.usd, 'USD', 'en')}</span>
                </td>
              </tr>
            ))}
          </Table>
          {more && <p class="hint">{t('ops.newest-only', { count: items.length })}</p>}
        </section>
      )}
    </>
  );
}

function MonthFilters({ path, filter, billing = false }: { path: string; filter: Readonly<Record<string, string>>; billing?: boolean }): JSX.Element {
  const t = useTexts();
  return (
    <FilterForm path={path} filter={filter}>
      <TextField name="month" title={t('ops.field.month')} filter={filter} />
      <TextField name="gatewayId" title={t('ops.field.gateway')} filter={filter} />
      {billing && (
        <ChoiceField name="billing" title={t('ops.billing')} filter={filter} options={{ MONTHLY: t('billing.MONTHLY'), PLATFORM: t('billing.PLATFORM') }} />
      )}
    </FilterForm>
  );
}

/** What everything costs, how old that is, and how the sources are doing. */
export function Prices({ screen: { mode, items, sources }, place }: { screen: OpsPricesScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  return (
    <>
      <p class="hint">{t(mode === 'static' ? 'ops.prices-static' : 'ops.prices-http')}</p>
      {mode === 'static' && <PriceAct place={place} />}
      {items.length === 0 ? (
        <Empty title={t('ops.no-prices')} text={t('ops.no-prices-why')} />
      ) : (
        <section class="card card-table">
          <Table
            caption={t('ops-section.prices')}
            columns={[
              { title: t('ops.symbol'), look: 'rest' },
              { title: t('ops.usd'), look: 'amount' },
              { title: t('ops.age'), look: 'amount wide-only' },
              { title: t('ops.source'), look: 'wide-only' },
              { title: t('ops.state') },
            ]}
          >
            {items.map((one) => (
              <tr>
                <th scope="row">{one.symbol}</th>
                <td class="amount">
                  <span class="figure">{one.usd ?? '–'}</span>
                </td>
                <td class="amount wide-only">{one.ageSeconds === null ? '–' : <span class="figure">{duration(t, one.ageSeconds * 1_000)}</span>}</td>
                <td class="wide-only">{one.source ?? '–'}</td>
                <td>
                  <span class={`badge badge-${one.usable ? 'good' : 'warning'}`}>{t(one.usable ? 'ops.usable' : 'ops.not-usable')}</span>
                </td>
              </tr>
            ))}
          </Table>
        </section>
      )}
      {sources.length > 0 && (
        <section class="card card-table" aria-labelledby="sources">
          <h2 id="sources">{t('ops.sources')}</h2>
          <Table
            caption={t('ops.sources')}
            columns={[{ title: t('ops.source'), look: 'rest' }, { title: t('ops.answered') }, { title: t('ops.failed-in-a-row'), look: 'amount' }]}
          >
            {sources.map((one) => (
              <tr>
                <th scope="row">
                  {one.name}
                  {one.lastError !== null && <span class="hint below">{one.lastError}</span>}
                </th>
                <td>{one.answeredAt === null ? t('ops.never') : <Moment at={one.answeredAt} />}</td>
                <td class="amount">{one.failures}</td>
              </tr>
            ))}
          </Table>
        </section>
      )}
    </>
  );
}
