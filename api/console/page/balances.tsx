import type { JSX } from 'preact';
import { formatFiat } from '#api/page/fiat.ts';
import type { BalancesScreen, Surroundings } from './model.ts';
import { Moment, networkTitle, Table } from './parts.tsx';

/** What a gateway can cash out, what is maturing, and what screening holds, coin by coin. */
export function Balances({ screen: { items }, place }: { screen: BalancesScreen; place: Surroundings }): JSX.Element {
  if (items.length === 0)
    return (
      <section class="card empty">
        <h2>Nothing here yet</h2>
        <p>What payers send is credited here, less fees, and can be cashed out once it has matured.</p>
      </section>
    );
  const held = items.some(
    ({ totalQuarantinedAvailable, totalQuarantinedPendingAvailable }) => totalQuarantinedAvailable !== '0' || totalQuarantinedPendingAvailable !== '0',
  );
  return (
    <section class="card card-table">
      <Table
        caption="Balances by coin"
        columns={[
          { title: 'Coin' },
          { title: 'Can be cashed out', look: 'amount' },
          { title: 'Maturing', look: 'amount' },
          ...(held ? [{ title: 'Held by screening', look: 'amount' }] : []),
        ]}
      >
        {items.map((one) => (
          <tr>
            <th scope="row">
              {one.symbol} <span class="hint">on {networkTitle(place, one.networkName)}</span>
            </th>
            <td class="amount">
              <span class="figure">{one.totalAvailable}</span>
              <span class="hint below">
                {formatFiat(one.totalAvailableUsd, 'USD', 'en')} · {counted(one.payments)}
              </span>
            </td>
            <td class="amount">
              <span class="figure">{one.totalPendingAvailable}</span>
              {one.nextMaturityAt !== null && one.nextMaturityAt !== undefined && (
                <span class="hint below">
                  next <Moment at={one.nextMaturityAt} />
                </span>
              )}
            </td>
            {held && (
              <td class="amount">
                <span class="figure">{one.totalQuarantinedAvailable}</span>
                <span class="hint below">{counted(one.quarantinedPayments)}</span>
              </td>
            )}
          </tr>
        ))}
      </Table>
      <p class="hint">US dollars at today's prices, which only inform.</p>
    </section>
  );
}

function counted(payments: number): string {
  return `${payments} ${payments === 1 ? 'payment' : 'payments'}`;
}
