import type { ComponentChildren, JSX } from 'preact';
import { ActForm } from './act-form.tsx';
import { BrandingAside, Previews } from './branding.tsx';
import type { ChangedSetting, SettingName, SettingsScreen, Surroundings } from './model.ts';
import { Badge, Fact, Facts, Table } from './parts.tsx';
import { type MessageKey, type Translate, useTexts } from './texts.ts';

interface Of {
  screen: SettingsScreen;
  place: Surroundings;
}

/** What people call each thing that a setting may be, where it is one of a few. */
const CHOICES: Readonly<Partial<Record<SettingName, Readonly<Record<string, MessageKey>>>>> = {
  checkAmountDeviation: { true: 'settings.deviation-checked', false: 'settings.deviation-ignored' },
  acceptableDiffKind: { ABSOLUTE: 'settings.kind-absolute', PERCENTAGE: 'settings.kind-percentage' },
  txFeePayer: { MERCHANT: 'settings.payer-merchant', CUSTOMER: 'settings.payer-customer' },
  commissionFeePayer: { MERCHANT: 'settings.payer-merchant', CUSTOMER: 'settings.payer-customer' },
  theme: { AUTO: 'settings.theme-auto', LIGHT: 'settings.theme-light', DARK: 'settings.theme-dark' },
  qrMode: { SAFE: 'settings.qr-safe', URI: 'settings.qr-uri' },
  strictSignatures: { false: 'settings.off', true: 'settings.on' },
};

/** What owners set of their gateway: four forms, each looked at before it is saved, and below them what only the operator sets. */
export function Settings({ screen, place }: Of): JSX.Element {
  const t = useTexts();
  if (screen.review !== null) return <Review screen={screen} place={place} review={screen.review} />;
  return (
    <>
      {screen.problem !== null && (
        <p class="notice notice-error" role="alert">
          <span>
            {screen.problem.name !== null && `${t(`settings.${screen.problem.name}`)}: `}
            <span lang="en">{screen.problem.text}</span>
          </span>
        </p>
      )}
      <SettingsForm
        screen={screen}
        place={place}
        part="tolerance"
        names={['checkAmountDeviation', 'acceptableDiffKind', 'underAcceptableDiff', 'overAcceptableDiff']}
      >
        {!screen.overridden.includes('underAcceptableDiff') && <Examples screen={screen} fields />}
      </SettingsForm>
      <SettingsForm screen={screen} place={place} part="fees" names={['txFeePayer', 'commissionFeePayer']} />
      <SettingsForm screen={screen} place={place} part="payments" names={['timeoutMinutes', 'graceMinutes', 'callbackUrl']} />
      <div class="branding">
        <SettingsForm screen={screen} place={place} part="branding" names={['displayName', 'accentColor', 'theme', 'supportUrl', 'qrMode']} />
        <BrandingAside screen={screen} place={place} />
      </div>
      <SettingsForm screen={screen} place={place} part="contact" names={['contactEmail', 'strictSignatures']} />
      <OperatorsPart screen={screen} place={place} />
    </>
  );
}

interface FormProps extends Of {
  part: 'tolerance' | 'fees' | 'payments' | 'branding' | 'contact';
  names: readonly SettingName[];
  children?: ComponentChildren;
}

function SettingsForm({ screen, place, part, names, children }: FormProps): JSX.Element {
  const t = useTexts();
  const closed = names.every((name) => screen.overridden.includes(name));
  const was = JSON.stringify(Object.fromEntries(names.map((name) => [name, [screen.current[name], screen.current[name]]])));
  return (
    <form class="card form" method="get" action={`${place.href}/settings`} aria-labelledby={part}>
      <h2 id={part}>{t(`settings.part-${part}`)}</h2>
      {closed ? <p class="notice notice-quiet">{t(screen.billing === 'MONTHLY' ? 'settings.overridden-monthly' : 'settings.overridden-platform')}</p> : null}
      <p class="hint">{t(`settings.about-${part}`)}</p>
      <input type="hidden" name="was" value={was} />
      <fieldset class="settings" disabled={closed}>
        {names.map((name) => (
          <Field name={name} value={screen.values[name] ?? ''} />
        ))}
      </fieldset>
      {children}
      {!closed && (
        <div class="buttons">
          <button class="button button-main" type="submit" name="step" value="review">
            {t('settings.review')}
          </button>
          {(part === 'tolerance' || part === 'branding') && (
            <button class="button" type="submit" name="step" value="try">
              {t('settings.try')}
            </button>
          )}
        </div>
      )}
    </form>
  );
}

const INPUTS: Readonly<Partial<Record<SettingName, { maxLength: number; placeholder?: string; inputMode?: 'decimal' }>>> = {
  underAcceptableDiff: { maxLength: 57, inputMode: 'decimal' },
  overAcceptableDiff: { maxLength: 57, inputMode: 'decimal' },
  timeoutMinutes: { maxLength: 24, inputMode: 'decimal', placeholder: '60' },
  graceMinutes: { maxLength: 24, inputMode: 'decimal' },
  callbackUrl: { maxLength: 2_048 },
  contactEmail: { maxLength: 320 },
  displayName: { maxLength: 120 },
  accentColor: { maxLength: 7 },
  supportUrl: { maxLength: 2_000 },
};

function Field({ name, value }: { name: SettingName; value: string }): JSX.Element {
  const t = useTexts();
  const choices = CHOICES[name];
  const { maxLength, inputMode, placeholder } = INPUTS[name] ?? {};
  const hint = <span class="hint">{t(`settings.${name}-hint`)}</span>;
  if (choices === undefined)
    return (
      <label class="field">
        <span>{t(`settings.${name}`)}</span>
        <input
          type="text"
          name={name}
          value={value}
          maxLength={maxLength}
          inputMode={inputMode}
          placeholder={placeholder}
          autocomplete="off"
          spellcheck={false}
        />
        {hint}
      </label>
    );
  return (
    <label class="field">
      <span>{t(`settings.${name}`)}</span>
      <select name={name}>
        {Object.entries(choices).map(([one, text]) => (
          <option value={one} selected={one === value}>
            {t(text)}
          </option>
        ))}
      </select>
      {hint}
    </label>
  );
}

/** What amounts around a price would be judged to be; where a change is tried, beside what they are judged now. */
function Examples({ screen: { examples, values, current }, fields = false }: Pick<Of, 'screen'> & { fields?: boolean }): JSX.Element {
  const t = useTexts();
  const { price, own, rows } = examples;
  const changed = rows.some(({ now }) => now !== null) && JSON.stringify(values) !== JSON.stringify(current);
  return (
    <div class="stack">
      <h3>{t('settings.examples', { price })}</h3>
      {fields && (
        <div class="settings">
          <label class="field">
            <span>{t('settings.example-price')}</span>
            <input name="price" value={price} maxLength={20} inputMode="decimal" autocomplete="off" />
          </label>
          <label class="field">
            <span>{t('settings.example-own')}</span>
            <input name="own" value={own} maxLength={20} inputMode="decimal" autocomplete="off" placeholder="99.40" />
          </label>
        </div>
      )}
      <Table
        caption={t('settings.examples', { price })}
        columns={[
          { title: t('settings.received') },
          { title: t('settings.deviation'), look: changed ? 'amount wide-only' : 'amount' },
          ...(changed ? [{ title: t('settings.judged-now') }, { title: t('settings.judged-then') }] : [{ title: t('settings.judged') }]),
        ]}
      >
        {rows.map(({ received, deviationUsd, verdict, now }) => (
          <tr>
            <th scope="row">
              <span class="figure">{received}</span>
            </th>
            <td class={changed ? 'amount wide-only' : 'amount'}>
              <span class="figure">{deviationUsd.replace('-', '−')}</span>
            </td>
            {changed && <td>{now !== null && <Badge status={now} />}</td>}
            <td>
              <Badge status={verdict} />
            </td>
          </tr>
        ))}
      </Table>
    </div>
  );
}

/** The second step: what was and what is to be, and the proof that somebody wants exactly that. */
function Review({ screen, place, review: { changes, change } }: Of & { review: NonNullable<SettingsScreen['review']> }): JSX.Element {
  const t = useTexts();
  const judges = changes.some(({ name }) => /Diff|Deviation/.test(name));
  return (
    <section class="card card-act" aria-labelledby="review">
      <h2 id="review">{t('settings.review-title')}</h2>
      {changes.some(({ seen }) => seen !== null) && <p class="notice notice-warning">{t('settings.moved')}</p>}
      <Table
        caption={t('settings.review-title')}
        columns={[{ title: t('settings.setting'), look: 'rest' }, { title: t('settings.before') }, { title: t('settings.after') }]}
      >
        {changes.map((one) => (
          <tr>
            <th scope="row">{t(`settings.${one.name}`)}</th>
            <td>
              <Value t={t} name={one.name} value={one.from} />
              {one.seen !== null && <span class="hint below">{t('settings.seen', { value: valueText(t, one.name, one.seen) })}</span>}
            </td>
            <td>
              <strong>
                <Value t={t} name={one.name} value={one.to} />
              </strong>
            </td>
          </tr>
        ))}
      </Table>
      {judges && <Examples screen={screen} />}
      {changes.some(({ name }) => LOOKS.includes(name)) && <Previews screen={screen} place={place} />}
      <p class="hint">{t(changes.every(({ name }) => ALWAYS.includes(name)) ? 'settings.at-once' : 'settings.new-payments')}</p>
      <ActForm place={place} act="settings-change" fields={{ change }} proved look="main" label={t('settings.save')} />
      <a href={`${place.href}/settings`}>{t('settings.leave')}</a>
    </section>
  );
}

/** What is about no payment. */
const ALWAYS: readonly SettingName[] = ['contactEmail', 'displayName', 'accentColor', 'theme', 'supportUrl', 'qrMode', 'strictSignatures'];
/** What pages look like. */
const LOOKS: readonly SettingName[] = ['displayName', 'accentColor', 'theme', 'supportUrl', 'qrMode'];

function Value({ t, name, value }: Pick<ChangedSetting, 'name'> & { t: Translate; value: string }): JSX.Element {
  return <span class="setting-value">{valueText(t, name, value)}</span>;
}

function valueText(t: Translate, name: SettingName, value: string): string {
  if (value === '') return t('settings.not-set');
  const text = CHOICES[name]?.[value];
  return text === undefined ? value : t(text);
}

/** Settings that a merchant reads and does not write, so that nobody looks for them in vain. */
function OperatorsPart({ screen, place }: Of): JSX.Element {
  const t = useTexts();
  const { commissionBps, commissionMinUsd, maturitySeconds, screening, cashout, openAmount, inquiryAttempts } = screen.operator;
  const yes = (on: boolean): string => t(on ? 'settings.on' : 'settings.off');
  return (
    <section class="card" aria-labelledby="operator">
      <h2 id="operator">{t('settings.part-operator')}</h2>
      <p class="hint">{t('settings.about-operator')}</p>
      <Facts>
        <Fact name={t('settings.billing')}>{t(`settings.billing-${screen.billing}`)}</Fact>
        <Fact name={t('settings.commission')}>{t('settings.commission-is', { percent: `${commissionBps / 100}`, usd: commissionMinUsd })}</Fact>
        <Fact name={t('settings.maturity')}>{lasting(t, maturitySeconds)}</Fact>
        <Fact name={t('settings.open-amount')}>{openAmount.enabled ? t('settings.from-usd', { usd: openAmount.minAmountUsd }) : yes(false)}</Fact>
        <Fact name={t('settings.screening')}>{screening.enabled ? t('settings.threshold', { threshold: screening.threshold }) : yes(false)}</Fact>
        <Fact name={t('settings.cashouts')}>{yes(cashout.enabled)}</Fact>
        {cashout.enabled && (
          <>
            <Fact name={t('settings.parking')}>{yes(cashout.parkingEnabled)}</Fact>
            <Fact name={t('settings.delay')}>{lasting(t, cashout.dispatchDelaySeconds)}</Fact>
            <Fact name={t('settings.daily-cap')}>{cashout.dailyCapUsd === null ? t('settings.none') : t('settings.usd', { usd: cashout.dailyCapUsd })}</Fact>
          </>
        )}
        <Fact name={t('settings.inquiries')}>{String(inquiryAttempts)}</Fact>
      </Facts>
      <p class="hint">
        <a href={`${place.href}/policies`}>{t('settings.cap-elsewhere')}</a>
      </p>
    </section>
  );
}

/** In hours, and in minutes what is less than one. */
function lasting(t: Translate, seconds: number): string {
  return seconds < 3_600
    ? t('settings.minutes', { minutes: String(Math.round(seconds / 60)) })
    : t('settings.hours', { hours: String(Math.round(seconds / 36) / 100) });
}
