import type { JSX } from 'preact';
import { formatFiat } from '#api/page/fiat.ts';
import { visibleText } from '#shared/core/visible-text.ts';
import { sentence } from '#api/page/sentence.ts';
import { ActForm } from './act-form.tsx';
import { cashoutStoryOf, meaningOf } from './cashout-story.ts';
import type { ApprovalCard, CashoutScreen, CashoutsScreen, Surroundings } from './model.ts';
import {
  Address,
  Badge,
  Code,
  Coins,
  EchoedCards,
  Fact,
  Facts,
  less,
  Moment,
  networkTitle,
  OnNetwork,
  Pager,
  Short,
  StatusTabs,
  Table,
  plain,
} from './parts.tsx';
import { Timeline } from './timeline.tsx';
import { useTexts } from './texts.ts';

const STATUSES = ['PENDING_APPROVAL', 'UNDERFUNDED', 'WAITING_AML_CREDIT', 'REQUESTED', 'PROCESSING', 'SETTLED', 'REJECTED'];

/** A gateway's cashouts, newest first. */
export function Cashouts({ screen, place }: { screen: CashoutsScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { items, filter, later } = screen;
  const href = `${place.href}/cashouts`;
  const everything = filter.status === undefined && !later;
  return (
    <>
      {place.permissions.includes('settlement:create') && (
        <p class="page-acts">
          <a class="button button-main" href={`${href}/new`}>
            {t('new-cashout.title')}
          </a>
        </p>
      )}
      <StatusTabs path={href} statuses={STATUSES} filter={filter} />
      {items.length === 0 ? (
        <section class="card empty">
          <h2>{everything ? t('cashouts.empty-title') : t('cashouts.none-title')}</h2>
          {everything ? (
            <p>{t('cashouts.empty')}</p>
          ) : (
            <a class="button" href={href}>
              {t('cashouts.show-all')}
            </a>
          )}
        </section>
      ) : (
        <section class="card card-table">
          <Table
            caption={t('cashouts.caption')}
            columns={[
              { title: t('cashouts.destination'), look: 'rest' },
              { title: t('cashouts.amount'), look: 'amount' },
              { title: t('parts.status'), look: 'wide-only' },
              { title: t('cashouts.created'), look: 'wide-only' },
              { title: t('cashouts.over'), look: 'wide-only' },
            ]}
          >
            {items.map((row) => (
              <tr>
                <th scope="row">
                  <a href={`${href}/${row.id}`}>
                    <Short text={row.address} />
                  </a>
                  <span class="hint below">
                    <OnNetwork place={place} name={row.network} />
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
          <Pager path={href} screen={screen} />
        </section>
      )}
    </>
  );
}

function OverSince({ row: { settledAt, rejectedAt } }: { row: CashoutScreen['item'] }): JSX.Element {
  const t = useTexts();
  const at = settledAt ?? rejectedAt;
  return at === undefined ? <span class="hint">{t('parts.not-yet')}</span> : <Moment at={at} />;
}

/** One cashout. */
export function Cashout({ screen, place }: { screen: CashoutScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { item, echoed } = screen;
  return (
    <>
      <header class="headline">
        <p class="hint">
          <a href={`${place.href}/cashouts`}>{t('section.cashouts')}</a> / {item.id.slice(0, 8)}
        </p>
        <div class="title">
          <h1>{cashoutTitle(screen)}</h1>
          <Badge status={item.status} />
        </div>
        <p class="hint">{meaningOf(t, item.status)}</p>
      </header>
      <CashoutActs screen={screen} place={place} />
      <div class="columns">
        <div class="stack">
          <section class="card" aria-labelledby="happened">
            <h2 id="happened">{t('payment.happened')}</h2>
            <Timeline entries={cashoutStoryOf(t, item)} explorerUrl={() => item.blockchainUrl} />
          </section>
          <section class="card">
            <h2>{t('cashout.where')}</h2>
            <Facts>
              <Fact name={t('cashouts.destination')}>
                <Address text={item.address} />
              </Fact>
              <Fact name={t('parts.network')}>{networkTitle(place, item.network)}</Fact>
              {item.txHash !== '' && (
                <Fact name={t('cashout.transaction')}>
                  <Code text={item.txHash} what={t('parts.copy-transaction')} href={item.blockchainUrl} />
                </Fact>
              )}
              <Fact name={t('cashout.id')}>
                <Code text={item.id} what={t('cashout.copy-id')} />
              </Fact>
            </Facts>
          </section>
        </div>
        <div class="stack">
          <section class="card">
            <h2>{t('payment.money')}</h2>
            <Facts>
              <Fact name={t('cashouts.amount')}>
                <Coins amount={item.amount} asset={item.assetName} />
              </Fact>
              {item.feeLocked !== '' && (
                <Fact name={t('cashout.fee-reserved')}>
                  <span class="figure">{less(item.feeLocked)}</span>
                </Fact>
              )}
              {item.netAmount !== '' && (
                <Fact name={t('payment.net')} strong>
                  <Coins amount={item.netAmount} asset={item.assetName} />
                </Fact>
              )}
              {item.receivedAmount !== '' && (
                <Fact name={t('cashout.sent')}>
                  <Coins amount={item.receivedAmount} asset={item.assetName} />
                </Fact>
              )}
              {item.feeCharged !== undefined && (
                <Fact name={t('cashout.charged-besides')}>
                  <Coins amount={item.feeCharged} asset={item.assetName} />
                </Fact>
              )}
              {item.shortfall !== undefined && (
                <Fact name={t('cashout.missing')}>
                  <Coins amount={item.shortfall} asset={item.assetName} />
                </Fact>
              )}
              <Fact name={t('cashout.from')}>
                {item.route === 'AML_HELD' ? t('cashout.from-held') : item.route === 'SMART' ? t('cashout.from-smart') : t('cashout.from-ordinary')}
              </Fact>
            </Facts>
          </section>
          <EchoedCards echoed={echoed} />
        </div>
      </div>
    </>
  );
}

/** What whoever reads it may do about it now. */
function CashoutActs({ screen, place }: { screen: CashoutScreen; place: Surroundings }): JSX.Element | null {
  const t = useTexts();
  const { item, approval } = screen;
  const fields = { id: item.id };
  if (approval !== null) return <Approval screen={screen} place={place} approval={approval} />;
  const parked = item.status === 'UNDERFUNDED' || item.status === 'WAITING_AML_CREDIT';
  if (!parked || !place.permissions.includes('settlement:create')) return null;
  return (
    <section class="card card-act acts" aria-label={t('parked.title')}>
      {item.status === 'UNDERFUNDED' && <ActForm place={place} act="settlement-retry" fields={fields} look="main" label={t('parked.retry')} />}
      {item.status === 'WAITING_AML_CREDIT' && <ActForm place={place} act="credits-ask" look="main" label={t('screening.ask')} />}
      <ActForm place={place} act="settlement-cancel" fields={fields} label={t('parked.cancel')} />
    </section>
  );
}

/** Everything that somebody who approves has to see: who asks, how much against the cap, where to and since when that is known, and who approved already. */
function Approval({ screen: { item, echoed }, place, approval }: { screen: CashoutScreen; place: Surroundings; approval: ApprovalCard }): JSX.Element {
  const t = useTexts();
  const { people, policy, approved, own, createdBy, key, amountUsd, capUsd, knownForDays, riskScore, like, delaySeconds } = approval;
  const requester = echoed.find(({ name }) => name === 'requester')?.value;
  return (
    <section class="card card-act" aria-labelledby="approve">
      <h2 id="approve">{t('approve.title', { people, approved: approved.length })}</h2>
      <Facts>
        <Fact name={t('approve.asked-by')}>
          {createdBy ?? (key === null ? t('approve.a-key') : t('approve.the-key', { name: visibleText(key.name) }))}
          {createdBy === null && key !== null && key.maker !== null && <span class="hint below">{t('approve.key-maker', { email: key.maker })}</span>}
        </Fact>
        {requester !== undefined && createdBy === null && <Fact name={t('approve.requester')}>{plain(requester)}</Fact>}
        <Fact name={t('cashouts.amount')} strong>
          <Coins amount={item.amount} asset={item.assetName} />
          {amountUsd !== null && (
            <span class="hint below">{capUsd === null ? t('approve.usd', { usd: amountUsd }) : t('approve.usd-cap', { usd: amountUsd, cap: capUsd })}</span>
          )}
        </Fact>
        {item.netAmount !== '' && (
          <Fact name={t('approve.arrives')}>
            <Coins amount={item.netAmount} asset={item.assetName} />
            <span class="hint below">{t('approve.fee', { fee: item.feeLocked, asset: item.assetName })}</span>
          </Fact>
        )}
        <Fact name={t('cashouts.destination')}>
          <Address text={item.address} />
          <span class="hint below">
            {networkTitle(place, item.network)}. {knownForDays === null ? t('approve.first-time') : t('approve.known', { days: knownForDays })}
          </span>
        </Fact>
        {riskScore !== null && <Fact name={t('approve.risk')}>{riskScore}</Fact>}
        {policy !== null && <Fact name={t('approve.why')}>{t('approve.policy', { number: policy })}</Fact>}
        {approved.length > 0 && (
          <Fact name={t('approve.approved')}>
            {approved.map(({ email, at }) => (
              <span class="below">
                {email}, <Moment at={at} />
              </span>
            ))}
          </Fact>
        )}
      </Facts>
      {like !== null && (
        <p class="notice notice-warning">
          {sentence(t, 'approve.like', { label: <strong>{visibleText(like.label)}</strong>, address: <Address text={like.address} /> })}
        </p>
      )}
      {own !== null ? (
        <p class="hint">{t(`approve.own-${own}`)}</p>
      ) : (
        place.permissions.includes('settlement:approve') && (
          <>
            <ActForm place={place} act="settlement-approve" fields={{ id: item.id }} proved look="main" label={t('approve.approve')} />
            <p class="hint">{t('approve.final', { minutes: Math.ceil(delaySeconds / 60) })}</p>
          </>
        )
      )}
    </section>
  );
}

/** What a cashout is called on its page. Pure. */
export function cashoutTitle({ item }: CashoutScreen): string {
  return `${item.amount} ${item.assetName}`;
}
