import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readApiConfig, readIndexerConfig } from '#shared/platform/config.ts';

const FOLDER = 'ops/systemd';
const NETWORK = 'ethereum';
/** What the operator puts into the files that the units name. */
const CONTENTS: Record<string, string> = {
  'database-url': 'postgres://login:p@db/sluice',
  'redis-url': 'redis://user:p@redis',
  'stream-key': 'a stream key of more than thirty-two characters',
  'api-key-pepper': 'a pepper of more than thirty-two characters',
  'operator-token': 'a token of more than thirty-two characters',
  'master-key': 'a master key of more than thirty-two characters',
  'intent-key': '9'.repeat(64),
  'intent-public-keys': '8'.repeat(64),
  'signer-seed': 'a mnemonic',
  'internal-key': 'an internal key of more than thirty-two characters',
};

interface Unit {
  name: string;
  lines: string[];
  /** The values of a setting, in order. */
  all(setting: string): string[];
  environment: Record<string, string>;
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-systemd-'));
  for (const [name, text] of Object.entries(CONTENTS)) writeFileSync(join(folder, name), text);
});
afterAll(() => rmSync(folder, { recursive: true }));

function readUnit(name: string): Unit {
  const lines = readFileSync(join(FOLDER, name), 'utf8').split('\n');
  const all = (setting: string): string[] => lines.filter((line) => line.startsWith(`${setting}=`)).map((line) => line.slice(setting.length + 1));
  const pairs = all('Environment').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const);
  return { name, lines, all, environment: Object.fromEntries(pairs) };
}

const names = readdirSync(FOLDER).filter((name) => name.endsWith('.service'));
const units = names.map(readUnit);

/** The environment as the process gets it, with the files where the test put them and the networks of `npm start`. */
function given({ environment }: Unit, without?: string): Record<string, string> {
  const filled = Object.entries(environment)
    .filter(([name]) => name !== without)
    .map(([name, value]) => [name, value.replace(/^(%d|\/etc\/sluice)\/(?=[a-z-]+$)/, `${folder}/`).replace('%i', NETWORK)] as const);
  // Production refuses the demo account of this networks file; what a process needs is the same.
  return { ...Object.fromEntries(filled), SLUICE_NETWORKS: 'ops/dev/networks.json', NODE_ENV: 'test' };
}

function read(unit: Unit, without?: string): unknown {
  return unit.all('ExecStart')[0]?.endsWith('dist/indexer.js') ? readIndexerConfig(given(unit, without)) : readApiConfig(given(unit, without));
}

describe('the systemd units', () => {
  it('are one for each role, and one that follows any network', () => {
    expect(names).toEqual(['sluice-console.service', 'sluice-http.service', 'sluice-indexer@.service', 'sluice-signer.service', 'sluice-worker.service']);
    expect(units.map(({ environment }) => environment.SLUICE_ROLES ?? environment.SLUICE_INDEXER_NETWORKS)).toEqual([
      'console',
      'http',
      '%i',
      'signer',
      'worker',
    ]);
  });

  it.each(units)('$name starts with what it sets and the files it names, all of which its process knows', (unit) => {
    const parsed = read(unit) as Record<string, unknown>;
    const known = new Set(Object.keys(parsed));
    expect(Object.keys(unit.environment).filter((name) => !known.has(name.replace(/_FILE$/, '')))).toEqual([]);
  });

  it.each(units)('$name has no secret that it could do without', (unit) => {
    const secrets = Object.keys(unit.environment).filter((name) => name.endsWith('_FILE'));
    expect(secrets.length).toBeGreaterThan(2);
    for (const name of secrets) expect(() => read(unit, name), name).toThrow(name.replace(/_FILE$/, ''));
  });

  it.each(units)('$name gets every secret as a credential of its own, none in the unit and none from a folder of another', (unit) => {
    const loaded = unit.all('LoadCredential').map((line) => line.split(':') as [string, string]);
    const named = Object.values(unit.environment).filter((value) => value.startsWith('%d/'));
    expect(loaded.map(([id]) => `%d/${id}`).sort()).toEqual(named.sort());
    const own = unit.name.replace(/^sluice-(.*)\.service$/, '$1').replace('@', '-%i');
    expect(loaded.map(([id, path]) => [path, path === `/etc/sluice/${own}/${id}`])).toEqual(loaded.map(([, path]) => [path, true]));
    expect(Object.keys(unit.environment).filter((name) => /(DATABASE|REDIS)_URL|KEY|TOKEN|SEED|PEPPER/.test(name) && !name.endsWith('_FILE'))).toEqual([]);
  });

  it.each(units)('$name runs as a user of its own, without rights, on a file system it cannot change', (unit) => {
    expect(unit.all('User')).toEqual([unit.name.replace(/@?\.service$/, '')]);
    expect(unit.lines).toEqual(
      expect.arrayContaining(['NoNewPrivileges=yes', 'CapabilityBoundingSet=', 'ProtectSystem=strict', 'ProtectHome=yes', 'UMask=0077']),
    );
  });

  it('come with instructions that let nobody but those who ask nodes read the file with their addresses and keys, and not the console', () => {
    const page = readFileSync('ops/docs/without-containers.md', 'utf8');
    const asking = units.filter(({ environment }) => environment.SLUICE_NETWORKS === '/etc/sluice/networks.json').map(({ all }) => all('User')[0]);
    expect(asking).toEqual(['sluice-http', 'sluice-indexer', 'sluice-signer', 'sluice-worker']);
    expect(page).toContain('\ninstall -m 0640 -g sluice-nodes networks.json /etc/sluice/networks.json\n');
    const [, names] = /\nfor name in ([a-z ]+); do useradd [^\n]* --groups sluice-nodes sluice-\$name; done\n/.exec(page) ?? [];
    expect(
      names
        ?.split(' ')
        .map((name) => `sluice-${name}`)
        .sort(),
    ).toEqual(asking);
    expect(page.match(/\nuseradd [^\n]* sluice-console\n/)?.[0]).not.toContain('sluice-nodes');
  });

  it('come with instructions that write settings, some of which are secrets, where root alone reads them', () => {
    const page = readFileSync('ops/docs/without-containers.md', 'utf8');
    const files = units.flatMap(({ all }) => all('EnvironmentFile')).map((path) => path.replace(/^-/, ''));
    expect(files).toContain('/etc/sluice/http.env');
    const written = page.split('\n').filter((line) => /(>|\/dev\/stdin) \/etc\/sluice\/[\w-]+\.env/.test(line));
    expect(written).toEqual(["install -m 0600 /dev/stdin /etc/sluice/http.env <<'EOF'"]);
  });

  it('are good units by systemd’s own word, where it is installed', ({ skip }) => {
    const copies = mkdtempSync(join(tmpdir(), 'sluice-units-'));
    try {
      for (const name of readdirSync(FOLDER).filter((file) => /\.(service|target)$/.test(file)))
        copyFileSync(join(FOLDER, name), join(copies, name.replace('@', `@${NETWORK}`)));
      // A program that is there, since systemd looks for it; the test is of the settings.
      const files = readdirSync(copies).map((name) => join(copies, name));
      for (const file of files) writeFileSync(file, readFileSync(file, 'utf8').replace('/usr/bin/node', process.execPath));
      const { error, status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8' });
      if (error !== undefined) skip('no systemd-analyze');
      expect(`${stdout}${stderr}`).toBe('');
      expect(status).toBe(0);
    } finally {
      rmSync(copies, { recursive: true });
    }
  });
});
