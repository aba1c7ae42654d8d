import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deps, Reply } from '#api/deps.ts';
import { addScreeningCredits, changeGateway, createGateway, showGateway, showGateways } from '#api/operator/gateways.ts';
import { putScreening, showScreening } from '#api/operator/screening.ts';
import type { OperatorCall } from '#api/operator/deps.ts';
import { aScreeningGateway, creditsOf, someAddress } from '#test/fixtures/screening.ts';
import { inProcess, type InProcess } from '#test/harness/in-process.ts';

let world: InProcess;
beforeAll(async () => {
  world = await inProcess();
});
afterAll(() => world.stop());

type Json = Record<string, unknown>;
const call = (params: Record<string, string>, body?: unknown): OperatorCall => ({ params, query: {}, body });
const screeningIn = (reply: Reply): Json => ((reply.data as { gateway: Json }).gateway.screening ?? {}) as Json;
const failure = (work: Promise<Reply>): Promise<Json> =>
  work.then(
    () => expect.fail('it was accepted'),
    ({ code, details, message }) => ({ code, ...(details?.field === undefined ? {} : { field: details.field }), message }),
  );

describe("a gateway's screening credits", () => {
  it('are given at its creation, shown as they are now, set by a change that names them, and left alone by any other', async () => {
    const { deps } = world;
    const created = await createGateway(deps, call({}, { name: 'Screened', screening: { enabled: true, credits: 3 } }));
    const id = String(created.resourceId);
    expect(screeningIn(created)).toEqual({ enabled: true, threshold: 70, credits: 3 });
    await deps.screening.destination({ gateway: await gatewayOf(id), chain: anyChain(), address: someAddress(), assetId: 'any' });
    expect(screeningIn(await showGateway(deps, call({ id })))).toMatchObject({ credits: 2 });
    const [newest] = ((await showGateways(deps, call({}))).data as { items: Json[] }).items;
    expect(newest).toMatchObject({ id, screening: { credits: 2 } });
    for (const body of [{ name: 'Renamed' }, { screening: { threshold: 50 } }, { screening: { credits: null } }])
      expect(screeningIn(await changeGateway(deps, call({ id }, body)))).toMatchObject({ credits: 2, enabled: true });
    expect(screeningIn(await changeGateway(deps, call({ id }, { screening: { credits: 9 } })))).toEqual({ enabled: true, threshold: 50, credits: 9 });
    expect(await world.database.sql`select settings #> '{screening}' as screening from gateways where id = ${id}`).toEqual([
      { screening: { enabled: true, threshold: 50 } },
    ]);
  });

  it('grow by what is added, by many operators at once', async () => {
    const gateway = await aScreeningGateway(world, 1);
    const add = (body: unknown) => addScreeningCredits(world.deps, call({ id: gateway.id }, body));
    await Promise.all(Array.from({ length: 5 }, () => add({ add: 2, reason: 'paid' })));
    expect(await creditsOf(world, gateway)).toEqual({ left: 11, used: 0 });
    expect((await add({ add: 1 })).data).toEqual({ credits: 12 });
    for (const wrong of [0, -1, 1.5, '5', null, 1_000_000_001]) expect(await failure(add({ add: wrong }))).toMatchObject({ code: 'validation_error' });
    expect(await failure(add({ add: 999_999_999 }))).toMatchObject({ code: 'validation_error' });
    expect(await failure(addScreeningCredits(world.deps, call({ id: 'nobody' }, { add: 1 })))).toMatchObject({ code: 'not_found' });
    expect(await creditsOf(world, gateway)).toEqual({ left: 12, used: 0 });
  });
});

describe('what screening is told to say', () => {
  it('is said from then on, in any form the address is written in', async () => {
    const gateway = await aScreeningGateway(world, 9);
    const address = someAddress();
    const put = (body: unknown) => putScreening(world.deps, call({ address: anyChain().codec.display(address) }, body));
    const ask = async () => {
      await world.advance(86_401);
      return world.deps.screening.destination({ gateway, chain: anyChain(), address, assetId: 'any' });
    };
    expect((await put({ score: 80 })).data).toEqual({ address, score: 80 });
    expect(await ask()).toEqual({ score: 80 });
    expect((await put({ unavailable: true })).data).toEqual({ address, unavailable: true });
    expect(await ask()).toBe('unavailable');
    await put({ score: 0, unavailable: null });
    expect(await ask()).toEqual({ score: 0 });
    for (const wrong of [{}, { score: 101 }, { score: '5' }, { unavailable: false }, { score: 1, unavailable: true }])
      expect(await failure(put(wrong))).toMatchObject({ code: 'validation_error' });
    expect(await failure(putScreening(world.deps, call({ address: '0x12' }, { score: 1 })))).toMatchObject({ code: 'not_found' });
  });

  it('is refused where verdicts come from a provider', async () => {
    for (const config of [{ SLUICE_SCREENING_PROVIDER: 'amlbot' }, { NODE_ENV: 'production' as const }]) {
      const deps: Deps = { ...world.deps, config: { ...world.deps.config, ...config } };
      expect(await failure(putScreening(deps, call({ address: someAddress() }, { score: 1 })))).toMatchObject({ code: 'forbidden' });
    }
  });
});

describe('the state of screening', () => {
  it('names the provider, the list and the gateways that can buy nothing', async () => {
    const before = (await showScreening(world.deps)).data as { gateways: { screening: number; withoutCredit: number } };
    expect(before).toMatchObject({ provider: 'development', sanctionsList: null });
    await aScreeningGateway(world, 0);
    await world.aGateway();
    expect((await showScreening(world.deps)).data).toMatchObject({
      gateways: { screening: before.gateways.screening + 1, withoutCredit: before.gateways.withoutCredit + 1 },
    });
  });
});

const anyChain = () => {
  const [chain] = world.deps.chains.values();
  if (chain === undefined) throw new Error('no chain');
  return chain;
};
const gatewayOf = async (id: string) => {
  const [row] = await world.database.sql`select id, name, status, billing, settings from gateways where id = ${id}`;
  return row as unknown as Awaited<ReturnType<typeof aScreeningGateway>>;
};
