import type { JSX } from 'preact';
import { ActForm } from './act-form.tsx';
import type { SandboxScreen, Surroundings } from './model.ts';
import { useTexts } from './texts.ts';

/** Where people try what a shop's server will live through: a payment that no coin pays, and everything that may happen to it. */
export function Sandbox({ screen: { currencies }, place }: { screen: SandboxScreen; place: Surroundings }): JSX.Element {
  const t = useTexts();
  return (
    <>
      <section class="card">
        <p>{t('sandbox.about')}</p>
        <ActForm place={place} act="sandbox-create" look="main" label={t('sandbox.create')}>
          <label class="field">
            <span>{t('sandbox.amount')}</span>
            <input name="amount" required inputMode="decimal" maxLength={40} value="25" autocomplete="off" />
          </label>
          <label class="field">
            <span>{t('sandbox.currency')}</span>
            <select name="currencyCode">
              {currencies.map((code) => (
                <option value={code} selected={code === 'USD'}>
                  {code}
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            <span>{t('sandbox.webhook')}</span>
            <input name="webhookUrl" type="url" maxLength={2048} autocomplete="off" />
            <span class="hint">{t('sandbox.webhook-hint')}</span>
          </label>
          <label class="field">
            <span>{t('sandbox.title')}</span>
            <input name="title" maxLength={100} autocomplete="off" />
          </label>
        </ActForm>
      </section>
      <p>
        <a href={`${place.href}/payments?sandbox=true`}>{t('sandbox.list')}</a>
      </p>
    </>
  );
}
