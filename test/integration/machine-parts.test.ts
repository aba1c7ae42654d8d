import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished } from 'vitest';
import { completeRefund } from '#api/aml/complete-refund.ts';
import { failRefund } from '#api/aml/fail-refund.ts';
import { enrolTotp } from '#api/operator/gateways.ts';
import { resolveAml } from '#api/operator/resolve-aml.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { expireDuePayments } from '#api/payments/expire.ts';
import { approveSettlement } from '#api/settlements/approve.ts';
import { cancelSettlement } from '#api/settlements/cancel.ts';
import { expireParked } from '#api/settlements/expire-parked.ts';
import { rejectSettlement } from '#api/settlements/reject.ts';
import type { SettlementView } from '#api/settlements/view.ts';
import { gatewayBalances } from '#api/ledger/balances.ts';
import { formatAmount, parseTrusted } from '#shared/core/money.ts';
import { aml } from '#state-machines/aml/machine.ts';
import { payment as paymentRecord } from '#state-machines/payment/machine.ts';
import { settlement as settlementRecord } from '#state-machines/settlement/machine.ts';
import { anAddress, type Books, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { type HeldBooks, heldBooks } from '#test/fixtures/held-books.ts';
import { aParkingWorld, type ParkingWorld } from '#test/fixtures/parking.ts';
import type { TestShop } from '#test/fixtures/shop.ts';
import { aTreasury, MERCHANT, type Treasury } from '#test/fixtures/treasury.ts';
import { plainCommit } from '#test/harness/in-process.ts';
import { everyPartIsNeeded } from '#test/fixtures/removed-parts.ts';

// What the machines of records draw is what happens: each edge and each action of theirs, taken away, is missed by somebody.

describe('of a payment, each edge and action is needed:', () => {
  let books: Books;
  beforeAll(async () => {
    books = await someBooks();
  });
  afterAll(() => books.drop());

  const expire = async (): Promise<void> => {
    await books.db.sql`update clock_offset set seconds = seconds + 1200`;
    await expireDuePayments(books.deps);
  };
  const send = async (payment: TestPayment, coins: string): Promise<void> => {
    const [{ now }] = await books.db.sql<[{ now: Date }]>`select sluice_now() as now`;
    await books.chain.mine([books.chain.transfer(payment.address, books.assets.USDT, parseTrusted<'asset'>(coins) / 10n ** 12n)], { time: now });
    await books.chain.mine([], { time: now });
    await creditFinalDeposits(books.deps, books.network.id);
  };
  /** What its merchant sees: its status, the webhooks of it, and whether the coins are in the balance. */
  const seen = async ({ id }: TestPayment) => {
    const [row] = await books.db.sql`
      select status, (select count(*)::int from credits c where c.payment_id = p.id) as credits,
        array(select e.status from webhook_events e where e.payment_id = p.id order by e.created_at) as told
      from payments p where id = ${id}`;
    return row;
  };
  const sends = (coins: string, status: string, late: boolean) => async () => {
    const payment = await books.aPayment({ expiresIn: 60, graceSeconds: 86_400, under: '1' });
    if (late) await expire();
    return async () => {
      await send(payment, coins);
      expect(await seen(payment)).toEqual({ status, credits: 1, told: late ? ['EXPIRED', status] : [status] });
    };
  };

  everyPartIsNeeded(paymentRecord, {
    'PENDING DEPOSIT_CONFIRMED SUCCESS': sends('100', 'SUCCESS', false),
    'PENDING DEPOSIT_CONFIRMED ACCEPTABLE': sends('99.5', 'ACCEPTABLE', false),
    'PENDING DEPOSIT_CONFIRMED MISMATCH': sends('50', 'MISMATCH', false),
    'EXPIRED DEPOSIT_CONFIRMED SUCCESS': sends('100', 'SUCCESS', true),
    'EXPIRED DEPOSIT_CONFIRMED ACCEPTABLE': sends('99.5', 'ACCEPTABLE', true),
    'EXPIRED DEPOSIT_CONFIRMED MISMATCH': sends('50', 'MISMATCH', true),
    'PENDING DEADLINE_PASSED EXPIRED': async () => {
      const payment = await books.aPayment({ expiresIn: 60 });
      return async () => {
        await expire();
        expect(await seen(payment)).toEqual({ status: 'EXPIRED', credits: 0, told: ['EXPIRED'] });
      };
    },
  });
});

describe('of what screening made of a payment, each edge and action is needed:', () => {
  let books: Books;
  let held: HeldBooks;
  let payment: TestPayment;
  beforeAll(async () => {
    books = await someBooks();
  });
  beforeEach(async () => {
    held = await heldBooks(books);
    payment = await held.aPayment();
  });
  afterAll(() => books.drop());

  const resolve = (action: string) =>
    resolveAml(held.deps, {
      params: { id: payment.id },
      query: {},
      body: { action, reason: 'test', ...(action === 'REFUND' && { address: anAddress() }) },
    });
  const seen = async () => ({ state: await held.amlState(payment), accounts: await held.accounts() });
  /** A held payment of 100, whose refund is ordered. */
  const ordered = async (): Promise<string> => {
    await held.earn(payment, '100', 80);
    await resolve('REFUND');
    const [refund] = await books.db.sql<{ id: string }[]>`select id from aml_refunds where payment_id = ${payment.id}`;
    return refund?.id as string;
  };
  const pay = (refundId: string) => books.db.transaction((tx) => completeRefund(tx, held.deps, { refundId, txid: `0x${refundId}` }));

  everyPartIsNeeded(aml, {
    'NONE FLAGGED HELD': async () => async () => {
      await held.earn(payment, '100', 80);
      expect(await seen()).toEqual({ state: 'HELD', accounts: { held: '98.5' } });
    },
    'HELD FLAGGED HELD': async () => {
      await held.earn(payment, '100', 80);
      return async () => {
        await held.earn(payment, '10', 80);
        expect(await seen()).toEqual({ state: 'HELD', accounts: { held: '108.4' } });
      };
    },
    'HELD DRAWN RELEASED': async () => {
      await held.earn(payment, '100', 80);
      return async () => {
        await held.settle((await held.claim('held', '98.5')) as string);
        expect(await seen()).toEqual({ state: 'RELEASED', accounts: {} });
      };
    },
    'HELD OPERATOR_RELEASED RELEASED': async () => {
      await held.earn(payment, '100', 80);
      return async () => {
        await resolve('RELEASE');
        expect(await seen()).toEqual({ state: 'RELEASED', accounts: { available: '98.5' } });
      };
    },
    'HELD OPERATOR_WITHHELD WITHHELD': async () => {
      await held.earn(payment, '100', 80);
      return async () => {
        await resolve('WITHHOLD');
        expect(await seen()).toEqual({ state: 'WITHHELD', accounts: { withheld: '98.5' } });
      };
    },
    'HELD REFUND_ORDERED HELD': async () => {
      await held.earn(payment, '100', 80);
      return async () => {
        await resolve('REFUND');
        expect(await seen()).toEqual({ state: 'HELD', accounts: { refunding: '99.5' } });
      };
    },
    'HELD REFUND_PAID REFUNDED': async () => {
      const refundId = await ordered();
      return async () => {
        await pay(refundId);
        expect(await seen()).toEqual({ state: 'REFUNDED', accounts: {} });
      };
    },
    // Coins that came after the order are not part of it.
    'HELD REFUND_PAID HELD': async () => {
      const refundId = await ordered();
      await held.earn(payment, '10', 80);
      return async () => {
        await pay(refundId);
        expect(await seen()).toEqual({ state: 'HELD', accounts: { held: '9.9' } });
      };
    },
    'HELD REFUND_FAILED HELD': async () => {
      const refundId = await ordered();
      return async () => {
        await books.db.transaction((tx) => failRefund(tx, held.deps, { refundId, reason: 'no bytes of it can be mined' }));
        expect(await seen()).toEqual({ state: 'HELD', accounts: { held: '98.5' } });
      };
    },
  });
});

describe('of a cashout, each edge and action is needed:', () => {
  const WEEK = 7 * 86_400;
  let world: ParkingWorld;
  let shop: TestShop;
  beforeAll(async () => {
    world = await aParkingWorld();
  });
  beforeEach(async () => {
    world.screening.verdict = { score: 0 };
    await world.forget();
    shop = await world.open({ screening: { enabled: true, threshold: 70 }, cashout: { approvalCapUsd: '50', dispatchDelaySeconds: 90 } });
  });
  afterAll(() => world.shops.stop({ audit: false }));

  /** What its merchant sees: where it is, what is left to withdraw, and whether it is queued to be sent or a mail about it is. */
  const seen = async ({ id }: SettlementView) => {
    const { sql } = world.shops.world.database;
    const [row] = await sql<{ status: string; queued: string[] }[]>`
      select status, array(select o.topic from outbox o where o.ref_id = s.id order by o.topic) as queued from settlements s where id = ${id}`;
    const found = (await gatewayBalances(sql, shop.gateway.id)).find((one) => one.assetId === world.usdt.id);
    return { ...row, available: formatAmount(found?.available ?? 0n), reserved: formatAmount(found?.reserved ?? 0n) };
  };
  const create = async (amount: string, body: Record<string, unknown> = {}) => (await world.create(shop, { amount, ...body })).view;
  const call = ({ id }: SettlementView) => ({ gateway: shop.gateway, id, commit: plainCommit(world.deps) });
  /** Parked for a verdict that nobody can give now. */
  const waiting = async (amount: string): Promise<SettlementView> => {
    world.screening.verdict = 'out_of_credit';
    return create(amount, { route: 'SMART' });
  };
  const inSevenDays = async (): Promise<void> => {
    await world.shops.world.advance(WEEK);
    await expireParked(world.deps);
  };
  const DISPATCH = ['settlement.dispatch'];

  /** A cashout of 20 USDT on a chain of its own; `play` brings it to its end. */
  const onChain = (play: (treasury: Treasury, id: string) => Promise<unknown>, end: { status: string; received: bigint; reserved: string }) => async () => {
    const treasury = await aTreasury();
    onTestFinished(() => treasury.stop());
    const merchant = await treasury.world.aGateway();
    await treasury.earn(merchant, 'USDT', '50');
    const { id } = await treasury.cashOut(merchant, 'USDT', '20');
    return async () => {
      await play(treasury, id);
      const { sql } = treasury.world.database;
      const found = (await gatewayBalances(sql, merchant.id)).find((one) => one.assetId === treasury.assets.USDT?.id);
      const [row] = await sql`select status from settlements where id = ${id}`;
      expect({
        status: row?.status,
        paid: (await treasury.chain.tokenBalance(treasury.assets.USDT?.contract as string, MERCHANT)) > 0n,
        reserved: formatAmount(found?.reserved ?? 0n),
      }).toEqual({ status: end.status, paid: end.received > 0n, reserved: end.reserved });
    };
  };
  /** Steps of worker, signer and chain, as many as a cashout takes. */
  const steps = async (treasury: Treasury, rounds = 8): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      await treasury.world.database.sql`update outbox set due_at = sluice_now() where state = 'due'`;
      await treasury.work();
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
  };
  const REVERTS = '0x60006000fd';
  /** Both payouts of it fail in a block; then an operator rejects it. */
  const failTwice = async (treasury: Treasury, id: string): Promise<void> => {
    const usdt = treasury.assets.USDT?.contract as string;
    const { sql } = treasury.world.database;
    const real = await treasury.chain.node.call<string>('eth_getCode', [usdt, 'latest']);
    const failed = async (number: number) =>
      (await sql`select 1 from payouts where settlement_id = ${id} and purpose = 'settlement' and family = ${number} and status = 'FAILED'`).length === 1;
    for (let round = 0; round < 14 && !(await failed(2)); round++) {
      await sql`update outbox set due_at = sluice_now() where state = 'due'`;
      await treasury.work();
      await treasury.sign();
      await treasury.work();
      const [sent] = await sql`select 1 from payouts where settlement_id = ${id} and purpose = 'settlement' and status = 'BROADCAST'`;
      if (sent !== undefined) await treasury.chain.node.call('anvil_setCode', [usdt, REVERTS]);
      await treasury.mine();
      await treasury.chain.node.call('anvil_setCode', [usdt, real]);
      await treasury.mine(2);
    }
    await rejectSettlement(treasury.deps, { id, reason: 'it failed twice' });
  };

  everyPartIsNeeded(settlementRecord, {
    'PENDING_APPROVAL APPROVED REQUESTED': async () => {
      await world.fund(shop, 100);
      const view = await create('60');
      const { data } = await enrolTotp(world.deps, { params: { id: shop.gateway.id }, query: {}, body: {} });
      return async () => {
        await approveSettlement(world.deps, { ...call(view), totpCode: generateSync({ secret: (data as { secret: string }).secret }) });
        expect(await seen(view)).toEqual({ status: 'REQUESTED', available: '40', reserved: '60', queued: DISPATCH });
      };
    },
    'PENDING_APPROVAL OPERATOR_REJECTED REJECTED': async () => {
      await world.fund(shop, 100);
      const view = await create('60');
      return async () => {
        await rejectSettlement(world.deps, { id: view.id, reason: 'asked for' });
        expect(await seen(view)).toEqual({ status: 'REJECTED', available: '100', reserved: '0', queued: [] });
      };
    },
    'REQUESTED OPERATOR_REJECTED REJECTED': async () => {
      await world.fund(shop, 100);
      const view = await create('10');
      return async () => {
        await rejectSettlement(world.deps, { id: view.id, reason: 'asked for' });
        expect(await seen(view)).toMatchObject({ status: 'REJECTED', available: '100', reserved: '0' });
      };
    },
    'UNDERFUNDED ACTIVATED REQUESTED': async () => {
      const view = await create('10');
      await world.fund(shop, 100);
      return async () => {
        await world.aMinute();
        expect(await seen(view)).toEqual({ status: 'REQUESTED', available: '90', reserved: '10', queued: DISPATCH });
      };
    },
    'UNDERFUNDED ACTIVATED PENDING_APPROVAL': async () => {
      const view = await create('60');
      await world.fund(shop, 100);
      return async () => {
        await world.aMinute();
        expect(await seen(view)).toEqual({ status: 'PENDING_APPROVAL', available: '40', reserved: '60', queued: [] });
      };
    },
    'UNDERFUNDED CANCELLED REJECTED': async () => {
      const view = await create('10');
      return async () => {
        await cancelSettlement(world.deps, call(view));
        expect(await seen(view)).toEqual({ status: 'REJECTED', available: '0', reserved: '0', queued: [] });
      };
    },
    'UNDERFUNDED PARKING_EXPIRED REJECTED': async () => {
      const view = await create('10');
      return async () => {
        await inSevenDays();
        expect(await seen(view)).toEqual({ status: 'REJECTED', available: '0', reserved: '0', queued: ['settlement.mail'] });
      };
    },
    'WAITING_AML_CREDIT SCREENED REQUESTED': async () => {
      await world.fund(shop, 100);
      const view = await waiting('10');
      world.screening.verdict = { score: 10 };
      return async () => {
        await world.aMinute();
        expect(await seen(view)).toEqual({ status: 'REQUESTED', available: '90', reserved: '10', queued: DISPATCH });
      };
    },
    'WAITING_AML_CREDIT SCREENED PENDING_APPROVAL': async () => {
      await world.fund(shop, 100);
      const view = await waiting('60');
      world.screening.verdict = { score: 10 };
      return async () => {
        await world.aMinute();
        expect(await seen(view)).toEqual({ status: 'PENDING_APPROVAL', available: '40', reserved: '60', queued: [] });
      };
    },
    'WAITING_AML_CREDIT SCREENED UNDERFUNDED': async () => {
      await world.fund(shop, 5);
      const view = await waiting('10');
      world.screening.verdict = { score: 10 };
      return async () => {
        await world.aMinute();
        expect(await seen(view)).toEqual({ status: 'UNDERFUNDED', available: '5', reserved: '0', queued: [] });
      };
    },
    'WAITING_AML_CREDIT CANCELLED REJECTED': async () => {
      const view = await waiting('10');
      return async () => {
        await cancelSettlement(world.deps, call(view));
        expect(await seen(view)).toEqual({ status: 'REJECTED', available: '0', reserved: '0', queued: [] });
      };
    },
    'WAITING_AML_CREDIT PARKING_EXPIRED REJECTED': async () => {
      const view = await waiting('10');
      return async () => {
        await inSevenDays();
        expect(await seen(view)).toEqual({ status: 'REJECTED', available: '0', reserved: '0', queued: ['settlement.mail'] });
      };
    },
    'REQUESTED DISPATCHED PROCESSING': onChain((treasury) => steps(treasury), { status: 'SETTLED', received: 1n, reserved: '0' }),
    'PROCESSING COMPLETED SETTLED': onChain((treasury) => steps(treasury), { status: 'SETTLED', received: 1n, reserved: '0' }),
    'PROCESSING OPERATOR_REJECTED REJECTED': onChain(failTwice, { status: 'REJECTED', received: 0n, reserved: '0' }),
  });
});
