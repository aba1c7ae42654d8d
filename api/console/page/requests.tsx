import type { JSX } from 'preact';
import type { RequestsScreen, Surroundings } from './model.ts';
import { Code, Moment, Pager, StatusTabs, Table } from './parts.tsx';

/** Classes of a status that somebody looks for. */
export const REQUEST_STATUSES = ['2xx', '4xx', '5xx'];

/** What the gateway's keys asked for within seven days, newest first: why a program is refused is what somebody looks for here. */
export function Requests({ screen, place }: { screen: RequestsScreen; place: Surroundings }): JSX.Element {
  const { items, filter, later } = screen;
  const path = `${place.href}/requests`;
  return (
    <>
      <StatusTabs path={path} statuses={REQUEST_STATUSES} filter={filter} />
      {items.length === 0 ? (
        <section class="card empty">
          <h2>{filter.status === undefined && !later ? 'No requests yet' : 'No request is like that'}</h2>
          <p>Requests with an API key of this gateway are here for seven days, a second after their answer.</p>
        </section>
      ) : (
        <section class="card card-table">
          <Table
            caption="Requests, the newest first"
            columns={[
              { title: 'Operation', look: 'rest' },
              { title: 'Key and address', look: 'wide-only' },
              { title: 'Time', look: 'wide-only' },
              { title: 'Answer' },
            ]}
          >
            {items.map((row) => (
              <tr>
                <th scope="row">
                  {row.operation}
                  <span class="hint below">
                    <Code text={row.requestId} what="the request's id" />
                  </span>
                </th>
                <td class="wide-only">
                  {row.keyPrefix}
                  <span class="hint below">{row.address}</span>
                </td>
                <td class="wide-only">
                  <Moment at={row.at} />
                  <span class="hint below">{row.durationMs} ms</span>
                </td>
                <td>
                  {row.status}
                  {row.code !== null && <span class="hint below">{row.code}</span>}
                </td>
              </tr>
            ))}
          </Table>
          <Pager path={path} screen={screen} one="request" />
        </section>
      )}
    </>
  );
}
