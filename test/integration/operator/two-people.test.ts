import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { screenCredit } from '#api/aml/screen-credit.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { upsertScreeningScore } from '#api/store/screenings.ts';
import { POLICY } from '#shared/core/policy.ts';
import { times } from '#test/harness/counts.ts';
import { TEST_PEOPLE, TEST_SECRETS } from '#test/harness/world.ts';
import type { Answer } from '#test/contract/client.ts';
import { aService, type Listening, listen, payTo, selectAddress, type Service } from '#test/contract/service.ts';

const ANNA = TEST_PEOPLE.anna;
const BEN = TEST_PEOPLE.ben;
const SHARED = TEST_SECRETS.SLUICE_OPERATOR_TOKEN;
const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const RACES = times(100);

let service: Service;
let gatewayId: string;
beforeAll(async () => {
  service = await aService();
  gatewayId = await aKeptGateway('1000');
});
afterAll(() => service.stop());

const sql = () => service.world.database.sql;
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const ask = (token: string, method: string, path: string, body?: object, through: Listening | Service = service): Promise<Answer> =>
  through.ask(method, `/operator/v1${path}`, { headers: bearer(token), ...(body !== undefined && { body }) });
const order = (over: object = {}): object => ({ assetId: service.world.assets.USDT?.id, amount: '1', address: ADDRESS, reason: 'a court order', ...over });
const propose = (token: string, over: object = {}): Promise<Answer> => ask(token, 'POST', `/gateways/${gatewayId}/withheld`, order(over));
const confirm = (token: string, id: unknown): Promise<Answer> => ask(token, 'POST', `/proposals/${String(id)}/confirm`, {});
const withdraw = (token: string, id: unknown): Promise<Answer> => ask(token, 'POST', `/proposals/${String(id)}/withdraw`, {});
const transfers = async (): Promise<number> => (await sql()`select 1 from withheld_transfers`).length;

/** A gateway that has this much USDT withheld. */
async function aKeptGateway(amount: string): Promise<string> {
  const { shopId, paymentUid } = await aHeldPayment(amount);
  const held = await ask(SHARED, 'POST', `/payments/${paymentUid}/aml`, { action: 'WITHHOLD', reason: 'sanctioned' });
  expect(held.status, held.text).toBe(200);
  return shopId;
}

/** A payment of this much USDT that screening holds. */
async function aHeldPayment(amount: string): Promise<{ shopId: string; paymentUid: string; address: string }> {
  const shop = await service.aShop({ screening: { enabled: true, credits: 5 } });
  const { paymentUid, payment } = await shop.payment({ checkAmountDeviation: false });
  const address = await selectAddress(service, paymentUid, payment.offers.find((offer) => offer.assetSymbol === 'USDT')?.id ?? '');
  await upsertScreeningScore(sql(), { address: address.toLowerCase(), score: 90 });
  await service.mine([payTo(address, service.world.assets.USDT as StoredAsset, amount)]);
  await service.mine();
  for (const { id } of await sql()<{ id: string }[]>`select id from credits where payment_id = ${paymentUid}`) await screenCredit(service.worker, id);
  await service.mine();
  return { shopId: shop.id, paymentUid, address };
}

describe('an act that takes two people', () => {
  it('is stored in full when one proposes it, done when another one confirms it, and both are in the audit log', async () => {
    const before = await transfers();
    const proposed = await propose(ANNA, { amount: '12.50' });
    expect(proposed.status, proposed.text).toBe(202);
    const content = {
      gatewayId,
      gatewayName: 'Acme Books',
      assetId: service.world.assets.USDT?.id,
      assetSymbol: 'USDT',
      network: 'ethereum',
      amount: '12.5',
      address: ADDRESS,
    };
    expect(proposed.data).toMatchObject({
      act: 'withheld.pay',
      target: gatewayId,
      content,
      proposedBy: 'anna',
      status: 'open',
      decidedBy: null,
      outcome: null,
    });
    expect(Date.parse(String(proposed.data.expiresAt)) - Date.parse(String(proposed.data.createdAt))).toBe(POLICY.proposalSeconds * 1_000);
    expect(await transfers(), 'nothing is done yet').toBe(before);
    expect((await ask(BEN, 'GET', `/proposals/${String(proposed.data.id)}`)).data).toEqual(proposed.data);

    const confirmed = await confirm(BEN, proposed.data.id);
    expect(confirmed.status, confirmed.text).toBe(200);
    expect(confirmed.data).toMatchObject({ content, status: 'confirmed', proposedBy: 'anna', decidedBy: 'ben' });
    const [made] =
      await sql()`select gateway_id, recipient, amount::text, status, proposed_by, confirmed_by from withheld_transfers order by ordered_at desc limit 1`;
    expect(made).toEqual({
      gatewayId: gatewayId,
      recipient: ADDRESS.toLowerCase(),
      amount: expect.stringMatching(/^12\.50*$/),
      status: 'ordered',
      proposedBy: 'anna',
      confirmedBy: 'ben',
    });
    const log = (await ask(SHARED, 'GET', `/audit-log?target=${String(proposed.data.id)}`)).data.items;
    expect(log).toMatchObject([
      {
        action: 'proposal.confirm',
        person: 'ben',
        token: 'named',
        details: { proposedBy: 'anna', confirmedBy: 'ben', content, outcome: confirmed.data.outcome },
      },
      { action: 'proposal.create', person: 'anna', token: 'named', reason: 'a court order', details: { proposedBy: 'anna', content } },
    ]);
  });

  it.each([
    ['the same person', ANNA, ANNA],
    ['the same person with another name in X-Operator', BEN, BEN],
  ])('is not done by %s', async (_who, first, second) => {
    const before = await transfers();
    const { data } = await propose(first);
    const refused = await service.ask('POST', `/operator/v1/proposals/${String(data.id)}/confirm`, {
      headers: { ...bearer(second), 'x-operator': 'somebody else' },
      body: {},
    });
    expect([refused.status, refused.error.code]).toEqual([409, 'conflict']);
    expect(refused.error.message).toContain('second person');
    expect([await transfers(), (await ask(ANNA, 'GET', `/proposals/${String(data.id)}`)).data.status]).toEqual([before, 'open']);
    expect((await withdraw(second, data.id)).data.status).toBe('withdrawn');
  });

  it('is not done by one person with two tokens', async () => {
    const changed = await listen({
      ...service.deps,
      config: {
        ...service.deps.config,
        SLUICE_OPERATOR_TOKENS: [
          { name: 'anna', token: ANNA },
          { name: 'anna', token: `${ANNA}-new` },
        ],
      },
    });
    const { data } = await ask(ANNA, 'POST', `/gateways/${gatewayId}/withheld`, order(), changed);
    const refused = await ask(`${ANNA}-new`, 'POST', `/proposals/${String(data.id)}/confirm`, {}, changed);
    await changed.close();
    expect(refused.status).toBe(409);
    await withdraw(ANNA, data.id);
  });

  it('is done by nobody with the token that is shared, where two people have one of their own: whoever has both is not two', async () => {
    const before = await transfers();
    expect(await propose(SHARED)).toMatchObject({ status: 409, error: { message: 'This takes two people with tokens of their own: anna, ben have one.' } });
    const { data } = await propose(ANNA);
    expect(await confirm(SHARED, data.id)).toMatchObject({ status: 409, error: { message: expect.stringContaining('tokens of their own') } });
    expect([await transfers(), (await withdraw(SHARED, data.id)).data.status], 'anybody may withdraw').toEqual([before, 'withdrawn']);
  });

  it('is not done for somebody whose token was taken away since', async () => {
    const before = await transfers();
    const { data } = await propose(ANNA);
    const named = [
      { name: 'ben', token: BEN },
      { name: 'carol', token: `${BEN}-carol` },
    ];
    const later = await listen({ ...service.deps, config: { ...service.deps.config, SLUICE_OPERATOR_TOKENS: named } });
    const refused = await ask(BEN, 'POST', `/proposals/${String(data.id)}/confirm`, {}, later);
    await later.close();
    expect([refused.status, refused.error.message]).toEqual([409, expect.stringContaining('anna, who proposed this, has no token any more')]);
    expect(await transfers()).toBe(before);
    await withdraw(BEN, data.id);
  });

  it('is done by one with a name and one without where nobody else has one', async () => {
    const alone = { ...service.deps.config, SLUICE_OPERATOR_TOKENS: [{ name: 'anna', token: ANNA }] };
    const small = await listen({ ...service.deps, config: alone });
    const { data } = await ask(SHARED, 'POST', `/gateways/${gatewayId}/withheld`, order({ amount: '0.01' }), small);
    expect((await ask(ANNA, 'POST', `/proposals/${String(data.id)}/confirm`, {}, small)).status).toBe(200);
    await small.close();
  });

  it('is ordered once, whatever its row says after: what two people agreed on has one id', async () => {
    const { data } = await propose(ANNA, { amount: '0.01' });
    expect((await confirm(BEN, data.id)).data.outcome).toEqual({ transferId: data.id });
    const before = await transfers();
    await sql()`update operator_proposals set status = 'open', decided_by = null, decided_at = null, outcome = null where id = ${String(data.id)}`;
    expect(await confirm(BEN, data.id)).toMatchObject({ status: 409, error: { message: expect.stringContaining('ordered already') } });
    expect(await transfers()).toBe(before);
    await withdraw(BEN, data.id);
  });

  it('is done once, however often and by however many it is confirmed', async () => {
    for (let race = 0; race < RACES; race++) {
      const before = await transfers();
      const { data } = await propose(ANNA, { amount: '0.01' });
      const answers = await Promise.all([confirm(BEN, data.id), confirm(BEN, data.id), confirm(BEN, data.id)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
      expect(answers.find(({ status }) => status === 409)?.error.message).toMatch(/^It was confirmed by ben already/);
      expect(await transfers()).toBe(before + 1);
    }
  });

  it('is either confirmed or withdrawn when both are tried at once', async () => {
    for (let race = 0; race < RACES; race++) {
      const before = await transfers();
      const { data } = await propose(ANNA, { amount: '0.01' });
      const [done, undone] = await Promise.all([confirm(BEN, data.id), withdraw(ANNA, data.id)]);
      expect([done.status, undone.status].sort()).toEqual([200, 409]);
      expect(await transfers()).toBe(before + (done.status === 200 ? 1 : 0));
    }
  });

  it('cannot be confirmed after a day, nor once somebody withdrew it', async () => {
    const [late, gone] = [await propose(ANNA), await propose(ANNA)];
    expect((await withdraw(BEN, gone.data.id)).data).toMatchObject({ status: 'withdrawn', decidedBy: 'ben' });
    expect((await confirm(BEN, gone.data.id)).error.message).toContain('withdrawn by ben');
    await service.wait(POLICY.proposalSeconds);
    const refused = await confirm(BEN, late.data.id);
    expect([refused.status, refused.error.message]).toEqual([409, expect.stringContaining('expired')]);
    expect((await ask(ANNA, 'GET', '/proposals?status=expired')).data.items).toMatchObject([{ id: late.data.id, status: 'expired' }]);
    expect((await ask(ANNA, 'GET', '/proposals?status=open')).data.items).toEqual([]);
  });

  it.each([
    ['another address', `content = jsonb_set(content, '{address}', '"0x00000000000000000000000000000000cafe0001"')`],
    ['another amount', `content = jsonb_set(content, '{amount}', '"900"')`],
    ['another gateway', `target = gen_random_uuid()::text`],
    ['another reason', `reason = 'because'`],
    ['another first person', `proposed_by = 'carol'`],
    ['another moment at which it expires', `expires_at = expires_at + interval '1 hour'`],
  ])('is not done when its row was changed to %s', async (_what, change) => {
    const { data } = await propose(ANNA);
    await sql().unsafe(`update operator_proposals set ${change} where id = '${String(data.id)}'`);
    const refused = await confirm(BEN, data.id);
    expect([refused.status, refused.error.message]).toEqual([409, expect.stringContaining('not what was proposed')]);
    await withdraw(BEN, data.id);
  });

  it('of a row that nobody proposed is not done either', async () => {
    const id = randomUUID();
    await sql()`
      insert into operator_proposals (id, act, target, content, reason, proposed_by, mac, expires_at)
      select ${id}, act, target, content, reason, 'carol', mac, sluice_now() + interval '1 day' from operator_proposals limit 1`;
    expect((await confirm(BEN, id)).status).toBe(409);
    await withdraw(BEN, id);
  });
});

describe('where the deployment wants two people for a refund and a rejection', () => {
  let cautious: Listening;
  beforeAll(async () => {
    cautious = await listen({ ...service.deps, config: { ...service.deps.config, SLUICE_TWO_PEOPLE_FOR: ['refund', 'reject'] } });
  });
  afterAll(() => cautious.close());

  const resolve = (token: string, paymentId: string, body: object): Promise<Answer> =>
    ask(token, 'POST', `/payments/${paymentId}/aml`, { reason: 'why', ...body }, cautious);
  const reject = (token: string, id: string): Promise<Answer> => ask(token, 'POST', `/settlements/${id}/reject`, { reason: 'a mistake' }, cautious);
  const amlState = async (paymentId: string): Promise<unknown> => (await sql()`select aml_state as state from payments where id = ${paymentId}`)[0]?.state;
  const refunds = async (paymentId: string): Promise<readonly unknown[]> => sql()`select recipient, status from aml_refunds where payment_id = ${paymentId}`;
  const aCashout = async (): Promise<string> => {
    const shop = await service.aShop();
    await shop.fund('USDT', '10');
    const body = { assetId: service.world.assets.USDT?.id, amount: '2', address: ADDRESS };
    return String((await shop.signed('POST', '/merchant/settlements', { body })).data.id);
  };

  it('a refund is ordered once another person confirms it, to the address that was proposed', async () => {
    const { paymentUid, shopId } = await aHeldPayment('20');
    const proposed = await resolve(ANNA, paymentUid, { action: 'REFUND', address: ADDRESS });
    expect(proposed.status, proposed.text).toBe(202);
    expect(proposed.data).toMatchObject({
      act: 'payment.refund',
      target: paymentUid,
      content: { paymentId: paymentUid, gatewayId: shopId, address: ADDRESS },
      proposedBy: 'anna',
    });
    expect(await refunds(paymentUid), 'nothing is ordered yet').toEqual([]);
    expect((await confirm(ANNA, proposed.data.id)).status).toBe(409);
    const confirmed = await confirm(BEN, proposed.data.id);
    expect(confirmed.status, confirmed.text).toBe(200);
    expect(confirmed.data.outcome).toEqual({ paymentId: paymentUid });
    expect(await refunds(paymentUid)).toEqual([{ recipient: ADDRESS.toLowerCase(), status: 'ordered' }]);
    const log = (await ask(SHARED, 'GET', `/audit-log?target=${paymentUid}`)).data.items;
    expect(log).toMatchObject([{ action: 'payment.refund', person: 'ben', reason: 'why' }]);
    expect((await confirm(BEN, proposed.data.id)).status).toBe(409);
    expect(await refunds(paymentUid)).toHaveLength(1);
  });

  it('a refund is not ordered once more was credited than was proposed, and not of more', async () => {
    const { paymentUid, address } = await aHeldPayment('20');
    const { data } = await resolve(ANNA, paymentUid, { action: 'REFUND', address: ADDRESS });
    expect(data.content).toMatchObject({ credits: expect.stringMatching(/^[\d.]+ USDT on ethereum \([0-9a-f-]{36}\)$/) });
    await service.mine([payTo(address, service.world.assets.USDT as StoredAsset, '5000')]);
    await service.mine();
    for (const { id } of await sql()<{ id: string }[]>`select id from credits where payment_id = ${paymentUid}`) await screenCredit(service.worker, id);
    expect(await sql()`select 1 from credits where payment_id = ${paymentUid}`).toHaveLength(2);
    const refused = await confirm(BEN, data.id);
    expect([refused.status, refused.error.message]).toEqual([409, expect.stringContaining('other credits')]);
    expect(await refunds(paymentUid)).toEqual([]);
    await withdraw(BEN, data.id);
    const again = await resolve(ANNA, paymentUid, { action: 'REFUND', address: ADDRESS });
    expect((await confirm(BEN, again.data.id)).status).toBe(200);
    expect(await refunds(paymentUid)).toHaveLength(1);
  });

  it('what one person may do alone goes on as before, and what was proposed is asked again when it is confirmed', async () => {
    const { paymentUid } = await aHeldPayment('20');
    const { data } = await resolve(ANNA, paymentUid, { action: 'REFUND', address: ADDRESS });
    expect((await resolve(SHARED, paymentUid, { action: 'RELEASE' })).status).toBe(200);
    expect(await amlState(paymentUid)).toBe('RELEASED');
    const late = await confirm(BEN, data.id);
    expect([late.status, late.error.message]).toEqual([409, expect.stringContaining('RELEASED')]);
    expect([await refunds(paymentUid), (await ask(BEN, 'GET', `/proposals/${String(data.id)}`)).data.status]).toEqual([[], 'open']);
    await withdraw(BEN, data.id);
  });

  it('a refund is not proposed to no address, nor of a payment that is not held, nor by the token that is shared', async () => {
    const { paymentUid } = await aHeldPayment('20');
    expect((await resolve(ANNA, paymentUid, { action: 'REFUND', address: 'nowhere' })).error.message).toMatch(/^address: /);
    expect((await resolve(SHARED, paymentUid, { action: 'REFUND', address: ADDRESS })).status).toBe(409);
    expect((await resolve(ANNA, paymentUid, { action: 'WITHHOLD' })).status).toBe(200);
    expect((await resolve(ANNA, paymentUid, { action: 'REFUND', address: ADDRESS })).status).toBe(409);
    expect((await resolve(ANNA, randomUUID(), { action: 'REFUND', address: ADDRESS })).status).toBe(404);
  });

  it('a cashout is rejected once another person confirms it, and of many proposals once', async () => {
    const id = await aCashout();
    const status = async (): Promise<unknown> => (await sql()`select status from settlements where id = ${id}`)[0]?.status;
    const [first, second] = [await reject(ANNA, id), await reject(BEN, id)];
    expect(first.data).toMatchObject({
      act: 'settlement.reject',
      target: id,
      content: { settlementId: id, amount: '2', assetSymbol: 'USDT', address: ADDRESS },
    });
    expect([first.status, second.status, await status()]).toEqual([202, 202, 'REQUESTED']);
    const answers = await Promise.all([confirm(BEN, first.data.id), confirm(ANNA, second.data.id)]);
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, 409]);
    expect(await status()).toBe('REJECTED');
    expect((await reject(ANNA, id)).status).toBe(409);
    expect((await reject(ANNA, randomUUID())).status).toBe(404);
    for (const { data } of [first, second]) await withdraw(BEN, data.id);
  });
});

describe('withheld coins', () => {
  it.each([
    ['an asset nobody knows', { assetId: randomUUID() }, 'assetId'],
    ['no amount', { amount: '0' }, 'amount'],
    ['more decimals than the asset has', { amount: '0.0000001' }, 'amount'],
    ['no address of that network', { address: 'T9yD14Nj9j7xAB4dbGeiX9his4uBUWcobi' }, 'address'],
    ['an address of this deployment', { address: 'own' }, 'address'],
    ['a token', { address: 'token' }, 'address'],
    ['no reason', { reason: ' ' }, 'reason'],
  ])('are not proposed to be sent with %s', async (_what, over, field) => {
    const special: Record<string, string | null | undefined> = {
      own: service.world.network.config.wallets.held.address,
      token: service.world.assets.USDT?.contract,
    };
    const address = 'address' in over ? (special[over.address] ?? over.address) : ADDRESS;
    const refused = await propose(ANNA, { ...over, address });
    expect([refused.status, refused.error.message.split(':')[0]]).toEqual([422, field]);
  });

  it('are never ordered beyond what is kept, however many are confirmed at once', async () => {
    gatewayId = await aKeptGateway('10');
    const mine = (await propose(ANNA, { amount: '9.500001' })).data.id;
    const short = await confirm(BEN, mine);
    expect([short.status, short.error.message]).toEqual([409, expect.stringContaining('9.500001 cannot be sent')]);
    expect((await ask(ANNA, 'GET', `/proposals/${String(mine)}`)).data.status, 'it may be tried again').toBe('open');
    const proposals = await Promise.all(Array.from({ length: 6 }, () => propose(ANNA, { amount: '3' })));
    const answers = await Promise.all(proposals.map(({ data }) => confirm(BEN, data.id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409, 409, 409]);
    expect((await ask(ANNA, 'GET', `/gateways/${gatewayId}/withheld`)).data.items).toMatchObject([{ withheld: '9.5', final: '9.5', onItsWay: '9' }]);
    // What is taken back may be sent again.
    const [{ id } = { id: '' }] = await sql()<{ id: string }[]>`select id from withheld_transfers where gateway_id = ${gatewayId} limit 1`;
    const cancelled = await ask(ANNA, 'POST', `/withheld/${id}/cancel`, { reason: 'to another address' });
    expect([cancelled.status, cancelled.data.status, cancelled.data.failure]).toEqual([200, 'failed', 'cancelled: to another address']);
    expect((await ask(ANNA, 'GET', `/gateways/${gatewayId}/withheld`)).data.items).toMatchObject([{ onItsWay: '6' }]);
  });

  it('of another gateway stay there', async () => {
    const other = (await service.aShop()).id;
    const proposed = await ask(ANNA, 'POST', `/gateways/${other}/withheld`, order());
    expect([proposed.status, (await confirm(BEN, proposed.data.id)).status]).toEqual([202, 409]);
  });
});
