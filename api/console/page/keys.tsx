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
          <label class="field">
            <span>{t('keys.name')}</span>
            <input name="name" required maxLength={100} autocomplete="off" />
          </label>
          <fieldset class="choices">
            <legend>{t('keys.may')}</legend>
            {grantable.map((one) => (
              <label class="choice choice-box">
                <input type="checkbox" name={`may:${one}`} checked={one === 'payment:create' || one === 'payment:read'} />
                <code>{one}</code>
              </label>
            ))}
          </fieldset>
          <label class="field">
            <span>{t('keys.ends')}</span>
            <input type="date" name="ends" />
          </label>
          <label class="field">
            <span>{t('keys.addresses')}</span>
            <textarea name="allowlist" rows={2} maxLength={4000} spellcheck={false} />
            <span class="hint">{t('keys.addresses-hint')}</span>
          </label>
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
                <KeyState row={key} place={place} />
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

function KeyState({ row: { keyId, name, expiresAt, revokedAt, prefix }, place }: { row: KeysScreen['items'][number]; place: Surroundings }): JSX.Element {
  const t = useTexts();
  if (revokedAt !== null) return <span class="hint">{sentence(t, 'keys.revoked', { moment: <Moment at={revokedAt} show="day" /> })}</span>;
  return (
    <>
      {expiresAt !== null && <span class="hint below">{sentence(t, 'keys.until', { moment: <Moment at={expiresAt} show="day" /> })}</span>}
      <a href={hrefOf(`${place.href}/keys`, { revoke: keyId })} aria-label={t('keys.revoke-this', { name: name ?? prefix })}>
        {t('keys.revoke')}
      </a>
    </>
  );
}

/** What is about to be done to a key or a secret, which takes a proof. */
function About({ screen: { items, filter }, place }: { screen: KeysScreen; place: Surroundings }): JSX.Element | null {
  const t = useTexts();
  const key = items.find(({ keyId, revokedAt }) => keyId === filter.revoke && revokedAt === null);
  const kind = (['webhook', 'cashout'] as const).find((one) => one === filter.roll);
  if (key !== undefined)
    return (
      <section class="card card-act" aria-labelledby="revoke">
        <h2 id="revoke">{t('keys.revoke-this', { name: key.name ?? key.prefix })}</h2>
        <p>{t('keys.revoke-means')}</p>
        <ActForm place={place} act="key-revoke" fields={{ id: key.keyId }} proved look="main" label={t('keys.revoke-confirm')} />
      </section>
    );
  if (kind === undefined || !place.permissions.includes('secret:roll')) return null;
  return (
    <section class="card card-act" aria-labelledby="roll">
      <h2 id="roll">{t(`keys.roll-${kind}`)}</h2>
      <ActForm place={place} act="secret-roll" fields={{ kind }} proved look="main" label={t('keys.roll-confirm')}>
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

function Secrets({ screen: { secrets }, place }: { screen: KeysScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
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
