import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError, readApiConfig, readIndexerConfig } from '#shared/platform/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

const secret = (name: string): string => `${name}-${'x'.repeat(40)}`;
const good = {
  DATABASE_URL: 'postgres://localhost/sluice',
  REDIS_URL: 'redis://localhost',
  SLUICE_NETWORKS: 'ops/dev/networks.json',
  SLUICE_STREAM_KEY: secret('stream'),
  SLUICE_API_KEY_PEPPER: secret('pepper'),
  SLUICE_OPERATOR_TOKEN: secret('operator'),
  SLUICE_MASTER_KEY: secret('master'),
  SLUICE_ROLES: 'http,worker',
};
const problemsOf = (read: () => unknown): string[] => {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

describe('the configuration', () => {
  it('is accepted when it is complete', () => {
    expect(readApiConfig(good)).toMatchObject({ SLUICE_ROLES: ['http', 'worker'], privateWebhookTargets: true });
    expect(readIndexerConfig(good).networks.map((network) => network.name)).toEqual(['ethereum']);
  });

  it('is refused with every problem at once', () => {
    const problems = problemsOf(() =>
      readApiConfig({ ...good, DATABASE_URL: undefined, SLUICE_MASTER_KEY: 'short', SLUICE_PORT: '99999', SLUICE_ROLES: 'http,cook' }),
    );
    expect(problems.map((problem) => problem.split(':')[0]?.split('.')[0])).toEqual(
      expect.arrayContaining(['DATABASE_URL', 'SLUICE_MASTER_KEY', 'SLUICE_PORT', 'SLUICE_ROLES']),
    );
  });

  it('never shows the value of a secret in a problem', () => {
    const problems = problemsOf(() => readApiConfig({ ...good, SLUICE_MASTER_KEY: 'hunter2' }));
    expect(problems.join()).toContain('SLUICE_MASTER_KEY');
    expect(problems.join()).not.toContain('hunter2');
  });

  it('reads which price sources are asked, where and how often', () => {
    const given = {
      SLUICE_PRICE_SOURCE: 'http',
      SLUICE_PRICE_PROVIDERS: 'coinbase, kraken,bitstamp',
      SLUICE_PRICE_PROVIDER_URLS: 'coinbase=https://proxy.example.com/cb/,kraken=http://127.0.0.1:8080',
      SLUICE_PRICE_POLL_SECONDS: '20',
    };
    expect(readApiConfig({ ...good, ...given })).toMatchObject({
      SLUICE_PRICE_PROVIDERS: ['coinbase', 'kraken', 'bitstamp'],
      SLUICE_PRICE_PROVIDER_URLS: { coinbase: 'https://proxy.example.com/cb', kraken: 'http://127.0.0.1:8080' },
      SLUICE_PRICE_POLL_SECONDS: 20,
      SLUICE_PRICE_FRESH_SECONDS: 120,
    });
    expect(problemsOf(() => readApiConfig({ ...good, SLUICE_PRICE_PROVIDER_URLS: 'coinbase,kraken=ftp://x' }))).toEqual([
      expect.stringContaining('which coinbase is not'),
      expect.stringContaining('which kraken=ftp://x is not'),
    ]);
    expect(problemsOf(() => readApiConfig({ ...good, SLUICE_PRICE_POLL_SECONDS: '31' }))).toEqual([expect.stringContaining('at least four times')]);
  });

  it('takes a secret from a file', () => {
    writeFileSync(join(folder, 'key'), `${secret('from-file')}\n`);
    expect(readApiConfig({ ...good, SLUICE_MASTER_KEY: undefined, SLUICE_MASTER_KEY_FILE: join(folder, 'key') }).SLUICE_MASTER_KEY).toBe(secret('from-file'));
  });

  it('gives the seed to the signer role and to nobody else', () => {
    expect(problemsOf(() => readApiConfig({ ...good, SLUICE_SIGNER_SEED: 'words' }))).toEqual([expect.stringContaining('only the signer role may have it')]);
    expect(problemsOf(() => readApiConfig({ ...good, SLUICE_ROLES: 'signer' }))).toEqual([expect.stringContaining('SLUICE_SIGNER_SEED: required')]);
  });

  it('names a network that does not exist', () => {
    expect(problemsOf(() => readIndexerConfig({ ...good, SLUICE_INDEXER_NETWORKS: 'ethereum,atlantis' }))).toEqual([
      'SLUICE_INDEXER_NETWORKS: no network named atlantis',
    ]);
  });

  it('points into the networks file where it is wrong', () => {
    const path = join(folder, 'networks.json');
    writeFileSync(path, JSON.stringify({ networks: [{ name: 'ethereum' }] }));
    const problems = problemsOf(() => readIndexerConfig({ ...good, SLUICE_NETWORKS: path }));
    expect(problems).toEqual(expect.arrayContaining([expect.stringMatching(/^SLUICE_NETWORKS: networks\.0\.family: /)]));
  });

  it('refuses demo secrets, static prices, private webhook targets and crash points in production', () => {
    const production = { ...good, NODE_ENV: 'production', SLUICE_PRICE_SOURCE: 'http' };
    expect(problemsOf(() => readApiConfig(production))).toEqual([]);
    expect(readApiConfig(production).privateWebhookTargets).toBe(false);
    const problems = problemsOf(() =>
      readApiConfig({ ...production, SLUICE_PRICE_SOURCE: 'static', SLUICE_MASTER_KEY: secret('demo'), SLUICE_CRASH_AT: 'credit.committed' }),
    );
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(['SLUICE_MASTER_KEY', 'SLUICE_PRICE_SOURCE', 'SLUICE_CRASH_AT']);
  });

  it('allows private webhook targets as a whole, or by ranges', () => {
    const read = (value: string) => readApiConfig({ ...good, SLUICE_PRIVATE_WEBHOOK_TARGETS: value }).privateWebhookTargets;
    expect(['1', 'true', '0', 'false'].map(read)).toEqual([true, true, false, false]);
    expect(read('127.0.0.0/8, ::1')).toEqual(['127.0.0.0/8', '::1']);
    for (const wrong of ['yes', '10.0.0.0/33', '127.1', 'localhost', '1,10.0.0.0/8'])
      expect(
        problemsOf(() => read(wrong)),
        wrong,
      ).toEqual(['SLUICE_PRIVATE_WEBHOOK_TARGETS: must be 0, 1, or IP addresses and CIDR ranges separated by commas']);
  });
});
