import type { JSX } from 'preact';
import { sentence } from '#api/page/sentence.ts';
import { ActForm } from './act-form.tsx';
import type { Surroundings, WebhooksScreen } from './model.ts';
import { Badge, Moment, Pager, StatusTabs, Table } from './parts.tsx';
import { useTexts } from './texts.ts';
import { wordFor } from './words.ts';

/** What a webhook may be. */
export const WEBHOOK_STATES = ['pending', 'delivered', 'exhausted', 'stopped'];

/** What nobody tries any more, and may be sent again all at once. */
const RESENDABLE = ['exhausted', 'stopped'];

/** Webhooks of all payments, newest first: what could not be delivered is what somebody looks for here. */
export function Webhooks({ screen, place }: { screen: WebhooksScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { items, filter, later } = screen;
  const path = `${place.href}/webhooks`;
  return (
    <>
      {place.permissions.includes('webhook:resend') && (
        <details class="filters">
          <summary>{t('webhooks.test')}</summary>
          <ActForm place={place} act="webhook-test" look="small" label={t('webhooks.test-send')}>
            <label class="field">
              <span>{t('webhooks.test-url')}</span>
              <input name="url" type="url" maxLength={2048} />
              <span class="hint">{t('webhooks.test-hint')}</span>
            </label>
          </ActForm>
        </details>
      )}
      <StatusTabs path={path} statuses={WEBHOOK_STATES} filter={filter} name="state" />
      {items.length > 0 && RESENDABLE.includes(filter.state ?? '') && place.permissions.includes('webhook:resend') && (
        <div class="card">
          <p class="hint">{t('webhooks.resend-all-hint')}</p>
          <ActForm place={place} act="webhooks-resend" fields={{ state: filter.state }} look="small" label={t('webhooks.resend-all')} />
        </div>
      )}
      {items.length === 0 ? (
        <section class="card empty">
          <h2>{filter.state === undefined && !later ? t('webhooks.empty-title') : t('webhooks.none-title')}</h2>
          <p>{t('webhooks.empty')}</p>
        </section>
      ) : (
        <section class="card card-table">
          <Table
            caption={t('webhooks.caption')}
            columns={[
              { title: t('webhooks.webhook'), look: 'rest' },
              { title: t('webhooks.last-answer'), look: 'wide-only' },
              { title: t('webhooks.created'), look: 'wide-only' },
              { title: t('parts.status') },
            ]}
          >
            {items.map((row) => (
              <tr>
                <th scope="row">
                  <a class="row-name" href={`${place.href}/payments/${row.paymentUid}`}>
                    {wordFor(t, 'status', row.status)}
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
          <Pager path={path} screen={screen} />
        </section>
      )}
    </>
  );
}

function LastAnswer({ row: { lastResult, lastHttpStatus, attempts: count, nextAttemptAt } }: { row: WebhooksScreen['items'][number] }): JSX.Element {
  const t = useTexts();
  return (
    <>
      {lastResult === null ? t('webhooks.none-yet') : (lastHttpStatus ?? wordFor(t, 'webhook-result', lastResult))}
      <span class="hint below">
        {nextAttemptAt === null || count === 0
          ? t('webhooks.attempts', { count })
          : sentence(t, 'webhooks.attempts-next', { moment: <Moment at={nextAttemptAt} /> }, { count })}
      </span>
    </>
  );
}
