import type { JSX } from 'preact';
import type { CreditsScreen, LedgerScreen, Surroundings } from './model.ts';
import { ChoiceField, CoinField, Coins, DayField, FilterForm, less, Moment, NothingLike, OnNetwork, Pager, StatusTabs, Table } from './parts.tsx';
import { type Translate, useTexts } from './texts.ts';

/** What a credit may be, in the contract's words. */
export const CREDIT_STATES = ['maturing', 'available', 'drawn', 'held', 'withheld', 'refunding', 'refunded'] as const;

/** What payments credited, newest first, and what of each can still be cashed out. */
export function Credits({ screen, place }: { screen: CreditsScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { filter } = screen;
  const path = `${place.href}/credits`;
  const titles = Object.fromEntries(CREDIT_STATES.map((state) => [state, t(`credits.state-${state}`)]));
  return (
    <>
      <StatusTabs path={path} statuses={CREDIT_STATES} filter={filter} name="state" titles={titles} />
      <FilterForm path={path} filter={filter} kept={['state', 'payment']}>
        <DayField name="from" title={t('credits.from')} filter={filter} />
        <DayField name="to" title={t('credits.before')} filter={filter} />
        <CoinField title={t('parts.coin')} filter={filter} />
        <ChoiceField name="network" title={t('parts.network')} filter={filter} options={place.networks} />
      </FilterForm>
      <CreditRows screen={screen} place={place} path={path} />
    </>
  );
}

interface RowsProps<Screen> {
  screen: Screen;
  place: Surroundings;
  path: string;
}

function CreditRows({ screen, place, path }: RowsProps<CreditsScreen>): JSX.Element {
  const t = useTexts();
  if (screen.items.length === 0 && !isAsked(screen)) return <NoEntries text={t('credits.empty')} />;
  if (screen.items.length === 0) return <NothingLike path={path} screen={screen} title={t('credits.none-title')} all={t('credits.show-all')} />;
  return (
    <section class="card card-table">
      <Table
        caption={t('credits.caption')}
        columns={[
          { title: t('credits.credited'), look: 'rest' },
          { title: t('credits.arrived'), look: 'amount wide-only' },
          { title: t('credits.fees'), look: 'amount wide-only' },
          { title: t('credits.net'), look: 'amount' },
          { title: t('credits.remaining'), look: 'amount wide-only' },
        ]}
      >
        {screen.items.map((row) => (
          <tr>
            <th scope="row">
              <a class="row-name" href={`${place.href}/payments/${row.paymentUid}`}>
                <Moment at={row.creditedAt} />
              </a>
              {row.pool === 'held' && <span class="badge badge-warning">{t('credits.held')}</span>}
              <span class="hint below">{t(`credits.state-${row.state}`)}</span>
            </th>
            <td class="amount wide-only">
              <span class="figure">{row.gross}</span>
            </td>
            <td class="amount wide-only">
              <span class="figure">{less(row.networkFee)}</span>
              {row.commission !== '0' && <span class="figure below">{less(row.commission)}</span>}
            </td>
            <td class="amount">
              <Coins amount={row.net} asset={row.asset} />
              <span class="hint below">
                <OnNetwork place={place} name={row.network} />
              </span>
            </td>
            <td class="amount wide-only">
              <span class="figure">{row.remaining}</span>
            </td>
          </tr>
        ))}
      </Table>
      <Pager path={path} screen={screen} />
    </section>
  );
}

/** Kinds of postings that a list may be narrowed to. */
const KINDS = ['credit', 'mature', 'reserve', 'release', 'settle', 'charge', 'collect', 'move', 'withhold', 'refund-order', 'refund', 'refund-cancel'] as const;

/** What people call a kind of posting; one that nobody looks for is shown as the API calls it. */
function kindTitle(t: Translate, kind: string): string | undefined {
  const known = KINDS.find((one) => one === kind);
  return known === undefined ? undefined : t(`ledger.kind-${known}`);
}

/** What was posted to the accounts of a gateway, newest first: what moved between two of them is two lines with one cause. */
export function Ledger({ screen, place }: { screen: LedgerScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { filter } = screen;
  const path = `${place.href}/ledger`;
  const kinds = Object.fromEntries(KINDS.map((kind) => [kind, t(`ledger.kind-${kind}`)]));
  return (
    <>
      <FilterForm path={path} filter={filter}>
        <DayField name="from" title={t('ledger.from')} filter={filter} />
        <DayField name="to" title={t('ledger.before')} filter={filter} />
        <ChoiceField name="kind" title={t('ledger.for')} filter={filter} options={kinds} />
        <CoinField title={t('parts.coin')} filter={filter} />
        <ChoiceField name="network" title={t('parts.network')} filter={filter} options={place.networks} />
      </FilterForm>
      <EntryRows screen={screen} place={place} path={path} />
    </>
  );
}

function EntryRows({ screen, place, path }: RowsProps<LedgerScreen>): JSX.Element {
  const t = useTexts();
  if (screen.items.length === 0 && !isAsked(screen)) return <NoEntries text={t('ledger.empty')} />;
  if (screen.items.length === 0) return <NothingLike path={path} screen={screen} title={t('ledger.none-title')} all={t('ledger.show-all')} />;
  return (
    <section class="card card-table">
      <p class="hint">{t('ledger.hint')}</p>
      <Table
        caption={t('ledger.caption')}
        columns={[
          { title: t('ledger.posted'), look: 'rest' },
          { title: t('ledger.for'), look: 'wide-only' },
          { title: t('ledger.account'), look: 'wide-only' },
          { title: t('ledger.amount'), look: 'amount' },
        ]}
      >
        {screen.items.map((row) => (
          <tr>
            <th scope="row">
              <Moment at={row.at} />
              <span class="hint narrow-only">
                <For row={row} place={place} /> · {t(`ledger.account-${row.account}`)}
              </span>
            </th>
            <td class="wide-only">
              <For row={row} place={place} />
            </td>
            <td class="wide-only">{t(`ledger.account-${row.account}`)}</td>
            <td class="amount">
              <Coins amount={signed(row.amount)} asset={row.asset} />
              <span class="hint below">
                <OnNetwork place={place} name={row.network} />
              </span>
            </td>
          </tr>
        ))}
      </Table>
      <Pager path={path} screen={screen} />
    </section>
  );
}

/** What caused it, with the way there. */
function For({ row: { kind, paymentUid, settlementId }, place }: { row: LedgerScreen['items'][number]; place: Surroundings }): JSX.Element {
  const what = kindTitle(useTexts(), kind) ?? <code>{kind}</code>;
  if (paymentUid !== null) return <a href={`${place.href}/payments/${paymentUid}`}>{what}</a>;
  if (settlementId !== null) return <a href={`${place.href}/cashouts/${settlementId}`}>{what}</a>;
  return <>{what}</>;
}

function isAsked({ filter, later }: Pick<LedgerScreen, 'filter' | 'later'>): boolean {
  return Object.keys(filter).length > 0 || later;
}

/** With its sign, whichever it is. Pure. */
function signed(amount: string): string {
  return amount.startsWith('-') ? `−${amount.slice(1)}` : `+${amount}`;
}

function NoEntries({ text }: { text: string }): JSX.Element {
  return (
    <section class="card empty">
      <h2>{useTexts()('parts.nothing-yet')}</h2>
      <p>{text}</p>
    </section>
  );
}
