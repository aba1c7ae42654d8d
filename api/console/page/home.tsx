import type { JSX } from 'preact';
import { formatFiat } from '#api/page/fiat.ts';
import type { HomeScreen, Surroundings } from './model.ts';
import { Table } from './parts.tsx';

/** What needs somebody at a gateway, and how its last days went. */
export function Home({ screen, place }: { screen: HomeScreen; place: Surroundings }): JSX.Element {
  const { days, steps, needs, receivedUsd } = screen;
  return (
    <>
      <section class="card" aria-labelledby="needs">
        <h2 id="needs">What needs you</h2>
        {needs.length === 0 ? (
          <p class="hint">Nothing: no cashout waits for anybody, and every webhook was taken or is on its way.</p>
        ) : (
          <ul class="needs" data-part="needs">
            {needs.map(({ path, text }) => (
              <li>
                <a href={`${place.href}${path}`}>{text}</a>
              </li>
            ))}
          </ul>
        )}
      </section>
      {steps[0]?.count === 0 && days.every(({ usd }) => usd === '0') ? (
        <section class="card empty">
          <h2>No payment in the last two weeks</h2>
          <p>Your server creates one with a key of this gateway; simulated ones are not counted here.</p>
          <pre>
            <code>{`curl -X POST $API/payments -H "X-Api-Key: $KEY" -H "Content-Type: application/json" \\
  -d '{"amount": "49.90", "currencyCode": "USD", "callbackUrl": "https://shop.example/thanks"}'`}</code>
          </pre>
        </section>
      ) : (
        <>
          <section class="card" aria-labelledby="received">
            <h2 id="received">Received in two weeks</h2>
            <p class="headline-figure" data-part="received">
              {formatFiat(receivedUsd, 'USD', 'en')}
            </p>
            <Bars days={days} />
            <details>
              <summary>The figures</summary>
              <Table
                caption="What payments that came to rest on each day (UTC) had received, and how many were created and paid on it"
                columns={[{ title: 'Day' }, { title: 'Created', look: 'amount' }, { title: 'Paid', look: 'amount' }, { title: 'US dollars', look: 'amount' }]}
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
            <h2 id="funnel">How far payments come</h2>
            <p class="hint">Of those that were created in these two weeks, until now.</p>
            <ol class="funnel" data-part="funnel">
              {steps.map(({ title, count }) => (
                <li>
                  <span>{title}</span>
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
  const values = days.map(({ usd }) => Number(usd));
  const most = Math.max(...values, 1e-9);
  const each = WIDTH / Math.max(1, days.length);
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT + 1}`} role="img" aria-label={`Received on each of ${days.length} days; the figures follow`}>
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
