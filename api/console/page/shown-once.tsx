import type { JSX } from 'preact';
import type { ShownOnceScreen, Surroundings } from './model.ts';
import { Coins, Copy, Fact, Facts } from './parts.tsx';
import { useTexts } from './texts.ts';
import { wordFor } from './words.ts';

/** What an act came to that is told this once: a key, a secret, or the answer to a webhook that was tried. */
export function ShownOnce({ screen, place }: { screen: ShownOnceScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  if (screen.kind === 'webhook-tested') {
    const { url, result, httpStatus, durationMs, problem, answer } = screen.result;
    return (
      <section class="card">
        <Facts>
          <Fact name={t('webhook-tested.url')}>
            <code class="whole">{url}</code>
          </Fact>
          <Fact name={t('webhook-tested.answer')} strong>
            {httpStatus ?? wordFor(t, 'webhook-result', result)}
          </Fact>
          <Fact name={t('webhook-tested.took')}>{t('webhook-tested.milliseconds', { count: durationMs })}</Fact>
          {problem !== null && (
            <Fact name={t('webhook-tested.problem')}>
              <span lang="en">{problem}</span>
            </Fact>
          )}
        </Facts>
        {answer !== null && answer.body !== '' && <pre class="answer">{answer.body}</pre>}
        <a class="button" href={`${place.href}/webhooks`}>
          {t('section.webhooks')}
        </a>
      </section>
    );
  }
  if (screen.kind === 'inquired') return <Inquired screen={screen} place={place} />;
  if (screen.kind === 'webhooks-resent')
    return (
      <section class="card">
        <p>{t('webhooks-resent.count', { count: screen.resent })}</p>
        <a class="button" href={`${place.href}/webhooks`}>
          {t('section.webhooks')}
        </a>
      </section>
    );
  if (screen.kind === 'new-link')
    return (
      <section class="card">
        <p>{t('shown-once.link', { email: screen.email })}</p>
        <p class="secret-line">
          <code class="whole" data-part="secret">
            {screen.link}
          </code>
          <Copy text={screen.link} what={t('shown-once.copy-link')} />
        </p>
        <a class="button button-main" href={`${place.href}/${place.name === null ? 'people' : 'team'}`}>
          {t(place.name === null ? 'ops-section.people' : 'section.team')}
        </a>
      </section>
    );
  const secret = screen.kind === 'new-key' ? screen.apiKey : screen.secret;
  return (
    <section class="card">
      <p>{t(screen.kind === 'new-key' ? 'shown-once.key' : 'shown-once.secret')}</p>
      <p class="secret-line" data-part="secret">
        <code class="whole">{secret}</code>
        <Copy text={secret} what={t('shown-once.copy')} />
      </p>
      {screen.kind === 'new-secret' && <p class="hint">{t('shown-once.overlap', { hours: Math.round(screen.overlapSeconds / 3_600) })}</p>}
      <a class="button button-main" href={`${place.href}/keys`}>
        {t('shown-once.stored')}
      </a>
    </section>
  );
}

/** What was found of a transaction that a payer named. */
function Inquired({ screen: { paymentUid, result }, place }: { screen: Extract<ShownOnceScreen, { kind: 'inquired' }>; place: Surroundings }): JSX.Element {
  const t = useTexts();
  return (
    <section class="card">
      <p>{t(`inquired.${result.resultCode}`)}</p>
      <Facts>
        <Fact name={t('inquire.hash')}>
          <code class="whole">{result.txHash}</code>
        </Fact>
        {result.receivedAmount !== undefined && result.receivedAssetSymbol !== undefined && (
          <Fact name={t('payment.received')} strong>
            <Coins amount={result.receivedAmount} asset={result.receivedAssetSymbol} />
          </Fact>
        )}
        <Fact name={t('inquired.left')}>{t('inquired.attempts', { count: result.attemptsRemaining })}</Fact>
      </Facts>
      <a class="button button-main" href={`${place.href}/payments/${paymentUid}`}>
        {t('inquired.back')}
      </a>
    </section>
  );
}
