import type { JSX } from 'preact';
import { sentence } from '#api/page/sentence.ts';
import { ActForm } from './act-form.tsx';
import type { Surroundings, TeamScreen } from './model.ts';
import { hrefOf, Moment, Pager, Table, Role } from './parts.tsx';
import { useTexts } from './texts.ts';
import { wordFor } from './words.ts';

/** Who may do what at a gateway, and who was invited. */
export function Team({ screen, place }: { screen: TeamScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { items, roles, filter, waiting, owners } = screen;
  const leaving = items.find(({ email, state }) => email === filter.remove && state !== 'recovering');
  return (
    <>
      {waiting.map((change) => (
        <Waiting change={change} place={place} />
      ))}
      {leaving !== undefined && (
        <section class="card card-act" aria-labelledby="remove">
          <h2 id="remove">{t('team.remove-this', { email: leaving.email })}</h2>
          <p>{t('team.remove-means')}</p>
          {owners > 1 && <p class="hint">{t('team.two-owners')}</p>}
          <ActForm place={place} act="member-remove" fields={{ email: leaving.email }} proved look="main" label={t('team.remove-confirm')} />
        </section>
      )}
      <details class="card">
        <summary>{t('team.invite')}</summary>
        <ActForm place={place} act="member-invite" proved look="main" label={t('team.make-link')}>
          <label class="field">
            <span>{t('team.email')}</span>
            <input name="email" type="email" required maxLength={254} autocomplete="off" />
          </label>
          <label class="field">
            <span>{t('team.role')}</span>
            <select name="role" required>
              {roles.toReversed().map((role) => (
                <option value={role}>{wordFor(t, 'role', role)}</option>
              ))}
            </select>
            <span class="hint">
              {t('team.role-hint')} {owners > 1 && t('team.two-owners')}
            </span>
          </label>
        </ActForm>
      </details>
      <section class="card card-table">
        <Table
          caption={t('team.caption')}
          columns={[
            { title: t('team.email'), look: 'rest' },
            { title: t('team.role') },
            { title: t('team.since'), look: 'wide-only' },
            { title: t('team.remove') },
          ]}
        >
          {items.map(({ email, role, state, since }) => (
            <tr>
              <th scope="row">
                <span class="whole">{email}</span>
                {state !== 'member' && <span class="hint below">{t(state === 'invited' ? 'team.invited' : 'team.recovering')}</span>}
              </th>
              <td>{role !== null && <Role name={role} />}</td>
              <td class="wide-only">
                <Moment at={since} show="day" />
              </td>
              <td>
                {state !== 'recovering' && (
                  <a href={hrefOf(`${place.href}/team`, { remove: email })} aria-label={t('team.remove-this', { email })}>
                    {t('team.remove')}
                  </a>
                )}
              </td>
            </tr>
          ))}
        </Table>
        <Pager path={`${place.href}/team`} screen={screen} />
      </section>
    </>
  );
}

/** A change that another owner has to confirm: nobody becomes two of the people that policies ask for. */
function Waiting({ change: { id, email, role, by, own, at, stale }, place }: { change: TeamScreen['waiting'][number]; place: Surroundings }): JSX.Element {
  const t = useTexts();
  return (
    <section class="card card-act" aria-label={t('team.waiting', { email })}>
      <h2>{role === null ? t('team.remove-this', { email }) : sentence(t, 'team.invite-as', { email, role: <span lang="en">{role}</span> })}</h2>
      <p>
        {own ? t('team.waiting-own') : stale ? t('team.waiting-stale', { by }) : t('team.waiting-other', { by })} <Moment at={at} />
      </p>
      {!own && !stale && <ActForm place={place} act="member-confirm" fields={{ id }} proved look="main" label={t('team.confirm')} />}
      <ActForm place={place} act="member-withdraw" fields={{ id }} label={t(own ? 'policies.take-back' : 'policies.decline')} />
    </section>
  );
}
