import type { Gateway, GatewaySettings } from '#api/deps.ts';
import { invalid } from '#shared/core/errors.ts';
import { patchOfWritten, type WrittenChange, type WrittenSetting, writeSetting } from './written-setting.ts';

interface OwnerSetting extends WrittenSetting {
  /** Billing arrangements that override it (contract 2.1). */
  overriddenBy: readonly Gateway['billing'][];
}

const FEES = ['MONTHLY', 'PLATFORM'] as const;
const OPEN_ONLY = ['PLATFORM'] as const;

/** What owners of a gateway set themselves, by the name of its field; everything else is the operator's (decision 0085). */
export const OWNER_SETTINGS = {
  checkAmountDeviation: { path: ['settings', 'checkAmountDeviation'], kind: 'flag', overriddenBy: OPEN_ONLY },
  acceptableDiffKind: { path: ['settings', 'acceptableDiffKind'], kind: 'text', overriddenBy: OPEN_ONLY },
  underAcceptableDiff: { path: ['settings', 'underAcceptableDiff'], kind: 'text', overriddenBy: OPEN_ONLY },
  overAcceptableDiff: { path: ['settings', 'overAcceptableDiff'], kind: 'text', overriddenBy: OPEN_ONLY },
  txFeePayer: { path: ['settings', 'txFeePayer'], kind: 'text', overriddenBy: FEES },
  commissionFeePayer: { path: ['settings', 'commissionFeePayer'], kind: 'text', overriddenBy: FEES },
  timeoutMinutes: { path: ['defaults', 'timeoutSeconds'], kind: 'minutes', overriddenBy: [] },
  graceMinutes: { path: ['settings', 'lateCaptureGraceSeconds'], kind: 'minutes', overriddenBy: [] },
  callbackUrl: { path: ['defaults', 'callbackUrl'], kind: 'text', overriddenBy: [] },
  contactEmail: { path: ['contactEmail'], kind: 'text', overriddenBy: [] },
  displayName: { path: ['branding', 'displayName'], kind: 'text', overriddenBy: [] },
  accentColor: { path: ['branding', 'accentColor'], kind: 'text', overriddenBy: [] },
  theme: { path: ['branding', 'theme'], kind: 'text', overriddenBy: [] },
  supportUrl: { path: ['branding', 'supportUrl'], kind: 'text', overriddenBy: [] },
  qrMode: { path: ['branding', 'qrMode'], kind: 'text', overriddenBy: [] },
  strictSignatures: { path: ['strictSignatures'], kind: 'flag', overriddenBy: [] },
} as const satisfies Record<string, OwnerSetting>;

export type OwnerSettingName = keyof typeof OWNER_SETTINGS;
export const OWNER_SETTING_NAMES = Object.keys(OWNER_SETTINGS) as OwnerSettingName[];

/** What is to become of some settings. */
export type SettingsChange = WrittenChange<OwnerSettingName>;

/** Every setting as a form writes it. Pure. */
export function writtenSettings(settings: GatewaySettings): Record<OwnerSettingName, string> {
  const values = OWNER_SETTING_NAMES.map((name) => [name, writeSetting(settings, OWNER_SETTINGS[name])]);
  return Object.fromEntries(values) as Record<OwnerSettingName, string>;
}

/** The settings that a gateway's billing arrangement overrides. Pure. */
export function overriddenSettings(billing: Gateway['billing']): OwnerSettingName[] {
  return OWNER_SETTING_NAMES.filter((name) => (OWNER_SETTINGS[name].overriddenBy as readonly string[]).includes(billing));
}

/** Reads a change as a form sends it: JSON of pairs by name. Pure. @throws validation_error naming change */
export function readSettingsChange(text: string): SettingsChange {
  const given = parse(text);
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw invalid('change', 'must be an object of settings');
  const entries = Object.entries(given);
  if (entries.length === 0) throw invalid('change', 'must change something');
  for (const [name, pair] of entries) {
    if (!Object.hasOwn(OWNER_SETTINGS, name)) throw invalid(`change.${name}`, 'is nothing that an owner sets');
    if (!Array.isArray(pair) || pair.length !== 2 || pair.some((one) => typeof one !== 'string'))
      throw invalid(`change.${name}`, 'must be what it was and what it is to be');
  }
  return given as SettingsChange;
}

/** The same change as the operator API takes it. Pure. @throws validation_error naming the setting */
export function patchOf(change: SettingsChange): Record<string, unknown> {
  return patchOfWritten(OWNER_SETTINGS, change);
}

/** The name of the setting that a validation error of the operator API is about; undefined where it is none of these. Pure. */
export function settingAt(field: string): OwnerSettingName | undefined {
  return OWNER_SETTING_NAMES.find((name) => name === field || OWNER_SETTINGS[name].path.join('.') === field);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('change', 'must be JSON');
  }
}
