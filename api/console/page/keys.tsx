import type { JSX } from 'preact';
import { sentence } from '#api/page/sentence.ts';
import { ActForm } from './act-form.tsx';
import type { KeysScreen, Surroundings } from './model.ts';
import { hrefOf, Moment, Pager, Table } from './parts.tsx';
import { useTexts } from './texts.ts';

const OVERLAPS = { '0': 'keys.overlap-none', '3600': 'keys.overlap-hour', '86400': 'keys.overlap-day' } as const;

/** What a shop's servers come with: keys, and the secrets that sign. */
export function Keys({ screen, place }: { screen: KeysScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { items, grantable } = screen;
  return (
    <>
      <About screen={screen} place={place} />
      <details class="card" open={items.length === 0}>
        <summary>{t('keys.new')}</summary>
        <ActForm place={place} act="key-create" proved look="main" label={t('keys.make')}>
          <Name />
          <fieldset class="choices">
            <legend>{t('keys.may')}</legend>
            {grantable.map((one) => (
              <label class="choice choice-box">
                <input type="checkbox" name={`may:${one}`} checked={one === 'payment:create' || one === 'payment:read'} />
                <code>{one}</code>
              </label>
            ))}
          </fieldset>
          <Ends />
        </ActForm>
      </details>
      <section class="card card-table">
        <Table
          caption={t('keys.caption')}
          columns={[
            { title: t('keys.key'), look: 'rest' },
            { title: t('keys.may'), look: 'wide-only' },
            { title: t('keys.used'), look: 'wide-only' },
            { title: t('parts.status') },
          ]}
        >
          {items.map((key) => (
            <tr>
              <th scope="row">
                {key.name ?? t('keys.unnamed')}
                <span class="hint below">
                  <code>
                    {key.prefix}…{key.lastFour}
                  </code>
                </span>
              </th>
              <td class="wide-only permissions">
                {key.permissions.map((one) => (
                  <code>{one}</code>
                ))}
              </td>
              <td class="wide-only">
                {key.lastUsedAt === null ? <span class="hint">{t('keys.never')}</span> : <Moment at={key.lastUsedAt} />}
                {key.lastUsedFrom !== null && <span class="hint below">{key.lastUsedFrom}</span>}
              </td>
              <td>
                <KeyState row={key} now={screen.now} place={place} />
              </td>
            </tr>
          ))}
        </Table>
        <Pager path={`${place.href}/keys`} screen={screen} />
      </section>
      <Secrets screen={screen} place={place} />
    </>
  );
}

function Name({ of }: { of?: string | null }): JSX.Element {
  const t = useTexts();
  return (
    <label class="field">
      <span>{t('keys.name')}</span>
      <input name="name" required maxLength={100} autocomplete="off" value={of ?? undefined} />
    </label>
  );
}

type Limited = Pick<KeysScreen['items'][number], 'name' | 'expiresAt' | 'allowlist'>;

/** How long a key works, and from where. */
function Ends({ of }: { of?: Limited }): JSX.Element {
  const t = useTexts();
  return (
    <>
      <label class="field">
        <span>{t('keys.ends')}</span>
        <input type="date" name="ends" value={of?.expiresAt?.slice(0, 10)} />
      </label>
      <label class="field">
        <span>{t('keys.addresses')}</span>
        <textarea name="allowlist" rows={2} maxLength={4000} spellcheck={false} value={of?.allowlist?.join('\n')} />
        <span class="hint">{t('keys.addresses-hint')}</span>
      </label>
    </>
  );
}

function Limits({ of }: { of: Limited }): JSX.Element {
  return (
    <>
      <Name of={of.name} />
      <Ends of={of} />
    </>
  );
}

/** What a form says of a key that it was drawn of. Pure. */
function seenOf({ name, expiresAt, allowlist }: Limited): string {
  return JSON.stringify({ name, expiresAt, allowlist });
}

function KeyState({
  row: { keyId, name, expiresAt, revokedAt, prefix },
  now,
  place,
}: {
  row: KeysScreen['items'][number];
  now: string;
  place: Surroundings;
}): JSX.Element {
  const t = useTexts();
  const expired = expiresAt !== null && Date.parse(expiresAt) <= Date.parse(now);
  if (revokedAt !== null) return <span class="hint">{sentence(t, 'keys.revoked', { moment: <Moment at={revokedAt} show="day" /> })}</span>;
  return (
    <>
      {expiresAt !== null && <span class="hint below">{sentence(t, 'keys.until', { moment: <Moment at={expiresAt} show="day" /> })}</span>}
      {expired ? null : (
        <a class="row-act" href={hrefOf(`${place.href}/keys`, { change: keyId })} aria-label={t('keys.change-this', { name: name ?? prefix })}>
          {t('keys.change')}
        </a>
      )}
      <a class="row-act" href={hrefOf(`${place.href}/keys`, { revoke: keyId })} aria-label={t('keys.revoke-this', { name: name ?? prefix })}>
        {t('keys.revoke')}
      </a>
    </>
  );
}

/** What is about to be done to a key or a secret, which takes a proof. */
function About({ screen, place }: { screen: KeysScreen; place: Surroundings }): JSX.Element | null {
  const t = useTexts();
  const { items, filter } = screen;
  const key = items.find(({ keyId, revokedAt }) => keyId === filter.revoke && revokedAt === null);
  const changed = items.find(({ keyId, revokedAt }) => keyId === filter.change && revokedAt === null);
  const [rolled, ended] = [filter.roll, filter.end].map((asked) => ROLLABLE.find((one) => one === asked));
  if (key !== undefined)
    return (
      <section class="card card-act" aria-labelledby="revoke">
        <h2 id="revoke">{t('keys.revoke-this', { name: key.name ?? key.prefix })}</h2>
        <p>{t('keys.revoke-means')}</p>
        <ActForm place={place} act="key-revoke" fields={{ id: key.keyId }} proved look="main" label={t('keys.revoke-confirm')} />
      </section>
    );
  if (changed !== undefined)
    return (
      <section class="card card-act" aria-labelledby="change">
        <h2 id="change">{t('keys.change-this', { name: changed.name ?? changed.prefix })}</h2>
        <ActForm place={place} act="key-change" fields={{ id: changed.keyId, seen: seenOf(changed) }} proved look="main" label={t('keys.change-confirm')}>
          <Limits of={changed} />
        </ActForm>
      </section>
    );
  if (!place.permissions.includes('secret:roll')) return null;
  const current = screen.secrets.find((one) => one.kind === (ended ?? rolled) && one.expiresAt === null);
  if (ended !== undefined && current !== undefined)
    return (
      <section class="card card-act" aria-labelledby="end">
        <h2 id="end">{t('keys.end-overlap')}</h2>
        <p>{t(`keys.end-means-${ended}`)}</p>
        <ActForm place={place} act="secret-end" fields={{ kind: ended, current: current.id }} proved look="main" label={t('keys.end-confirm')} />
      </section>
    );
  if (rolled === undefined) return null;
  const kind = rolled;
  const before = stillCounting(screen, kind);
  return (
    <section class="card card-act" aria-labelledby="roll">
      <h2 id="roll">{t(`keys.roll-${kind}`)}</h2>
      {before !== undefined && <p role="note">{sentence(t, 'keys.roll-again', { moment: <Moment at={before} /> })}</p>}
      <ActForm place={place} act="secret-roll" fields={{ kind, current: current?.id }} proved look="main" label={t('keys.roll-confirm')}>
        <label class="field">
          <span>{t('keys.overlap')}</span>
          <select name="overlap">
            {Object.entries(OVERLAPS).map(([seconds, text]) => (
              <option value={seconds} selected={seconds === (kind === 'webhook' ? '86400' : '0')}>
                {t(text)}
              </option>
            ))}
          </select>
        </label>
      </ActForm>
    </section>
  );
}

const KINDS = ['webhook', 'cashout', 'totp'] as const;
const ROLLABLE = ['webhook', 'cashout'] as const;

/** Until when the secret before the current one of a kind counts; undefined where none does. Pure. */
function stillCounting({ secrets, now }: KeysScreen, kind: string): string | undefined {
  return secrets.find((one) => one.kind === kind && one.expiresAt !== null && Date.parse(one.expiresAt) > Date.parse(now))?.expiresAt ?? undefined;
}

function Secrets({ screen, place }: { screen: KeysScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { secrets } = screen;
  return (
    <section class="card" aria-labelledby="secrets">
      <h2 id="secrets">{t('keys.secrets')}</h2>
      <ul class="rows">
        {KINDS.map((kind) => {
          const [current, ...before] = secrets.filter((one) => one.kind === kind);
          return (
            <li>
              <div>
                <p>{t(`keys.secret-${kind}`)}</p>
                <p class="hint">
                  {current === undefined ? t('keys.secret-none') : sentence(t, 'keys.secret-since', { moment: <Moment at={current.createdAt} /> })}
                  {before.map(({ expiresAt }) => expiresAt !== null && <> {sentence(t, 'keys.secret-before', { moment: <Moment at={expiresAt} /> })}</>)}
                </p>
              </div>
              {kind !== 'totp' && place.permissions.includes('secret:roll') && stillCounting(screen, kind) !== undefined && (
                <a href={hrefOf(`${place.href}/keys`, { end: kind })} aria-label={`${t('keys.end')}: ${t(`keys.secret-${kind}`)}`}>
                  {t('keys.end')}
                </a>
              )}
              {kind !== 'totp' && place.permissions.includes('secret:roll') && (
                <a href={hrefOf(`${place.href}/keys`, { roll: kind })} aria-label={t(`keys.roll-${kind}`)}>
                  {t('keys.roll')}
                </a>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
