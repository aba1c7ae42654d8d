import type { JSX } from 'preact';
import { ActForm } from './act-form.tsx';
import type { ScreeningScreen, Surroundings } from './model.ts';
import { Fact, Facts, Moment, Table } from './parts.tsx';
import { sentence } from '#api/page/sentence.ts';
import { useTexts } from './texts.ts';

/** What a gateway has left to screen with, how fast it goes, what waits for more, and a way to ask for it. */
export function ScreeningBalance({ screen, place }: { screen: ScreeningScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { isEnabled, threshold, credits, checksPerDay, daysLeft, days, asked, parked } = screen;
  if (!isEnabled)
    return (
      <section class="card empty">
        <h2>{t('screening.off')}</h2>
        <p>{t('screening.off-why')}</p>
      </section>
    );
  return (
    <>
      <section class="card" aria-labelledby="left">
        <h2 id="left">{t('screening.left')}</h2>
        <p class="headline-figure" data-part="credits">
          {credits}
        </p>
        <Facts>
          <Fact name={t('screening.a-day')}>{checksPerDay}</Fact>
          <Fact name={t('screening.lasts')}>{daysLeft === null ? t('screening.unused') : t('payment.days', { count: daysLeft })}</Fact>
          <Fact name={t('screening.threshold')}>{threshold}</Fact>
          {parked > 0 && (
            <Fact name={t('screening.parked')} strong>
              <a href={`${place.href}/cashouts?status=WAITING_AML_CREDIT`}>{t('screening.parked-count', { count: parked })}</a>
            </Fact>
          )}
        </Facts>
        {asked !== null ? (
          <p class="hint" data-part="asked">
            {sentence(t, 'screening.asked', { who: <bdi>{asked.by}</bdi>, moment: <Moment at={asked.at} /> })}
          </p>
        ) : (
          place.permissions.includes('settlement:create') && (
            <>
              <ActForm place={place} act="credits-ask" look="main" label={t('screening.ask')} />
              <p class="hint">{t('screening.ask-hint')}</p>
            </>
          )
        )}
      </section>
      <section class="card card-table" aria-labelledby="days">
        <h2 id="days">{t('screening.days')}</h2>
        <Table
          caption={t('screening.days')}
          columns={[
            { title: t('screening.day'), look: 'rest' },
            { title: t('screening.checks'), look: 'amount' },
          ]}
        >
          {days.map(({ day, checks }) => (
            <tr>
              <th scope="row">
                <time dateTime={day}>{day}</time>
              </th>
              <td class="amount">
                <span class="figure">{checks}</span>
              </td>
            </tr>
          ))}
        </Table>
      </section>
    </>
  );
}
