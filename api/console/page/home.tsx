import type { JSX } from 'preact';
import { formatFiat } from '#api/page/fiat.ts';
import type { HomeScreen, Surroundings } from './model.ts';
import { Table } from './parts.tsx';
import { useTexts } from './texts.ts';

/** What needs somebody at a gateway, and how its last days went. */
export function Home({ screen, place }: { screen: HomeScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { days, steps, needs, receivedUsd } = screen;
  return (
    <>
      <section class="card" aria-labelledby="needs">
        <h2 id="needs">{t('home.needs')}</h2>
        {needs.length === 0 ? (
          <p class="hint">{t('home.needs-none')}</p>
        ) : (
          <ul class="needs" data-part="needs">
            {needs.map(({ path, what, count }) => (
              <li>
                <a href={`${place.href}${path}`}>{t(`home.need-${what}`, { count })}</a>
              </li>
            ))}
          </ul>
        )}
      </section>
      {steps[0]?.count === 0 && days.every(({ usd }) => usd === '0') ? (
        <section class="card empty">
          <h2>{t('home.empty-title')}</h2>
          <p>{t('home.empty')}</p>
          <pre>
            <code>{`curl -X POST $API/payments -H "X-Api-Key: $KEY" -H "Content-Type: application/json" \\
  -d '{"amount": "49.90", "currencyCode": "USD", "callbackUrl": "https://shop.example/thanks"}'`}</code>
          </pre>
        </section>
      ) : (
        <>
          <section class="card" aria-labelledby="received">
            <h2 id="received">{t('home.received')}</h2>
            <p class="headline-figure" data-part="received">
              {formatFiat(receivedUsd, 'USD', 'en')}
            </p>
            <Bars days={days} />
            <details>
              <summary>{t('home.figures')}</summary>
              <Table
                caption={t('home.figures-caption')}
                columns={[
                  { title: t('home.day') },
                  { title: t('home.created'), look: 'amount' },
                  { title: t('home.paid'), look: 'amount' },
                  { title: t('home.dollars'), look: 'amount' },
                ]}
              >
                {days.map(({ day, created, paid, usd }) => (
                  <tr>
                    <th scope="row">{day}</th>
                    <td class="amount">{created}</td>
                    <td class="amount">{paid}</td>
                    <td class="amount">{formatFiat(usd, 'USD', 'en')}</td>
                  </tr>
                ))}
              </Table>
            </details>
          </section>
          <section class="card" aria-labelledby="funnel">
            <h2 id="funnel">{t('home.funnel')}</h2>
            <p class="hint">{t('home.funnel-hint')}</p>
            <ol class="funnel" data-part="funnel">
              {steps.map(({ step, count }) => (
                <li>
                  <span>{t(`home.step-${step}`)}</span>
                  <meter min={0} max={Math.max(1, steps[0]?.count ?? 0)} value={count} aria-hidden="true" />
                  <span class="figure">
                    {count} <span class="hint">{share(count, steps[0]?.count ?? 0)}</span>
                  </span>
                </li>
              ))}
            </ol>
          </section>
        </>
      )}
    </>
  );
}

const [WIDTH, HEIGHT, GAP] = [560, 120, 6];

/** One bar a day, as high as what was received on it; the figures stand beneath for whoever cannot see them. */
function Bars({ days }: { days: HomeScreen['days'] }): JSX.Element {
  const t = useTexts();
  const values = days.map(({ usd }) => Number(usd));
  const most = Math.max(...values, 1e-9);
  const each = WIDTH / Math.max(1, days.length);
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT + 1}`} role="img" aria-label={t('home.chart', { days: days.length })}>
        <line class="chart-base" x1={0} y1={HEIGHT} x2={WIDTH} y2={HEIGHT} />
        {days.map(({ day, usd }, at) => {
          const height = ((values[at] ?? 0) / most) * (HEIGHT - 4);
          return (
            <rect class="chart-bar" x={at * each + GAP / 2} y={HEIGHT - height} width={each - GAP} height={height} rx={2}>
              <title>{`${day}: ${formatFiat(usd, 'USD', 'en')}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption class="hint">
        <span>{days[0]?.day}</span>
        <span>{days.at(-1)?.day}</span>
      </figcaption>
    </figure>
  );
}

function share(count: number, of: number): string {
  return of === 0 ? '' : `${Math.round((100 * count) / of)} %`;
}
