import type { JSX } from 'preact';
import type { RequestsScreen, Surroundings } from './model.ts';
import { Code, Moment, Pager, StatusTabs, Table } from './parts.tsx';
import { useTexts } from './texts.ts';

/** Classes of a status that somebody looks for. */
export const REQUEST_STATUSES = ['2xx', '4xx', '5xx'];

/** What the gateway's keys asked for within seven days, newest first: why a program is refused is what somebody looks for here. */
export function Requests({ screen, place }: { screen: RequestsScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { items, filter, later } = screen;
  const path = `${place.href}/requests`;
  return (
    <>
      <StatusTabs path={path} statuses={REQUEST_STATUSES} filter={filter} />
      {items.length === 0 ? (
        <section class="card empty">
          <h2>{filter.status === undefined && !later ? t('requests.empty-title') : t('requests.none-title')}</h2>
          <p>{t('requests.empty')}</p>
        </section>
      ) : (
        <section class="card card-table">
          <Table
            caption={t('requests.caption')}
            columns={[
              { title: t('requests.operation'), look: 'rest' },
              { title: t('requests.key'), look: 'wide-only' },
              { title: t('requests.time'), look: 'wide-only' },
              { title: t('requests.answer') },
            ]}
          >
            {items.map((row) => (
              <tr>
                <th scope="row">
                  {row.operation}
                  <span class="hint below">
                    <Code text={row.requestId} what={t('requests.copy-id')} />
                  </span>
                </th>
                <td class="wide-only">
                  {row.keyPrefix}
                  <span class="hint below">{row.address}</span>
                </td>
                <td class="wide-only">
                  <Moment at={row.at} />
                  <span class="hint below">{t('requests.duration', { milliseconds: row.durationMs })}</span>
                </td>
                <td>
                  {row.status}
                  {row.code !== null && <span class="hint below">{row.code}</span>}
                </td>
              </tr>
            ))}
          </Table>
          <Pager path={path} screen={screen} />
        </section>
      )}
    </>
  );
}
