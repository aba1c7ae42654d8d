import type { JSX } from 'preact';
import type { StatementScreen, Surroundings } from './model.ts';
import { Fact, Facts, less, Moment, networkTitle } from './parts.tsx';
import { sentence } from '#api/page/sentence.ts';
import { useTexts } from './texts.ts';

/** What a gateway had at the beginning of a month, what changed it, and what it had at the end: a column that adds up before the reader's eyes, and prints. */
export function Statement({ screen: { statement }, place }: { screen: StatementScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  return (
    <>
      <p class="hint">
        {place.name} · {sentence(t, statement.isOver ? 'statement.over' : 'statement.so-far', { moment: <Moment at={statement.asOf} /> })}
      </p>
      {statement.items.length === 0 && <section class="card empty">{t('statement.empty')}</section>}
      {statement.items.map((item) => (
        <section class="card statement">
          <h2>
            {item.asset} <span class="hint">{networkTitle(place, item.network)}</span>
          </h2>
          <Facts>
            <Line name={t('statement.opening')} amount={item.opening} strong />
            <Line name={t('statement.received', { count: item.credits.count })} amount={item.credits.gross} />
            <Line name={t('statement.network-fees')} amount={less(item.credits.networkFees)} />
            <Line name={t('statement.commissions')} amount={less(item.credits.commissions)} />
            <Line name={t('statement.fees-borne')} amount={item.credits.feesBorne} optional />
            <Line name={t('statement.cashed-out', { count: item.cashouts.count })} amount={less(item.cashouts.paid)} />
            <Line name={t('statement.cashout-fees')} amount={less(item.cashouts.fees)} optional />
            <Line name={t('statement.charges')} amount={less(item.charges.amount)} optional />
            <Line name={t('statement.refunds', { count: item.refunds.count })} amount={less(item.refunds.paid)} optional />
            <Line name={t('statement.commissions-returned')} amount={item.refunds.commissionsReturned} optional />
            <Line name={t('statement.withheld-paid')} amount={less(item.withheldPaid.amount)} optional />
            <Line name={t('statement.adjustments')} amount={item.adjustments} optional />
            <Line name={t('statement.closing')} amount={item.closing} strong />
          </Facts>
        </section>
      ))}
    </>
  );
}

function Line({ name, amount, strong = false, optional = false }: { name: string; amount: string; strong?: boolean; optional?: boolean }): JSX.Element | null {
  if (optional && /^−?[0.]*$/.test(amount)) return null;
  return (
    <Fact name={name} strong={strong}>
      <span class="figure">{amount}</span>
    </Fact>
  );
}
