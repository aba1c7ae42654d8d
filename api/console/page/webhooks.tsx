import type { JSX } from 'preact';
import type { Surroundings, WebhooksScreen } from './model.ts';
import { Badge, Moment, Pager, StatusTabs, Table } from './parts.tsx';

/** What a webhook may be. */
export const WEBHOOK_STATES = ['pending', 'delivered', 'exhausted', 'stopped'];

/** Webhooks of all payments, newest first: what could not be delivered is what somebody looks for here. */
export function Webhooks({ screen, place }: { screen: WebhooksScreen; place: Surroundings }): JSX.Element {
  const { items, filter, later } = screen;
  const path = `${place.href}/webhooks`;
  return (
    <>
      <StatusTabs path={path} statuses={WEBHOOK_STATES} filter={filter} name="state" />
      {items.length === 0 ? (
        <section class="card empty">
          <h2>{filter.state === undefined && !later ? 'No webhooks yet' : 'No webhook is like that'}</h2>
          <p>A payment that comes to rest is announced to its webhookUrl, six times until it is taken.</p>
        </section>
      ) : (
        <section class="card card-table">
          <Table
            caption="Webhooks, the newest first"
            columns={[
              { title: 'Webhook', look: 'rest' },
              { title: 'Last answer', look: 'wide-only' },
              { title: 'Created', look: 'wide-only' },
              { title: 'State' },
            ]}
          >
            {items.map((row) => (
              <tr>
                <th scope="row">
                  <a class="row-name" href={`${place.href}/payments/${row.paymentUid}`}>
                    {row.status}
                  </a>
                  <span class="hint below">{row.url}</span>
                </th>
                <td class="wide-only">
                  <LastAnswer row={row} />
                </td>
                <td class="wide-only">
                  <Moment at={row.createdAt} />
                </td>
                <td>
                  <Badge status={row.state} />
                </td>
              </tr>
            ))}
          </Table>
          <Pager path={path} screen={screen} one="webhook" />
        </section>
      )}
    </>
  );
}

function LastAnswer({ row: { lastResult, lastHttpStatus, attempts, nextAttemptAt } }: { row: WebhooksScreen['items'][number] }): JSX.Element {
  return (
    <>
      {lastResult === null ? 'None yet' : (lastHttpStatus ?? lastResult)}
      <span class="hint below">
        {attempts} {attempts === 1 ? 'attempt' : 'attempts'}
        {nextAttemptAt !== null && attempts > 0 && (
          <>
            , next <Moment at={nextAttemptAt} />
          </>
        )}
      </span>
    </>
  );
}
