import type { JSX } from 'preact';
import type { CreditsScreen, LedgerScreen, Surroundings } from './model.ts';
import { Coins, less, Moment, networkTitle, Pager, Table } from './parts.tsx';

/** What payments credited, newest first, and what of each can still be cashed out. */
export function Credits({ screen, place }: { screen: CreditsScreen; place: Surroundings }): JSX.Element {
  if (screen.items.length === 0) return <NoEntries text="What payers send is credited here, less fees." />;
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
              <span class="hint below">{row.maturedAt === null ? 'Maturing' : 'Can be cashed out'}</span>
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
      <Pager path={`${place.href}/credits`} screen={screen} one="credit" />
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

/** What was posted to the accounts of a gateway, newest first: what moved between two of them is two lines with one cause. */
export function Ledger({ screen, place }: { screen: LedgerScreen; place: Surroundings }): JSX.Element {
  if (screen.items.length === 0) return <NoEntries text="Every change of a balance is posted here." />;
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
      <Pager path={`${place.href}/ledger`} screen={screen} one="posting" />
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
