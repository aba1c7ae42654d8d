import type { JSX } from 'preact';
import { ActForm } from './act-form.tsx';
import { visibleText } from '#shared/core/visible-text.ts';
import type { GatewayMadeScreen } from './model.ts';
import type { OpsGatewayScreen } from './operator-model.ts';
import { Box, Folded, may, type Of, Part, Reason, Text } from './ops-fields.tsx';
import { Address, Badge, Code, Coins, Copy, Fact, Facts, Moment, networkTitle, Table } from './parts.tsx';
import { useTexts } from './texts.ts';

// What operators do to a gateway, from making it to paying out what is kept from it.

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
