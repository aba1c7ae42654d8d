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
  webhookReceiver: { url: 'http://127.0.0.1:4242/webhook', log: 'http://127.0.0.1:4242/received' },
  networks: {},
  localNetworks: [],
  assets: [],
  signer: { pid: 2 },
  runnerPid: 3,
};
const payment = (paymentUid: string) => ({ paymentUid, paymentUrl: `http://127.0.0.1:3001/p/${paymentUid}` });

it('the banner links to a payment on chain and to one in the sandbox, each link alone on its line for terminals to make clickable', () => {
  const lines = banner(DEV, { onChain: payment('one'), sandbox: payment('two') }).split('\n');
  expect(lines.map((line) => line.trim())).toEqual(expect.arrayContaining(['http://127.0.0.1:3001/p/one', 'http://127.0.0.1:3001/p/two']));
  expect(lines.join('\n')).toContain('npx sluice pay one');
});

it('the banner of a deployment that takes no payments invites nobody to pay', () => {
  const text = banner(DEV, undefined);
  expect(text).not.toContain('Open a payment in a browser');
  expect(text).toContain('sluice_key');
});
