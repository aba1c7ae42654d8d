import type { JSX } from 'preact';
import { visibleText } from '#shared/core/visible-text.ts';
import { ActForm } from './act-form.tsx';
import type { AddressesScreen, Surroundings } from './model.ts';
import { Address, Code, hrefOf, Moment, networkTitle, Pager, Table } from './parts.tsx';
import { useTexts } from './texts.ts';

/** Where cashouts go: who entered each destination, what was sent there, and since when. */
export function Addresses({ screen, place }: { screen: AddressesScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  const { items, filter } = screen;
  const path = `${place.href}/addresses`;
  const stands = place.permissions.includes('settlement:approve');
  const [renamed, hidden, vouched] = [filter.rename, filter.hide, filter.vouch].map((id) => items.find(({ addressId }) => addressId === id));
  return (
    <>
      {stands && renamed !== undefined && (
        <section class="card card-act" aria-labelledby="act">
          <h2 id="act">{t('addresses.rename-this', { label: visibleText(renamed.label) })}</h2>
          <ActForm place={place} act="address-rename" fields={{ id: renamed.addressId }} proved look="main" label={t('addresses.rename')}>
            <Label value={renamed.label} />
          </ActForm>
        </section>
      )}
      {stands && hidden !== undefined && (
        <section class="card card-act" aria-labelledby="act">
          <h2 id="act">{t('addresses.remove-this', { label: visibleText(hidden.label) })}</h2>
          <p>{t('addresses.remove-means')}</p>
          <ActForm place={place} act="address-hide" fields={{ id: hidden.addressId }} look="main" label={t('addresses.remove')} />
        </section>
      )}
      {stands && vouched !== undefined && (
        <section class="card card-act" aria-labelledby="act">
          <h2 id="act">{t('addresses.vouch-this', { label: visibleText(vouched.label) })}</h2>
          <p>
            <Address text={vouched.address} />
          </p>
          <p>{t('addresses.vouch-means')}</p>
          <ActForm
            place={place}
            act="address-add"
            fields={{ network: vouched.network, address: vouched.address }}
            proved
            look="main"
            label={t('addresses.vouch')}
          >
            <Label value={vouched.label} />
          </ActForm>
        </section>
      )}
      {stands && (
        <details class="card">
          <summary>{t('addresses.new')}</summary>
          <ActForm place={place} act="address-add" proved look="main" label={t('addresses.enter')}>
            <Label value="" />
            <label class="field">
              <span>{t('parts.network')}</span>
              <select name="network">
                {Object.entries(place.networks).map(([name, title]) => (
                  <option value={name}>{title}</option>
                ))}
              </select>
            </label>
            <label class="field">
              <span>{t('cashouts.destination')}</span>
              <input name="address" required maxLength={200} autocomplete="off" spellcheck={false} />
              <span class="hint">{t('addresses.checked')}</span>
            </label>
          </ActForm>
        </details>
      )}
      {items.length === 0 ? (
        <section class="card empty">
          <h2>{t('addresses.none')}</h2>
          <p>{t('addresses.none-why')}</p>
        </section>
      ) : (
        <section class="card card-table">
          <Table
            caption={t('section.addresses')}
            columns={[
              { title: t('addresses.name'), look: 'rest' },
              { title: t('addresses.sent'), look: 'amount' },
              { title: t('addresses.last'), look: 'wide-only' },
              { title: t('addresses.by'), look: 'wide-only' },
            ]}
          >
            {items.map((one) => (
              <tr>
                <th scope="row">
                  {visibleText(one.label)}
                  <span class="below">
                    <Code text={one.address} what={t('addresses.copy')} />
                  </span>
                  <span class="hint below">{networkTitle(place, one.network)}</span>
                  {stands && (
                    <span class="below links">
                      {one.createdBy?.includes('@') !== true && (
                        <a href={hrefOf(path, { vouch: one.addressId })} aria-label={t('addresses.vouch-this', { label: visibleText(one.label) })}>
                          {t('addresses.vouch')}
                        </a>
                      )}{' '}
                      <a href={hrefOf(path, { rename: one.addressId })} aria-label={t('addresses.rename-this', { label: visibleText(one.label) })}>
                        {t('addresses.rename')}
                      </a>{' '}
                      <a href={hrefOf(path, { hide: one.addressId })} aria-label={t('addresses.remove-this', { label: visibleText(one.label) })}>
                        {t('addresses.remove')}
                      </a>
                    </span>
                  )}
                </th>
                <td class="amount">
                  {one.sent.map(({ asset, amount }) => (
                    <span class="figure below">
                      {amount} {asset}
                    </span>
                  ))}
                </td>
                <td class="wide-only">{one.lastUsedAt === null ? t('addresses.never') : <Moment at={one.lastUsedAt} />}</td>
                <td class="wide-only">
                  {one.createdBy?.includes('@') === true ? one.createdBy : t('addresses.a-key')}
                  <span class="hint below">
                    <Moment at={one.createdAt} />
                  </span>
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

function Label({ value }: { value: string }): JSX.Element {
  const t = useTexts();
  return (
    <label class="field">
      <span>{t('addresses.name')}</span>
      <input name="label" required maxLength={255} value={value} autocomplete="off" />
    </label>
  );
}
