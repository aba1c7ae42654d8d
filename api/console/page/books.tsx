import type { JSX } from 'preact';
import type { CreditsScreen, LedgerScreen, Surroundings } from './model.ts';
import { ChoiceField, CoinField, Coins, DayField, FilterForm, less, Moment, networkTitle, NothingLike, Pager, StatusTabs, Table } from './parts.tsx';

/** What a credit may be, in the contract's words. */
export const CREDIT_STATES = ['maturing', 'available', 'drawn', 'held', 'withheld', 'refunding', 'refunded'];

const STATES: Readonly<Record<string, string>> = {
  maturing: 'Maturing',
  available: 'Can be cashed out',
  drawn: 'Cashed out',
  held: 'Held by screening',
  withheld: 'Withheld by screening',
  refunding: 'Going back to its payer',
  refunded: 'Went back to its payer',
};

/** What payments credited, newest first, and what of each can still be cashed out. */
export function Credits({ screen, place }: { screen: CreditsScreen; place: Surroundings }): JSX.Element {
  const { filter } = screen;
  const path = `${place.href}/credits`;
  return (
    <>
      <StatusTabs path={path} statuses={CREDIT_STATES} filter={filter} name="state" />
      <FilterForm path={path} filter={filter} kept={['state', 'payment']}>
        <DayField name="from" title="Credited from" filter={filter} />
        <DayField name="to" title="Credited before" filter={filter} />
        <CoinField title="Coin" filter={filter} />
        <ChoiceField name="network" title="Network" filter={filter} options={place.networks} />
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
  if (screen.items.length === 0 && !isAsked(screen)) return <NoEntries text="What payers send is credited here, less fees." />;
  if (screen.items.length === 0) return <NothingLike path={path} screen={screen} title="No credit is like that" all="Show all credits" />;
  return (
    <section class="card card-table">
      <Table
        caption="Credits, the newest first"
        columns={[
          { title: 'Credited', look: 'rest' },
          { title: 'Arrived', look: 'amount wide-only' },
          { title: 'Fees', look: 'amount wide-only' },
          { title: 'Net', look: 'amount' },
          { title: 'Not yet cashed out', look: 'amount wide-only' },
        ]}
      >
        {screen.items.map((row) => (
          <tr>
            <th scope="row">
              <a class="row-name" href={`${place.href}/payments/${row.paymentUid}`}>
                <Moment at={row.creditedAt} />
              </a>
              {row.pool === 'held' && <span class="badge badge-warning">Held</span>}
              <span class="hint below">{STATES[row.state] ?? row.state}</span>
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
              <span class="hint below">on {networkTitle(place, row.network)}</span>
            </td>
            <td class="amount wide-only">
              <span class="figure">{row.remaining}</span>
            </td>
          </tr>
        ))}
      </Table>
      <Pager path={path} screen={screen} one="credit" />
    </section>
  );
}

const ACCOUNTS: Readonly<Record<string, string>> = {
  pending: 'Maturing',
  heldPending: 'Held, maturing',
  available: 'Available',
  held: 'Held',
  reserved: 'Claimed by cashouts',
  withheld: 'Withheld by screening',
  refunding: 'Going back to payers',
  owed: 'Owed',
};

/** Kinds of postings whose names say too little; the others are shown as the API calls them. */
const KINDS: Readonly<Record<string, string>> = {
  mature: 'Matured',
  reserve: 'Claimed for a cashout',
  release: 'Given back by a cashout',
  settle: 'Cashed out',
};

/** Kinds that a list may be narrowed to, as people call them. */
const KIND_CHOICES: Readonly<Record<string, string>> = {
  credit: 'Credit',
  ...KINDS,
  charge: 'Charge',
  collect: 'Collect',
  move: 'Move',
  withhold: 'Withhold',
  'refund-order': 'Refund order',
  refund: 'Refund',
  'refund-cancel': 'Refund cancel',
};

/** What was posted to the accounts of a gateway, newest first: what moved between two of them is two lines with one cause. */
export function Ledger({ screen, place }: { screen: LedgerScreen; place: Surroundings }): JSX.Element {
  const { filter } = screen;
  const path = `${place.href}/ledger`;
  return (
    <>
      <FilterForm path={path} filter={filter}>
        <DayField name="from" title="Posted from" filter={filter} />
        <DayField name="to" title="Posted before" filter={filter} />
        <ChoiceField name="kind" title="For" filter={filter} options={KIND_CHOICES} />
        <CoinField title="Coin" filter={filter} />
        <ChoiceField name="network" title="Network" filter={filter} options={place.networks} />
      </FilterForm>
      <EntryRows screen={screen} place={place} path={path} />
    </>
  );
}

function EntryRows({ screen, place, path }: RowsProps<LedgerScreen>): JSX.Element {
  if (screen.items.length === 0 && !isAsked(screen)) return <NoEntries text="Every change of a balance is posted here." />;
  if (screen.items.length === 0) return <NothingLike path={path} screen={screen} title="No posting is like that" all="Show all postings" />;
  return (
    <section class="card card-table">
      <p class="hint">Each line changed one account. All lines of an account and a coin add up to its balance.</p>
      <Table
        caption="Postings, the newest first"
        columns={[
          { title: 'Posted', look: 'rest' },
          { title: 'For', look: 'wide-only' },
          { title: 'Account', look: 'wide-only' },
          { title: 'Amount', look: 'amount' },
        ]}
      >
        {screen.items.map((row) => (
          <tr>
            <th scope="row">
              <Moment at={row.at} />
              <span class="hint narrow-only">
                <For row={row} place={place} /> · {ACCOUNTS[row.account] ?? row.account}
              </span>
            </th>
            <td class="wide-only">
              <For row={row} place={place} />
            </td>
            <td class="wide-only">{ACCOUNTS[row.account] ?? row.account}</td>
            <td class="amount">
              <Coins amount={signed(row.amount)} asset={row.asset} />
              <span class="hint below">on {networkTitle(place, row.network)}</span>
            </td>
          </tr>
        ))}
      </Table>
      <Pager path={path} screen={screen} one="posting" />
    </section>
  );
}

/** What caused it, with the way there. */
function For({ row: { kind, paymentUid, settlementId }, place }: { row: LedgerScreen['items'][number]; place: Surroundings }): JSX.Element {
  const what = KINDS[kind] ?? `${kind.slice(0, 1).toUpperCase()}${kind.slice(1).replaceAll(/[_-]/g, ' ')}`;
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
      <h2>Nothing here yet</h2>
      <p>{text}</p>
    </section>
  );
}
