import { describe, expect, it } from 'vitest';
import { readGateway } from '#api/gateways/gateway-settings.ts';
import { OWNER_SETTING_NAMES, overriddenSettings, patchOf, readSettingsChange, writtenSettings } from '#api/gateways/owner-settings.ts';
import { toleranceExamples } from '#api/gateways/tolerance-examples.ts';
import { parseTrusted, type Usd } from '#shared/core/money.ts';

const { settings } = readGateway({ name: 'A' });
const usd = (text: string) => parseTrusted<'usd'>(text) as Usd;

describe('settings of owners', () => {
  it('are written and read back as what they were, also seconds that are no whole minutes', () => {
    const odd = { ...settings, settings: { ...settings.settings, lateCaptureGraceSeconds: 100 }, defaults: { timeoutSeconds: 61, callbackUrl: null } };
    const written = writtenSettings(odd);
    expect(Object.keys(written)).toEqual(OWNER_SETTING_NAMES);
    const patch = patchOf(Object.fromEntries(Object.entries(written).map(([name, value]) => [name, ['', value]])));
    expect(patch).toEqual({
      settings: {
        checkAmountDeviation: true,
        acceptableDiffKind: 'ABSOLUTE',
        underAcceptableDiff: '0',
        overAcceptableDiff: '0',
        txFeePayer: 'MERCHANT',
        commissionFeePayer: 'MERCHANT',
        lateCaptureGraceSeconds: 100,
      },
      defaults: { timeoutSeconds: 61, callbackUrl: null },
      contactEmail: null,
      branding: { displayName: null, accentColor: null, theme: 'AUTO', supportUrl: null, qrMode: 'SAFE' },
      strictSignatures: false,
    });
  });

  it('are written for a gateway that an older release stored', () => {
    const { defaults: _, ...older } = settings;
    expect(writtenSettings(older)).toMatchObject({ timeoutMinutes: '', callbackUrl: '' });
  });

  it('leave alone what the billing arrangement overrides', () => {
    expect(overriddenSettings('STANDARD')).toEqual([]);
    expect(overriddenSettings('MONTHLY')).toEqual(['txFeePayer', 'commissionFeePayer']);
    expect(overriddenSettings('PLATFORM')).toHaveLength(6);
  });

  it.each([
    ['text', 'change'],
    ['[]', 'change'],
    ['{}', 'change'],
    ['{"commissionBps":["0","1"]}', 'change.commissionBps'],
    ['{"__proto__":["0","1"]}', 'change.__proto__'],
    ['{"txFeePayer":"CUSTOMER"}', 'change.txFeePayer'],
    ['{"txFeePayer":["MERCHANT",1]}', 'change.txFeePayer'],
  ])('are not changed by %s', (text, field) => {
    expect(() => readSettingsChange(text)).toThrow(expect.objectContaining({ code: 'validation_error', field }));
  });

  it.each(['-1', 'soon', '1e3', '9999999'])('are no minutes where they read %s', (text) => {
    expect(() => patchOf({ graceMinutes: ['0', text] })).toThrow(expect.objectContaining({ field: 'graceMinutes' }));
  });
});

describe('examples of tolerances', () => {
  const judged = (terms: Partial<typeof settings.settings>, price = '100', own: string | null = null) =>
    Object.fromEntries(
      toleranceExamples({ ...settings.settings, ...terms }, { price: usd(price), own: own === null ? null : usd(own) }).map(({ received, verdict }) => [
        received,
        verdict,
      ]),
    );

  it('say of 99.4 of 100 what a deposit of it is judged to be, bounds included', () => {
    expect(judged({})['99.4']).toBe('MISMATCH');
    expect(judged({ underAcceptableDiff: '0.6' })['99.4']).toBe('ACCEPTABLE');
    expect(judged({ underAcceptableDiff: '0.59' })['99.4']).toBe('MISMATCH');
    expect(judged({ underAcceptableDiff: '1', acceptableDiffKind: 'PERCENTAGE' }, '100', '98.99')).toMatchObject({ 99: 'ACCEPTABLE', 98.99: 'MISMATCH' });
    expect(judged({ checkAmountDeviation: false })['95']).toBe('SUCCESS');
    expect(judged({ overAcceptableDiff: '1' })).toMatchObject({ 101: 'ACCEPTABLE', 105: 'MISMATCH', 100: 'SUCCESS' });
  });

  it('hold the amount that somebody asked for once, in its place', () => {
    const received = toleranceExamples(settings.settings, { price: usd('49.9'), own: usd('49.9') }).map((one) => Number(one.received));
    expect(received).toEqual(received.toSorted((a, b) => a - b));
    expect(new Set(received).size).toBe(received.length);
  });
});
