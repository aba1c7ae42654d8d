import type { JSX } from 'preact';
import type { PolicyBook, TrialVerdict, WrittenPolicy } from '#shared/core/written-policies.ts';
import { sentence } from '#api/page/sentence.ts';
import { ActForm } from './act-form.tsx';
import type { PoliciesScreen, Surroundings } from './model.ts';
import { Coins, Moment, networkTitle, Table } from './parts.tsx';
import { type Translate, useTexts } from './texts.ts';

interface Of {
  screen: PoliciesScreen;
  place: Surroundings;
}

/** What a gateway asks of its cashouts: what is in force, what waits for another owner, and what somebody is changing. */
export function Policies({ screen, place }: Of): JSX.Element {
  const t = useTexts();
  const { draft, waiting, inForce } = screen;
  if (draft !== null) return <Draft screen={screen} place={place} draft={draft} />;
  return (
    <>
      {waiting !== null && <Waiting screen={screen} place={place} waiting={waiting} />}
      <section class="card" aria-labelledby="in-force">
        <h2 id="in-force">{t('policies.in-force')}</h2>
        <BookList book={inForce} screen={screen} place={place} />
        <p class="hint">{t('policies.how')}</p>
        <a class="button" href={draftHref(place, inForce)}>
          {t('policies.change')}
        </a>
      </section>
      <History screen={screen} place={place} />
    </>
  );
}

function Waiting({ screen, place, waiting: { version, by, own, book } }: Of & { waiting: NonNullable<PoliciesScreen['waiting']> }): JSX.Element {
  const t = useTexts();
  return (
    <section class="card card-act" aria-labelledby="waiting">
      <h2 id="waiting">{t('policies.waiting')}</h2>
      <p>{own ? t('policies.waiting-own') : t('policies.waiting-other', { email: by })}</p>
      <BookList book={book} screen={screen} place={place} />
      <CapChange screen={screen} book={book} />
      <Trial screen={screen} />
      {!own && (
        <ActForm
          place={place}
          act="policies-agree"
          fields={{ version: String(version), capNow: screen.inForce.capUsd ?? undefined }}
          proved
          look="main"
          label={t('policies.agree')}
        />
      )}
      <ActForm place={place} act="policies-decline" fields={{ version: String(version) }} label={t(own ? 'policies.take-back' : 'policies.decline')} />
    </section>
  );
}

function Draft({ screen, place, draft }: Of & { draft: PolicyBook }): JSX.Element {
  const t = useTexts();
  const { owners, approvers, approvingKeys, most } = screen;
  const people = Math.max(0, ...draft.policies.map(({ outcome }) => (outcome.kind === 'approve' ? outcome.people : 0)));
  const unchanged = JSON.stringify(draft) === JSON.stringify(screen.inForce);
  return (
    <>
      <section class="card" aria-labelledby="draft">
        <h2 id="draft">{t('policies.draft')}</h2>
        <BookList book={draft} screen={screen} place={place} changes />
        {people > approvers && <p class="notice notice-warning">{t('policies.too-few', { people, approvers })}</p>}
        {people > 1 && approvingKeys.length > 0 && <p class="notice notice-warning">{t('policies.keys-approve', { key: approvingKeys[0] as string })}</p>}
        <CapForm place={place} draft={draft} />
      </section>
      {draft.policies.length < most.policies && <AddForm screen={screen} place={place} draft={draft} />}
      <section class="card card-act" aria-labelledby="save">
        <h2 id="save">{t('policies.what-changes')}</h2>
        <CapChange screen={screen} book={draft} />
        <Trial screen={screen} />
        {unchanged ? (
          <p class="hint">{t('policies.unchanged')}</p>
        ) : (
          <>
            <p>{owners > 1 ? t('policies.another-owner') : t('policies.at-once')}</p>
            <ActForm
              place={place}
              act="policies-propose"
              fields={{ book: JSON.stringify(draft), capNow: screen.inForce.capUsd ?? undefined }}
              proved
              look="main"
              label={t(owners > 1 ? 'policies.propose' : 'policies.save')}
            />
          </>
        )}
        <a href={`${place.href}/policies`}>{t('policies.leave')}</a>
      </section>
    </>
  );
}

/** The policies in their order, in words, and the cap that is left for the rest; where it is being changed, each can be moved and taken away. */
function BookList({ book, screen, place, changes = false }: Of & { book: PolicyBook; changes?: boolean }): JSX.Element {
  const t = useTexts();
  const { policies, capUsd } = book;
  return (
    <ol class="policies">
      {policies.map((policy, at) => (
        <li class="policy-line">
          <PolicyWords policy={policy} screen={screen} place={place} />
          {changes && (
            <span class="policy-tools">
              {at > 0 && (
                <a href={draftHref(place, { ...book, policies: swapped(policies, at) })} aria-label={t('policies.up-this', { number: at + 1 })}>
                  {t('policies.up')}
                </a>
              )}
              <a
                href={draftHref(place, { ...book, policies: policies.filter((_one, index) => index !== at) })}
                aria-label={t('policies.remove-this', { number: at + 1 })}
              >
                {t('policies.remove')}
              </a>
            </span>
          )}
        </li>
      ))}
      <li class="policy-line">
        <span class="policy">
          <span class="policy-part">{policies.length > 0 ? t('policies.rest') : t('policies.every')}</span>
          <strong>{capUsd === null ? t('policies.no-cap') : t('policies.cap', { usd: capUsd })}</strong>
        </span>
      </li>
    </ol>
  );
}

function PolicyWords({ policy: { when, outcome }, screen, place }: Of & { policy: WrittenPolicy }): JSX.Element {
  const t = useTexts();
  const names = (ids: readonly string[]): string =>
    ids
      .map((id) => screen.assets.find((one) => one.id === id))
      .map((asset) => (asset === undefined ? '?' : assetTitle(place, asset)))
      .join(', ');
  const parts = [
    when.aboveUsd !== undefined && t('policies.when-above', { usd: when.aboveUsd }),
    when.dayAboveUsd !== undefined && t('policies.when-day', { usd: when.dayAboveUsd }),
    when.assetIds !== undefined && t('policies.when-asset', { assets: names(when.assetIds) }),
    when.destination !== undefined && t(`policies.when-${when.destination}`),
    when.youngerThanDays !== undefined && t('policies.when-younger', { days: when.youngerThanDays }),
    when.initiator !== undefined && t(`policies.when-by-${when.initiator}`),
    when.route !== undefined && sentence(t, 'policies.when-route', { route: <code>{when.route}</code> }),
  ].filter((part) => part !== false);
  return (
    <span class="policy">
      {(parts.length === 0 ? [t('policies.every')] : parts).map((part) => (
        <span class="policy-part">{part}</span>
      ))}
      <strong>{outcomeWords(t, outcome.kind === 'approve' ? { people: outcome.people } : outcome.kind)}</strong>
    </span>
  );
}

function outcomeWords(t: Translate, outcome: TrialVerdict['outcome']): string {
  if (typeof outcome === 'object') return t('policies.then-approve', { people: outcome.people });
  return t(`policies.then-${outcome}`);
}

/** What becomes of the gateway's cap, which an operator may have changed since somebody wrote this. */
function CapChange({ screen: { inForce }, book: { capUsd } }: Pick<Of, 'screen'> & { book: PolicyBook }): JSX.Element | null {
  const t = useTexts();
  if (capUsd === inForce.capUsd) return null;
  const words = (cap: string | null): string => (cap === null ? t('policies.no-cap') : t('policies.cap', { usd: cap }));
  return <p>{t('policies.cap-changes', { before: words(inForce.capUsd), after: words(capUsd) })}</p>;
}

/** What the change would have meant for the last cashouts. */
function Trial({ screen: { trial } }: Pick<Of, 'screen'>): JSX.Element | null {
  const t = useTexts();
  if (trial === null) return null;
  const { looked, different } = trial;
  if (looked === 0) return <p class="hint">{t('policies.trial-none')}</p>;
  return (
    <>
      <p>{t('policies.trial', { looked, different: different.length })}</p>
      {different.length > 0 && (
        <Table
          caption={t('policies.trial-caption')}
          columns={[{ title: t('policies.trial-cashout') }, { title: t('policies.trial-now'), look: 'wide-only' }, { title: t('policies.trial-then') }]}
        >
          {different.slice(0, 20).map(({ at, amount, asset, before, after }) => (
            <tr>
              <th scope="row">
                <Coins amount={amount} asset={asset} />
                <span class="hint below">
                  <Moment at={at} />
                </span>
              </th>
              <td class="wide-only">{outcomeWords(t, before.outcome)}</td>
              <td>{outcomeWords(t, after.outcome)}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

function CapForm({ place, draft }: { place: Surroundings; draft: PolicyBook }): JSX.Element {
  const t = useTexts();
  return (
    <form class="act" method="get" action={`${place.href}/policies`}>
      <input type="hidden" name="book" value={JSON.stringify(draft)} />
      <input type="hidden" name="change" value="cap" />
      <label class="field">
        <span>{t('policies.cap-field')}</span>
        <input name="cap" inputMode="decimal" maxLength={40} value={draft.capUsd ?? ''} autocomplete="off" />
        <span class="hint">{t('policies.cap-hint')}</span>
      </label>
      <button class="button" type="submit">
        {t('policies.set-cap')}
      </button>
    </form>
  );
}

function AddForm({ screen: { assets, most }, place, draft }: Of & { draft: PolicyBook }): JSX.Element {
  const t = useTexts();
  const choice = (name: string, title: string, options: readonly (readonly [string, string])[]): JSX.Element => (
    <label class="field">
      <span>{title}</span>
      <select name={name}>
        {options.map(([value, text]) => (
          <option value={value} {...(value === text && { lang: 'en' })}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <section class="card" aria-labelledby="add">
      <h2 id="add">{t('policies.add')}</h2>
      <form class="act policy-form" method="get" action={`${place.href}/policies`}>
        <input type="hidden" name="book" value={JSON.stringify(draft)} />
        <input type="hidden" name="change" value="add" />
        <label class="field">
          <span>{t('policies.field-above')}</span>
          <input name="above" inputMode="decimal" maxLength={40} autocomplete="off" />
        </label>
        <label class="field">
          <span>{t('policies.field-day')}</span>
          <input name="day" inputMode="decimal" maxLength={40} autocomplete="off" />
        </label>
        {choice('asset', t('policies.field-asset'), [
          ['', t('policies.any')],
          ...assets.map(({ id, symbol, network }) => [id, assetTitle(place, { symbol, network })] as const),
        ])}
        {choice('destination', t('policies.field-destination'), [
          ['', t('policies.any')],
          ['unknown', t('policies.when-unknown')],
          ['known', t('policies.when-known')],
          ['younger', t('policies.choose-younger')],
        ])}
        <label class="field">
          <span>{t('policies.field-days')}</span>
          <input name="days" inputMode="numeric" maxLength={4} autocomplete="off" />
        </label>
        {choice('initiator', t('policies.field-initiator'), [
          ['', t('policies.any')],
          ['key', t('policies.when-by-key')],
          ['person', t('policies.when-by-person')],
        ])}
        {choice('route', t('policies.field-route'), [
          ['', t('policies.any')],
          ['GREEN', 'GREEN'],
          ['AML_HELD', 'AML_HELD'],
          ['SMART', 'SMART'],
        ])}
        {choice('outcome', t('policies.field-outcome'), [
          ['approve', t('policies.choose-approve')],
          ['allow', t('policies.then-allow')],
          ['refuse', t('policies.then-refuse')],
        ])}
        {choice(
          'people',
          t('policies.field-people'),
          Array.from({ length: most.people }, (_one, index) => [String(index + 1), String(index + 1)] as const),
        )}
        <button class="button" type="submit">
          {t('policies.add-this')}
        </button>
      </form>
    </section>
  );
}

function History({ screen, place }: Of): JSX.Element | null {
  const t = useTexts();
  if (screen.history.length === 0) return null;
  return (
    <section class="card" aria-labelledby="history">
      <h2 id="history">{t('policies.history')}</h2>
      {screen.history.map(({ version, state, by, decidedBy, at, book }) => (
        <details>
          <summary>
            {t('policies.version', { version })}, {t(`policies.state-${state}`)}
          </summary>
          <p class="hint">
            {decidedBy === null || decidedBy === by ? t('policies.by', { email: by }) : t('policies.by-two', { email: by, other: decidedBy })}{' '}
            <Moment at={at} />
          </p>
          <BookList book={book} screen={screen} place={place} />
        </details>
      ))}
    </section>
  );
}

function assetTitle(place: Surroundings, { symbol, network }: { symbol: string; network: string }): string {
  return `${symbol} (${networkTitle(place, network)})`;
}

function draftHref(place: Surroundings, book: PolicyBook): string {
  return `${place.href}/policies?book=${encodeURIComponent(JSON.stringify(book))}`;
}

/** With the one at this place one further up. Pure. */
function swapped<T>(all: readonly T[], at: number): T[] {
  const copy = [...all];
  [copy[at - 1], copy[at]] = [copy[at] as T, copy[at - 1] as T];
  return copy;
}
