import type { JSX } from 'preact';
import { duration } from './payment.tsx';
import type { Surroundings } from './model.ts';
import type { ChainLine, OpsSearchScreen, OverviewScreen } from './operator-model.ts';
import { Empty } from './ops-parts.tsx';
import { Fact, Facts, Moment, networkTitle, Table } from './parts.tsx';
import { useTexts } from './texts.ts';
import { wordFor } from './words.ts';

/** Whether everything goes on, and what needs an operator. */
export function Overview({ screen, place }: { screen: OverviewScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { needs, chains } = screen;
  return (
    <>
      <section class="card" aria-labelledby="needs">
        <h2 id="needs">{t('ops.needs')}</h2>
        {needs.length === 0 ? (
          <p class="hint">{t('ops.needs-none')}</p>
        ) : (
          <ul class="needs" data-part="needs">
            {needs.map(({ kind, count, more, path }) => (
              <li>
                <a href={`${place.href}${path}`}>{t(`ops-need.${kind}`, { count })}</a>
                {more && <span class="hint"> {t('ops.and-more')}</span>}
              </li>
            ))}
          </ul>
        )}
      </section>
      <Dispatch screen={screen} place={place} />
      <section class="card card-table" aria-labelledby="chains">
        <h2 id="chains">{t('ops.chains')}</h2>
        {chains.length === 0 ? <p class="hint">{t('ops.chains-none')}</p> : <Chains chains={chains} place={place} />}
      </section>
      <div class="pair">
        <section class="card" aria-labelledby="books">
          <h2 id="books">{t('ops.books')}</h2>
          <Facts>
            <Fact name={t('ops.audit-last')}>{screen.audited === null ? t('ops.audit-never') : <Moment at={screen.audited.oldest} />}</Fact>
            <Fact name={t('ops.audit-checks')}>{screen.audited?.checks ?? 0}</Fact>
          </Facts>
          <a href={`${place.href}/money`}>{t('ops.to-money')}</a>
        </section>
        <section class="card" aria-labelledby="pulse">
          <h2 id="pulse">{t('ops.pulse')}</h2>
          <Facts>
            <Fact name={t('ops.oldest-price')}>
              {screen.prices.oldestSeconds === null ? t('ops.no-prices') : `${duration(t, screen.prices.oldestSeconds * 1_000)}`}
            </Fact>
            <Fact name={t('ops.oldest-due')}>
              {screen.oldestDue === null ? t('ops.nothing-due') : duration(t, Date.parse(screen.now) - Date.parse(screen.oldestDue))}
            </Fact>
            <Fact name={t('ops.canary')}>
              {screen.canary === null ? (
                t('ops.canary-none')
              ) : screen.canary.succeededAt === null ? (
                (screen.canary.problem ?? t('ops.canary-never'))
              ) : (
                <>
                  <Moment at={screen.canary.succeededAt} />
                  {screen.canary.problem !== null && <span class="hint below">{screen.canary.problem}</span>}
                </>
              )}
            </Fact>
          </Facts>
        </section>
      </div>
    </>
  );
}

/** Whether cashouts are sent, and what keeps them from it. */
function Dispatch({ screen: { freezes, chains }, place }: { screen: Pick<OverviewScreen, 'freezes' | 'chains'>; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const signer = freezes.signerJournal;
  const reasons = [
    ...freezes.freezes.map(({ scope, reason }) => `${scopeTitle(t('ops.everything'), scope, place)}: ${reason}`),
    ...freezes.haltedWallets.map(
      ({ network, role, reason }) => `${t('ops.wallet-of', { role: wordFor(t, 'wallet', role), network: networkTitle(place, network) })}: ${reason}`,
    ),
    ...(signer === null || signer.state === 'open' ? [] : [t('ops.signer-stopped', { reason: signer.reason === '' ? signer.state : signer.reason })]),
    ...freezes.awaitingNetworks.map((name) => t('ops.awaits-comparison', { network: networkTitle(place, name) })),
    ...chains.filter(({ pausedAt }) => pausedAt !== null).map(({ name }) => t('ops.is-paused', { network: networkTitle(place, name) })),
  ];
  return (
    <section class="card" aria-labelledby="dispatch">
      <h2 id="dispatch">{t('ops.dispatch')}</h2>
      {reasons.length === 0 ? (
        <p>
          <span class="badge badge-good">{t('ops.dispatch-goes')}</span> <span class="hint">{t('ops.dispatch-goes-why')}</span>
        </p>
      ) : (
        <>
          <p>
            <span class="badge badge-warning">{t('ops.dispatch-stopped')}</span>
          </p>
          <ul class="plain" data-part="stopped">
            {reasons.map((reason) => (
              <li>{reason}</li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** What a freeze is of, as people call it. Pure. */
export function scopeTitle(everything: string, scope: string, place: Pick<Surroundings, 'networks'>): string {
  if (scope === 'all') return everything;
  return scope.startsWith('network:') ? networkTitle(place, scope.slice('network:'.length)) : scope;
}

/** How every network is followed. */
export function Chains({ chains, place }: { chains: readonly ChainLine[]; place: Surroundings }): JSX.Element {
  const t = useTexts();
  return (
    <Table
      caption={t('ops.chains')}
      columns={[
        { title: t('ops.network'), look: 'rest' },
        { title: t('ops.head'), look: 'amount' },
        { title: t('ops.applied'), look: 'amount wide-only' },
        { title: t('ops.behind'), look: 'amount' },
        { title: t('ops.applied-at'), look: 'wide-only' },
        { title: t('ops.leader'), look: 'wide-only' },
      ]}
    >
      {chains.map((chain) => (
        <tr>
          <th scope="row">
            <a class="row-name" href={`${place.href}/networks/${chain.name}`}>
              {networkTitle(place, chain.name)}
            </a>
            {chain.pausedAt !== null && <span class="badge badge-warning">{t('ops.paused')}</span>}
            <span class="hint narrow-only">
              <Led chain={chain} />
            </span>
          </th>
          <td class="amount">
            <span class="figure">{grouped(chain.head)}</span>
          </td>
          <td class="amount wide-only">
            <span class="figure">{grouped(chain.applied)}</span>
          </td>
          <td class="amount">
            <span class="figure">{grouped(behindOf(chain))}</span>
          </td>
          <td class="wide-only">{chain.appliedAt === null ? <span class="hint">{t('ops.not-yet')}</span> : <Moment at={chain.appliedAt} />}</td>
          <td class="wide-only">
            <Led chain={chain} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** A height with its thousands apart, as the timelines have it; a dash where there is none. Pure. */
function grouped(height: number | null): string {
  return height === null ? '–' : new Intl.NumberFormat('en').format(height);
}

function Led({ chain: { led } }: { chain: ChainLine }): JSX.Element {
  const t = useTexts();
  return led ? <span>{t('ops.led')}</span> : <span class="badge badge-warning">{t('ops.not-led')}</span>;
}

/** Blocks that the books do not know yet; null before the first. Pure. */
export function behindOf({ head, applied }: Pick<ChainLine, 'head' | 'applied'>): number | null {
  return head === null || applied === null ? null : Math.max(0, head - applied);
}

/** What several things are known by. */
export function SearchHits({ screen: { q, hits, more }, place }: { screen: OpsSearchScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  if (q === '') return <Empty title={t('ops.search-empty')} text={t('ops.search-by')} />;
  if (hits.length === 0) return <Empty title={t('ops.search-nothing', { q })} text={t('ops.search-by')} />;
  return (
    <section class="card card-table">
      <Table
        caption={t('ops.search-found')}
        columns={[{ title: t('ops.what'), look: 'rest' }, { title: t('ops.kind') }, { title: t('ops.when'), look: 'wide-only' }]}
      >
        {hits.map(({ kind, line, at, path }) => (
          <tr>
            <th scope="row">
              {path === null ? (
                <span class="row-name">{line}</span>
              ) : (
                <a class="row-name" href={`${place.href}${path}`}>
                  {line}
                </a>
              )}
            </th>
            <td>{t(`ops-hit.${kind}`)}</td>
            <td class="wide-only">{at !== null && <Moment at={at} />}</td>
          </tr>
        ))}
      </Table>
      {more && <p class="hint">{t('ops.search-more')}</p>}
    </section>
  );
}
