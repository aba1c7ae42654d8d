import { describe, expect, it } from 'vitest';
import { SCREENING_PROVIDERS, screeningProblems, screeningProviderName } from '#api/clients/screening/registry.ts';
import type { ApiConfig } from '#shared/platform/config.ts';

const config = (settings: Partial<ApiConfig>): ApiConfig => ({ NODE_ENV: 'production', ...settings }) as ApiConfig;

describe('the choice of screening', () => {
  it.each<[string, Partial<ApiConfig>, string]>([
    ['development', { NODE_ENV: 'development' }, 'development'],
    ['development with a list', { NODE_ENV: 'test', SLUICE_SCREENING_LIST: 'list.txt' }, 'development'],
    ['production', {}, 'none'],
    ['production with a list', { SLUICE_SCREENING_LIST: 'list.txt' }, 'list'],
    ['whatever is named', { SLUICE_SCREENING_PROVIDER: 'amlbot' }, 'amlbot'],
  ])('in %s', (_case, settings, name) => {
    expect(screeningProviderName(config(settings))).toBe(name);
  });

  it('names every setting that is missing', () => {
    expect(screeningProblems(config({ SLUICE_SCREENING_PROVIDER: 'amlbot' }))).toEqual([
      'SLUICE_SCREENING_ACCESS_ID: required by the screening provider amlbot',
      'SLUICE_SCREENING_ACCESS_KEY: required by the screening provider amlbot',
    ]);
    expect(screeningProblems(config({ SLUICE_SCREENING_PROVIDER: 'list' }))).toEqual(['SLUICE_SCREENING_LIST: required by the screening provider list']);
    expect(screeningProblems(config({ SLUICE_SCREENING_PROVIDER: 'nobody' }))).toEqual([
      'SLUICE_SCREENING_PROVIDER: no provider named nobody; there are none, list, amlbot, development',
    ]);
    expect(screeningProblems(config({}))).toEqual([]);
  });

  it('never clears anybody where no provider is configured', async () => {
    const none = SCREENING_PROVIDERS.find((one) => one.name === 'none');
    const provider = none?.open(config({}), undefined as never);
    const question = { direction: 'withdrawal', address: '0x', network: { name: 'n', family: 'evm', chainId: '1' }, idempotencyKey: 'k' } as const;
    expect(await provider?.ask(question, AbortSignal.timeout(1_000))).toMatchObject({ outcome: 'unavailable' });
  });
});
