import type { JSX } from 'preact';
import { formatFiat } from '#api/page/fiat.ts';
import { cashoutStoryOf, MEANINGS } from './cashout-story.ts';
import type { CashoutScreen, CashoutsScreen, Surroundings } from './model.ts';
import { Badge, Code, Coins, EchoedCards, Fact, Facts, less, Moment, networkTitle, Pager, Short, StatusTabs, Table } from './parts.tsx';
import { Timeline } from './timeline.tsx';

const STATUSES = ['PENDING_APPROVAL', 'UNDERFUNDED', 'WAITING_AML_CREDIT', 'REQUESTED', 'PROCESSING', 'SETTLED', 'REJECTED'];

/** A gateway's cashouts, newest first. */
export function Cashouts({ screen, place }: { screen: CashoutsScreen; place: Surroundings }): JSX.Element {
  const { items, filter, later } = screen;
  const href = `${place.href}/cashouts`;
  const everything = filter.status === undefined && !later;
  return (
    <>
      <StatusTabs path={href} statuses={STATUSES} filter={filter} />
      {items.length === 0 ? (
        <section class="card empty">
          <h2>{everything ? 'No cashouts yet' : 'No cashout is like that'}</h2>
          {everything ? (
            <p>A cashout sends coins from the balance to an address of yours. Your server asks for it, with a signed request.</p>
          ) : (
            <a class="button" href={href}>
              Show all cashouts
            </a>
          )}
        </section>
      ) : (
        <section class="card card-table">
          <Table
            caption="Cashouts, the newest first"
            columns={[
              { title: 'Destination', look: 'rest' },
              { title: 'Amount', look: 'amount' },
              { title: 'Status', look: 'wide-only' },
              { title: 'Created', look: 'wide-only' },
              { title: 'Over', look: 'wide-only' },
            ]}
          >
            {items.map((row) => (
              <tr>
                <th scope="row">
                  <a href={`${href}/${row.id}`}>
                    <Short text={row.address} />
                  </a>
                  <span class="hint below">
                    on {networkTitle(place, row.network)}
                    <span class="narrow-only">{row.createdAt !== undefined && <Moment at={row.createdAt} />}</span>
                  </span>
                </th>
                <td class="amount">
                  <Coins amount={row.amount} asset={row.assetName} />
                  {row.amountUsd !== undefined && <span class="hint below">{formatFiat(row.amountUsd, 'USD', 'en')}</span>}
                  <span class="narrow-only">
                    <Badge status={row.status} />
                  </span>
                </td>
                <td class="wide-only">
                  <Badge status={row.status} />
                </td>
                <td class="wide-only">{row.createdAt !== undefined && <Moment at={row.createdAt} />}</td>
                <td class="wide-only">
                  <OverSince row={row} />
                </td>
              </tr>
            ))}
          </Table>
          <Pager path={href} screen={screen} one="cashout" />
        </section>
      )}
    </>
  );
}

function OverSince({ row: { settledAt, rejectedAt } }: { row: CashoutScreen['item'] }): JSX.Element {
  const at = settledAt ?? rejectedAt;
  return at === undefined ? <span class="hint">Not yet</span> : <Moment at={at} />;
}

/** One cashout. */
export function Cashout({ screen, place }: { screen: CashoutScreen; place: Surroundings }): JSX.Element {
  const { item, echoed } = screen;
  return (
    <>
      <header class="headline">
        <p class="hint">
          <a href={`${place.href}/cashouts`}>Cashouts</a> / {item.id.slice(0, 8)}
        </p>
        <div class="title">
          <h1>{cashoutTitle(screen)}</h1>
          <Badge status={item.status} />
        </div>
        <p class="hint">{MEANINGS[item.status]}</p>
      </header>
      <div class="columns">
        <div class="stack">
          <section class="card" aria-labelledby="happened">
            <h2 id="happened">What happened</h2>
            <Timeline entries={cashoutStoryOf(item)} explorerUrl={() => item.blockchainUrl} />
          </section>
          <section class="card">
            <h2>Where it goes</h2>
            <Facts>
              <Fact name="Destination">
                <code>{item.address}</code>
              </Fact>
              <Fact name="Network">{networkTitle(place, item.network)}</Fact>
              {item.txHash !== '' && (
                <Fact name="Transaction">
                  <Code text={item.txHash} what="the transaction's hash" href={item.blockchainUrl} />
                </Fact>
              )}
              <Fact name="Id">
                <Code text={item.id} what="the cashout's id" />
              </Fact>
            </Facts>
          </section>
        </div>
        <div class="stack">
          <section class="card">
            <h2>Money</h2>
            <Facts>
              <Fact name="Amount">
                <Coins amount={item.amount} asset={item.assetName} />
              </Fact>
              {item.feeLocked !== '' && (
                <Fact name="Network fee, reserved">
                  <span class="figure">{less(item.feeLocked)}</span>
                </Fact>
              )}
              {item.netAmount !== '' && (
                <Fact name="Net" strong>
                  <Coins amount={item.netAmount} asset={item.assetName} />
                </Fact>
              )}
              {item.receivedAmount !== '' && (
                <Fact name="Sent">
                  <Coins amount={item.receivedAmount} asset={item.assetName} />
                </Fact>
              )}
              {item.feeCharged !== undefined && (
                <Fact name="Charged besides">
                  <Coins amount={item.feeCharged} asset={item.assetName} />
                </Fact>
              )}
              {item.shortfall !== undefined && (
                <Fact name="Still missing">
                  <Coins amount={item.shortfall} asset={item.assetName} />
                </Fact>
              )}
              <Fact name="From">
                {item.route === 'AML_HELD' ? 'What screening holds' : item.route === 'SMART' ? 'Decided by screening' : 'The ordinary balance'}
              </Fact>
            </Facts>
          </section>
          <EchoedCards echoed={echoed} />
        </div>
      </div>
    </>
  );
}

/** What a cashout is called on its page. Pure. */
export function cashoutTitle({ item }: CashoutScreen): string {
  return `${item.amount} ${item.assetName}`;
}
