import type { ComponentChildren, JSX } from 'preact';
import { ActForm } from './act-form.tsx';
import type { ExportColumns, ReportsScreen, Surroundings } from './model.ts';
import { Moment, Pager, Table } from './parts.tsx';
import { useTexts } from './texts.ts';

/** Which columns files of a kind have. */
function Columns({ of: { kind, columns }, children }: { of: ExportColumns; children?: ComponentChildren }): JSX.Element {
  const t = useTexts();
  return (
    <details class="export-columns" data-kind={kind}>
      <summary>{t('reports.columns', { kind: t(`reports.kind-${kind}`) })}</summary>
      <fieldset class="choices">
        <legend class="hint">
          {t('reports.columns-hint')} {children}
        </legend>
        {columns.map(({ name, on }) => (
          <label class="check">
            <input type="checkbox" name={`column:${kind}:${name}`} value="on" checked={on} />
            <code>{name}</code>
          </label>
        ))}
      </fieldset>
    </details>
  );
}

/** What of a gateway is made into files on the first day of each month, by whom it is read. */
function Monthly({ monthly, place, language }: { monthly: ReportsScreen['monthly']; place: Surroundings; language: string }): JSX.Element {
  const t = useTexts();
  return (
    <section class="card" aria-labelledby="monthly">
      <h2 id="monthly">{t('reports.monthly')}</h2>
      <p class="hint">{t('reports.monthly-hint')}</p>
      <ActForm place={place} act="export-monthly" fields={{ language }} label={t('reports.monthly-save')}>
        {monthly.map(({ kind, format, columns }) => (
          <>
            <label class="field">
              <span>{t(`reports.kind-${kind}`)}</span>
              <select name={`monthly:${kind}`}>
                <option value="">{t('reports.monthly-none')}</option>
                <option value="csv" selected={format === 'csv'}>
                  {t('reports.csv')}
                </option>
                <option value="jsonl" selected={format === 'jsonl'}>
                  {t('reports.jsonl')}
                </option>
              </select>
            </label>
            <Columns of={{ kind, columns }} />
          </>
        ))}
      </ActForm>
    </section>
  );
}

/** Files of what lists show, and statements of months. */
export function Reports({ screen, place, language }: { screen: ReportsScreen; place: Surroundings; language: string }): JSX.Element {
  const t = useTexts();
  const { items, months, monthly, choices } = screen;
  return (
    <>
      {months.length > 0 && (
        <section class="card" aria-labelledby="months">
          <h2 id="months">{t('reports.statements')}</h2>
          <ul class="months">
            {months.map((month) => (
              <li>
                <a href={`${place.href}/statements/${month}`}>{month}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section class="card" aria-labelledby="new-export">
        <h2 id="new-export">{t('reports.new')}</h2>
        <ActForm place={place} act="export-create" look="main" label={t('reports.make')} fields={{ columns: 'chosen' }}>
          <div class="field-row">
            <label class="field">
              <span>{t('reports.what')}</span>
              <select name="kind">
                {choices.map(({ kind }) => (
                  <option value={kind}>{t(`reports.kind-${kind}`)}</option>
                ))}
              </select>
            </label>
            <label class="field">
              <span>{t('reports.format')}</span>
              <select name="format">
                <option value="csv">{t('reports.csv')}</option>
                <option value="jsonl">{t('reports.jsonl')}</option>
              </select>
            </label>
            <label class="field">
              <span>{t('reports.from')}</span>
              <input type="date" name="from" />
            </label>
            <label class="field">
              <span>{t('reports.to')}</span>
              <input type="date" name="to" />
            </label>
          </div>
          <p class="hint">{t('reports.days-hint')}</p>
          {choices.map((one) => (
            <Columns of={one}>{t('reports.columns-kept')}</Columns>
          ))}
        </ActForm>
      </section>
      <Monthly monthly={monthly} place={place} language={language} />
      {items.length > 0 && (
        <section class="card card-table">
          <Table
            caption={t('reports.caption')}
            columns={[
              { title: t('reports.file'), look: 'rest' },
              { title: t('reports.rows'), look: 'amount' },
              { title: t('reports.asked'), look: 'wide-only' },
              { title: t('parts.status') },
            ]}
          >
            {items.map((one) => (
              <tr id={one.exportId}>
                <th scope="row">
                  {t(`reports.kind-${one.kind}`)}
                  <span class="hint below">
                    {one.from === null ? t('reports.beginning') : <Moment at={one.from} show="day" />} – <Moment at={one.to} show="day" />
                  </span>
                </th>
                <td class="amount">{one.rows}</td>
                <td class="wide-only">
                  <Moment at={one.createdAt} />
                </td>
                <td>
                  {one.state === 'ready' ? (
                    <a href={`${place.href}/exports/${one.exportId}/file`}>{t('reports.download')}</a>
                  ) : one.state === 'making' ? (
                    t('reports.making')
                  ) : (
                    t(one.problem === 'too_large' ? 'reports.too-large' : 'reports.failed')
                  )}
                </td>
              </tr>
            ))}
          </Table>
          <Pager path={`${place.href}/reports`} screen={screen} />
        </section>
      )}
    </>
  );
}
