import type { JSX } from 'preact';
import type { Surroundings } from './model.ts';
import type { OpsCashoutScreen, OpsCashoutsScreen, OutgoingScreen } from './operator-model.ts';
import { operatorCashoutStory } from './ops-cashout-story.ts';
import { Empty, Listed, OfGateway, WalkFields, WordTabs } from './ops-parts.tsx';
import { statusTitles } from './ops-payments.tsx';
import { Badge, Code, Coins, Fact, Facts, FilterForm, less, Moment, networkTitle, Short, Table } from './parts.tsx';
import { AdoptAct, RejectAct } from './ops-acts.tsx';
import { sayWaitReason } from './say-wait-reason.ts';
import { useTexts } from './texts.ts';
import { wordFor } from './words.ts';
import { Timeline } from './timeline.tsx';

const STATUSES = ['PENDING_APPROVAL', 'UNDERFUNDED', 'WAITING_AML_CREDIT', 'REQUESTED', 'PROCESSING', 'SETTLED', 'REJECTED'] as const;

/** Cashouts of every gateway, and why each waits. */
export function OpsCashouts({ screen, place }: { screen: OpsCashoutsScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { filter, gateways } = screen;
  const path = `${place.href}/cashouts`;
  return (
    <>
      <WordTabs path={path} name="status" titles={statusTitles(t, STATUSES)} filter={filter} />
      <FilterForm path={path} filter={filter} kept={['status']}>
        <WalkFields filter={filter} />
      </FilterForm>
      <p>
        <a href={`${path}/outgoing`}>{t('ops.to-outgoing')}</a>
      </p>
      <Listed
        screen={screen}
        path={path}
        caption={t('ops-section.cashouts')}
        columns={[
          { title: t('ops.to'), look: 'rest' },
          { title: t('ops.amount'), look: 'amount' },
          { title: t('ops.gateway'), look: 'wide-only' },
          { title: t('ops.status'), look: 'wide-only' },
          { title: t('ops.created'), look: 'wide-only' },
        ]}
        none={t('ops.cashouts-none')}
        why={t('ops.cashouts-none-why')}
        row={(row) => (
          <tr>
            <th scope="row">
              <a href={`${path}/${row.id}`}>
                <Short text={row.address} />
              </a>
              <span class="hint below">{networkTitle(place, row.network)}</span>
              <span class="hint narrow-only">
                <OfGateway id={row.gatewayId} names={gateways} place={place} />
              </span>
            </th>
            <td class="amount">
              <Coins amount={row.amount} asset={row.assetSymbol} />
              <span class="narrow-only">
                <Badge status={row.status} />
              </span>
            </td>
            <td class="wide-only">
              <OfGateway id={row.gatewayId} names={gateways} place={place} />
            </td>
            <td class="wide-only">
              <Badge status={row.status} />
              {(row.waitReason ?? row.holdReason) !== null && (
                <span class="hint below">
                  {row.waitReason === null ? wordFor(t, 'hold-reason', row.holdReason ?? '') : <WaitReason text={row.waitReason} />}
                </span>
              )}
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

function WaitReason({ text }: { text: string }): JSX.Element {
  const said = sayWaitReason(useTexts(), text);
  return <span lang={said.english ? 'en' : undefined}>{said.text}</span>;
}

/** One cashout: its story, its money, and every transaction that carries it out. */
export function OpsCashout({ screen, place }: { screen: OpsCashoutScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { item, gateway, metadata, fee, charges, payouts } = screen;
  return (
    <>
      <header class="headline">
        <p class="hint">
          <a href={`${place.href}/cashouts`}>{t('ops-section.cashouts')}</a> / {item.id.slice(0, 8)}
        </p>
        <div class="title">
          <h1>{cashoutName(screen)}</h1>
          <Badge status={item.status} />
        </div>
        <p class="hint">
          <a href={`${place.href}/gateways/${gateway.id}`}>{gateway.name}</a>
        </p>
      </header>
      <RejectAct place={place} id={item.id} status={item.status} />
      <div class="columns">
        <div class="stack">
          <section class="card" aria-labelledby="happened">
            <h2 id="happened">{t('ops.happened')}</h2>
            <Timeline entries={operatorCashoutStory(screen, t)} explorerUrl={() => undefined} />
          </section>
          <section class="card card-table" aria-labelledby="payouts">
            <h2 id="payouts">{t('ops.payouts')}</h2>
            {payouts.length === 0 ? (
              <p class="hint">{t('ops.payouts-none')}</p>
            ) : (
              <Table
                caption={t('ops.payouts')}
                columns={[{ title: t('ops.transaction'), look: 'rest' }, { title: t('ops.block'), look: 'amount wide-only' }, { title: t('ops.status') }]}
              >
                {payouts.slice(0, MOST).map((payout) => (
                  <tr>
                    <th scope="row">
                      <span class="hint below">{wordFor(t, 'purpose', payout.purpose)}</span>
                      {payout.attempts.length === 0 ? <span class="hint">{t('ops.not-signed')}</span> : null}
                      {payout.attempts.slice(-ATTEMPTS).map(({ txHash }) => (
                        <span class="below">
                          <Code text={txHash} what={t('ops.the-hash')} />
                        </span>
                      ))}
                      {payout.failure !== null && <span class="hint below">{payout.failure}</span>}
                    </th>
                    <td class="amount wide-only">
                      <span class="figure">{payout.height ?? '–'}</span>
                    </td>
                    <td>
                      <Badge status={payout.status} />
                    </td>
                  </tr>
                ))}
              </Table>
            )}
          </section>
        </div>
        <div class="stack">
          <section class="card" aria-labelledby="money">
            <h2 id="money">{t('ops.money')}</h2>
            <Facts>
              <Fact name={t('ops.amount')}>
                <Coins amount={item.amount} asset={item.assetSymbol} />
              </Fact>
              {item.feeLocked !== null && (
                <Fact name={t('ops.fee-locked')}>
                  <span class="figure">{less(item.feeLocked)}</span>
                </Fact>
              )}
              {item.netAmount !== null && (
                <Fact name={t('ops.net')} strong>
                  <Coins amount={item.netAmount} asset={item.assetSymbol} />
                </Fact>
              )}
              {fee !== null && (
                <>
                  <Fact name={t('ops.fee-actual')}>
                    <Coins amount={fee.actualNative} asset={fee.nativeAsset} />
                  </Fact>
                  <Fact name={t('ops.fee-payer')}>{t(fee.payer === 'MERCHANT' ? 'ops.fee-merchant' : 'ops.fee-platform')}</Fact>
                </>
              )}
              {charges.map((charge) => (
                <Fact name={t('ops.charged')}>
                  <Coins amount={charge.amount} asset={charge.assetSymbol} />
                </Fact>
              ))}
              <Fact name={t('ops.pool')}>{item.pool === null ? t('ops.not-yet') : t(item.pool === 'held' ? 'ops.pool-held' : 'ops.pool-green')}</Fact>
            </Facts>
          </section>
          <section class="card" aria-labelledby="where">
            <h2 id="where">{t('ops.to')}</h2>
            <Facts>
              <Fact name={t('ops.address')}>
                <code>{item.address}</code>
              </Fact>
              <Fact name={t('ops.network')}>{networkTitle(place, item.network)}</Fact>
              <Fact name={t('ops.id')}>
                <Code text={item.id} what={t('ops.the-id')} />
              </Fact>
              <Fact name={t('ops.jobs-of')}>
                <a href={`${place.href}/jobs?q=${item.id}`}>{t('ops.show-jobs')}</a>
              </Fact>
            </Facts>
          </section>
          {metadata.length > 0 && (
            <section class="card" aria-labelledby="metadata">
              <h2 id="metadata">{t('ops.metadata')}</h2>
              <Facts>
                {metadata.map(({ key, value }) => (
                  <Fact name={key}>{value}</Fact>
                ))}
              </Facts>
            </section>
          )}
        </div>
      </div>
    </>
  );
}

/** Most payouts and attempts of each that a page shows. */
const MOST = 50;
const ATTEMPTS = 5;

/** What a cashout is called on its page. Pure. */
export function cashoutName({ item }: Pick<OpsCashoutScreen, 'item'>): string {
  return `${item.amount} ${item.assetSymbol}`;
}

/** What addresses of the deployment sent and nothing in the books explains. */
export function Outgoing({ screen: { items }, place }: { screen: OutgoingScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  return (
    <>
      <p class="hint">
        <a href={`${place.href}/cashouts`}>{t('ops-section.cashouts')}</a> / {t('ops.outgoing')}
      </p>
      {items.length === 0 ? (
        <Empty title={t('ops.outgoing-none')} text={t('ops.outgoing-none-why')} />
      ) : (
        <section class="card card-table">
          <Table
            caption={t('ops.outgoing')}
            columns={[
              { title: t('ops.transaction'), look: 'rest' },
              { title: t('ops.moved'), look: 'amount' },
              { title: t('ops.may-have-paid'), look: 'wide-only' },
              { title: t('ops.state'), look: 'wide-only' },
            ]}
          >
            {items.slice(0, SHOWN).flatMap((one) => [
              <tr>
                <th scope="row">
                  <Code text={one.txid} what={t('ops.the-hash')} />
                  <span class="hint below">
                    {networkTitle(place, one.network)}, {t('ops-story.in-block', { height: String(one.height) })}
                  </span>
                </th>
                <td class="amount">
                  {one.transfers.map(({ amount, symbol }) => (
                    <span class="below">
                      <Coins amount={amount} asset={symbol} />
                    </span>
                  ))}
                </td>
                <td class="wide-only">
                  {one.mayHavePaid.length === 0 ? <span class="hint">{t('ops.none')}</span> : null}
                  {one.mayHavePaid.map(({ settlementId }) => (
                    <a class="below" href={`${place.href}/cashouts/${settlementId}`}>
                      {settlementId.slice(0, 8)}
                    </a>
                  ))}
                </td>
                <td class="wide-only">{t(one.final ? 'ops.final' : 'ops.not-final')}</td>
              </tr>,
              place.permissions.includes('freeze:operate') && (
                <tr>
                  <td colSpan={4}>
                    <AdoptAct place={place} network={one.network} txid={one.txid} mayHavePaid={one.mayHavePaid.map(({ settlementId }) => settlementId)} />
                  </td>
                </tr>
              ),
            ])}
          </Table>
          {items.length > SHOWN && <p class="hint">{t('ops.oldest-only', { count: SHOWN })}</p>}
        </section>
      )}
    </>
  );
}

const SHOWN = 100;
