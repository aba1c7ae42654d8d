import type { JSX } from 'preact';
import { ActForm } from './act-form.tsx';
import type { Surroundings, TeamScreen } from './model.ts';
import { hrefOf, Moment, Pager, Table } from './parts.tsx';
import { useTexts } from './texts.ts';

/** Who may do what at a gateway, and who was invited. */
export function Team({ screen, place }: { screen: TeamScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { items, roles, filter } = screen;
  const leaving = items.find(({ email, state }) => email === filter.remove && state !== 'recovering');
  return (
    <>
      {leaving !== undefined && (
        <section class="card card-act" aria-labelledby="remove">
          <h2 id="remove">{t('team.remove-this', { email: leaving.email })}</h2>
          <p>{t('team.remove-means')}</p>
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
                <option value={role} lang="en">
                  {role}
                </option>
              ))}
            </select>
            <span class="hint">{t('team.role-hint')}</span>
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
              <td lang="en">{role}</td>
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
