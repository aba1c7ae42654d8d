import type { JSX } from 'preact';
import { ActForm } from './act-form.tsx';
import type { AllowlistsScreen, Surroundings } from './model.ts';
import { hrefOf, Moment, Table } from './parts.tsx';
import { useTexts } from './texts.ts';

const LISTS = ['api', 'cashout'] as const;
/** The list that would have let a request in, by why it was refused. */
const LET_IN: Readonly<Record<string, (typeof LISTS)[number]>> = { API_ALLOWLIST: 'api', CASHOUT_ALLOWLIST: 'cashout' };

/** From where a gateway's servers may call, what each address is for, and who was not let in. */
export function Allowlists({ screen, place }: { screen: AllowlistsScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { lists, refused, you, filter } = screen;
  const path = `${place.href}/allowlists`;
  return (
    <>
      {LISTS.map((list) => {
        const items = lists[list];
        const leaving = filter.list === list ? items.find(({ address }) => address === filter.remove) : undefined;
        return (
          <section class="card card-table" aria-labelledby={list}>
            <h2 id={list}>{t(`allowlists.${list}`)}</h2>
            <p class="hint">{t(`allowlists.${list}-means`)}</p>
            {leaving !== undefined && (
              <ActForm
                place={place}
                act="allowlist-remove"
                fields={{ list, address: leaving.address }}
                proved
                look="main"
                label={t('allowlists.remove-this', { address: leaving.address })}
              >
                {items.length === 1 && <p class="notice notice-warning">{t('allowlists.last')}</p>}
              </ActForm>
            )}
            {items.length === 0 ? (
              <p class="notice notice-warning">{t('allowlists.nobody')}</p>
            ) : (
              <Table
                caption={t(`allowlists.${list}`)}
                columns={[
                  { title: t('allowlists.address'), look: 'rest' },
                  { title: t('allowlists.since'), look: 'wide-only' },
                  { title: t('allowlists.remove') },
                ]}
              >
                {items.map(({ address, note, addedAt }) => (
                  <tr>
                    <th scope="row">
                      <code>{address}</code>
                      {note !== null && <span class="hint below">{note}</span>}
                    </th>
                    <td class="wide-only">{addedAt === null ? '–' : <Moment at={addedAt} show="day" />}</td>
                    <td>
                      <a href={hrefOf(path, { list, remove: address })} aria-label={t('allowlists.remove-this', { address })}>
                        {t('allowlists.remove')}
                      </a>
                    </td>
                  </tr>
                ))}
              </Table>
            )}
            <details open={filter.list === list && filter.add !== undefined}>
              <summary>{t('allowlists.add')}</summary>
              <ActForm place={place} act="allowlist-add" fields={{ list }} proved label={t('allowlists.add-this')}>
                <label class="field">
                  <span>{t('allowlists.address')}</span>
                  <input name="address" required maxLength={64} value={filter.list === list ? filter.add : undefined} autocomplete="off" spellcheck={false} />
                  <span class="hint">{t('allowlists.yours', { address: you })}</span>
                </label>
                <label class="field">
                  <span>{t('allowlists.note')}</span>
                  <input name="note" maxLength={120} autocomplete="off" />
                </label>
              </ActForm>
            </details>
          </section>
        );
      })}
      <section class="card card-table" aria-labelledby="refused">
        <h2 id="refused">{t('allowlists.refused')}</h2>
        {refused.length === 0 ? (
          <p class="hint">{t('allowlists.refused-none')}</p>
        ) : (
          <Table
            caption={t('allowlists.refused')}
            columns={[
              { title: t('allowlists.address'), look: 'rest' },
              { title: t('allowlists.times'), look: 'amount' },
              { title: t('allowlists.last-time'), look: 'wide-only' },
            ]}
          >
            {refused.map(({ address, operation, reason, count, lastAt }) => (
              <tr>
                <th scope="row">
                  {address === null ? t('allowlists.several') : <code>{address}</code>}
                  <span class="hint below">
                    <code>{[operation, reason].filter(Boolean).join(', ')}</code>
                  </span>
                  {address !== null && LET_IN[reason ?? ''] !== undefined && (
                    <a class="below" href={hrefOf(path, { list: LET_IN[reason ?? ''], add: address })} aria-label={t('allowlists.let-in-this', { address })}>
                      {t('allowlists.let-in')}
                    </a>
                  )}
                </th>
                <td class="amount">
                  <span class="figure">{count}</span>
                </td>
                <td class="wide-only">
                  <Moment at={lastAt} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </section>
    </>
  );
}
