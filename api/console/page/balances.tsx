import type { JSX } from 'preact';
import { formatFiat } from '#api/page/fiat.ts';
import { sentence } from '#api/page/sentence.ts';
import type { BalancesScreen, Surroundings } from './model.ts';
import { Moment, OnNetwork, Table } from './parts.tsx';
import { useTexts } from './texts.ts';

/** What a gateway can cash out, what is maturing, and what screening holds, coin by coin. */
export function Balances({ screen: { items }, place }: { screen: BalancesScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  if (items.length === 0)
    return (
      <section class="card empty">
        <h2>{t('parts.nothing-yet')}</h2>
        <p>{t('balances.empty')}</p>
      </section>
    );
  const held = items.some(
    ({ totalQuarantinedAvailable, totalQuarantinedPendingAvailable }) => totalQuarantinedAvailable !== '0' || totalQuarantinedPendingAvailable !== '0',
  );
  return (
    <section class="card card-table">
      <Table
        caption={t('balances.caption')}
        columns={[
          { title: t('parts.coin') },
          { title: t('balances.available'), look: 'amount' },
          { title: t('balances.maturing'), look: 'amount' },
          ...(held ? [{ title: t('balances.held'), look: 'amount' }] : []),
        ]}
      >
        {items.map((one) => (
          <tr>
            <th scope="row">
              {one.symbol}{' '}
              <span class="hint">
                <OnNetwork place={place} name={one.networkName} />
              </span>
            </th>
            <td class="amount">
              <span class="figure">{one.totalAvailable}</span>
              <span class="hint below">
                {formatFiat(one.totalAvailableUsd, 'USD', 'en')} · {t('balances.payments', { count: one.payments })}
              </span>
            </td>
            <td class="amount">
              <span class="figure">{one.totalPendingAvailable}</span>
              {one.nextMaturityAt !== null && one.nextMaturityAt !== undefined && (
                <span class="hint below">{sentence(t, 'balances.next', { moment: <Moment at={one.nextMaturityAt} /> })}</span>
              )}
            </td>
            {held && (
              <td class="amount">
                <span class="figure">{one.totalQuarantinedAvailable}</span>
                <span class="hint below">{t('balances.payments', { count: one.quarantinedPayments })}</span>
              </td>
            )}
          </tr>
        ))}
      </Table>
      <p class="hint">{t('balances.dollars')}</p>
    </section>
  );
}
