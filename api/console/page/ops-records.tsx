import type { JSX } from 'preact';
import { sentence } from '#api/page/sentence.ts';
import type { Surroundings } from './model.ts';
import type { OpsActsScreen, OpsAuditScreen, OpsGatewayScreen, OpsGatewaysScreen, OpsPeopleScreen } from './operator-model.ts';
import { InviteOperator, RemoveOperator } from './ops-acts.tsx';
import { GatewayActs, NewGateway, WithheldCoins } from './ops-gateway-acts.tsx';
import { Listed, OfGateway, TextField, WalkFields } from './ops-parts.tsx';
import { FactList } from './ops-payments.tsx';
import { Badge, Code, Fact, Facts, FilterForm, Moment, Short, Table, Role } from './parts.tsx';
import { useTexts } from './texts.ts';
import { wordFor } from './words.ts';

/** Every gateway of the deployment. */
export function Gateways({ screen, place }: { screen: OpsGatewaysScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { filter } = screen;
  const path = `${place.href}/gateways`;
  return (
    <>
      <NewGateway place={place} />
      <FilterForm path={path} filter={filter}>
        <WalkFields filter={filter} seeks={['q']} gateway={false} />
      </FilterForm>
      <Listed
        screen={screen}
        path={path}
        caption={t('ops-section.gateways')}
        columns={[
          { title: t('ops.gateway'), look: 'rest' },
          { title: t('ops.billing'), look: 'wide-only' },
          { title: t('ops.created'), look: 'wide-only' },
          { title: t('ops.status') },
        ]}
        none={t('ops.gateways-none')}
        why={t('ops.gateways-none-why')}
        row={(one) => (
          <tr>
            <th scope="row">
              <a class="row-name" href={`${path}/${one.id}`}>
                {one.name}
              </a>
              <span class="hint below">{one.id}</span>
            </th>
            <td class="wide-only">{wordFor(t, 'billing', one.billing ?? '')}</td>
            <td class="wide-only">
              <Moment at={one.createdAt} />
            </td>
            <td>
              <Badge status={one.status ?? ''} />
            </td>
          </tr>
        )}
      />
    </>
  );
}

/** One gateway: how it is set up, and its keys. */
export function Gateway({ screen: { gateway, apiKeys, terms, creditAsked, withheld }, place }: { screen: OpsGatewayScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { settings, cashout, screening, openAmount } = gateway;
  const said = (on: boolean | null | undefined): string => t(on === true ? 'ops.on' : 'ops.off');
  return (
    <>
      <header class="headline">
        <p class="hint">
          <a href={`${place.href}/gateways`}>{t('ops-section.gateways')}</a> / {gateway.id.slice(0, 8)}
        </p>
        <div class="title">
          <h1>{gateway.name}</h1>
          <Badge status={gateway.status ?? ''} />
        </div>
        <p class="links">
          <a href={`${place.href}/payments?gatewayId=${gateway.id}`}>{t('ops-section.payments')}</a>{' '}
          <a href={`${place.href}/cashouts?gatewayId=${gateway.id}`}>{t('ops-section.cashouts')}</a>{' '}
          <a href={`${place.href}/people?gatewayId=${gateway.id}`}>{t('ops-section.people')}</a>{' '}
          <a href={`${place.href}/audit?target=${gateway.id}`}>{t('ops-section.audit')}</a>
        </p>
      </header>
      {creditAsked !== null && (
        <p class="notice notice-warning" data-part="credit-asked">
          {sentence(t, 'ops.credit-asked', { who: <bdi>{creditAsked.by}</bdi>, moment: <Moment at={creditAsked.at} /> })}
        </p>
      )}
      <GatewayActs place={place} id={gateway.id} status={gateway.status ?? ''} terms={terms} />
      <div class="pair">
        <section class="card" aria-labelledby="terms">
          <h2 id="terms">{t('ops.terms')}</h2>
          <Facts>
            <Fact name={t('ops.id')}>
              <Code text={gateway.id} what={t('ops.the-id')} />
            </Fact>
            <Fact name={t('ops.billing')}>{wordFor(t, 'billing', gateway.billing ?? '')}</Fact>
            <Fact name={t('ops.tx-fee-payer')}>{wordFor(t, 'payer-of-fees', settings?.txFeePayer ?? '')}</Fact>
            <Fact name={t('ops.commission-payer')}>{wordFor(t, 'payer-of-fees', settings?.commissionFeePayer ?? '')}</Fact>
            <Fact name={t('ops.commission')}>{`${(settings?.commissionBps ?? 0) / 100} %`}</Fact>
            <Fact
              name={t('ops.tolerance')}
            >{`+${settings?.overAcceptableDiff ?? 0} / −${settings?.underAcceptableDiff ?? 0} ${settings?.acceptableDiffKind === 'PERCENTAGE' ? '%' : 'USD'}`}</Fact>
            <Fact name={t('ops.open-amount')}>{said(openAmount?.enabled)}</Fact>
            <Fact name={t('ops.created')}>
              <Moment at={gateway.createdAt} />
            </Fact>
          </Facts>
        </section>
        <section class="card" aria-labelledby="cashout">
          <h2 id="cashout">{t('ops-section.cashouts')}</h2>
          <Facts>
            <Fact name={t('ops.enabled')}>{said(cashout?.enabled)}</Fact>
            <Fact name={t('ops.parking')}>{said(cashout?.parkingEnabled)}</Fact>
            <Fact name={t('ops.approval-cap')}>{cashout?.approvalCapUsd ?? t('ops.no-cap')}</Fact>
            <Fact name={t('ops.daily-cap')}>{cashout?.dailyCapUsd ?? t('ops.no-cap')}</Fact>
            <Fact name={t('ops.delay')}>{`${cashout?.dispatchDelaySeconds ?? 0} s`}</Fact>
            <Fact name={t('ops.screening')}>{said(screening?.enabled)}</Fact>
            <Fact name={t('ops.credits-left')}>{screening?.credits ?? 0}</Fact>
            <Fact name={t('ops.threshold')}>{screening?.threshold ?? ''}</Fact>
          </Facts>
        </section>
      </div>
      <WithheldCoins place={place} id={gateway.id} withheld={withheld} />
      <section class="card card-table" aria-labelledby="keys">
        <h2 id="keys">{t('ops.keys')}</h2>
        {apiKeys.length === 0 ? (
          <p class="hint">{t('ops.keys-none')}</p>
        ) : (
          <Table
            caption={t('ops.keys')}
            columns={[{ title: t('ops.key'), look: 'rest' }, { title: t('ops.last-used'), look: 'wide-only' }, { title: t('ops.state') }]}
          >
            {apiKeys.slice(0, KEYS).map((key) => (
              <tr>
                <th scope="row">
                  {key.name ?? <span class="hint">{t('ops.key-unnamed')}</span>}
                  <span class="hint below">
                    {key.prefix}
                    {key.lastFour !== null && `…${key.lastFour}`} · {key.permissions.join(', ')}
                  </span>
                </th>
                <td class="wide-only">
                  {key.lastUsedAt === null ? t('ops.never') : <Moment at={key.lastUsedAt} />}
                  {key.lastUsedFrom !== null && <span class="hint below">{key.lastUsedFrom}</span>}
                </td>
                <td>
                  <span class={`badge badge-${key.revokedAt === null ? 'good' : 'quiet'}`}>
                    {t(key.revokedAt === null ? 'ops.key-works' : 'ops.key-revoked')}
                  </span>
                </td>
              </tr>
            ))}
          </Table>
        )}
        {apiKeys.length > KEYS && <p class="hint">{t('ops.newest-only', { count: KEYS })}</p>}
      </section>
    </>
  );
}

const KEYS = 50;

/** What was done through the operator API, newest first. */
export function Audit({ screen, place }: { screen: OpsAuditScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { filter } = screen;
  const path = `${place.href}/audit`;
  return (
    <>
      <AuditTabs place={place} here="audit" />
      <FilterForm path={path} filter={filter}>
        <TextField name="action" title={t('ops.action')} filter={filter} />
        <TextField name="target" title={t('ops.target')} filter={filter} />
        <WalkFields filter={filter} seeks={['q']} gateway={false} />
      </FilterForm>
      <Listed
        screen={screen}
        path={path}
        caption={t('ops-section.audit')}
        columns={[
          { title: t('ops.action'), look: 'rest' },
          { title: t('ops.target'), look: 'wide-only' },
          { title: t('ops.who') },
          { title: t('ops.when'), look: 'wide-only' },
        ]}
        none={t('ops.audit-none')}
        why={t('ops.audit-none-why')}
        row={(row) => (
          <tr>
            <th scope="row">
              <code>{row.action}</code>
              {row.reason !== null && <span class="hint below">{row.reason}</span>}
              <FactList facts={row.details as Record<string, unknown>} />
            </th>
            <td class="wide-only">
              <Short text={row.target} />
            </td>
            <td>
              {row.person ?? row.actor ?? '–'}
              {row.clientIp !== null && <span class="hint below">{row.clientIp}</span>}
            </td>
            <td class="wide-only">
              <Moment at={row.at} />
            </td>
          </tr>
        )}
      />
    </>
  );
}

function AuditTabs({ place, here }: { place: Surroundings; here: 'audit' | 'audit/acts' }): JSX.Element {
  const t = useTexts();
  return (
    <nav class="tabs" aria-label={t('ops-section.audit')}>
      {Object.entries({ audit: t('ops.audit-api'), 'audit/acts': t('ops.audit-people') }).map(([path, title]) => (
        <a href={`${place.href}/${path}`} aria-current={path === here ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}

/** The record of acts, newest first, and whether its rows hang together. */
export function Acts({ screen, place }: { screen: OpsActsScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { gateways, broken, looked } = screen;
  const path = `${place.href}/audit/acts`;
  return (
    <>
      <AuditTabs place={place} here="audit/acts" />
      <section class="card" aria-labelledby="chain">
        <h2 id="chain">{t('ops.chain')}</h2>
        <p class="buttons">
          {(['csv', 'jsonl'] as const).map((format) => (
            <a class="button button-small" href={`${path}/file?format=${format}`}>
              {t(`ops.acts-${format}`)}
            </a>
          ))}
        </p>
        {broken.length === 0 ? (
          <p data-part="chain">
            <span class="badge badge-good">{t('ops.chain-whole')}</span> <span class="hint">{t('ops.chain-whole-why', { count: looked })}</span>
          </p>
        ) : (
          <>
            <p data-part="chain">
              <span class="badge badge-warning">{t('ops.chain-broken')}</span>
            </p>
            <ul class="plain">
              {broken.map(({ id, problem }) => (
                <li>
                  {id}: {problem}
                </li>
              ))}
            </ul>
          </>
        )}
      </section>
      <Listed
        screen={screen}
        path={path}
        caption={t('ops.audit-people')}
        columns={[
          { title: t('ops.act'), look: 'rest' },
          { title: t('ops.who') },
          { title: t('ops.gateway'), look: 'wide-only' },
          { title: t('ops.when'), look: 'wide-only' },
        ]}
        none={t('ops.acts-none')}
        why={t('ops.acts-none-why')}
        row={(row) => (
          <tr>
            <th scope="row">
              {row.seq}. <code>{row.act}</code>
              <span class="hint below">
                {row.target}
                {row.reason !== null && ` · ${row.reason}`}
              </span>
              <span class="below">
                <Short text={row.hash} />
              </span>
            </th>
            <td>
              {row.actor}
              {row.address !== null && <span class="hint below">{row.address}</span>}
            </td>
            <td class="wide-only">
              <OfGateway id={row.gatewayId} names={gateways} place={place} />
            </td>
            <td class="wide-only">
              <Moment at={row.at} />
            </td>
          </tr>
        )}
      />
    </>
  );
}

/** Who may do what, and who was asked to. */
export function People({ screen, place }: { screen: OpsPeopleScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { filter, gateways } = screen;
  const path = `${place.href}/people`;
  return (
    <>
      <InviteOperator place={place} />
      <FilterForm path={path} filter={filter}>
        <TextField name="gatewayId" title={t('ops.field.gateway')} filter={filter} />
      </FilterForm>
      <Listed
        screen={screen}
        path={path}
        caption={t('ops-section.people')}
        columns={[
          { title: t('ops.person'), look: 'rest' },
          { title: t('ops.where') },
          { title: t('ops.since'), look: 'wide-only' },
          { title: t('ops.last-seen'), look: 'wide-only' },
        ]}
        none={t('ops.people-none')}
        why={t('ops.people-none-why')}
        row={(row) => (
          <tr>
            <th scope="row">
              <span class="row-name">{row.email}</span>
              {row.state !== 'member' && <span class="badge badge-quiet">{t(row.state === 'invited' ? 'ops.invited' : 'ops.recovering')}</span>}
            </th>
            <td>
              {row.gatewayId === null ? t('ops.place') : <OfGateway id={row.gatewayId} names={gateways} place={place} />}
              {row.role !== null && (
                <span class="hint below">
                  <Role name={row.role} />
                </span>
              )}
              {row.gatewayId === null && row.state !== 'recovering' && <RemoveOperator place={place} email={row.email} />}
            </td>
            <td class="wide-only">
              <Moment at={row.since} />
            </td>
            <td class="wide-only">{row.seenAt === null ? <span class="hint">{t('ops.not-signed-in')}</span> : <Moment at={row.seenAt} />}</td>
          </tr>
        )}
      />
    </>
  );
}
