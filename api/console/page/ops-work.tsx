import type { JSX } from 'preact';
import { formatFiat } from '#api/page/fiat.ts';
import { visibleText } from '#shared/core/visible-text.ts';
import type { Surroundings } from './model.ts';
import type { JobsScreen, NetworkScreen, NetworksScreen, ScreeningScreen } from './operator-model.ts';
import { FailedJobs, JobActs, NetworkActs, ProposalActs } from './ops-acts.tsx';
import { behindOf, Chains } from './ops-overview.tsx';
import { Empty, factsIn, Listed, Nothing, OfGateway, TextField, WalkFields, WordTabs } from './ops-parts.tsx';
import { Evidence, Received, statusTitles } from './ops-payments.tsx';
import { Address, Badge, ChoiceField, Code, Fact, Facts, FilterForm, Moment, networkTitle, Pager, Table } from './parts.tsx';
import { useTexts } from './texts.ts';

/** Held payments with what was found about each, and acts that wait for a second person. */
export function Screening({ screen, place }: { screen: ScreeningScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { items, filter, gateways, proposals, moreProposals } = screen;
  const path = `${place.href}/screening`;
  return (
    <>
      <section class="card" aria-labelledby="proposals">
        <h2 id="proposals">{t('ops.proposals')}</h2>
        {proposals.length === 0 ? (
          <p class="hint">{t('ops.proposals-none')}</p>
        ) : (
          <ul class="rows" data-part="proposals">
            {proposals.map(({ id, act, target, content, reason, proposedBy, createdAt, expiresAt }) => (
              <li>
                <div>
                  <p>
                    <code>{act}</code> · {isListed(act) ? <a href={`${place.href}/${SUBJECTS[act]}/${target}`}>{target}</a> : target}
                  </p>
                  <p>{visibleText(reason)}</p>
                  <p class="hint">
                    {t('ops.proposed-by', { person: proposedBy })} <Moment at={createdAt} /> · {t('ops.until')} <Moment at={expiresAt} />
                  </p>
                  <details>
                    <summary>{t('ops.show-proposal')}</summary>
                    <Facts>
                      {factsIn(content).map(({ name, value }) => (
                        <Fact name={<code>{name}</code>}>{name === 'address' ? <Address text={value} /> : value}</Fact>
                      ))}
                    </Facts>
                  </details>
                  <ProposalActs place={place} id={id} proposedBy={proposedBy} you={screen.you} />
                </div>
              </li>
            ))}
          </ul>
        )}
        {moreProposals && <p class="hint">{t('ops.oldest-only', { count: proposals.length })}</p>}
      </section>
      <FilterForm path={path} filter={filter}>
        <TextField name="q" title={t('ops.field.q')} filter={filter} />
        <TextField name="gatewayId" title={t('ops.field.gateway')} filter={filter} />
      </FilterForm>
      {items.length === 0 ? (
        <Nothing title={t('ops.held-none')} text={t('ops.held-none-why')} path={path} screen={screen} />
      ) : (
        <>
          {items.map((row) => (
            <section class="card" aria-labelledby={`held-${row.id}`}>
              <div class="title">
                <h2 id={`held-${row.id}`}>
                  <a href={`${place.href}/payments/${row.id}`}>{formatFiat(row.amount, row.currencyCode, 'en')}</a>
                </h2>
                <Badge status={row.status} />
              </div>
              <p class="hint">
                <OfGateway id={row.gatewayId} names={gateways} place={place} /> · <Moment at={row.createdAt} /> · <Received row={row} />
              </p>
              <Evidence credits={row.credits} events={row.events} />
              <a href={`${place.href}/payments/${row.id}`}>{t('ops-act.decide')}</a>
            </section>
          ))}
          <Pager path={path} screen={screen} />
        </>
      )}
    </>
  );
}

/** Where what two people do is done to, so that the second one looks at it before. */
const SUBJECTS = { 'payment.refund': 'payments', 'settlement.reject': 'cashouts', 'withheld.pay': 'gateways' } as const;

function isListed(act: string): act is keyof typeof SUBJECTS {
  return Object.hasOwn(SUBJECTS, act);
}

/** How every network is followed. */
export function Networks({ screen: { items }, place }: { screen: NetworksScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  if (items.length === 0) return <Empty title={t('ops.chains')} text={t('ops.chains-none')} />;
  return (
    <>
      <section class="card card-table">
        <Chains chains={items} place={place} />
      </section>
      <p class="hint">{t('ops.providers-elsewhere')}</p>
    </>
  );
}

/** One network: how far it is, who follows it, what its configuration leaves open, and which blocks are read again. */
export function Network({ screen: { item, rescans }, place }: { screen: NetworkScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  return (
    <>
      <header class="headline">
        <p class="hint">
          <a href={`${place.href}/networks`}>{t('ops-section.networks')}</a> / {networkTitle(place, item.name)}
        </p>
        <div class="title">
          <h1>{networkTitle(place, item.name)}</h1>
          {item.pausedAt !== null && <span class="badge badge-warning">{t('ops.paused')}</span>}
          {!item.led && <span class="badge badge-warning">{t('ops.not-followed')}</span>}
        </div>
      </header>
      <div class="pair">
        <section class="card" aria-labelledby="progress">
          <h2 id="progress">{t('ops.progress')}</h2>
          <Facts>
            <Fact name={t('ops.head')}>{item.head ?? '–'}</Fact>
            <Fact name={t('ops.applied')}>{item.applied ?? '–'}</Fact>
            <Fact name={t('ops.final-block')}>{item.final ?? '–'}</Fact>
            <Fact name={t('ops.behind')}>{behindOf(item) ?? '–'}</Fact>
            <Fact name={t('ops.applied-at')}>{item.appliedAt === null ? t('ops.not-yet') : <Moment at={item.appliedAt} />}</Fact>
            <Fact name={t('ops.caught-up')}>{item.caughtUpAt === null ? t('ops.not-yet') : <Moment at={item.caughtUpAt} />}</Fact>
            {item.pausedAt !== null && (
              <Fact name={t('ops.paused')}>
                <Moment at={item.pausedAt} />
              </Fact>
            )}
          </Facts>
        </section>
        <section class="card" aria-labelledby="who">
          <h2 id="who">{t('ops.leader')}</h2>
          <Facts>
            <Fact name={t('ops.lease')}>{item.led ? t('ops.led') : t('ops.not-led')}</Fact>
            <Fact name={t('ops.epoch')}>{item.epoch}</Fact>
            {item.leaders.map(({ login, since }) => (
              <Fact name={login}>
                <Moment at={since} />
              </Fact>
            ))}
            <Fact name={t('ops.family')}>
              <code>{item.family}</code>
            </Fact>
            <Fact name={t('ops.chain-id')}>{item.chainId}</Fact>
            <Fact name={t('ops.native')}>{item.nativeSymbol}</Fact>
          </Facts>
        </section>
      </div>
      <NetworkActs place={place} name={item.name} paused={item.pausedAt !== null} />
      {item.warnings.length > 0 && (
        <section class="card" aria-labelledby="warnings">
          <h2 id="warnings">{t('ops.warnings')}</h2>
          <ul class="plain">
            {item.warnings.map((warning) => (
              <li lang="en">{warning}</li>
            ))}
          </ul>
        </section>
      )}
      <section class="card card-table" aria-labelledby="rescans">
        <h2 id="rescans">{t('ops.rescans')}</h2>
        {rescans.length === 0 ? (
          <p class="hint">{t('ops.rescans-none')}</p>
        ) : (
          <Table
            caption={t('ops.rescans')}
            columns={[
              { title: t('ops.blocks'), look: 'rest' },
              { title: t('ops.read-to'), look: 'amount' },
              { title: t('ops.found'), look: 'amount' },
              { title: t('ops.asked-for'), look: 'wide-only' },
            ]}
          >
            {rescans.map((one) => (
              <tr>
                <th scope="row">
                  {one.from}–{one.to}
                  <span class="hint below">{one.problem ?? one.reason ?? t(`ops-rescan.${one.cause}`)}</span>
                </th>
                <td class="amount">{one.finishedAt === null ? <span class="figure">{one.next}</span> : t('ops.done')}</td>
                <td class="amount">
                  <span class="figure">{one.found}</span>
                </td>
                <td class="wide-only">
                  <Moment at={one.requestedAt} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </section>
    </>
  );
}

const JOB_STATES = ['due', 'retrying', 'scheduled', 'dead'] as const;
const TOPICS = ['webhook.deliver', 'webhook.resend', 'deposit.screen', 'settlement.dispatch', 'settlement.mail', 'payout.broadcast', 'person.mail'];

/** Work that is not done, the longest due first. */
export function Jobs({ screen, place }: { screen: JobsScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { filter, gateways } = screen;
  const path = `${place.href}/jobs`;
  return (
    <>
      {screen.failed.length > 0 && <FailedJobs place={place} failed={screen.failed} most={screen.most} />}
      <WordTabs path={path} name="state" titles={statusTitles(t, JOB_STATES)} filter={filter} />
      <FilterForm path={path} filter={filter} kept={['state']}>
        <ChoiceField name="topic" title={t('ops.topic')} filter={filter} options={Object.fromEntries(TOPICS.map((one) => [one, one]))} names />
        <WalkFields filter={filter} seeks={['q']} gateway={false} oldestFirst />
      </FilterForm>
      <Listed
        screen={screen}
        path={path}
        caption={t('ops-section.jobs')}
        columns={[
          { title: t('ops.job'), look: 'rest' },
          { title: t('ops.about'), look: 'wide-only' },
          { title: t('ops.attempts'), look: 'amount wide-only' },
          { title: t('ops.due'), look: 'wide-only' },
          { title: t('ops.state') },
        ]}
        none={t('ops.jobs-none')}
        why={t('ops.jobs-none-why')}
        row={(job) => (
          <tr>
            <th scope="row">
              <code>{job.topic}</code>
              <span class="below">
                <Code text={job.id} what={t('ops.the-id')} />
              </span>
              <span class="narrow-only">
                <About job={job} place={place} />
              </span>
              {job.lastError !== null && <span class="hint below error">{job.lastError.slice(0, LONGEST_ERROR)}</span>}
              <JobActs place={place} job={job} />
            </th>
            <td class="wide-only">
              <About job={job} place={place} />
              <span class="below">
                <OfGateway id={job.gatewayId} names={gateways} place={place} />
              </span>
            </td>
            <td class="amount wide-only">
              <span class="figure">{t('ops.failures', { claims: job.claims, failures: job.failures })}</span>
            </td>
            <td class="wide-only">
              <Moment at={job.dueAt} />
            </td>
            <td>
              <Badge status={job.running ? 'running' : job.state} />
            </td>
          </tr>
        )}
      />
    </>
  );
}

const LONGEST_ERROR = 300;

/** What a job works on: all that it holds is an id. */
function About({ job: { paymentId, settlementId, refId }, place }: { job: JobsScreen['items'][number]; place: Surroundings }): JSX.Element {
  const t = useTexts();
  if (settlementId !== null) return <a href={`${place.href}/cashouts/${settlementId}`}>{t('ops.cashout', { id: settlementId.slice(0, 8) })}</a>;
  if (paymentId !== null) return <a href={`${place.href}/payments/${paymentId}`}>{t('ops.payment', { id: paymentId.slice(0, 8) })}</a>;
  return <Code text={refId} what={t('ops.the-id')} />;
}
