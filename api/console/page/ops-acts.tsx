import type { ComponentChildren, JSX } from 'preact';
import { ActForm } from './act-form.tsx';
import { visibleText } from '#shared/core/visible-text.ts';
import type { GatewayMadeScreen, Surroundings } from './model.ts';
import type { JobsScreen, OpsGatewayScreen, OpsPaymentScreen } from './operator-model.ts';
import { Address, Badge, Code, Coins, Copy, Fact, Facts, Moment, networkTitle, Table } from './parts.tsx';
import { useTexts } from './texts.ts';

// What operators do, each form unfolded by whoever means it. It says what comes of it, and asks why.

interface Folded {
  title: string;
  /** What comes of it. */
  means: string;
  children: ComponentChildren;
}

function Folded({ title, means, children }: Folded): JSX.Element {
  return (
    <details class="fold">
      <summary>{title}</summary>
      <p class="hint">{means}</p>
      {children}
    </details>
  );
}

function Reason(): JSX.Element {
  const t = useTexts();
  return (
    <label class="field">
      <span>{t('ops-act.reason')}</span>
      <input name="reason" required maxLength={500} autocomplete="off" />
      <span class="hint">{t('ops-act.reason-hint')}</span>
    </label>
  );
}

function Text({
  name,
  title,
  hint,
  required = true,
  value,
}: {
  name: string;
  title: string;
  hint?: string;
  required?: boolean;
  value?: string | undefined;
}): JSX.Element {
  return (
    <label class="field">
      <span>{title}</span>
      <input name={name} required={required} value={value} maxLength={320} autocomplete="off" spellcheck={false} />
      {hint !== undefined && <span class="hint">{hint}</span>}
    </label>
  );
}

function Box({ name, title, checked = false }: { name: string; title: string; checked?: boolean }): JSX.Element {
  return (
    <label class="check">
      <input type="checkbox" name={name} value="on" checked={checked} />
      <span>{title}</span>
    </label>
  );
}

function Billing({ chosen }: { chosen?: string | undefined }): JSX.Element {
  const t = useTexts();
  return (
    <label class="field">
      <span>{t('ops.billing')}</span>
      <select name="billing">
        {(['STANDARD', 'MONTHLY', 'PLATFORM'] as const).map((billing) => (
          <option value={billing} selected={billing === chosen}>
            {t(`ops-act.billing-${billing}`)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What belongs together in a long form. */
function Part({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <fieldset class="part">
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}

interface Of {
  place: Surroundings;
}

function may({ permissions }: Surroundings, permission: string): boolean {
  return permissions.includes(permission);
}

/** What is decided about a payment whose coins are held. */
export function HeldActs({ place, id }: Of & { id: string }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'aml:decide')) return null;
  return (
    <section class="card card-act" aria-label={t('ops-act.held')}>
      <h2>{t('ops-act.held')}</h2>
      <Folded title={t('ops-act.release')} means={t('ops-act.release-means')}>
        <ActForm place={place} act="payment-release" fields={{ id }} proved label={t('ops-act.release')}>
          <Reason />
        </ActForm>
      </Folded>
      <Folded title={t('ops-act.refund')} means={t('ops-act.refund-means')}>
        <ActForm place={place} act="payment-refund" fields={{ id }} proved label={t('ops-act.propose-refund')}>
          <Text name="address" title={t('ops-act.refund-address')} hint={t('ops-act.refund-address-hint')} />
          <Reason />
        </ActForm>
      </Folded>
      <Folded title={t('ops-act.withhold')} means={t('ops-act.withhold-means')}>
        <ActForm place={place} act="payment-withhold" fields={{ id }} proved label={t('ops-act.withhold')}>
          <Reason />
        </ActForm>
      </Folded>
    </section>
  );
}

/** Coins that did not follow a payment into its pool, and one more transfer of them, after those that are made without asking. */
export function MisplacedCoins({ place, id, misplaced }: Of & { id: string; misplaced: OpsPaymentScreen['misplaced'] }): JSX.Element {
  const t = useTexts();
  return (
    <section class="card" aria-labelledby="misplaced">
      <h2 id="misplaced">{t('ops.misplaced')}</h2>
      <p class="hint">{t('ops.misplaced-why')}</p>
      {misplaced.map((coins) => {
        const { assetId, assetSymbol, network, amount, from, to, failedPayoutId, family, failure, allowed } = coins;
        const walletOf = (pool: 'green' | 'held') =>
          t('ops.wallet-of', { role: t(pool === 'held' ? 'wallet.held' : 'wallet.hot'), network: networkTitle(place, network) });
        return (
          <>
            <Facts>
              <Fact name={t('ops.amount')}>
                <Coins amount={amount} asset={assetSymbol} />
                <span class="hint below">{networkTitle(place, network)}</span>
              </Fact>
              <Fact name={t('ops.misplaced-from')}>{walletOf(from)}</Fact>
              <Fact name={t('ops.misplaced-to')}>{walletOf(to)}</Fact>
              <Fact name={t('ops.misplaced-failed', { number: family })}>
                <Code text={failedPayoutId} what={t('ops.the-id')} />
                {failure !== null && <span class="hint below">{failure}</span>}
              </Fact>
            </Facts>
            {allowed ? (
              <p class="hint">{t('ops.misplaced-allowed')}</p>
            ) : (
              may(place, 'aml:decide') && (
                <Folded title={t('ops-act.transfer')} means={t('ops-act.transfer-means')}>
                  <ActForm place={place} act="payment-transfer" fields={{ id, assetId, failedPayoutId }} proved label={t('ops-act.transfer')}>
                    <Reason />
                  </ActForm>
                </Folded>
              )
            )}
          </>
        );
      })}
    </section>
  );
}

/** What is kept from a gateway, what was sent of it, and the ways to send it and to take that back. */
export function WithheldCoins({ place, id, withheld: { items, transfers } }: Of & { id: string; withheld: OpsGatewayScreen['withheld'] }): JSX.Element | null {
  const t = useTexts();
  if (items.length === 0 && transfers.length === 0) return null;
  const decides = may(place, 'aml:decide');
  return (
    <section class="card card-table" aria-labelledby="withheld">
      <h2 id="withheld">{t('ops.withheld')}</h2>
      <p class="hint">
        {t('ops.withheld-why')} <a href={`${place.href}/payments?gatewayId=${id}&amlState=WITHHELD`}>{t('ops.withheld-payments')}</a>
      </p>
      {items.length > 0 && (
        <Table
          caption={t('ops.withheld')}
          columns={[
            { title: t('ops.asset'), look: 'rest' },
            { title: t('ops.withheld-kept'), look: 'amount' },
            { title: t('ops.withheld-final'), look: 'amount wide-only' },
            { title: t('ops.withheld-ordered'), look: 'amount wide-only' },
          ]}
        >
          {items.map((one) => (
            <tr>
              <th scope="row">
                {one.assetSymbol}
                <span class="hint below">{networkTitle(place, one.network)}</span>
                <span class="narrow-only">
                  {t('ops.withheld-final')}: {one.final}
                </span>
                <span class="narrow-only">
                  {t('ops.withheld-ordered')}: {one.onItsWay}
                </span>
                {decides && (
                  <Folded title={t('ops-act.withheld')} means={t('ops-act.withheld-means')}>
                    <ActForm place={place} act="withheld-pay" fields={{ id, assetId: one.assetId }} proved look="small" label={t('ops-act.propose-withheld')}>
                      <Text name="amount" title={t('ops-act.withheld-amount', { asset: one.assetSymbol })} hint={t('ops-act.withheld-amount-hint')} />
                      <Text
                        name="address"
                        title={t('ops-act.refund-address')}
                        hint={t('ops-act.withheld-address-hint', { network: networkTitle(place, one.network) })}
                      />
                      <Reason />
                    </ActForm>
                  </Folded>
                )}
              </th>
              <td class="amount">
                <span class="figure">{one.withheld}</span>
              </td>
              <td class="amount wide-only">
                <span class="figure">{one.final}</span>
              </td>
              <td class="amount wide-only">
                <span class="figure">{one.onItsWay}</span>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {transfers.length > 0 && (
        <Table
          caption={t('ops.withheld-sent')}
          columns={[{ title: t('ops.withheld-sent'), look: 'rest' }, { title: t('ops.amount'), look: 'amount' }, { title: t('ops.status') }]}
        >
          {transfers.slice(0, SENT).map((one) => (
            <tr>
              <th scope="row">
                <Address text={one.address} />
                <span class="hint below">
                  {one.proposedBy}, {one.confirmedBy} · <Moment at={one.orderedAt} />
                </span>
                <span class="hint below">{visibleText(one.reason)}</span>
                {one.txid !== null && (
                  <span class="below">
                    <Code text={one.txid} what={t('ops.the-hash')} />
                  </span>
                )}
                {one.failure !== null && <span class="hint below error">{one.failure}</span>}
                {decides && one.status === 'ordered' && (
                  <Folded title={t('ops-act.withheld-cancel')} means={t('ops-act.withheld-cancel-means')}>
                    <ActForm place={place} act="withheld-cancel" fields={{ id: one.id, gateway: id }} proved look="small" label={t('ops-act.withheld-cancel')}>
                      <Reason />
                    </ActForm>
                  </Folded>
                )}
              </th>
              <td class="amount">
                <Coins amount={one.amount} asset={one.assetSymbol} />
              </td>
              <td>
                <Badge status={one.status} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {transfers.length > SENT && <p class="hint">{t('ops.newest-only', { count: SENT })}</p>}
    </section>
  );
}

const SENT = 20;

/** Ends a cashout that holds a claim. */
export function RejectAct({ place, id, status }: Of & { id: string; status: string }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'settlement:reject') || !['PENDING_APPROVAL', 'REQUESTED', 'PROCESSING'].includes(status)) return null;
  return (
    <section class="card" aria-label={t('ops-act.reject')}>
      <Folded title={t('ops-act.reject')} means={t('ops-act.reject-means')}>
        <ActForm place={place} act="settlement-reject" fields={{ id }} proved label={t('ops-act.propose-reject')}>
          <Reason />
        </ActForm>
      </Folded>
    </section>
  );
}

/** Says yes or no to what somebody else proposed. */
export function ProposalActs({ place, id, proposedBy, you }: Of & { id: string; proposedBy: string; you: string }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'aml:decide')) return null;
  return (
    <div class="acts">
      {proposedBy === you ? (
        <p class="hint">{t('ops-act.own-proposal')}</p>
      ) : !proposedBy.includes('@') ? (
        <p class="hint">{t('ops-act.token-proposal')}</p>
      ) : (
        <ActForm place={place} act="proposal-confirm" fields={{ id }} proved look="main" label={t('ops-act.confirm')} />
      )}
      <ActForm place={place} act="proposal-withdraw" fields={{ id }} label={t('ops-act.withdraw')} />
    </div>
  );
}

/** What may be done with work that failed. */
export function JobActs({ place, job }: Of & { job: { id: string; state: string; running: boolean; lastError: string | null } }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'job:operate') || job.running || job.lastError === null) return null;
  return (
    <details class="fold">
      <summary>{t('ops-act.job')}</summary>
      <ActForm place={place} act="job-retry" fields={{ id: job.id }} look="small" label={t('ops-act.retry')} />
      <ActForm place={place} act="job-discard" fields={{ id: job.id }} proved look="small" label={t('ops-act.discard')}>
        <p class="hint">{t('ops-act.discard-means')}</p>
        <Text name="confirm" title={t('ops-act.type-discard')} />
        <Reason />
      </ActForm>
    </details>
  );
}

/** How much of each kind of work failed, and the way to have all of one kind run again. */
export function FailedJobs({ place, failed, most }: Of & { failed: JobsScreen['failed']; most: number }): JSX.Element {
  const t = useTexts();
  return (
    <section class="card" aria-labelledby="failed">
      <h2 id="failed">{t('ops.failed-jobs')}</h2>
      <ul class="plain">
        {failed.map(({ topic, failed: count }) => (
          <li>
            <code>{topic}</code> · {count > most ? t('ops.failed-more', { count: most }) : t('ops.failed-count', { count })}
            {may(place, 'job:operate') && (
              <Folded title={t('ops-act.retry-all')} means={t('ops-act.retry-all-means', { most })}>
                <ActForm place={place} act="jobs-retry" fields={{ topic }} proved look="small" label={t('ops-act.retry-all')}>
                  <Text name="confirm" title={t('ops-act.type-kind')} />
                  <Reason />
                </ActForm>
              </Folded>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Stops and starts what a network does, and reads its blocks again. */
export function NetworkActs({ place, name, paused }: Of & { name: string; paused: boolean }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'network:operate')) return null;
  const fields = { network: name };
  return (
    <section class="card card-act" aria-label={t('ops-act.network')}>
      <h2>{t('ops-act.network')}</h2>
      {paused ? (
        <Folded title={t('ops-act.resume')} means={t('ops-act.resume-means')}>
          <ActForm place={place} act="network-resume" fields={fields} proved label={t('ops-act.resume')}>
            <Reason />
          </ActForm>
        </Folded>
      ) : (
        <Folded title={t('ops-act.pause')} means={t('ops-act.pause-means')}>
          <ActForm place={place} act="network-pause" fields={fields} proved label={t('ops-act.pause')}>
            <Reason />
          </ActForm>
        </Folded>
      )}
      <Folded title={t('ops-act.rescan')} means={t('ops-act.rescan-means')}>
        <ActForm place={place} act="network-rescan" fields={fields} label={t('ops-act.rescan')}>
          <Text name="from" title={t('ops-act.from-block')} />
          <Text name="to" title={t('ops-act.to-block')} />
          <Reason />
        </ActForm>
      </Folded>
    </section>
  );
}

/** Stops cashouts, everywhere or on one network. */
export function FreezeActs({ place }: Of): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'freeze:operate')) return null;
  return (
    <Folded title={t('ops-act.freeze')} means={t('ops-act.freeze-means')}>
      <ActForm place={place} act="dispatch-freeze" label={t('ops-act.freeze')}>
        <label class="field">
          <span>{t('ops-act.freeze-what')}</span>
          <select name="network">
            <option value="">{t('ops.everything')}</option>
            {Object.entries(place.networks).map(([name, title]) => (
              <option value={name}>{title}</option>
            ))}
          </select>
        </label>
        <Reason />
      </ActForm>
    </Folded>
  );
}

/** Lifts one freeze. */
export function UnfreezeAct({ place, scope }: Of & { scope: string }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'freeze:operate')) return null;
  return (
    <Folded title={t('ops-act.unfreeze')} means={t('ops-act.unfreeze-means')}>
      <ActForm place={place} act="dispatch-unfreeze" fields={{ scope }} proved label={t('ops-act.unfreeze')}>
        <Reason />
      </ActForm>
    </Folded>
  );
}

/** Lets a wallet pay again that sent what nobody knows. */
export function ClearAct({ place, network, wallet }: Of & { network: string; wallet: string }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'freeze:operate')) return null;
  return (
    <Folded title={t('ops-act.clear')} means={t('ops-act.clear-means')}>
      <ActForm place={place} act="wallet-clear" fields={{ network, wallet }} proved label={t('ops-act.clear')}>
        <Reason />
      </ActForm>
    </Folded>
  );
}

/** Credits a payment with what came to one of its addresses, and nobody was credited for. */
export function AllocateAct({ place, id, paymentId }: Of & { id: string; paymentId: string | null }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'deposit:allocate')) return null;
  return (
    <Folded title={t('ops-act.allocate')} means={t('ops-act.allocate-means')}>
      <ActForm place={place} act="deposit-allocate" fields={{ id, ...(paymentId !== null && { paymentId }) }} proved look="small" label={t('ops-act.allocate')}>
        {paymentId === null && <Text name="paymentId" title={t('ops-act.to-payment')} />}
        <Reason />
      </ActForm>
    </Folded>
  );
}

/** Lets a gateway name hashes again for a payment. */
export function InquiriesAct({ place, id }: Of & { id: string }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'deposit:allocate')) return null;
  return (
    <section class="card" aria-label={t('ops-act.inquiries')}>
      <Folded title={t('ops-act.inquiries')} means={t('ops-act.inquiries-means')}>
        <ActForm place={place} act="inquiries-reset" fields={{ id }} label={t('ops-act.inquiries')}>
          <Reason />
        </ActForm>
      </Folded>
    </section>
  );
}

const ADOPTED_AS = ['settlementId', 'refundId', 'withheldId', 'own', 'close', 'lost'] as const;

/** Says what a transaction of ours was that the books do not know. */
export function AdoptAct({ place, network, txid, mayHavePaid }: Of & { network: string; txid: string; mayHavePaid: readonly string[] }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'freeze:operate')) return null;
  return (
    <Folded title={t('ops-act.adopt')} means={t('ops-act.adopt-means')}>
      <ActForm place={place} act="outgoing-adopt" fields={{ network, txid }} proved label={t('ops-act.adopt')}>
        <label class="field">
          <span>{t('ops-act.adopt-as')}</span>
          <select name="as">
            {ADOPTED_AS.map((as) => (
              <option value={as} selected={as === (mayHavePaid.length === 0 ? 'own' : 'settlementId')}>
                {t(`ops-act.adopt-${as}`)}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>{t('ops-act.adopt-paid')}</span>
          <input name="paid" maxLength={64} autocomplete="off" spellcheck={false} list={`paid-${txid}`} />
          <datalist id={`paid-${txid}`}>
            {mayHavePaid.map((id) => (
              <option value={id} />
            ))}
          </datalist>
          <span class="hint">{t('ops-act.adopt-paid-hint')}</span>
        </label>
        <Reason />
      </ActForm>
    </Folded>
  );
}

/** Sets a price where prices are static. */
export function PriceAct({ place }: Of): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'network:operate')) return null;
  return (
    <section class="card" aria-label={t('ops-act.price')}>
      <Folded title={t('ops-act.price')} means={t('ops-act.price-means')}>
        <ActForm place={place} act="price-set" label={t('ops-act.price')}>
          <Text name="symbol" title={t('ops.symbol')} hint={t('ops-act.price-symbol-hint')} />
          <Text name="usd" title={t('ops.usd')} hint={t('ops-act.price-usd-hint')} required={false} />
        </ActForm>
      </Folded>
    </section>
  );
}

/** Suspends a gateway or lets it work again, changes its terms, and gives it screening credits. */
export function GatewayActs({ place, id, status, terms }: Of & { id: string; status: string; terms: Readonly<Record<string, string>> }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'gateway:provision')) return null;
  const suspends = status === 'VERIFIED';
  return (
    <section class="card card-act" aria-label={t('ops-act.gateway')}>
      <h2>{t('ops-act.gateway')}</h2>
      <Folded title={t(suspends ? 'ops-act.suspend' : 'ops-act.verify')} means={t(suspends ? 'ops-act.suspend-means' : 'ops-act.verify-means')}>
        <ActForm
          place={place}
          act="gateway-status"
          fields={{ id, status: suspends ? 'SUSPENDED' : 'VERIFIED' }}
          proved
          label={t(suspends ? 'ops-act.suspend' : 'ops-act.verify')}
        >
          <Reason />
        </ActForm>
      </Folded>
      <Folded title={t('ops-act.terms')} means={t('ops-act.terms-means')}>
        <ActForm place={place} act="gateway-terms" fields={{ id, seen: JSON.stringify(terms) }} proved label={t('ops-act.terms-save')}>
          <Part title={t('ops-act.part-payments')}>
            <Billing chosen={terms.billing} />
            <Text name="commissionBps" title={t('ops-act.commission')} hint={t('ops-act.commission-hint')} required={false} value={terms.commissionBps} />
            <Text name="commissionMinUsd" title={t('ops-act.commission-min')} required={false} value={terms.commissionMinUsd} />
            <Text name="maturityMinutes" title={t('ops-act.maturity')} hint={t('ops-act.maturity-hint')} required={false} value={terms.maturityMinutes} />
            <Text name="inquiryAttempts" title={t('settings.inquiries')} required={false} value={terms.inquiryAttempts} />
            <Box name="openAmount" title={t('ops-act.open-amount')} checked={terms.openAmount === 'true'} />
            <Text name="minAmountUsd" title={t('ops-act.min-amount')} hint={t('ops-act.min-amount-hint')} required={false} value={terms.minAmountUsd} />
          </Part>
          <Part title={t('ops-act.part-cashouts')}>
            <Box name="cashouts" title={t('ops-act.cashouts')} checked={terms.cashouts === 'true'} />
            <Box name="parking" title={t('ops-act.parking')} checked={terms.parking === 'true'} />
            <Text name="parkedCap" title={t('ops-act.parked-cap')} required={false} value={terms.parkedCap} />
            <Text name="dailyCapUsd" title={t('ops-act.daily-cap')} hint={t('ops-act.daily-cap-hint')} required={false} value={terms.dailyCapUsd} />
            <Text
              name="dispatchDelay"
              title={t('ops-act.dispatch-delay')}
              hint={t('ops-act.dispatch-delay-hint')}
              required={false}
              value={terms.dispatchDelay}
            />
          </Part>
          <Part title={t('ops-act.part-screening')}>
            <Box name="screening" title={t('ops-act.screening')} checked={terms.screening === 'true'} />
            <Text
              name="screeningThreshold"
              title={t('ops-act.threshold')}
              hint={t('ops-act.threshold-hint')}
              required={false}
              value={terms.screeningThreshold}
            />
          </Part>
          <Reason />
        </ActForm>
      </Folded>
      <Folded title={t('ops-act.credits')} means={t('ops-act.credits-means')}>
        <ActForm place={place} act="credits-add" fields={{ id }} proved label={t('ops-act.credits')}>
          <Text name="add" title={t('ops-act.how-many')} />
          <Reason />
        </ActForm>
      </Folded>
    </section>
  );
}

/** Provides a shop with a gateway of its own, its first key and its owner. */
export function NewGateway({ place }: Of): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'gateway:provision')) return null;
  return (
    <details class="card">
      <summary>{t('ops-act.new-gateway')}</summary>
      <ActForm place={place} act="gateway-create" proved look="main" label={t('ops-act.create-gateway')}>
        <Part title={t('ops-act.part-shop')}>
          <Text name="name" title={t('ops-act.gateway-name')} hint={t('ops-act.gateway-name-hint')} />
          <Text name="owner" title={t('ops-act.owner')} hint={t('ops-act.owner-hint')} />
          <Text name="contactEmail" title={t('ops-act.contact')} required={false} />
        </Part>
        <Part title={t('ops-act.part-payments')}>
          <Billing />
          <Text name="commissionBps" title={t('ops-act.commission')} hint={t('ops-act.commission-hint')} required={false} />
          <Box name="openAmount" title={t('ops-act.open-amount')} />
          <Text name="minAmountUsd" title={t('ops-act.min-amount')} hint={t('ops-act.min-amount-hint')} required={false} />
        </Part>
        <Part title={t('ops-act.part-cashouts')}>
          <Box name="cashouts" title={t('ops-act.cashouts')} />
          <Text name="allowlist" title={t('ops-act.allowlist')} hint={t('ops-act.allowlist-hint')} required={false} />
          <Text name="capUsd" title={t('ops-act.cap')} hint={t('ops-act.cap-hint')} required={false} />
          <Box name="parking" title={t('ops-act.parking')} />
          <Text name="dispatchDelay" title={t('ops-act.dispatch-delay')} hint={t('ops-act.dispatch-delay-hint')} required={false} />
        </Part>
        <Part title={t('ops-act.part-screening')}>
          <Box name="screening" title={t('ops-act.screening')} />
          <Text name="screeningCredits" title={t('ops-act.screening-credits')} hint={t('ops-act.screening-credits-hint')} required={false} />
        </Part>
      </ActForm>
    </details>
  );
}

/** What a new gateway begins with, shown this once, and what its API answers now. */
export function GatewayMade({ screen, place }: Of & { screen: GatewayMadeScreen }): JSX.Element {
  const t = useTexts();
  const { id, name, apiKey, cashoutSigningSecret, webhookSecret, owner, link, may: allowed } = screen;
  const secret = (title: string, text: string): JSX.Element => (
    <Fact name={title}>
      <code class="whole" data-part="secret">
        {text}
      </code>
      <Copy text={text} what={title} />
    </Fact>
  );
  return (
    <>
      <section class="card card-act">
        <h2>{name}</h2>
        <p>{t('ops-act.made')}</p>
        <Facts>
          {secret(t('ops-act.api-key'), apiKey)}
          {secret(t('ops-act.webhook-secret'), webhookSecret)}
          {secret(t('ops-act.cashout-secret'), cashoutSigningSecret)}
          {secret(t('ops-act.owner-link', { email: owner }), link)}
        </Facts>
      </section>
      <section class="card">
        <h2>{t('ops-act.answers')}</h2>
        <ul class="plain">
          <li>{t(allowed.fixedAmounts ? 'ops-act.answers-payments' : 'ops-act.answers-no-payments')}</li>
          <li>{t(allowed.openAmounts ? 'ops-act.answers-open' : 'ops-act.answers-no-open')}</li>
          <li>{t(!allowed.cashouts ? 'ops-act.answers-no-cashouts' : allowed.allowlisted ? 'ops-act.answers-cashouts' : 'ops-act.answers-no-address')}</li>
          <li>{t('ops-act.answers-totp')}</li>
        </ul>
        <a class="button button-main" href={`${place.href}/gateways/${id}`}>
          {t('shown-once.stored')}
        </a>
      </section>
    </>
  );
}

/** Invites a colleague to the deployment. */
export function InviteOperator({ place }: Of): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'gateway:provision')) return null;
  return (
    <details class="card">
      <summary>{t('ops-act.invite')}</summary>
      <ActForm place={place} act="operator-invite" proved look="main" label={t('ops-act.make-link')}>
        <Text name="email" title={t('ops-act.email')} />
        <label class="field">
          <span>{t('ops-act.role')}</span>
          <select name="role">
            <option value="auditor">{t('role.auditor')}</option>
            <option value="operator">{t('role.operator')}</option>
          </select>
          <span class="hint">{t('ops-act.role-hint')}</span>
        </label>
      </ActForm>
    </details>
  );
}

/** Takes from somebody what they may do at the deployment. */
export function RemoveOperator({ place, email }: Of & { email: string }): JSX.Element | null {
  const t = useTexts();
  if (!may(place, 'gateway:provision')) return null;
  return (
    <Folded title={t('ops-act.remove')} means={t('ops-act.remove-means')}>
      <ActForm place={place} act="operator-remove" fields={{ email }} proved look="small" label={t('ops-act.remove')} />
    </Folded>
  );
}
