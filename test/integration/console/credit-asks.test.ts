import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPeopleDesk, type PeopleDesk } from '#api/people/desk.ts';
import { insertConsoleAction } from '#api/store/console-actions.ts';
import { listCreditAsks, SCREENING_CREDIT } from '#api/store/credit-asks.ts';
import { aService, type Service, type Shop } from '#test/contract/service.ts';
import { aMember, aMemberWithCodes } from '#test/harness/console-stage.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';

let service: Service;
let shop: Shop;
let stranger: Shop;
let desk: PeopleDesk;

beforeAll(async () => {
  service = await aService((deps) => ({ ...deps, config: { ...deps.config, SLUICE_CONSOLE_URL: 'http://localhost:3002' } }));
  shop = await service.aShop({ screening: { enabled: true, credits: 1 } });
  stranger = await service.aShop();
  desk = openPeopleDesk(service.deps);
});
afterAll(() => service?.stop());

const ask = async (role: string, of = shop) => {
  const cookie = await aMember(service.world.database, { email: `${role}-${randomUUID()}@example.com`, gatewayId: of.id, role });
  return desk.doGatewayAct({ cookie, address: '198.51.100.7', gateway: of.id, act: 'credits-ask', fields: {}, proof: '' });
};
const waiting = () => listCreditAsks(service.deps.db.sql);

it('a gateway asks for screening credit once, until somebody gives it some, and asks again then', async () => {
  await ask('finance');
  await expect(ask('owner')).rejects.toMatchObject({ code: 'conflict' });
  expect(await waiting()).toEqual([{ gatewayId: shop.id, by: expect.stringMatching(/^finance-/), at: expect.any(Date) }]);
  const given = await service.ask('POST', `/operator/v1/gateways/${shop.id}/screening-credits`, {
    headers: { authorization: `Bearer ${TEST_SECRETS.SLUICE_OPERATOR_TOKEN}` },
    body: { add: 5, reason: 'they asked' },
  });
  expect(given.status, given.text).toBe(200);
  expect(await waiting()).toEqual([]);
  await ask('owner');
  expect(await waiting()).toHaveLength(1);
});

it('is not asked for by whoever may not create cashouts, nor where nothing is screened', async () => {
  const before = await waiting();
  await expect(ask('approver')).rejects.toMatchObject({ code: 'forbidden' });
  await expect(ask('owner', stranger)).rejects.toMatchObject({ code: 'conflict' });
  expect(await waiting()).toEqual(before);
});

it('is seen by operators whatever other gateways call their keys, and however often they ask', async () => {
  const [asked] = await waiting();
  expect(asked).toMatchObject({ gatewayId: shop.id });
  const owner = await aMemberWithCodes({ deps: service.deps, desk, database: service.world.database }, { role: 'owner', gatewayId: stranger.id });
  const key = { name: SCREENING_CREDIT, 'may:payment:create': 'on' };
  await desk.doGatewayAct({ cookie: owner.cookie, address: '198.51.100.7', gateway: stranger.id, act: 'key-create', fields: key, proof: owner.code() });
  expect(await waiting(), 'a key is no question').toEqual([asked]);
  const by = { kind: 'key', name: 'whoever asks' } as const;
  await service.deps.db.transaction(async (tx) => {
    for (let times = 0; times < 120; times++) await insertConsoleAction(tx, by, { act: 'credits.ask', target: SCREENING_CREDIT, gatewayId: stranger.id });
  });
  expect((await waiting()).map(({ gatewayId }) => gatewayId).toSorted()).toEqual([shop.id, stranger.id].toSorted());
});
