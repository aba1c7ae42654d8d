import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { generateSync } from 'otplib';
import type { Deps, Gateway } from '#api/deps.ts';
import { adoptOrders } from '#api/intents/adopt.ts';
import { cashoutProblem } from '#api/intents/cashout.ts';
import { sayRefund, sayWithheld } from '#api/intents/held-order.ts';
import { sayProposed } from '#api/intents/proposal.ts';
import { say } from '#api/intents/say.ts';
import { enrolTotp } from '#api/operator/gateways.ts';
import { approveSettlement } from '#api/settlements/approve.ts';
import { createSettlement } from '#api/settlements/create.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { intentMac } from '#api/intents/order-mac.ts';
import { earlierPayoutProblem } from '#api/payouts/earlier-payout-problem.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { listAttempts } from '#api/store/payout-attempts.ts';
import { findPayout } from '#api/store/payouts.ts';
import type { StoredProposal } from '#api/store/proposals.ts';
import { insertStatements, listStatements } from '#api/store/keyed-orders.ts';
import { findKeyedSettlement } from '#api/store/settlements.ts';
import { decoderOf } from '#shared/chains/payers.ts';
import { masterKeys } from '#shared/platform/key-ring.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { makeStatement, publicHalf, readStatement, type Said } from '#shared/platform/statements.ts';
import { aTreasury, MERCHANT, type Treasury } from '#test/fixtures/treasury.ts';
import { plainCommit } from '#test/harness/in-process.ts';
import { TEST_INTENT_KEY } from '#test/harness/world.ts';

const PUBLIC = publicHalf(TEST_INTENT_KEY);
/** Somebody's who is not the http role. */
const FOREIGN = '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb';
const BAD = '0x00000000000000000000000000000000000bad01';

let treasury: Treasury;
let shop: Gateway;
/** The signer and the worker as they run: with the public half only. */
let apart: Deps;

beforeAll(async () => {
  treasury = await aTreasury();
  apart = having({});
});
beforeEach(async () => {
  await sql()`delete from freezes`;
  shop = await treasury.world.aGateway({ cashout: { enabled: true, approvalCapUsd: '30' } });
  await treasury.earn(shop, 'USDT', '100');
});
afterAll(async () => {
  try {
    await treasury.settleAll();
    await treasury.audit();
  } finally {
    await treasury.stop();
  }
});

const sql = () => treasury.world.database.sql;
function having(config: Partial<Deps['config']>): Deps {
  return { ...treasury.deps, config: { ...treasury.deps.config, SLUICE_INTENT_KEY: undefined, SLUICE_INTENT_PUBLIC_KEYS: [PUBLIC], ...config } };
}
const problem = async (id: string, deps = apart) => {
  const row = await findKeyedSettlement(sql(), id);
  if (row === undefined) throw new Error('it is gone');
  return cashoutProblem(sql(), deps, row);
};
/** Writes as whoever has the rights of the database's owner, triggers off; for append-only rows. */
const asOwner = (work: (tx: Tx) => PromiseLike<unknown>): Promise<void> =>
  treasury.world.database.transaction(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await work(tx);
  });
const signed = (payoutId: string, deps = apart) => signPayout(deps, treasury.signers, payoutId);

async function planned(amount = '20'): Promise<{ id: string; payoutId: string }> {
  const { id } = await treasury.cashOut(shop, 'USDT', amount);
  for (let round = 0; round < 10; round++) {
    await dispatchSettlement(apart, id);
    const [payout] = await sql()<{ id: string }[]>`select id from payouts where settlement_id = ${id} and purpose = 'settlement' and status = 'PLANNED'`;
    if (payout !== undefined) return { id, payoutId: payout.id };
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
  }
  throw new Error('it was never planned');
}

/** What was said of a cashout, read. */
async function wordsOf(id: string): Promise<Said> {
  const [statement] = await listStatements(sql(), { kind: 'cashout', subject: id });
  const said = statement && readStatement([PUBLIC], statement, { kind: 'cashout', subject: id });
  if (said === undefined || said === null) throw new Error('nothing was said');
  return said;
}

/** Puts one statement in the place of whatever was said of a cashout, as the owner of the database. */
const replaceWith = (id: string, statement: Parameters<typeof insertStatements>[1][number]): Promise<void> =>
  asOwner(async (tx) => {
    await tx`delete from statements where subject = ${id}`;
    await insertStatements(tx, [statement]);
  });

describe('what the http role accepts', () => {
  it('is said in the transaction that makes it: who pays whom how much of what, from where, at which fee, and that nobody has to approve it', async () => {
    const { id } = await treasury.cashOut(shop, 'USDT', '20');
    const row = await findKeyedSettlement(sql(), id);
    expect(await wordsOf(id)).toEqual({
      gatewayId: shop.id,
      assetId: row?.assetId,
      networkId: row?.networkId,
      network: 'ethereum',
      contract: treasury.assets.USDT?.contract,
      decimals: '6',
      recipient: MERCHANT.toLowerCase(),
      amount: '20',
      route: 'GREEN',
      pool: 'green',
      feeCeiling: expect.stringMatching(/^0\.\d+$/),
      approval: 'none',
      parked: 'no',
      by: 'request',
    });
    expect(await problem(id)).toBeNull();
  });

  it('is signed for by a signer that has nothing but the public half, before and after the key was changed', async () => {
    const { payoutId } = await planned();
    const other = publicHalf(FOREIGN);
    expect(await signed(payoutId, having({ SLUICE_INTENT_PUBLIC_KEYS: [other] })), 'under a key that went too early').toBe('refused');
    await sql()`delete from freezes`;
    expect(await signed(payoutId, having({ SLUICE_INTENT_PUBLIC_KEYS: [other, PUBLIC] }))).toBe('signed');
    await treasury.settleAll();
  });

  it('is believed under no other key, for no other cashout, as nothing else, and not in other words: the network is frozen', async () => {
    const { id, payoutId } = await planned();
    const another = await treasury.cashOut(shop, 'USDT', '20');
    const [statement] = await listStatements(sql(), { kind: 'cashout', subject: id });
    const [others] = await listStatements(sql(), { kind: 'cashout', subject: another.id });
    if (statement === undefined || others === undefined) throw new Error('nothing was said');
    const said = await wordsOf(id);
    const about = { kind: 'cashout', subject: id };
    const forged = [
      ['of the master key’s holder', makeStatement(FOREIGN, { ...about, said })],
      ['with the name of a trusted key', { ...makeStatement(FOREIGN, { ...about, said }), publicKey: PUBLIC }],
      ['about another cashout', { ...others, subject: id }],
      ['of another kind', { ...makeStatement(TEST_INTENT_KEY, { kind: 'approval', subject: id, said }), kind: 'cashout' }],
      ['with one word changed', { ...statement, text: statement.text.replace('"20"', '"21"') }],
    ] as const;
    for (const [what, one] of forged) {
      await replaceWith(id, one);
      expect([what, await signed(payoutId)]).toEqual([what, 'refused']);
      expect(await sql()`delete from freezes returning reason`).toEqual([{ reason: expect.stringContaining('the http role did not accept the cashout') }]);
    }
    await asOwner((tx) => tx`delete from statements where subject = ${id}`);
    expect(await signed(payoutId), 'with nothing said').toBe('refused');
    await sql()`delete from freezes`;
    await replaceWith(id, statement);
    expect(await signed(payoutId)).toBe('signed');
    await treasury.settleAll();
  });

  it('binds each of its words: a row that differs in one is refused, even under a right MAC of the master key', async () => {
    const { id, payoutId } = await planned();
    const [statement] = await listStatements(sql(), { kind: 'cashout', subject: id });
    if (statement === undefined) throw new Error('nothing was said');
    const said = await wordsOf(id);
    const changes: [string, Said][] = [
      ['gatewayId', { gatewayId: '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44' }],
      ['assetId', { assetId: '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44' }],
      ['networkId', { networkId: '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44' }],
      ['network', { network: 'tron' }],
      ['contract', { contract: BAD }],
      ['contract', { contract: null }],
      ['decimals', { decimals: '18' }],
      ['recipient', { recipient: BAD }],
      ['amount', { amount: '19' }],
      ['route', { route: 'SMART' }],
      ['pool', { pool: 'held' }],
    ];
    for (const [word, change] of changes) {
      await replaceWith(id, makeStatement(TEST_INTENT_KEY, { kind: 'cashout', subject: id, said: { ...said, ...change } }));
      expect(await problem(id), JSON.stringify(change)).toEqual({ refuse: `the settlement’s ${word} is not what was accepted` });
      expect(await signed(payoutId), JSON.stringify(change)).toBe('refused');
      await sql()`delete from freezes`;
    }
    await replaceWith(id, makeStatement(TEST_INTENT_KEY, { kind: 'cashout', subject: id, said: { ...said, feeCeiling: '0.000001' } }));
    expect(await problem(id)).toEqual({ refuse: expect.stringContaining('0.000001 was accepted at most') });
    await replaceWith(id, statement);

    // Whoever has the master key and the database: every row says the same, under a MAC that is right.
    const row = await findKeyedSettlement(sql(), id);
    if (row === undefined || row.pool === null || row.feeLocked === null) throw new Error('it claimed nothing');
    const { gatewayId, assetId, networkId, amount, feeLocked, pool } = row;
    const mac = intentMac(masterKeys(treasury.deps.config).current, {
      settlementId: id,
      gatewayId,
      assetId,
      networkId,
      recipient: BAD,
      amount,
      feeLocked,
      pool,
    });
    const move = (address: string, intent: Uint8Array) => sql()`
      with p as (update payouts set recipient = ${address} where id = ${payoutId}),
        b as (update address_book set address = ${address} where id = (select address_id from settlements where id = ${id}))
      update settlements set address = ${address}, intent_mac = ${Buffer.from(intent)} where id = ${id}`;
    await move(BAD, mac);
    expect(await signed(payoutId)).toBe('refused');
    expect(await sql()`delete from freezes returning reason`).toEqual([{ reason: expect.stringContaining('recipient is not what was accepted') }]);
    await move(MERCHANT, row.intentMac ?? Buffer.alloc(32));
    expect(await signed(payoutId)).toBe('signed');
    await treasury.settleAll();
  });

  it('is asked for before anything is planned too: the worker freezes the network as the signer would', async () => {
    const { id } = await treasury.cashOut(shop, 'USDT', '20');
    const [statement] = await listStatements(sql(), { kind: 'cashout', subject: id });
    if (statement === undefined) throw new Error('nothing was said');
    await asOwner((tx) => tx`delete from statements where subject = ${id}`);
    await dispatchSettlement(apart, id);
    expect(await sql()`delete from freezes returning scope, reason`).toEqual([
      { scope: 'network:ethereum', reason: `cashout ${id} is not paid: the http role did not accept the cashout` },
    ]);
    expect(await sql()`select 1 from payouts where settlement_id = ${id}`).toEqual([]);
    await replaceWith(id, statement);
    await treasury.settleAll();
    expect((await findKeyedSettlement(sql(), id))?.status).toBe('SETTLED');
  });
});

describe('a process without the key of the http role', () => {
  it('can say nothing: it makes no cashout, no approval, no refund, no order of withheld coins and no proposal', async () => {
    const mute = /only the http role accepts/;
    const body = { assetId: treasury.assets.USDT?.id ?? '', amount: '20', address: MERCHANT };
    await expect(createSettlement(apart, { gateway: shop, body, commit: plainCommit(apart) })).rejects.toThrow(mute);
    const common = { gatewayId: shop.id, assetId: treasury.assets.USDT?.id ?? '', networkId: treasury.network.id, recipient: MERCHANT, amount: 1n as never };
    const id = '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44';
    const said = (work: (tx: Tx) => Promise<void>) => expect(apart.db.transaction(work)).rejects.toThrow(mute);
    await said((tx) => sayRefund(tx, apart, { ...common, id, paymentId: id }, 'ada'));
    await said((tx) => sayWithheld(tx, apart, { ...common, id, proposedBy: 'anna', confirmedBy: 'ben' }));
    await said((tx) =>
      sayProposed(tx, apart, { id, act: 'a', target: 'b', content: {}, reason: 'c', proposedBy: 'anna', expiresAt: new Date() } as StoredProposal),
    );
    for (const kind of ['cashout', 'approval', 'refund', 'withheld', 'proposal'] as const) await said((tx) => say(tx, apart, { kind, subject: id, said: {} }));
    const waiting = await treasury.cashOut(shop, 'USDT', '40');
    const { data } = await enrolTotp(treasury.deps, { params: { id: shop.id }, query: {}, body: {} });
    const totpCode = generateSync({ secret: (data as { secret: string }).secret, epoch: Math.floor(Date.now() / 1_000) });
    await expect(approveSettlement(apart, { gateway: shop, id: waiting.id, totpCode, commit: plainCommit(apart) })).rejects.toThrow(mute);
    expect((await findKeyedSettlement(sql(), waiting.id))?.status).toBe('PENDING_APPROVAL');
  });
});

describe('a close', () => {
  it('needs no key, pays nobody, and lets no second payout through by itself', async () => {
    const { payoutId } = await planned();
    expect(await signed(payoutId)).toBe('signed');
    await sql()`update payouts set status = 'REPLACING', plan = plan || '{"closeMark":"00"}' where id = ${payoutId}`;
    expect(await signed(payoutId)).toBe('signed');
    const close = (await listAttempts(sql(), payoutId)).find(({ kind }) => kind === 'close');
    const payout = await findPayout(sql(), payoutId);
    const [chain] = treasury.deps.chains.values();
    if (close === undefined || payout === undefined || chain === undefined) throw new Error('nothing was closed');
    const hot = treasury.wallet('hot');
    expect(await decoderOf(chain.config)(close.signedBytes)).toMatchObject({ sender: hot, recipient: hot, contract: null, rawAmount: 0n, nonce: payout.nonce });
    const failed = { ...payout, status: 'FAILED', txid: close.txid } as const;
    expect(await earlierPayoutProblem(sql(), chain, failed)).toBe('the failure of the payout before it is not final on the chain');
    await treasury.settleAll();
  });
});

describe('what a person has to approve', () => {
  it('is not paid before they did, whatever the rows say, and their word says which code of which authenticator', async () => {
    const { id } = await treasury.cashOut(shop, 'USDT', '40');
    expect(await wordsOf(id)).toMatchObject({ approval: 'required' });
    await sql()`update settlements set status = 'REQUESTED', hold_reason = null, dispatch_at = sluice_now() where id = ${id}`;
    expect(await problem(id)).toEqual({ refuse: 'nobody approved the cashout' });
    await dispatchSettlement(apart, id);
    expect(await sql()`delete from freezes returning reason`).toEqual([{ reason: expect.stringContaining('nobody approved the cashout') }]);
    await sql()`update settlements set status = 'PENDING_APPROVAL', hold_reason = 'approval_cap', dispatch_at = null where id = ${id}`;

    const { data } = await enrolTotp(treasury.deps, { params: { id: shop.id }, query: {}, body: {} });
    const totpCode = generateSync({ secret: (data as { secret: string }).secret, epoch: Math.floor(Date.now() / 1_000) });
    await approveSettlement(treasury.deps, { gateway: shop, id, totpCode, commit: plainCommit(treasury.deps) });
    const [approval] = await listStatements(sql(), { kind: 'approval', subject: id });
    const [used] = await sql()<{ secret: string; step: string }[]>`
      select secret_id as secret, step::text as step from totp_acceptances where settlement_id = ${id}`;
    expect(approval && readStatement([PUBLIC], approval, { kind: 'approval', subject: id })).toEqual({
      gatewayId: shop.id,
      assetId: treasury.assets.USDT?.id,
      recipient: MERCHANT.toLowerCase(),
      amount: '40',
      by: 'code',
      authenticator: used?.secret,
      step: used?.step,
      at: expect.stringMatching(/^20\d\d-.*Z$/),
    });
    expect(await problem(id)).toBeNull();
    await treasury.settleAll();
    expect((await findKeyedSettlement(sql(), id))?.status).toBe('SETTLED');
  });
});

describe('an upgrade from a release that said nothing', () => {
  const later = { SLUICE_INTENT_ADOPT_BEFORE: new Date(Date.now() + 86_400_000) };

  it('lets what that release accepted wait and be countersigned, only if its MAC proves right and only from before the moment the operator set', async () => {
    const { id, payoutId } = await planned();
    const forged = await treasury.cashOut(shop, 'USDT', '10');
    const statements = [
      ...(await listStatements(sql(), { kind: 'cashout', subject: id })),
      ...(await listStatements(sql(), { kind: 'cashout', subject: forged.id })),
    ];
    await asOwner((tx) => tx`delete from statements where subject in (${id}, ${forged.id})`);
    await sql()`update settlements set intent_mac = ${Buffer.alloc(32, 7)} where id = ${forged.id}`;

    expect(await signed(payoutId, having(later))).toBe('waiting');
    expect(await sql()`select 1 from freezes`, 'nobody changed anything').toEqual([]);
    expect(await adoptOrders(treasury.deps), 'without a moment').toBe(0);
    const accepting = (config: Partial<Deps['config']>): Deps => ({ ...treasury.deps, config: { ...treasury.deps.config, ...config } });
    expect(await adoptOrders(accepting({ SLUICE_INTENT_ADOPT_BEFORE: new Date(0) })), 'made after it').toBe(0);
    expect(await adoptOrders(accepting(later))).toBe(1);
    expect(await adoptOrders(accepting(later)), 'once').toBe(0);
    expect(await wordsOf(id)).toMatchObject({ recipient: MERCHANT.toLowerCase(), amount: '20', approval: 'none', by: 'upgrade' });
    expect(await listStatements(sql(), { kind: 'cashout', subject: forged.id }), 'what proves wrong stays unsaid').toEqual([]);
    expect(await signed(payoutId)).toBe('signed');

    const genuine = statements.find(({ subject }) => subject === forged.id);
    if (genuine === undefined) throw new Error('nothing was said');
    await replaceWith(forged.id, genuine);
    await treasury.settleAll();
  });
});
