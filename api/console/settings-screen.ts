import type { ChangedSetting, SettingsScreen, ToleranceRow } from '#api/console/page/model.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { mergeGateway } from '#api/gateways/gateway-settings.ts';
import {
  OWNER_SETTINGS,
  OWNER_SETTING_NAMES,
  type OwnerSettingName,
  overriddenSettings,
  patchOf,
  readSettingsChange,
  type SettingsChange,
  settingAt,
  writtenSettings,
} from '#api/gateways/owner-settings.ts';
import { type ToleranceExample, toleranceExamples } from '#api/gateways/tolerance-examples.ts';
import { judgeAccent } from '#shared/core/accent.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { isMoney, parseTrusted, type Usd } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';

type Written = Record<OwnerSettingName, string>;

/** What examples are of while nobody says otherwise, in US dollars. */
const PRICE = '100';
/** The largest price that examples are made of. */
const MOST = 10_000_000;

/**
 * The settings of a gateway. What somebody fills in stands in the address, so that the page keeps nothing: trying it shows what it would mean, and looking at the change shows
 * what was and what is to be, against the gateway as it is now.
 */
export function settingsScreen({ config }: Pick<Deps, 'config'>, { gateway, query }: { gateway: Gateway; query: URLSearchParams }): SettingsScreen {
  const current = writtenSettings(gateway.settings);
  const overridden = overriddenSettings(gateway.billing);
  const { change, problem } = askedFor(query, { current, overridden });
  const changed = problem === null && change !== null ? tried(gateway, change) : { gateway, problem };
  const asked = Object.entries(change ?? {}) as [OwnerSettingName, readonly [string, string]][];
  const differs = asked.map(([name, [seen, to]]): ChangedSetting => ({ name, from: current[name], to, seen: seen === current[name] ? null : seen }));
  const changes = differs.filter(({ from, to }) => from !== to);
  const reviewed = changed.problem === null && changes.length > 0 && (query.has('change') || query.get('step') === 'review');
  const { settings, cashout, screening, openAmount } = gateway.settings;
  return {
    kind: 'settings',
    billing: gateway.billing,
    values: { ...current, ...Object.fromEntries(differs.map(({ name, to }) => [name, to])) },
    current,
    overridden,
    review: reviewed ? { changes, change: JSON.stringify(Object.fromEntries(changes.map(({ name, from, to }) => [name, [from, to]]))) } : null,
    problem: changed.problem,
    branding: brandingOf(query, changed.gateway),
    examples: examplesOf(query, gateway, changed.gateway),
    operator: {
      commissionBps: settings.commissionBps,
      commissionMinUsd: settings.commissionMinUsd,
      maturitySeconds: settings.maturitySeconds ?? POLICY.maturitySeconds[config.NODE_ENV === 'production' ? 'production' : 'development'],
      screening: { enabled: screening.enabled, threshold: screening.threshold },
      cashout: {
        enabled: cashout.enabled,
        parkingEnabled: cashout.parkingEnabled,
        dispatchDelaySeconds: cashout.dispatchDelaySeconds,
        dailyCapUsd: cashout.dailyCapUsd ?? null,
      },
      openAmount: { enabled: openAmount.enabled, minAmountUsd: openAmount.minAmountUsd },
      inquiryAttempts: settings.inquiryAttempts,
    },
  };
}

/** The gateway as a change that is being tried would have it, or as it is where nothing of it can be read. */
export function triedGateway(gateway: Gateway, query: URLSearchParams): Gateway {
  const current = writtenSettings(gateway.settings);
  const { change } = askedFor(query, { current, overridden: overriddenSettings(gateway.billing) });
  return change === null ? gateway : tried(gateway, change).gateway;
}

/** How an accent is shown in each scheme, and where its pages can be looked at before it is saved. */
function brandingOf(query: URLSearchParams, gateway: Gateway): SettingsScreen['branding'] {
  const { accentColor = null, logo = null } = gateway.settings.branding;
  const drafted = new URLSearchParams([...query].filter(([name]) => name === 'change' || name === 'was' || Object.hasOwn(OWNER_SETTINGS, name)));
  return {
    name: gateway.settings.branding.displayName ?? gateway.name,
    accents: accentColor === null ? [] : (['light', 'dark'] as const).map((scheme) => ({ scheme, ...judgeAccent(accentColor, scheme) })),
    logo,
    draft: drafted.toString(),
  };
}

type Problem = SettingsScreen['problem'];

/**
 * The change that is asked for: one that was looked at before, or the fields of a form that differ from what that form was drawn with. What the form merely repeats is nobody's
 * wish, whatever it became meanwhile.
 */
function askedFor(
  query: URLSearchParams,
  { current, overridden }: { current: Written; overridden: readonly OwnerSettingName[] },
): { change: SettingsChange | null; problem: Problem } {
  const text = query.get('change');
  try {
    if (text !== null) return { change: readSettingsChange(text), problem: null };
    const seen = query.has('was') ? readSettingsChange(query.get('was') ?? '') : {};
    const pairs = OWNER_SETTING_NAMES.flatMap((name) => {
      const to = query.get(name)?.trim();
      const from = seen[name]?.[0] ?? current[name];
      return to === undefined || to === from || overridden.includes(name) ? [] : [[name, [from, to]] as const];
    });
    return { change: pairs.length === 0 ? null : Object.fromEntries(pairs), problem: null };
  } catch (error) {
    return { change: null, problem: problemOf(error) };
  }
}

/** The gateway as it would be; nothing is written. */
function tried(gateway: Gateway, change: SettingsChange): { gateway: Gateway; problem: Problem } {
  try {
    return { gateway: { id: gateway.id, ...mergeGateway(gateway, patchOf(change)) }, problem: null };
  } catch (error) {
    return { gateway, problem: problemOf(error) };
  }
}

/** @throws whatever is no fault of what was filled in */
function problemOf(error: unknown): NonNullable<Problem> {
  if (!(error instanceof ServiceError) || error.code !== 'validation_error') throw error;
  return { name: settingAt(error.field ?? '') ?? null, text: error.message };
}

function examplesOf(query: URLSearchParams, before: Gateway, after: Gateway): SettingsScreen['examples'] {
  const price = dollars(query.get('price')) ?? parseTrusted<'usd'>(PRICE);
  const own = dollars(query.get('own'));
  const judged = (gateway: Gateway): ToleranceExample[] => toleranceExamples(gateway.settings.settings, { price, own });
  const now = judged(before);
  const rows = judged(after).map((one, at): ToleranceRow => ({ ...one, now: before === after ? null : (now[at]?.verdict ?? null) }));
  return { price: own === null && !query.has('price') ? PRICE : (query.get('price') ?? PRICE), own: own === null ? '' : (query.get('own') ?? ''), rows };
}

/** An amount that somebody typed, where it is one to make examples of. Pure. */
function dollars(text: string | null): Usd | null {
  return text !== null && isMoney(text) && Number(text) > 0 && Number(text) <= MOST ? parseTrusted<'usd'>(text) : null;
}
