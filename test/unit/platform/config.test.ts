import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { AssetConfig, NetworkConfig } from '#shared/core/assets.ts';
import { ConfigError, DEMO_INTENT_KEY, readApiConfig, readIndexerConfig } from '#shared/platform/config.ts';
import { packageRoot } from '#shared/platform/package-root.ts';
import { withoutNodes } from '#shared/platform/without-nodes.ts';
import { type Ownership, tooOpen } from '#shared/platform/secret-file.ts';
import { publicHalf } from '#shared/platform/statements.ts';

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
  SLUICE_INTENT_KEY: 'a'.repeat(64),
  SLUICE_ROLES: 'http,worker',
};
/** What an indexer is given. */
const follows = { ...good, SLUICE_INTENT_KEY: undefined };
/** All that a signer needs. */
const signs = {
  DATABASE_URL: good.DATABASE_URL,
  REDIS_URL: good.REDIS_URL,
  SLUICE_NETWORKS: good.SLUICE_NETWORKS,
  SLUICE_ROLES: 'signer',
  SLUICE_SIGNER_SEED: 'words',
  SLUICE_SIGNER_JOURNAL: folder,
  SLUICE_INTENT_PUBLIC_KEYS: publicHalf(good.SLUICE_INTENT_KEY),
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

const live = { NODE_ENV: 'production', SLUICE_PRICE_SOURCE: 'http' };

/** Path of a networks file made from the demo's. */
function networksWith(change: (network: NetworkConfig, index: number) => NetworkConfig, more: NetworkConfig[] = []): string {
  const demo = JSON.parse(readFileSync('ops/dev/networks.json', 'utf8')) as { networks: NetworkConfig[] };
  const path = join(folder, `networks-${randomUUID()}.json`);
  writeFileSync(path, JSON.stringify({ networks: [...demo.networks.map(change), ...more] }));
  return path;
}

describe('the configuration', () => {
  it('is accepted when it is complete', () => {
    expect(readApiConfig(good)).toMatchObject({ SLUICE_ROLES: ['http', 'worker'], privateWebhookTargets: true });
    expect(readIndexerConfig(follows).networks.map((network) => network.name)).toEqual(['ethereum', 'tron', 'bitcoin']);
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
    for (const given of [{ SLUICE_SIGNER_SEED: 'words' }, { SLUICE_SIGNER_SEED_FILE: '/run/secrets/signer-seed' }])
      expect(problemsOf(() => readIndexerConfig({ ...follows, ...given }))).toEqual([expect.stringContaining('only the signer role may have it')]);
    expect(problemsOf(() => readApiConfig({ ...signs, SLUICE_SIGNER_SEED: undefined }))).toEqual(['SLUICE_SIGNER_SEED: required by the signer role']);
  });

  it('starts no signer in production whose seed lies in a file that others may read', () => {
    const seed = join(folder, 'seed');
    writeFileSync(seed, 'words\n');
    const problems = (mode: number, env: Record<string, string> = live) => {
      chmodSync(seed, mode);
      return problemsOf(() => readApiConfig({ ...signs, ...env, SLUICE_SIGNER_SEED: undefined, SLUICE_SIGNER_SEED_FILE: seed })).filter((one) =>
        one.includes('SEED'),
      );
    };
    for (const mode of [0o644, 0o604, 0o660, 0o420])
      expect([mode, problems(mode)]).toEqual([mode, [expect.stringMatching(/^SLUICE_SIGNER_SEED_FILE: .*seed has mode 0/)]]);
    for (const mode of [0o400, 0o600]) expect([mode, problems(mode)]).toEqual([mode, []]);
    expect(problems(0o644, {})).toEqual([]);
    rmSync(seed);
    expect(problemsOf(() => readApiConfig({ ...signs, ...live, SLUICE_SIGNER_SEED: undefined, SLUICE_SIGNER_SEED_FILE: seed }))).toContain(
      `SLUICE_SIGNER_SEED_FILE: cannot read ${seed}`,
    );
  });

  it.each<[string, Ownership, string | null]>([
    ['a file of its own, as compose mounts it', { uid: 1000, mode: 0o100400 }, null],
    ['a file of its own that its group may read', { uid: 1000, mode: 0o100440 }, 'others than its owner'],
    ['a secret of Kubernetes with fsGroup and defaultMode 0440', { uid: 0, mode: 0o100440 }, null],
    ['a secret of Kubernetes as it is by default', { uid: 0, mode: 0o100644 }, 'has mode 0644'],
    ['a credential of systemd', { uid: 0, mode: 0o100440 }, null],
    ['a secret of Swarm as it is by default', { uid: 0, mode: 0o100444 }, 'has mode 0444'],
    ['a file of root that its group may change', { uid: 0, mode: 0o100460 }, 'has mode 0460'],
    ["somebody else's file", { uid: 1001, mode: 0o100400 }, 'belongs to user 1001'],
  ])('judges the file of a seed as Postgres judges that of its key: %s', (_what, file, problem) => {
    if (problem === null) expect(tooOpen(file, 1000)).toBeNull();
    else expect(tooOpen(file, 1000)).toContain(problem);
  });

  it('puts mail into one folder, wherever it is started', () => {
    vi.spyOn(process, 'cwd').mockReturnValue('/somewhere/else');
    expect(readApiConfig(good).SLUICE_MAIL_DIR).toBe(join(packageRoot(), '.sluice/mail'));
    expect(readApiConfig({ ...good, SLUICE_MAIL_DIR: 'outbox' }).SLUICE_MAIL_DIR).toBe(join(packageRoot(), 'outbox'));
    expect(readApiConfig({ ...good, SLUICE_MAIL_DIR: '/var/mail/sluice' }).SLUICE_MAIL_DIR).toBe('/var/mail/sluice');
    vi.restoreAllMocks();
  });

  it('starts no signer without a journal', () => {
    expect(problemsOf(() => readApiConfig({ ...signs, SLUICE_SIGNER_JOURNAL: undefined }))).toEqual([
      'SLUICE_SIGNER_JOURNAL: required by the signer role: the folder of its journal',
    ]);
  });

  it('gives the key that accepts to the http role and to nobody else, and its public half to whoever is without it', () => {
    expect(problemsOf(() => readApiConfig({ ...good, SLUICE_INTENT_KEY: undefined }))).toEqual(['SLUICE_INTENT_KEY: required by the http role']);
    const elsewhere = 'SLUICE_INTENT_KEY: only the http role may have it; remove it from this process';
    expect(problemsOf(() => readApiConfig({ ...good, SLUICE_ROLES: 'worker', SLUICE_INTENT_PUBLIC_KEYS: signs.SLUICE_INTENT_PUBLIC_KEYS }))).toEqual([
      elsewhere,
    ]);
    expect(problemsOf(() => readApiConfig({ ...signs, SLUICE_INTENT_KEY: good.SLUICE_INTENT_KEY }))).toEqual([elsewhere]);
    expect(problemsOf(() => readIndexerConfig(good))).toEqual([elsewhere]);
    for (const SLUICE_ROLES of ['worker', 'signer'])
      expect(problemsOf(() => readApiConfig({ ...(SLUICE_ROLES === 'worker' ? follows : signs), SLUICE_ROLES, SLUICE_INTENT_PUBLIC_KEYS: '' }))).toEqual([
        expect.stringContaining('SLUICE_INTENT_PUBLIC_KEYS: required by the worker and signer roles'),
      ]);
    expect(problemsOf(() => readApiConfig({ ...good, SLUICE_INTENT_KEY: 'short', SLUICE_INTENT_PUBLIC_KEYS: 'x' }))).toEqual([
      'SLUICE_INTENT_KEY: must be 64 hex digits',
      expect.stringContaining('must be 64 hex digits'),
    ]);
    expect(readApiConfig({ ...good, SLUICE_INTENT_ADOPT_BEFORE: '2026-11-30T12:00:00Z' }).SLUICE_INTENT_ADOPT_BEFORE).toEqual(new Date('2026-11-30T12:00:00Z'));
    expect(problemsOf(() => readApiConfig({ ...good, SLUICE_INTENT_ADOPT_BEFORE: 'tomorrow' }))).toEqual([expect.stringContaining('must be a moment')]);
  });

  it('asks the signer by itself for nothing that it does without, and refuses it there', () => {
    expect(readApiConfig(signs).SLUICE_ROLES).toEqual(['signer']);
    for (const name of ['SLUICE_STREAM_KEY', 'SLUICE_API_KEY_PEPPER', 'SLUICE_OPERATOR_TOKEN', 'SLUICE_MASTER_KEY', 'SLUICE_MASTER_KEY_PREVIOUS'])
      expect(problemsOf(() => readApiConfig({ ...signs, [name]: secret('any') }))).toEqual([
        `${name.replace('_PREVIOUS', '')}: the signer by itself does without; remove it from this process`,
      ]);
    expect(problemsOf(() => readApiConfig({ ...signs, SLUICE_OPERATOR_TOKENS: `anna=${secret('anna')}` }))).toEqual([expect.stringContaining('does without')]);
  });

  it('asks the console, which is a process by itself, for nothing but the key it is known by, and refuses it every other secret', () => {
    const { SLUICE_SIGNER_SEED: _, SLUICE_SIGNER_JOURNAL: __, SLUICE_INTENT_PUBLIC_KEYS: ___, ...common } = signs;
    const named = { SLUICE_CONSOLE_URL: 'https://console.example', SLUICE_INTERNAL_KEY: secret('internal'), SLUICE_INTERNAL_URL: 'http://api:3003' };
    const shows = { ...common, ...named, SLUICE_ROLES: 'console' };
    expect(readApiConfig(shows).SLUICE_ROLES).toEqual(['console']);
    for (const name of Object.keys(named))
      expect(problemsOf(() => readApiConfig({ ...shows, [name]: undefined }))).toEqual([expect.stringContaining(`${name}: required by the console role`)]);
    for (const name of ['SLUICE_STREAM_KEY', 'SLUICE_API_KEY_PEPPER_NEXT', 'SLUICE_OPERATOR_TOKEN', 'SLUICE_MASTER_KEY'])
      expect(problemsOf(() => readApiConfig({ ...shows, [name]: secret('any') }))).toEqual([
        `${name.replace('_NEXT', '')}: the console by itself does without; remove it from this process`,
      ]);
    expect(problemsOf(() => readApiConfig({ ...shows, SLUICE_OPERATOR_TOKENS: `anna=${secret('anna')}` }))).toEqual([expect.stringContaining('does without')]);
    for (const more of [{ SLUICE_SIGNER_SEED: 'words' }, { SLUICE_INTENT_KEY: good.SLUICE_INTENT_KEY }])
      expect(problemsOf(() => readApiConfig({ ...shows, ...more }))).toEqual([expect.stringContaining('remove it from this process')]);
    expect(problemsOf(() => readApiConfig({ ...good, ...named, SLUICE_ROLES: 'http,worker,console' }))).toEqual(
      expect.arrayContaining([expect.stringContaining('name console alone')]),
    );
    expect(problemsOf(() => readApiConfig({ ...good, ...named, SLUICE_INTERNAL_KEY: good.SLUICE_OPERATOR_TOKEN }))).toEqual([
      'SLUICE_INTERNAL_KEY: must be one that is used for nothing else',
    ]);
    // What stands in the addresses of nodes are keys, which it does without as well.
    const { networks } = JSON.parse(readFileSync('ops/networks.example.json', 'utf8')) as { networks: NetworkConfig[] };
    const file = (name: string, content: NetworkConfig[]) => {
      const path = join(folder, name);
      writeFileSync(path, JSON.stringify({ networks: content }));
      return path;
    };
    const own = file('own.json', networks.map(withoutNodes));
    const problemsWith = (path: string, more: object = shows) => problemsOf(() => readApiConfig({ ...more, ...live, SLUICE_NETWORKS: path }));
    expect(readFileSync(own, 'utf8')).not.toMatch(/your-key|provider/);
    expect(problemsWith(own).filter((problem) => problem.includes('rpcUrls'))).toEqual([]);
    expect(problemsWith(file('all.json', networks)).filter((problem) => problem.includes('rpcUrls'))).toEqual(
      networks.map(({ name }) => expect.stringContaining(`${name}.rpcUrls: the console by itself does without`)),
    );
    expect(problemsWith(own, good).filter((problem) => problem.includes('rpcUrls'))).toEqual(
      networks.map(({ name }) => `SLUICE_NETWORKS: ${name}.rpcUrls: must name at least one node`),
    );
    const previous = { SLUICE_INTERNAL_KEY_PREVIOUS: secret('internal') };
    expect(problemsOf(() => readApiConfig({ ...good, ...named, ...previous }))).toEqual([
      'SLUICE_INTERNAL_KEY_PREVIOUS: must be another one than SLUICE_INTERNAL_KEY',
    ]);
    expect(problemsOf(() => readApiConfig({ ...good, ...named, SLUICE_INTERNAL_KEY_PREVIOUS: good.SLUICE_MASTER_KEY }))).toEqual([
      'SLUICE_INTERNAL_KEY_PREVIOUS: must be one that is used for nothing else',
    ]);
    expect(problemsOf(() => readApiConfig({ ...shows, SLUICE_INTERNAL_KEY_PREVIOUS: secret('before') }))).toEqual([
      'SLUICE_INTERNAL_KEY_PREVIOUS: the console comes with one key; remove it from this process',
    ]);
    expect(problemsOf(() => readApiConfig({ ...good, SLUICE_CONSOLE_URL: named.SLUICE_CONSOLE_URL }))).toEqual([
      expect.stringContaining('SLUICE_INTERNAL_KEY: required by the http role'),
    ]);
    expect(problemsOf(() => readApiConfig({ ...shows, ...live, SLUICE_INTERNAL_KEY: `demo-${secret('internal')}` }))).toEqual(
      expect.arrayContaining(['SLUICE_INTERNAL_KEY: the demo secret is refused in production']),
    );
  });

  it('asks the http role for a provider whole or not at all, by https, and refuses its secret and broken rules to everybody', () => {
    const { SLUICE_SIGNER_SEED: _, SLUICE_SIGNER_JOURNAL: __, SLUICE_INTENT_PUBLIC_KEYS: ___, ...common } = signs;
    const named = { SLUICE_CONSOLE_URL: 'https://console.example', SLUICE_INTERNAL_KEY: secret('internal') };
    const provider = { SLUICE_OIDC_ISSUER: 'https://login.example', SLUICE_OIDC_CLIENT_ID: 'sluice', SLUICE_OIDC_CLIENT_SECRET: 'theirs' };
    const serves = { ...good, ...named, ...provider };
    expect(problemsOf(() => readApiConfig(serves))).toEqual([]);
    for (const name of Object.keys(provider))
      expect(problemsOf(() => readApiConfig({ ...serves, [name]: undefined }))).toEqual([expect.stringContaining('all three')]);
    expect(problemsOf(() => readApiConfig({ ...serves, SLUICE_OIDC_ISSUER: 'http://login.example' }))).toEqual(['SLUICE_OIDC_ISSUER: must be https']);
    const shows = { ...common, ...named, SLUICE_INTERNAL_URL: 'http://api:3003', SLUICE_ROLES: 'console' };
    expect(problemsOf(() => readApiConfig({ ...shows, SLUICE_OIDC_NAME: 'Acme' }))).toEqual([]);
    expect(problemsOf(() => readApiConfig({ ...shows, SLUICE_OIDC_CLIENT_SECRET: 'theirs' }))).toEqual([expect.stringContaining('only the http role')]);
    for (const rules of ['{', '{}', '[{}]', '[{"claim":"a","value":"b","role":"owner"}]', '[{"claim":"a","value":"b","gateway":"x","role":"owner"}]'])
      expect(problemsOf(() => readApiConfig({ ...serves, SLUICE_OIDC_RULES: rules }))).toEqual([expect.stringContaining('SLUICE_OIDC_RULES: must be')]);
    const [rule] = readApiConfig({ ...serves, SLUICE_OIDC_RULES: '[{"claim":"groups","value":"ops","operator":true,"role":"operator"}]' }).SLUICE_OIDC_RULES;
    expect(rule).toEqual({ claim: 'groups', value: 'ops', gateway: null, role: 'operator' });
  });

  it('asks the worker for neither the token of operators nor the pepper, and the http role for all', () => {
    const { SLUICE_API_KEY_PEPPER: _, SLUICE_OPERATOR_TOKEN: __, ...works } = follows;
    const worker = { ...works, SLUICE_ROLES: 'worker', SLUICE_INTENT_PUBLIC_KEYS: signs.SLUICE_INTENT_PUBLIC_KEYS };
    expect(readApiConfig(worker).SLUICE_ROLES).toEqual(['worker']);
    expect(problemsOf(() => readApiConfig({ ...worker, SLUICE_MASTER_KEY: undefined }))).toEqual(['SLUICE_MASTER_KEY: required by the worker role']);
    for (const name of ['SLUICE_STREAM_KEY', 'SLUICE_API_KEY_PEPPER', 'SLUICE_OPERATOR_TOKEN', 'SLUICE_MASTER_KEY'])
      expect(problemsOf(() => readApiConfig({ ...good, [name]: undefined }))).toEqual([`${name}: required by the http role`]);
  });

  it('names a network that does not exist', () => {
    expect(problemsOf(() => readIndexerConfig({ ...follows, SLUICE_INDEXER_NETWORKS: 'ethereum,atlantis' }))).toEqual([
      'SLUICE_INDEXER_NETWORKS: no network named atlantis',
    ]);
  });

  it('points into the networks file where it is wrong', () => {
    const path = join(folder, 'networks.json');
    writeFileSync(path, JSON.stringify({ networks: [{ name: 'ethereum' }] }));
    const problems = problemsOf(() => readIndexerConfig({ ...follows, SLUICE_NETWORKS: path }));
    expect(problems).toEqual(expect.arrayContaining([expect.stringMatching(/^SLUICE_NETWORKS: networks\.0\.family: /)]));
  });

  it('refuses demo secrets, static prices, screening by hand or in clear text, private webhook targets and crash points in production', () => {
    const production = { ...good, SLUICE_NETWORKS: networksWith((network) => ({ ...network, accountFingerprint: '00000001' })), ...live };
    expect(problemsOf(() => readApiConfig(production))).toEqual([]);
    expect(readApiConfig(production).privateWebhookTargets).toBe(false);
    const problems = problemsOf(() =>
      readApiConfig({
        ...production,
        SLUICE_PRICE_SOURCE: 'static',
        SLUICE_SCREENING_PROVIDER: 'development',
        SLUICE_SCREENING_URL: 'http://aml.example',
        SLUICE_MASTER_KEY: secret('demo'),
        SLUICE_INTENT_KEY: `${DEMO_INTENT_KEY}${'0'.repeat(52)}`,
        SLUICE_INTENT_PUBLIC_KEYS: publicHalf('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'),
        SLUICE_OPERATOR_TOKENS: `anna=${secret('demo-anna')}`,
        SLUICE_CRASH_AT: 'credit.committed',
      }),
    );
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'SLUICE_MASTER_KEY',
      'SLUICE_OPERATOR_TOKENS',
      'SLUICE_INTENT_KEY',
      'SLUICE_INTENT_KEY, SLUICE_INTENT_PUBLIC_KEYS',
      'SLUICE_PRICE_SOURCE',
      'SLUICE_SCREENING_PROVIDER',
      'SLUICE_SCREENING_URL',
      'SLUICE_CRASH_AT',
    ]);
  });

  it('of a signer in production caps every asset, and takes the word of two providers at least', () => {
    const caps = { perTransaction: '1', hourly: '2', daily: '3', floorUsd: '1' };
    const own = (change: Partial<NetworkConfig>, capped: boolean) =>
      networksWith((network) => ({
        ...network,
        accountFingerprint: '00000001',
        ...change,
        assets: network.assets.map((asset) => (capped ? { ...asset, caps } : asset)),
      }));
    const signer = (path: string) => problemsOf(() => readApiConfig({ ...signs, ...live, SLUICE_NETWORKS: path }));
    expect(signer(own({}, true))).toEqual([]);
    expect(signer(own({}, false))).toContain('SLUICE_NETWORKS: ethereum.USDT.caps: required by the signer in production');
    expect(signer(own({ deathWitnesses: 1 }, true))).toContain('SLUICE_NETWORKS: tron.deathWitnesses: at least 2 in production');
    expect(problemsOf(() => readApiConfig({ ...good, ...live, SLUICE_NETWORKS: own({}, false) }))).toEqual([]);
  });

  it.each([
    ['fall', { perTransaction: '3', hourly: '2', daily: '3', floorUsd: '1' }, 'caps: must rise from perTransaction to hourly to daily'],
    ['are finer than the asset', { perTransaction: '0.0000001', hourly: '2', daily: '3', floorUsd: '1' }, 'caps: 0.0000001 has more than the 6 decimal places'],
    ['believe any price', { perTransaction: '1', hourly: '2', daily: '3', floorUsd: '0' }, 'caps.floorUsd: must be more than nothing'],
  ])('refuses caps that %s', (_, caps, problem) => {
    const path = networksWith((network) => ({ ...network, assets: network.assets.map((asset) => (asset.symbol === 'USDT' ? { ...asset, caps } : asset)) }));
    expect(problemsOf(() => readIndexerConfig({ ...good, SLUICE_NETWORKS: path }))).toContainEqual(expect.stringContaining(`ethereum.USDT: ${problem}`));
  });

  it.each(['SLUICE_MASTER_KEY', 'SLUICE_API_KEY_PEPPER'])('takes a %s that comes and one that goes, but not the same one twice', (name) => {
    const ring = { [`${name}_NEXT`]: secret('coming'), [`${name}_PREVIOUS`]: secret('going') };
    expect(readApiConfig({ ...good, ...ring })).toMatchObject(ring);
    const same = String((good as Record<string, unknown>)[name]);
    expect(problemsOf(() => readApiConfig({ ...good, ...ring, [`${name}_PREVIOUS`]: same }))).toEqual([`${name}_PREVIOUS: must be another one than ${name}`]);
    expect(problemsOf(() => readApiConfig({ ...good, [`${name}_NEXT`]: 'short' }))).toEqual([`${name}_NEXT: must be at least 32 characters`]);
  });

  it('takes people with a token of their own, two while one is changed', () => {
    const [anna, again, ben] = [secret('anna'), secret('anna-again'), secret('ben')];
    const named = (pairs: string) => ({ ...good, SLUICE_OPERATOR_TOKENS: pairs });
    expect(readApiConfig(named(`anna=${anna}, ben=${ben},anna=${again}`)).SLUICE_OPERATOR_TOKENS).toEqual([
      { name: 'anna', token: anna },
      { name: 'ben', token: ben },
      { name: 'anna', token: again },
    ]);
    expect(readApiConfig(good).SLUICE_OPERATOR_TOKENS).toEqual([]);
    const told = (pairs: string): string[] => problemsOf(() => readApiConfig(named(pairs)));
    for (const [pairs, problem] of [
      [anna, 'must be name=token pairs, which number 1 is not'],
      [`Anna=${anna}`, 'must be name=token pairs, which number 1 is not'],
      [`anna=${anna},ben=short`, 'the token of ben must be at least 32 characters'],
      [`operator=${anna}`, 'operator is the name of whoever comes with SLUICE_OPERATOR_TOKEN'],
      [`anna=${anna},anna=${again},anna=${ben}`, 'anna has more than 2 tokens'],
      [`anna=${anna},ben=${anna}`, 'the token of ben must be one that is used for nothing else'],
      [`anna=${anna},anna=${anna}`, 'the token of anna must be one that is used for nothing else'],
      [`anna=${good.SLUICE_OPERATOR_TOKEN}`, 'the token of anna must be one that is used for nothing else'],
      [`anna=${good.SLUICE_MASTER_KEY}`, 'the token of anna must be one that is used for nothing else'],
    ] as const) {
      expect(told(pairs), pairs).toEqual([expect.stringContaining(`SLUICE_OPERATOR_TOKENS: ${problem}`)]);
      expect(told(pairs).join(), 'never what was given').not.toContain(anna);
    }
    const previous = { ...named(`anna=${anna}`), SLUICE_OPERATOR_TOKEN_PREVIOUS: anna };
    expect(problemsOf(() => readApiConfig(previous))).toEqual([expect.stringContaining('used for nothing else')]);
  });

  it('wants two people for what it is told to, where there are two', () => {
    const two = { ...good, SLUICE_OPERATOR_TOKENS: `anna=${secret('anna')},ben=${secret('ben')}` };
    expect(readApiConfig(two).SLUICE_TWO_PEOPLE_FOR).toEqual([]);
    expect(readApiConfig({ ...two, SLUICE_TWO_PEOPLE_FOR: 'refund, reject' }).SLUICE_TWO_PEOPLE_FOR).toEqual(['refund', 'reject']);
    for (const tokens of ['', `anna=${secret('anna')}`, `anna=${secret('anna')},anna=${secret('again')}`])
      expect(problemsOf(() => readApiConfig({ ...good, SLUICE_OPERATOR_TOKENS: tokens, SLUICE_TWO_PEOPLE_FOR: 'reject' }))).toEqual([
        'SLUICE_TWO_PEOPLE_FOR: two people need tokens of their own in SLUICE_OPERATOR_TOKENS',
      ]);
    expect(problemsOf(() => readApiConfig({ ...two, SLUICE_TWO_PEOPLE_FOR: 'everything' }))).toEqual([expect.stringContaining('SLUICE_TWO_PEOPLE_FOR')]);
  });

  it('refuses accounts in production that everybody can spend from', () => {
    const expected = [
      'SLUICE_NETWORKS: ethereum.accountXpub: the demo account is refused in production',
      'SLUICE_NETWORKS: tron.accountXpub: the demo account is refused in production',
      'SLUICE_NETWORKS: bitcoin.accountXpub: the demo account is refused in production',
    ];
    expect(problemsOf(() => readApiConfig({ ...good, ...live }))).toEqual(expected);
    expect(problemsOf(() => readIndexerConfig({ ...follows, ...live }))).toEqual(expected);
  });

  describe('of networks', () => {
    const [evm] = (JSON.parse(readFileSync('ops/dev/networks.json', 'utf8')) as { networks: [NetworkConfig] }).networks;
    const beside: NetworkConfig = { ...evm, name: 'beside', chainId: '31338', rpcUrls: ['http://127.0.0.1:8546'] };
    const only =
      (network: NetworkConfig): ((one: NetworkConfig) => NetworkConfig) =>
      (one) =>
        one.name === network.name ? network : one;
    const [native, token] = evm.assets as [AssetConfig, AssetConfig];
    const problems = (path: string): string[] => problemsOf(() => readIndexerConfig({ ...follows, SLUICE_NETWORKS: path }));

    it('has nothing against a second one beside the first', () => {
      expect(problems(networksWith((one) => one, [beside]))).toEqual([]);
    });

    it.each<[string, Partial<NetworkConfig>, string, string]>([
      ['no cold address', {}, '100', 'ethereum.USDT.coldStorage: its network has no cold address'],
      [
        'a ceiling that is not above its floor',
        { cold: { address: '0xc01d' } },
        '40.0',
        'ethereum.USDT.coldStorage: its ceiling of 40.0 is not above its floor of 40',
      ],
      [
        'more decimal places than it has',
        { cold: { address: '0xc01d' } },
        '50.0000001',
        'ethereum.USDT.coldStorage: 50.0000001 has more than the 6 decimal places of the asset',
      ],
      [
        'a wallet of our own for a cold one',
        { cold: { address: evm.wallets.hot.address.toUpperCase().replace('0X', '0x') } },
        '100',
        'ethereum.cold.address: is that of the hot wallet, whose key is here',
      ],
    ])('refuses an asset of cold storage with %s', (_what, change, ceiling, problem) => {
      const assets = evm.assets.map((asset) => (asset.symbol === 'USDT' ? { ...asset, coldStorage: { ceiling, floor: '40' } } : asset));
      expect(problems(networksWith(only({ ...evm, ...change, assets })))).toEqual([`SLUICE_NETWORKS: ${problem}`]);
    });

    it('takes limits of cold storage with an address, and no address that nothing would go to', () => {
      const cold = { address: '0xc01d' };
      const assets = evm.assets.map((asset) => (asset.symbol === 'USDT' ? { ...asset, coldStorage: { ceiling: '100', floor: '0' } } : asset));
      expect(problems(networksWith(only({ ...evm, cold, assets })))).toEqual([]);
      expect(problems(networksWith(only({ ...evm, cold })))).toEqual([
        'SLUICE_NETWORKS: ethereum.cold: no asset of the network has a coldStorage, so that nothing would ever go there',
      ]);
    });

    it.each<[string, string, string]>([
      ['a name', networksWith((one) => one, [{ ...beside, name: 'ethereum' }]), 'two networks are named ethereum'],
      ['a chain', networksWith((one) => one, [{ ...beside, chainId: '31337' }]), 'beside: another network is evm chain 31337 already'],
      ['an endpoint', networksWith((one) => one, [{ ...beside, rpcUrls: [...evm.rpcUrls] }]), 'beside: an rpcUrl at 127.0.0.1:8545 is given twice'],
      [
        'an endpoint twice',
        networksWith(only({ ...evm, rpcUrls: ['https://a.example/key', 'https://a.example:443/key'] })),
        'ethereum: an rpcUrl at a.example is given twice',
      ],
    ])('refuses two that share %s', (_what, path, problem) => {
      expect(problems(path)).toEqual([`SLUICE_NETWORKS: ${problem}`]);
    });

    it('refuses two of one family with accounts of their own, since an address must be watched on both', () => {
      const other = { ...beside, accountXpub: 'xpub-other', accountFingerprint: '00000001' };
      expect(problems(networksWith((one) => one, [other]))).toEqual([
        'SLUICE_NETWORKS: beside.accountXpub: must be that of ethereum, because both are evm networks',
        'SLUICE_NETWORKS: beside.accountFingerprint: must be that of ethereum, because both are evm networks',
      ]);
    });

    describe('of Bitcoin', () => {
      const demo = JSON.parse(readFileSync('ops/dev/networks.json', 'utf8')) as { networks: NetworkConfig[] };
      const bitcoin = demo.networks.find(({ family }) => family === 'bitcoin') as NetworkConfig;
      const second: NetworkConfig = { ...bitcoin, name: 'signet', chainId: 'signet', rpcUrls: ['http://a:b@127.0.0.1:38332'] };

      it('refuses a second one, since an address kept for a payment is only good on one of them', () => {
        expect(problems(networksWith((one) => one, [second]))).toEqual([
          'SLUICE_NETWORKS: signet: bitcoin is a Bitcoin network already, and a deployment serves one of them, because their addresses differ',
        ]);
      });

      it.each<[string, Partial<NetworkConfig>, string]>([
        ['a chain nobody knows', { chainId: 'testnet3' }, 'bitcoin.chainId: must be one of mainnet, testnet4, signet, regtest'],
        [
          'a tag that no node gives a block',
          { finality: { resolve: [{ rule: { tag: 'safe' } }], mature: { blocks: 7 } } },
          'bitcoin.finality: must count blocks: no block of Bitcoin is tagged safe or finalized',
        ],
        ['coins that are not made of satoshis', { assets: bitcoin.assets.map((asset) => ({ ...asset, decimals: 18 })) }, 'bitcoin.BTC: its decimals must be 8'],
      ])('refuses %s', (_what, change, expected) => {
        expect(problems(networksWith(only({ ...bitcoin, ...change })))).toEqual([`SLUICE_NETWORKS: ${expected}`]);
      });

      it('alone have rules for joining outputs, with a count, a fee rate and dollars', () => {
        const consolidation = { aboveOutputs: 500, belowFeeRate: '2.5', dailyUsd: '50' };
        expect(problems(networksWith(only({ ...bitcoin, consolidation })))).toEqual([]);
        expect(problems(networksWith(only({ ...evm, consolidation })))).toEqual(['SLUICE_NETWORKS: ethereum.consolidation: only Bitcoin networks have one']);
        for (const wrong of [{ aboveOutputs: 0 }, { belowFeeRate: '-1' }, { dailyUsd: '1e3' }, { everyUsd: '1' }])
          expect(problems(networksWith(only({ ...bitcoin, consolidation: wrong })))).toHaveLength(1);
      });

      it('never shows the password of a node', () => {
        const twice = { ...bitcoin, rpcUrls: ['http://sluice:s3cret@127.0.0.1:18443', 'http://sluice:s3cret@127.0.0.1:18443'] };
        expect(problems(networksWith(only(twice)))).toEqual(['SLUICE_NETWORKS: bitcoin: an rpcUrl at 127.0.0.1:18443 is given twice']);
      });
    });

    it.each<[string, Partial<NetworkConfig>, string[]]>([
      ['BEP20 on Ethereum', { chainId: '1', assets: [native, { ...token, type: 'BEP20' }] }, ['ethereum.USDT: its type must be ERC20 on chain 1']],
      [
        'ERC20 on BNB Smart Chain',
        { chainId: '56' },
        ['ethereum.USDT: its type must be BEP20 on chain 56', 'ethereum.USDC: its type must be BEP20 on chain 56'],
      ],
      ['TRC20 on an EVM chain', { assets: [native, { ...token, type: 'TRC20' }] }, ['ethereum.USDT: its type must be ERC20 or BEP20 on chain 31337']],
      ['a token without a contract', { assets: [native, { ...token, contract: null }] }, ['ethereum.USDT: a token needs its contract']],
      [
        'a token that is the native coin under another name',
        { assets: [native, { ...token, contract: '0x0000000000000000000000000000000000001010' }] },
        ['ethereum.USDT: this contract is the native coin itself, which would be credited twice'],
      ],
      ['a coin with one', { assets: [{ ...native, contract: token.contract }] }, ['ethereum.ETH: a native coin has no contract']],
      ['another coin than the network’s', { nativeSymbol: 'BNB' }, ['ethereum.ETH: the native coin of this network is BNB']],
      ['no native coin', { assets: [token] }, ['ethereum: exactly one asset must be NATIVE, not 0']],
      ['one symbol twice', { assets: [native, token, { ...token, contract: '0x01' }] }, ['ethereum: two assets are called USDT']],
      ['one contract twice', { assets: [native, token, { ...token, symbol: 'USDX' }] }, ['ethereum.USDX: another asset has its contract']],
      [
        'a last tier that ends',
        { finality: { ...evm.finality, resolve: [{ upToUsd: '5', rule: { blocks: 2 } }] } },
        ['ethereum: the last tier of finality.resolve must have no upToUsd'],
      ],
      [
        'a tier that matures later than the network',
        { finality: { resolve: [{ rule: { blocks: 2 }, mature: { blocks: 3 } }], mature: { blocks: 2 } } },
        ['ethereum: a tier of finality.resolve may mature at a count of blocks no larger than that of finality.mature'],
      ],
      [
        'a tier that matures by another measure',
        { finality: { resolve: [{ rule: { blocks: 2 }, mature: { blocks: 2 } }], mature: { tag: 'finalized' } } },
        ['ethereum: a tier of finality.resolve may mature at a count of blocks no larger than that of finality.mature'],
      ],
    ])('refuses %s', (_what, change, expected) => {
      expect(problems(networksWith(only({ ...evm, ...change })))).toEqual(expected.map((problem) => `SLUICE_NETWORKS: ${problem}`));
    });
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

  it('takes an origin for the checkout, whose pages are at its root', () => {
    const read = (value: string) => readApiConfig({ ...good, SLUICE_CHECKOUT_URL: value }).SLUICE_CHECKOUT_URL;
    expect(['https://pay.example', 'http://127.0.0.1:3001/'].map(read)).toEqual(['https://pay.example', 'http://127.0.0.1:3001/']);
    for (const wrong of ['https://shop.example/pay', 'https://pay.example?x=1', 'https://user:word@pay.example', 'ftp://pay.example', 'pay.example'])
      expect(problemsOf(() => read(wrong)).join(), wrong).toMatch(/^SLUICE_CHECKOUT_URL: must be an origin/);
  });

  it('takes for the console only an address at which passkeys work', () => {
    const read = (value: string) => readApiConfig({ ...good, SLUICE_INTERNAL_KEY: secret('internal'), SLUICE_CONSOLE_URL: value }).SLUICE_CONSOLE_URL;
    expect(['https://console.example', 'http://localhost:3002'].map(read)).toEqual(['https://console.example', 'http://localhost:3002']);
    for (const wrong of [
      'http://console.example',
      'http://127.0.0.1:3002',
      'https://192.0.2.1',
      'https://[::1]',
      'https://console.example/app',
      'console.example',
    ])
      expect(problemsOf(() => read(wrong)).join(), wrong).toMatch(/^SLUICE_CONSOLE_URL: must be/);
  });
});
