import { expect, it } from 'vitest';
import { banner } from '#ops/dev/banner.ts';
import type { DevFile } from '#ops/dev/dev-file.ts';

const DEV: DevFile = {
  api: { baseUrl: 'http://127.0.0.1:3000/api/v1', origin: 'http://127.0.0.1:3000', pid: 1 },
  checkoutUrl: 'http://127.0.0.1:3001',
  dashboardUrl: null,
  operatorUrl: 'http://127.0.0.1:3000/operator/v1',
  operatorToken: 'token',
  metrics: { api: 'http://127.0.0.1:9464/metrics', indexers: {} },
  databaseUrl: '',
  redisUrl: '',
  gateway: { id: 'g', apiKey: 'sluice_key', cashoutSigningSecret: 'c', webhookSecret: 'w', totpSecret: 't' },
  webhookReceiver: { origin: 'http://127.0.0.1:4242', url: 'http://127.0.0.1:4242/webhook', log: 'http://127.0.0.1:4242/received' },
  networks: {},
  localNetworks: [],
  assets: [],
  signer: { pid: 2 },
  console: { pid: 2 },
  runnerPid: 3,
};
const TOKEN = 'T'.repeat(43);
const LINKS = { owner: `http://localhost:13002/invitations/${TOKEN}`, operator: `http://localhost:13002/invitations/${TOKEN}` };
const payment = (paymentUid: string) => ({ paymentUid, paymentUrl: `http://127.0.0.1:3001/p/${paymentUid}` });

it('the banner links to a payment on chain and to one in the sandbox, each link alone on its line for terminals to make clickable', () => {
  const lines = banner(DEV, { onChain: payment('one'), sandbox: payment('two') }, LINKS).split('\n');
  expect(lines.map((line) => line.trim())).toEqual(expect.arrayContaining(['http://127.0.0.1:3001/p/one', 'http://127.0.0.1:3001/p/two']));
  expect(lines.join('\n')).toContain('npx sluice pay one');
});

it('the banner fits a terminal: at most 20 lines of at most 100 columns, however long keys and ports are', () => {
  const long = (port: number) => `http://127.0.0.1:${port}`;
  const network = { id: 'n', family: 'evm', rpcUrl: long(18_545), indexerPid: 1 };
  const dev: DevFile = {
    ...DEV,
    api: { baseUrl: `${long(13_000)}/api/v1`, origin: long(13_000), pid: 1 },
    operatorUrl: `${long(13_000)}/operator/v1`,
    operatorToken: `demo-operator-${'e'.repeat(48)}`,
    gateway: { ...DEV.gateway, apiKey: `sluice_${'7'.repeat(16)}_${'f'.repeat(64)}` },
    webhookReceiver: { origin: long(14_242), url: `${long(14_242)}/webhook`, log: `${long(14_242)}/received` },
    networks: { ethereum: network, tron: network, bitcoin: network },
  };
  const uid = '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44';
  const lines = banner(dev, { onChain: payment(uid), sandbox: payment(uid) }, LINKS)
    .trimEnd()
    .split('\n');
  expect(lines.length).toBeLessThanOrEqual(20);
  expect(lines.filter((line) => line.length > 100)).toEqual([]);
});

it('the banner of a deployment that takes no payments invites nobody to pay', () => {
  const text = banner(DEV, undefined, LINKS);
  expect(text).not.toContain('to open in a browser');
  expect(text).toContain('sluice_key');
});

it('the banner begins with one link for the owner and one for the operator', () => {
  const [owner, operator] = banner(DEV, undefined, LINKS).split('\n');
  expect([owner, operator]).toEqual([`Owner     ${LINKS.owner}`, `Operator  ${LINKS.operator}`]);
});
