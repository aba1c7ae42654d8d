import { describe, expect, it } from 'vitest';
import { mergeGateway, readGateway } from '#api/gateways/gateway-settings.ts';
import { ServiceError } from '#shared/core/errors.ts';

function problem(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ServiceError && error.status === 422) return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a gateway', () => {
  it('needs only a name; the rest has the defaults of operability 3', () => {
    expect(readGateway({ name: 'Acme' })).toEqual({
      name: 'Acme',
      status: 'VERIFIED',
      billing: 'STANDARD',
      settings: {
        assetIds: null,
        openAmount: { enabled: false, minAmountUsd: '1', assetIds: null },
        settings: {
          txFeePayer: 'MERCHANT',
          commissionFeePayer: 'MERCHANT',
          overAcceptableDiff: '0',
          underAcceptableDiff: '0',
          acceptableDiffKind: 'ABSOLUTE',
          checkAmountDeviation: true,
          commissionBps: 0,
          commissionMinUsd: '0',
          lateCaptureGraceSeconds: 86_400,
          maturitySeconds: null,
          inquiryAttempts: 5,
        },
        apiAllowlist: [],
        cashout: { enabled: false, allowlist: [], parkingEnabled: false, parkedCap: 20, approvalCapUsd: null, dailyCapUsd: null, dispatchDelaySeconds: 0 },
        screening: { enabled: false, threshold: 70 },
        contactEmail: null,
        defaults: { timeoutSeconds: null, callbackUrl: null },
        strictSignatures: false,
        branding: { displayName: null, logoUrl: null, supportUrl: null, language: null, qrMode: 'SAFE', accentColor: null, theme: 'AUTO', logo: null },
      },
    });
  });

  it('reads null as the default and ignores fields nobody knows', () => {
    expect(readGateway({ name: 'Acme', status: null, settings: null, cashout: { parkedCap: null, surprise: 1 }, other: true })).toEqual(
      readGateway({ name: 'Acme' }),
    );
  });

  it('spells a language tag as it is usually spelled, whether the checkout has that language or not', () => {
    const languageOf = (language: string) => readGateway({ name: 'Acme', branding: { language } }).settings.branding.language;
    expect(['zh-cn', 'AR', 'iw', 'tlh'].map(languageOf)).toEqual(['zh-CN', 'ar', 'he', 'tlh']);
  });

  it('reads a negative tolerance as none', () => {
    expect(readGateway({ name: 'Acme', settings: { underAcceptableDiff: '-5' } }).settings.settings.underAcceptableDiff).toBe('0');
  });

  it.each([
    [null, 'body: must be a JSON object'],
    [[], 'body: must be a JSON object'],
    ['text', 'body: must be a JSON object'],
    [{}, 'name: is required'],
    [{ name: '  ' }, 'name: is required'],
    [{ name: 7 }, 'name: is required'],
    [{ name: 'A', status: 'OPEN' }, 'status: must be one of PENDING, VERIFIED, SUSPENDED'],
    [{ name: 'A', billing: 'standard' }, 'billing: must be one of STANDARD, MONTHLY, PLATFORM'],
    [{ name: 'A', assetIds: ['nonsense'] }, 'assetIds.0: must be an asset id'],
    [{ name: 'A', settings: { overAcceptableDiff: '1e3' } }, 'settings.overAcceptableDiff: must be a decimal string'],
    [{ name: 'A', settings: { overAcceptableDiff: 1 } }, 'settings.overAcceptableDiff: must be a decimal string'],
    [{ name: 'A', settings: { underAcceptableDiff: '--1' } }, 'settings.underAcceptableDiff: must be a decimal string'],
    [{ name: 'A', settings: { commissionBps: -1 } }, 'settings.commissionBps: must not be negative'],
    [{ name: 'A', settings: { commissionBps: 10_001 } }, 'settings.commissionBps: must be at most 10000'],
    [{ name: 'A', settings: { commissionBps: 1.5 } }, 'settings.commissionBps: must be a whole number'],
    [{ name: 'A', settings: { lateCaptureGraceSeconds: 604_801 } }, 'settings.lateCaptureGraceSeconds: must be at most 604800'],
    [{ name: 'A', settings: { commissionMinUsd: '-1' } }, 'settings.commissionMinUsd: must be a decimal string'],
    [{ name: 'A', settings: 'none' }, 'settings:'],
    [{ name: 'A', apiAllowlist: ['localhost'] }, 'apiAllowlist.0: must be an IP address or a CIDR range'],
    [{ name: 'A', apiAllowlist: ['10.0.0.0/33'] }, 'apiAllowlist.0: must be an IP address or a CIDR range'],
    [{ name: 'A', cashout: { allowlist: ['::1/129'] } }, 'cashout.allowlist.0: must be an IP address or a CIDR range'],
    [{ name: 'A', cashout: { approvalCapUsd: 'much' } }, 'cashout.approvalCapUsd: must be a decimal string'],
    [{ name: 'A', screening: { threshold: 101 } }, 'screening.threshold: must be at most 100'],
    [{ name: 'A', contactEmail: 'nobody' }, 'contactEmail: must be an e-mail address'],
    [{ name: 'A', branding: { qrMode: 'safe' } }, 'branding.qrMode: must be one of SAFE, URI'],
    [{ name: 'A', branding: { logoUrl: 'javascript:alert(1)' } }, 'branding.logoUrl: must be an absolute http or https URL'],
    [{ name: 'A', branding: { language: 'Spanish please' } }, 'branding.language: must be a language tag'],
    [{ name: 'A', branding: { displayName: ' ' } }, 'branding.displayName: must be one line of text'],
    [{ name: 'A', branding: { displayName: 'Acme\nBooks' } }, 'branding.displayName: must be one line of text'],
    [{ name: 'A', branding: { displayName: 'Acme \u202eskooB' } }, 'branding.displayName: must be one line of text'],
  ])('refuses %j', (body, message) => {
    expect(problem(() => readGateway(body))).toContain(message);
  });
});

describe('a gateway with an address of endless length', () => {
  it.each(['logoUrl', 'supportUrl'])('is refused for its %s', (name) => {
    const address = `https://acme.example/${'x'.repeat(2_000)}`;
    expect(problem(() => readGateway({ name: 'A', branding: { [name]: address } }))).toContain(`branding.${name}: must be at most 2000 characters`);
  });
});

describe('a change of a gateway', () => {
  const gateway = readGateway({
    name: 'Acme',
    apiAllowlist: ['10.0.0.1', '10.0.0.2'],
    cashout: { enabled: true, allowlist: ['::1'], approvalCapUsd: '100' },
    settings: { commissionBps: 50 },
  });

  it('merges objects and leaves what it does not name', () => {
    const changed = mergeGateway(gateway, { cashout: { parkingEnabled: true }, settings: { txFeePayer: 'CUSTOMER' } });
    expect(changed.settings.cashout).toEqual({ ...gateway.settings.cashout, parkingEnabled: true });
    expect(changed.settings.settings).toEqual({ ...gateway.settings.settings, txFeePayer: 'CUSTOMER' });
    expect(changed.name).toBe('Acme');
  });

  it('replaces arrays', () => {
    expect(mergeGateway(gateway, { apiAllowlist: ['192.0.2.0/24'] }).settings.apiAllowlist).toEqual(['192.0.2.0/24']);
    expect(mergeGateway(gateway, { apiAllowlist: [] }).settings.apiAllowlist).toEqual([]);
  });

  it('brings back the default where it says null', () => {
    expect(mergeGateway(gateway, { cashout: { approvalCapUsd: null } }).settings.cashout.approvalCapUsd).toBeNull();
    expect(mergeGateway(gateway, { settings: null }).settings.settings.commissionBps).toBe(0);
    expect(mergeGateway(gateway, { cashout: null }).settings.cashout.enabled).toBe(false);
  });

  it('names credits only where somebody gave some: they are no setting', () => {
    expect(mergeGateway(gateway, { screening: { credits: 5, enabled: true } })).toMatchObject({ screeningCredits: 5 });
    expect(mergeGateway(gateway, { screening: { credits: 0 } }).screeningCredits).toBe(0);
    for (const screening of [null, {}, { credits: null, enabled: true }]) expect('screeningCredits' in mergeGateway(gateway, { screening })).toBe(false);
    expect(problem(() => mergeGateway(gateway, { screening: { credits: -1 } }))).toBe('screening.credits: must not be negative');
  });

  it('changes nothing when it is empty', () => {
    expect(mergeGateway(gateway, {})).toEqual(gateway);
  });

  it('cannot take the name away or reach the machinery of objects', () => {
    expect(problem(() => mergeGateway(gateway, { name: null }))).toBe('name: is required');
    expect(mergeGateway(gateway, JSON.parse('{"__proto__":{"cashout":{"enabled":false}},"constructor":{"name":"x"}}'))).toEqual(gateway);
    expect(Object.getPrototypeOf(mergeGateway(gateway, JSON.parse('{"settings":{"__proto__":{"polluted":1}}}')).settings.settings)).toBe(Object.prototype);
  });
});
