import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWebhookHttp, type WebhookOutcome } from '#api/clients/webhook-http.ts';
import { nameServers } from '#api/clients/webhook-names.ts';
import { type Canary, watchConnections } from '#test/harness/connections.ts';
import { aNameServer, type NameServer } from '#test/harness/name-server.ts';

let server: NameServer;
let canary: Canary;
beforeEach(async () => {
  server = await aNameServer({
    'shop.example': { addresses: ['93.184.216.34', '2606:4700::1111'] },
    'six.example': { addresses: ['2606:4700::1111'] },
    'alias.example': { alias: 'shop.example' },
    'inside.example': { alias: 'intranet.example' },
    'far.example': { alias: 'inside.example' },
    'intranet.example': { addresses: ['10.1.2.3'] },
    'mixed.example': { addresses: ['93.184.216.34', '169.254.169.254'] },
    'families.example': { addresses: ['93.184.216.34', '::1'] },
    'nat64.example': { addresses: ['93.184.216.34', '64:ff9b::a9fe:a9fe'] },
    'compatible.example': { addresses: ['::7f00:1'] },
    'empty.example': {},
    'rebinding.example': { addresses: ['93.184.216.34'] },
    'silent.example': 'silent',
  });
  canary = watchConnections();
});
afterEach(async () => {
  canary.restore();
  await server.stop();
});

const client = (deadlineMs = 5_000) =>
  createWebhookHttp({ policy: { privateTargets: false, requireHttps: false }, resolve: nameServers([server.address]), deadlineMs });
const post = (name: string, deadlineMs?: number): Promise<WebhookOutcome> => client(deadlineMs).post(`http://${name}/hook`, {}, '{}');

describe('through real name servers, a webhook', () => {
  it.each([
    ['shop.example', ['93.184.216.34', '2606:4700::1111']],
    ['six.example', ['2606:4700::1111']],
    ['alias.example', ['93.184.216.34', '2606:4700::1111']],
  ])('to %s connects to its addresses only', async (name, addresses) => {
    expect(await post(name)).toMatchObject({ kind: 'failed', result: 'refused' });
    expect(canary.attempts).toEqual(addresses);
    expect(server.asked).toEqual([`${name} A`, `${name} AAAA`]);
  });

  it.each(['inside.example', 'far.example', 'intranet.example', 'mixed.example', 'families.example', 'nat64.example', 'compatible.example'])(
    'to %s, which leads inside, is blocked without a connection',
    async (name) => {
      expect(await post(name)).toMatchObject({ kind: 'failed', result: 'blocked' });
      expect(canary.attempts).toEqual([]);
    },
  );

  it.each(['unknown.example', 'empty.example'])('to %s, which has no address, fails as dns', async (name) => {
    expect(await post(name)).toMatchObject({ kind: 'failed', result: 'dns' });
  });

  it('to a name that is rebound between two attempts is blocked at the second', async () => {
    expect(await post('rebinding.example')).toMatchObject({ result: 'refused' });
    server.records.set('rebinding.example', { addresses: ['127.0.0.1'] });
    expect(await post('rebinding.example')).toMatchObject({ result: 'blocked' });
    expect(canary.attempts).toEqual(['93.184.216.34']);
  });

  it('to names whose servers never answer ends at the deadline and holds up no other name', async () => {
    const ended: string[] = [];
    const silent = Array.from({ length: 40 }, async () => {
      const outcome = await post('silent.example', 2_000);
      ended.push('silent');
      return outcome;
    });
    await post('shop.example').then(() => ended.push('shop'));
    expect(ended).toEqual(['shop']);
    for (const outcome of await Promise.all(silent)) expect(outcome).toMatchObject({ kind: 'failed', result: 'timeout' });
  });
});
