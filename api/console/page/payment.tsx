import type { JSX } from 'preact';
import { formatFiat } from '#api/page/fiat.ts';
import { ActForm } from './act-form.tsx';
import type { PaymentScreen, Surroundings } from './model.ts';
import { Badge, Code, Coins, EchoedCards, Fact, Facts, hrefOf, less, Moment, networkTitle, Sentence } from './parts.tsx';
import { referenceOf } from './payments.tsx';
import { reasonOf, storyOf } from './story.ts';
import { Timeline } from './timeline.tsx';
import { type Translate, useTexts } from './texts.ts';

/** What a payment is called on its page. Pure. */
export function paymentTitle(t: Translate, { record }: PaymentScreen): string {
  const { amount, currencyCode } = record.outcome;
  return record.openAmount && amount === '0' ? t('payment.open-amount') : formatFiat(amount, currencyCode, 'en');
}

/** One payment: what happened and why, the money, and what the shop stored with it. */
export function Payment({ screen, place }: { screen: PaymentScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { record } = screen;
  const { outcome } = record;
  return (
    <>
      <header class="headline">
        <p class="hint">
          <a href={`${place.href}/payments`}>{t('section.payments')}</a> / {referenceOf(outcome)}
        </p>
        <div class="title">
          <h1>{paymentTitle(t, screen)}</h1>
          <Badge status={outcome.status} />
          {record.isSandbox && <span class="badge badge-quiet">{t('parts.sandbox')}</span>}
        </div>
        <p class="hint">
          <InWords screen={screen} place={place} />
        </p>
      </header>
      {record.webhooks.length > 0 && place.permissions.includes('webhook:resend') && (
        <ActForm place={place} act="webhook-resend" fields={{ payment: outcome.paymentUid }} look="small" label={t('payment.resend')} />
      )}
      <Play screen={screen} place={place} />
      <div class="columns">
        <section class="card" aria-labelledby="happened">
          <h2 id="happened">{t('payment.happened')}</h2>
          <Timeline entries={storyOf(t, screen, place.networks)} explorerUrl={(hash) => (hash === outcome.txHash ? outcome.explorerTxUrl : undefined)} />
        </section>
        <div class="stack">
          <Money screen={screen} place={place} />
          <section class="card">
            <h2>{t('payment.title')}</h2>
            <Facts>
              {outcome.title !== undefined && (
                <Fact name={t('payment.for')}>
                  <bdi>{outcome.title}</bdi>
                </Fact>
              )}
              {outcome.reference !== undefined && (
                <Fact name={t('payment.reference')}>
                  <bdi>{outcome.reference}</bdi>
                </Fact>
              )}
              <Fact name={t('payment.id')}>
                <Code text={outcome.paymentUid} what={t('payment.copy-id')} />
              </Fact>
              <Fact name={t('payment.created')}>
                <Moment at={record.createdAt} />
              </Fact>
              <Fact name={t('payment.payable-until')}>
                <Moment at={record.expiresAt} />
              </Fact>
              <Fact name={t('payment.checkout')}>{record.checkoutMode === 'HOSTED' ? t('payment.checkout-hosted') : t('payment.checkout-own')}</Fact>
            </Facts>
          </section>
          <EchoedCards echoed={screen.echoed} />
          <Inquire screen={screen} place={place} />
        </div>
      </div>
    </>
  );
}

/** What may happen to a payment of the sandbox, each by a button. */
function Play({ screen, place }: { screen: PaymentScreen; place: Surroundings }): JSX.Element | null {
  const t = useTexts();
  const { record, scenarios } = screen;
  if (scenarios.length === 0 || !place.permissions.includes('payment:create')) return null;
  return (
    <section class="card" aria-labelledby="play">
      <h2 id="play">{t('sandbox.play')}</h2>
      <p class="hint">{t('sandbox.play-hint')}</p>
      <div class="acts">
        {scenarios.map((scenario) => (
          <ActForm place={place} act="sandbox-play" fields={{ payment: record.outcome.paymentUid, scenario }} look="small" label={t(`sandbox.${scenario}`)} />
        ))}
      </div>
    </section>
  );
}

/** Has a transaction looked up that a payer says they paid by. */
function Inquire({ screen: { record }, place }: { screen: PaymentScreen; place: Surroundings }): JSX.Element | null {
  const t = useTexts();
  if (record.isSandbox || !place.permissions.includes('payment:inquire')) return null;
  return (
    <details class="card">
      <summary>{t('inquire.title')}</summary>
      <p class="hint">{t('inquire.hint')}</p>
      <ActForm place={place} act="payment-inquire" fields={{ payment: record.outcome.paymentUid }} label={t('inquire.look')}>
        <label class="field">
          <span>{t('inquire.hash')}</span>
          <input name="txHash" required maxLength={200} autocomplete="off" spellcheck={false} />
        </label>
      </ActForm>
    </details>
  );
}

/** The outcome in a line. */
function InWords({ screen, place }: { screen: PaymentScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { record } = screen;
  const { outcome } = record;
  if (outcome.receivedAmount === undefined) return <Sentence text={reasonOf(t, screen, place.networks) ?? ''} />;
  const values = { received: `${outcome.receivedAmount} ${outcome.receivedAssetSymbol}`, network: networkTitle(place, outcome.network ?? '') };
  const exact = outcome.expectedAmount === undefined || outcome.expectedAmount === outcome.receivedAmount;
  const parts = [
    exact ? t('payment.received-on', values) : t('payment.received-of', { ...values, expected: `${outcome.expectedAmount} ${outcome.assetSymbol}` }),
    record.resolvedAt === null ? '' : t('payment.took', { duration: duration(t, Date.parse(record.resolvedAt) - Date.parse(record.createdAt)) }),
    outcome.isVerified ? t('payment.verified') : '',
  ];
  return <>{parts.filter((part) => part !== '').join(' · ')}</>;
}

const UNITS = [
  { key: 'payment.days', size: 86_400 },
  { key: 'payment.hours', size: 3_600 },
  { key: 'payment.minutes', size: 60 },
  { key: 'payment.seconds', size: 1 },
] as const;

/** `2 min 14 s`: the two largest units. Pure. */
export function duration(t: Translate, milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  const first = UNITS.findIndex(({ size }) => seconds >= size);
  if (first === -1) return t('payment.seconds', { count: 0 });
  return UNITS.slice(first, first + 2)
    .map(({ key, size }, at) => ({ key, count: Math.floor((at === 0 ? seconds : seconds % (UNITS[first]?.size ?? 1)) / size) }))
    .flatMap(({ key, count }) => (count === 0 ? [] : [t(key, { count })]))
    .join(' ');
}

/** Where what was posted at this moment is listed: a credit and its postings are written with one time. Pure. */
function postingsOf(place: Surroundings, { asset }: { asset: string }, at: string): string {
  return hrefOf(`${place.href}/ledger`, { from: at, to: new Date(Date.parse(at) + 1).toISOString(), asset });
}

function Money({ screen: { record }, place }: { screen: PaymentScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { outcome, credits } = record;
  return (
    <section class="card" aria-labelledby="money">
      <h2 id="money">{t('payment.money')}</h2>
      <Facts>
        {outcome.expectedAmount !== undefined && outcome.assetSymbol !== undefined && (
          <Fact name={t('payment.asked-for')}>
            <Coins amount={outcome.expectedAmount} asset={outcome.assetSymbol} />
          </Fact>
        )}
        {outcome.receivedAmount !== undefined && outcome.receivedAssetSymbol !== undefined ? (
          <Fact name={t('payment.received')}>
            <Coins amount={outcome.receivedAmount} asset={outcome.receivedAssetSymbol} />
          </Fact>
        ) : (
          <Fact name={t('payment.received')}>{outcome.status === 'PENDING' ? t('payment.nothing-yet') : t('payment.nothing')}</Fact>
        )}
        {outcome.receivedAmountUsd !== undefined && <Fact name={t('payment.worth-then')}>{formatFiat(outcome.receivedAmountUsd, 'USD', 'en')}</Fact>}
      </Facts>
      {credits.map((credit) => (
        <Facts>
          {!(credits.length === 1 && credit.gross === outcome.receivedAmount) && (
            <Fact name={t('payment.credited-gross')}>
              <Coins amount={credit.gross} asset={credit.asset} />
            </Fact>
          )}
          <Fact name={t('payment.network-fee')}>
            <span class="figure">{less(credit.networkFee)}</span>
          </Fact>
          <Fact name={t('payment.commission')}>
            <span class="figure">{less(credit.commission)}</span>
          </Fact>
          <Fact name={t('payment.net')} strong>
            <Coins amount={credit.net} asset={credit.asset} />
          </Fact>
          <Fact name={t('payment.pool')}>{credit.pool === 'held' ? t('payment.pool-held') : t('payment.pool-ordinary')}</Fact>
          <Fact name={credit.maturedAt === null ? t('payment.available-from') : t('payment.available-since')}>
            <Moment at={credit.maturedAt ?? credit.maturesAt} />
          </Fact>
          <Fact name={t('payment.remaining')}>
            <Coins amount={credit.remaining} asset={credit.asset} />
          </Fact>
          {place.permissions.includes('settlement:read') && (
            <Fact name={t('payment.in-ledger')}>
              <a href={postingsOf(place, credit, credit.creditedAt)}>{t('ledger.kind-credit')}</a>
              {credit.maturedAt !== null && (
                <>
                  {' · '}
                  <a href={postingsOf(place, credit, credit.maturedAt)}>{t('ledger.kind-mature')}</a>
                </>
              )}
            </Fact>
          )}
        </Facts>
      ))}
    </section>
  );
}
