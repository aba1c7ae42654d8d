import type { JSX } from 'preact';
import { formatFiat } from '#api/page/fiat.ts';
import type { PaymentScreen, Surroundings } from './model.ts';
import { Badge, Code, Coins, EchoedCards, Fact, Facts, less, Moment, networkTitle, Sentence } from './parts.tsx';
import { referenceOf } from './payments.tsx';
import { reasonIn, storyOf } from './story.ts';
import { Timeline } from './timeline.tsx';

/** What a payment is called on its page. Pure. */
export function paymentTitle({ record }: PaymentScreen): string {
  const { amount, currencyCode } = record.outcome;
  return record.openAmount && amount === '0' ? 'Open amount' : formatFiat(amount, currencyCode, 'en');
}

/** One payment: what happened and why, the money, and what the shop stored with it. */
export function Payment({ screen, place }: { screen: PaymentScreen; place: Surroundings }): JSX.Element {
  const { record } = screen;
  const { outcome } = record;
  return (
    <>
      <header class="headline">
        <p class="hint">
          <a href={`${place.href}/payments`}>Payments</a> / {referenceOf(outcome)}
        </p>
        <div class="title">
          <h1>{paymentTitle(screen)}</h1>
          <Badge status={outcome.status} />
          {record.isSandbox && <span class="badge badge-quiet">Sandbox</span>}
        </div>
        <p class="hint">
          <Sentence text={inWords(screen, place)} />
        </p>
      </header>
      <div class="columns">
        <section class="card" aria-labelledby="happened">
          <h2 id="happened">What happened</h2>
          <Timeline entries={storyOf(screen, place.networks)} explorerUrl={(hash) => (hash === outcome.txHash ? outcome.explorerTxUrl : undefined)} />
        </section>
        <div class="stack">
          <Money screen={screen} />
          <section class="card">
            <h2>Payment</h2>
            <Facts>
              {outcome.title !== undefined && (
                <Fact name="For">
                  <bdi>{outcome.title}</bdi>
                </Fact>
              )}
              {outcome.reference !== undefined && (
                <Fact name="Reference">
                  <bdi>{outcome.reference}</bdi>
                </Fact>
              )}
              <Fact name="Id">
                <Code text={outcome.paymentUid} what="the payment's id" />
              </Fact>
              <Fact name="Created">
                <Moment at={record.createdAt} />
              </Fact>
              <Fact name="Payable until">
                <Moment at={record.expiresAt} />
              </Fact>
              <Fact name="Checkout">{record.checkoutMode === 'HOSTED' ? 'Hosted page' : 'Your own'}</Fact>
            </Facts>
          </section>
          <EchoedCards echoed={screen.echoed} />
        </div>
      </div>
    </>
  );
}

/** The outcome in a line. */
function inWords({ record, explanation }: PaymentScreen, place: Surroundings): string {
  const { outcome } = record;
  if (outcome.receivedAmount === undefined) return reasonIn(explanation.summary);
  const asked =
    outcome.expectedAmount === undefined || outcome.expectedAmount === outcome.receivedAmount ? '' : ` of ${outcome.expectedAmount} ${outcome.assetSymbol}`;
  const after = record.resolvedAt === null ? '' : ` · ${duration(Date.parse(record.resolvedAt) - Date.parse(record.createdAt))} after it was created`;
  const verified = outcome.isVerified ? ' · verified by your server' : '';
  return `${outcome.receivedAmount} ${outcome.receivedAssetSymbol} on ${networkTitle(place, outcome.network ?? '')}${asked}${after}${verified}`;
}

/** `2 min 14 s`: the two largest units. Pure. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  const units = [
    { name: 'd', size: 86_400 },
    { name: 'h', size: 3_600 },
    { name: 'min', size: 60 },
    { name: 's', size: 1 },
  ];
  const first = units.findIndex(({ size }) => seconds >= size);
  if (first === -1) return '0 s';
  const shown = units
    .slice(first, first + 2)
    .map(({ name, size }, at) => ({ name, count: Math.floor((at === 0 ? seconds : seconds % (units[first]?.size ?? 1)) / size) }));
  return shown.flatMap(({ name, count }) => (count === 0 ? [] : [`${count} ${name}`])).join(' ');
}

function Money({ screen: { record } }: { screen: PaymentScreen }): JSX.Element {
  const { outcome, credits } = record;
  return (
    <section class="card" aria-labelledby="money">
      <h2 id="money">Money</h2>
      <Facts>
        {outcome.expectedAmount !== undefined && outcome.assetSymbol !== undefined && (
          <Fact name="Asked for">
            <Coins amount={outcome.expectedAmount} asset={outcome.assetSymbol} />
          </Fact>
        )}
        {outcome.receivedAmount !== undefined && outcome.receivedAssetSymbol !== undefined ? (
          <Fact name="Received">
            <Coins amount={outcome.receivedAmount} asset={outcome.receivedAssetSymbol} />
          </Fact>
        ) : (
          <Fact name="Received">{outcome.status === 'PENDING' ? 'Nothing yet' : 'Nothing'}</Fact>
        )}
        {outcome.receivedAmountUsd !== undefined && <Fact name="Worth then">{formatFiat(outcome.receivedAmountUsd, 'USD', 'en')}</Fact>}
      </Facts>
      {credits.map((credit) => (
        <Facts>
          {!(credits.length === 1 && credit.gross === outcome.receivedAmount) && (
            <Fact name="Credited, gross">
              <Coins amount={credit.gross} asset={credit.asset} />
            </Fact>
          )}
          <Fact name="Network fee">
            <span class="figure">{less(credit.networkFee)}</span>
          </Fact>
          <Fact name="Commission">
            <span class="figure">{less(credit.commission)}</span>
          </Fact>
          <Fact name="Net" strong>
            <Coins amount={credit.net} asset={credit.asset} />
          </Fact>
          <Fact name="Pool">{credit.pool === 'held' ? 'Held by screening' : 'Ordinary'}</Fact>
          <Fact name={credit.maturedAt === null ? 'Available from' : 'Available since'}>
            <Moment at={credit.maturedAt ?? credit.maturesAt} />
          </Fact>
          <Fact name="Not yet cashed out">
            <Coins amount={credit.remaining} asset={credit.asset} />
          </Fact>
        </Facts>
      ))}
    </section>
  );
}
