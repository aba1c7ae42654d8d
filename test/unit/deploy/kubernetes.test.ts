import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { withoutNodes } from '#shared/platform/without-nodes.ts';

interface Resource {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  spec?: Record<string, unknown>;
}
interface Container {
  command: string[];
  env: { name: string; value: string }[];
  envFrom: { secretRef?: { name: string }; configMapRef?: { name: string } }[];
  securityContext: object;
  volumeMounts: { name: string; mountPath: string }[];
}
interface PodSpec {
  automountServiceAccountToken: boolean;
  securityContext: object;
  containers: [Container];
  volumes: { name: string; secret?: { secretName: string } }[];
}
interface Kustomization {
  resources: string[];
  namespace?: string;
  nameSuffix?: string;
}

const ROOT = 'ops/kubernetes';
const read = (path: string): Kustomization => parse(readFileSync(join(path, 'kustomization.yaml'), 'utf8')) as Kustomization;

/** Every resource file below a kustomization, with the namespace it ends up in. */
function resources(folder: string, namespace?: string): { file: string; namespace: string | undefined; resource: Resource }[] {
  const here = read(folder);
  return (
    here.resources?.flatMap((entry) => {
      const path = join(folder, entry);
      if (!existsSync(path)) throw new Error(`${folder}/kustomization.yaml names ${entry}, which does not exist`);
      const into = here.namespace ?? namespace;
      if (!entry.endsWith('.yaml')) return resources(path, into);
      return parseAllDocuments(readFileSync(path, 'utf8')).map((document) => ({ file: path, namespace: into, resource: document.toJS() as Resource }));
    }) ?? []
  );
}

const all = resources(ROOT);
const deployments = all.filter(({ resource }) => resource.kind === 'Deployment');
const podOf = ({ spec }: Resource): PodSpec => (spec as { template: { spec: PodSpec } }).template.spec;
const secretsOf = (pod: PodSpec): string[] => [
  ...pod.containers[0].envFrom.flatMap(({ secretRef }) => (secretRef === undefined ? [] : [secretRef.name])),
  ...pod.volumes.flatMap(({ secret }) => (secret === undefined ? [] : [secret.secretName])),
];
const kubectl = spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' }).status === 0;

describe('the Kubernetes manifests', () => {
  it('have no field that Kubernetes does not know, and none of another type', () => {
    mkdirSync('.sluice', { recursive: true });
    const folder = mkdtempSync(join('.sluice', 'manifests-'));
    try {
      const lines = all.map(
        ({ resource }, at) =>
          `import type { I${resource.kind} as K${at} } from 'kubernetes-models/${resource.apiVersion}/${resource.kind}';\nexport const r${at}: K${at} = ${JSON.stringify(resource)};`,
      );
      writeFileSync(join(folder, 'all.mts'), lines.join('\n'));
      const flags = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
      const { stdout } = spawnSync(join(process.cwd(), 'node_modules/.bin/tsc'), [...flags, join(folder, 'all.mts')], { encoding: 'utf8' });
      expect(stdout).toBe('');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('run the roles apart, and two indexers per network', () => {
    const run = deployments.map(({ namespace, resource }) => {
      const [{ command, env }] = podOf(resource).containers;
      return `${namespace} ${resource.metadata.name} ${command.at(-1)} ${env.find(({ name }) => name === 'SLUICE_ROLES')?.value ?? ''}`.trim();
    });
    expect(run).toEqual([
      'sluice api-http dist/api.js http',
      'sluice api-worker dist/api.js worker',
      ...['ethereum', 'tron', 'bitcoin'].map(() => 'sluice indexer dist/indexer.js'),
      'sluice-signer signer dist/api.js signer',
      'sluice-console console dist/api.js console',
    ]);
    for (const { resource } of deployments.filter(({ resource: { metadata } }) => metadata.name === 'indexer')) expect(resource.spec?.replicas).toBe(2);
  });

  it('keep the seed in the namespace of the signer, where nothing else runs', () => {
    const holders = deployments.filter(({ resource }) => secretsOf(podOf(resource)).includes('sluice-signer-seed'));
    expect(holders.map(({ namespace, resource }) => [namespace, resource.metadata.name])).toEqual([['sluice-signer', 'signer']]);
    expect(deployments.filter(({ namespace }) => namespace === 'sluice-signer')).toHaveLength(1);
    expect(all.filter(({ resource }) => resource.kind === 'Secret')).toEqual([]);
  });

  it('give the key that accepts to the http role alone, and the signer and the console no secret of the api', () => {
    const given = Object.fromEntries(deployments.map(({ resource }) => [resource.metadata.name, secretsOf(podOf(resource))]));
    expect(deployments.filter(({ resource }) => secretsOf(podOf(resource)).includes('sluice-http')).map(({ resource }) => resource.metadata.name)).toEqual([
      'api-http',
    ]);
    expect(given.signer?.toSorted()).toEqual(['sluice-data-signer', 'sluice-intent-public', 'sluice-signer-seed']);
    expect(given['api-worker']).toContain('sluice-intent-public');
    expect(given.console?.toSorted()).toEqual(['sluice-data-console', 'sluice-internal']);
    expect(deployments.filter(({ namespace }) => namespace === 'sluice-console')).toHaveLength(1);
  });

  it('let nobody connect to the signer but what reads its metrics, and nothing talk that is not named', () => {
    const policies = (namespace: string) =>
      all.filter((one) => one.namespace === namespace && one.resource.kind === 'NetworkPolicy').map(({ resource }) => resource);
    for (const namespace of ['sluice', 'sluice-signer', 'sluice-console'])
      expect(policies(namespace).find(({ metadata }) => metadata.name === 'nothing-else')?.spec).toEqual({
        podSelector: {},
        policyTypes: ['Ingress', 'Egress'],
      });
    const doors = policies('sluice-signer').flatMap(({ spec }) => (spec as { ingress?: { ports: { port: number }[] }[] }).ingress ?? []);
    expect(doors.map(({ ports }) => ports)).toEqual([[{ port: 9464 }]]);
  });

  it('let every process into the database as itself, and give the owner to the job alone that migrates', () => {
    const data = deployments.map(({ resource }) => secretsOf(podOf(resource)).filter((name) => name.startsWith('sluice-data')));
    expect(data).toEqual([
      ['sluice-data-http'],
      ['sluice-data-worker'],
      ...['', '', ''].map(() => ['sluice-data-indexer']),
      ['sluice-data-signer'],
      ['sluice-data-console'],
    ]);
    for (const network of ['ethereum', 'tron', 'bitcoin'])
      expect(readFileSync(join(ROOT, 'networks', network, 'kustomization.yaml'), 'utf8')).toContain(`value: sluice-data-indexer-${network}`);
    const jobs = all.filter(({ resource }) => resource.kind === 'Job').map(({ resource }) => podOf(resource).containers[0]);
    expect(jobs.map(({ envFrom }) => envFrom)).toEqual([[{ secretRef: { name: 'sluice-data-owner' } }]]);
    const logins = jobs[0]?.command.filter((word) => word.includes('=')).map((word) => word.split('=')[0]);
    expect(logins).toEqual([
      'sluice_http_login',
      'sluice_worker_login',
      'sluice_signer_login',
      'sluice_console_login',
      ...['ethereum', 'tron', 'bitcoin'].map((network) => `sluice_indexer_${network}`),
    ]);
  });

  it('have a place for every secret that a setting may be, which is a secret of those who need it and not the settings that everybody has', () => {
    const settings = readFileSync(join(ROOT, 'config/settings.env'), 'utf8');
    const page = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const told = (name: string): string | undefined => new RegExp(`\`${name}\`[^.;]*? into \`([\\w-]+)\``).exec(page)?.[1];
    const names = ['SLUICE_SMTP_URL', 'SLUICE_SCREENING_ACCESS_KEY', 'SLUICE_OIDC_CLIENT_SECRET'];
    expect(names.filter((name) => settings.includes(name))).toEqual([]);
    expect(names.map(told)).toEqual(['sluice-api', 'sluice-api', 'sluice-http']);
    const holders = (secret: string): string[] =>
      deployments.filter(({ resource }) => secretsOf(podOf(resource)).includes(secret)).map(({ resource }) => resource.metadata.name);
    expect([holders('sluice-api'), holders('sluice-http')]).toEqual([['api-http', 'api-worker'], ['api-http']]);
  });

  it('give indexers no secret but the database and the stream key', () => {
    const [indexer] = deployments.filter(({ resource }) => resource.metadata.name === 'indexer');
    expect(secretsOf(podOf(indexer?.resource as Resource))).toEqual(['sluice-data-indexer', 'sluice-stream-key']);
  });

  it.each(deployments.map((one) => [one.resource.metadata.name, one] as const))('run %s without rights, probed and bounded', (_name, { resource }) => {
    const pod = podOf(resource);
    expect(pod).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } } });
    expect(pod.containers[0]).toMatchObject({
      securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
      livenessProbe: { httpGet: { path: '/healthz' } },
      readinessProbe: { httpGet: { path: '/readyz' } },
      resources: { limits: { memory: expect.any(String) } },
    });
  });

  it.skipIf(!kubectl)('are what kustomize builds: every network its own deployment, every name resolved', () => {
    const built = parseAllDocuments(execFileSync('kubectl', ['kustomize', ROOT], { encoding: 'utf8' })).map((one) => one.toJS() as Resource);
    const names = built.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name);
    expect(names.sort()).toEqual(['api-http', 'api-worker', 'console', 'indexer-bitcoin', 'indexer-ethereum', 'indexer-tron', 'signer']);
    const maps = built.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    for (const resource of built.filter(({ kind }) => kind === 'Deployment')) {
      const [{ env, envFrom }] = podOf(resource).containers;
      expect(maps).toContain(`${resource.metadata.namespace}/${envFrom[0]?.configMapRef?.name}`);
      const network = /^indexer-(.*)/.exec(resource.metadata.name)?.[1];
      if (network !== undefined) expect(env).toEqual([{ name: 'SLUICE_INDEXER_NETWORKS', value: network }]);
    }
  });

  it('give the console networks without nodes: those of the others, and a file that it starts with', () => {
    const networks = (path: string) => (JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as { networks: NetworkConfig[] }).networks;
    expect(networks('console/networks.console.json')).toEqual(networks('config/networks.json').map(withoutNodes));
    const console = deployments.find(({ namespace }) => namespace === 'sluice-console');
    expect(JSON.stringify(podOf(console?.resource as Resource))).toContain('"configMap":{"name":"sluice-networks-console"}');
  });

  it('follow networks that the networks file has', () => {
    const { networks } = JSON.parse(readFileSync(join(ROOT, 'config/networks.json'), 'utf8')) as { networks: { name: string }[] };
    const followed = read(join(ROOT, 'core')).resources.flatMap((entry) => (dirname(entry).endsWith('networks') ? [entry.split('/').at(-1) as string] : []));
    for (const name of followed) expect(networks.map((network) => network.name)).toContain(name);
  });
});
