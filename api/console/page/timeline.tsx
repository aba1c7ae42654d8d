import type { JSX } from 'preact';
import { Code, Moment, Sentence } from './parts.tsx';
import type { StoryEntry } from './story.ts';
import { useTexts } from './texts.ts';

/** What happened, one line below the other, each with the sum behind it for whoever unfolds it. */
export function Timeline({ entries, explorerUrl }: { entries: readonly StoryEntry[]; explorerUrl: (txHash: string) => string | undefined }): JSX.Element {
  const t = useTexts();
  return (
    <ol class="timeline">
      {entries.map(({ at, title, detail, txHash, why, steps, sent, answer, state, english }, index) => (
        <li class={`event event-${state}`}>
          <p class="event-time">
            {at !== null && (
              <>
                <span class="event-day" hidden={at.slice(0, 10) === entries[index - 1]?.at?.slice(0, 10)}>
                  <Moment at={at} show="day" />{' '}
                </span>
                <Moment at={at} show="time" />
              </>
            )}
          </p>
          <div class="event-body">
            <p class="event-title">
              <Sentence text={title} />
            </p>
            {(detail !== null || txHash !== null) && (
              <p class="hint">
                {detail !== null && <Sentence text={detail} english={english} />}
                {detail !== null && txHash !== null && ' · '}
                {txHash !== null && <Code text={txHash} what={t('parts.copy-transaction')} href={explorerUrl(txHash)} />}
              </p>
            )}
            {why !== null && (
              <p class="why">
                <Sentence text={why} />
              </p>
            )}
            {steps.length > 0 && (
              <details>
                <summary>{t('timeline.how', { count: steps.length })}</summary>
                <ol class="steps">
                  {steps.map(({ text, rule }) => (
                    <li>
                      <Sentence text={text} /> <code class="hint">{rule}</code>
                    </li>
                  ))}
                </ol>
              </details>
            )}
            {sent !== null && (
              <details>
                <summary>{t('timeline.sent')}</summary>
                <pre class="answer">
                  {`POST ${sent.url}\n`}
                  {sent.headers.map(({ name, value }) => (
                    <>
                      {name}: {value ?? <i>{t('timeline.not-kept')}</i>}
                      {'\n'}
                    </>
                  ))}
                  {`\n${sent.body}`}
                </pre>
              </details>
            )}
            {answer !== null && (
              <details>
                <summary>{t('timeline.answer')}</summary>
                {(answer.contentType !== null || answer.retryAfter !== null) && (
                  <p class="hint">
                    {[answer.contentType, answer.retryAfter === null ? null : `Retry-After: ${answer.retryAfter}`].filter((one) => one !== null).join(' · ')}
                  </p>
                )}
                {answer.body === '' ? <p class="hint">{t('timeline.answer-empty')}</p> : <pre class="answer">{answer.body}</pre>}
              </details>
            )}
          </div>
        </li>
      ))}
    </ol>
  );
}
