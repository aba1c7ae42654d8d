import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JobQueue } from '#api/jobs/queue.ts';
import { runDueJobs, startRelay } from '#api/jobs/relay.ts';
import type { DepositScreen } from '#api/deps.ts';
import { screenDepositJob } from '#api/jobs/outbox-jobs.ts';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import { readParts } from '#api/payments/view.ts';
import { verifyView } from '#api/payments/verify.ts';
import { findPayment, type Payment } from '#api/store/payments.ts';
import { POLICY } from '#shared/core/policy.ts';
import { anAddress, type Books, someBooks, type TestPayment } from '#test/fixtures/books.ts';
import { type HeldBooks, heldBooks } from '#test/fixtures/held-books.ts';
import { waitFor } from '#ops/dev/services/wait.ts';

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
afterAll(async () => {
  try {
    await held.audit();
  } finally {
    await books.drop();
  }
});

const verified = async (of = payment) =>
  verifyView(held.deps, await readParts(held.deps, (await findPayment(books.db.sql, of.id)) as Payment)) as Record<string, unknown>;
const credits = () =>
  books.db
    .sql`select pool, screening, screening_score as score, taken, matured_at is not null as matured, remaining::text from credits where gateway_id = ${held.gatewayId} order by credited_at, id`;
const later = (seconds: number) => books.db.sql`update clock_offset set seconds = seconds + ${seconds}`;

describe('a deposit of a gateway that screens', () => {
  it('resolves its payment at once and is announced, but nothing of it matures before its verdict', async () => {
    await held.pay(payment, '100', 0);
    expect((await findPayment(books.db.sql, payment.id))?.status).toBe('SUCCESS');
    expect(
      await books.db
        .sql`select topic from outbox o where ref_id in (select id from credits where payment_id = ${payment.id}) or ref_id in (select id from webhook_events where payment_id = ${payment.id}) order by topic`,
    ).toEqual([{ topic: 'deposit.screen' }, { topic: 'webhook.deliver' }]);
    await later(90 * 86_400);
    await held.mature();
    expect(await held.accounts()).toEqual({ pending: '98.5' });
    expect(await verified()).not.toHaveProperty('amlState');
  });

  it('that is clean matures into the green pool, and its payment is never flagged', async () => {
    await held.earn(payment, '100', 69);
    expect(await held.accounts()).toEqual({ available: '98.5' });
    expect(await credits()).toEqual([{ pool: 'green', screening: 'clean', score: 69, taken: null, matured: true, remaining: '98.5' }]);
    expect(await verified()).not.toHaveProperty('amlState');
    expect(await books.db.sql`select screening_score as score, screening_ref like 'ref-%' as named from deposits where payment_id = ${payment.id}`).toEqual([
      { score: 69, named: true },
    ]);
  });

  it('that is flagged holds its payment, matures in the held pool and reads HELD on verify', async () => {
    await held.pay(payment, '100', 70);
    expect(await held.screen()).toBe(1);
    expect(await held.accounts()).toEqual({ heldPending: '98.5' });
    await held.mature();
    expect(await held.accounts()).toEqual({ held: '98.5' });
    expect(await verified()).toMatchObject({ status: 'SUCCESS', amlState: 'HELD' });
    expect(await books.db.sql`select event, from_status, to_status, actor from aml_events where payment_id = ${payment.id}`).toEqual([
      { event: 'FLAGGED', fromStatus: 'NONE', toStatus: 'HELD', actor: 'screening' },
    ]);
    // Nothing of it was in a wallet as clean, and nobody needs to be asked again.
    expect(await held.screen()).toBe(0);
    expect(held.asked).toHaveLength(1);
  });

  it('made of several transfers takes the worst of them, whatever their order', async () => {
    const [clean, dirty] = [anAddress(), anAddress()];
    held.says(clean, 1);
    held.says(dirty, 100);
    await books.chain.mine([
      books.chain.transfer(payment.address, held.usdt, 40_000_000n, { sender: clean }),
      books.chain.transfer(payment.address, held.usdt, 60_000_000n, { sender: dirty }),
    ]);
    await held.pay(await held.aPayment(), '100', 0);
    expect(await held.screen()).toBe(2);
    expect(await held.amlState(payment)).toBe('HELD');
    expect((await credits()).map(({ screening, score }) => ({ screening, score }))).toContainEqual({ screening: 'flagged', score: 100 });
  });

  it.each(['unavailable', 'pending', 'out_of_credit'] as const)(
    'waits for its verdict while screening is %s, and is asked about again every minute',
    async (answer) => {
      const sender = await held.pay(payment, '100', answer);
      const run = () => runDueJobs(held.deps, [screenDepositJob]);
      await run();
      expect(held.asked).toHaveLength(1);
      await later(POLICY.screeningRetrySeconds - 2);
      await run();
      expect(held.asked).toHaveLength(1);
      await later(3);
      await run();
      expect(held.asked).toHaveLength(2);
      await held.mature();
      expect(await held.accounts()).toEqual({ pending: '98.5' });
      held.says(sender, 90);
      await later(POLICY.screeningRetrySeconds + 1);
      await run();
      expect(await held.accounts()).toEqual({ heldPending: '98.5' });
      await run();
      expect(held.asked).toHaveLength(3);
    },
  );

  it('is queued again when the job that asked for its verdict was given up', async () => {
    await held.pay(payment, '100', 5);
    await books.db.sql`update outbox set state = 'dead' where topic = 'deposit.screen' and ref_id in (select id from credits where payment_id = ${payment.id})`;
    await later(61);
    expect(await periodicWork['requeue-unscreened'].run(held.deps)).toBe(1);
    expect(await periodicWork['requeue-unscreened'].run(held.deps)).toBe(0);
    await runDueJobs(held.deps, [screenDepositJob]);
    expect((await credits())[0]).toMatchObject({ screening: 'clean' });
  });

  it('waits for no other gateway, however many deposits of that one a provider does not answer about', async () => {
    const other = await heldBooks(books);
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    for (let i = 0; i < 2 * POLICY.screeningLanes.together; i++) await held.pay(await held.aPayment(), '100', 'pending');
    let hanging = 0;
    const screening = {
      ...held.deps.screening,
      deposit: async (asked: Parameters<typeof held.deps.screening.deposit>[0]): Promise<DepositScreen> => {
        if (asked.gateway.id === other.gatewayId) return other.deps.screening.deposit(asked);
        hanging += 1;
        await answered;
        return 'pending';
      },
    };
    const withoutRedis = { push: () => Promise.reject(new Error('no redis')) } as unknown as JobQueue;
    const relay = startRelay({ ...held.deps, screening }, [screenDepositJob], withoutRedis, () => true);
    try {
      await waitFor(() => hanging === POLICY.screeningLanes.perTarget, { what: 'the share of the first gateway to hang' });
      await other.pay(await other.aPayment(), '100', 5);
      await waitFor(() => other.asked.length > 0, { what: 'the verdict of the other gateway' });
      expect(hanging).toBe(POLICY.screeningLanes.perTarget);
    } finally {
      answer();
      await relay.stop();
    }
  });

  it('gets one verdict however many workers ask at once', async () => {
    await held.pay(payment, '100', 90);
    await Promise.all([held.screen(), held.screen(), held.screen(), held.screen()]);
    expect(await books.db.sql`select count(*) as events from aml_events where payment_id = ${payment.id}`).toEqual([{ events: 1 }]);
    expect(await held.accounts()).toEqual({ heldPending: '98.5' });
  });

  it('stays waiting while screening is switched off, because nobody looked at it', async () => {
    await held.pay(payment, '100', 5);
    await held.screens(false);
    expect(await held.screen()).toBe(0);
    await held.mature();
    expect(await held.accounts()).toEqual({ pending: '98.5' });
    await held.screens(true);
    expect(await held.screen()).toBe(1);
  });
});

describe('a gateway that does not screen', () => {
  it('has its deposits in the green pool and asks nobody', async () => {
    await held.screens(false);
    await held.earn(payment, '100', 100);
    expect(await held.accounts()).toEqual({ available: '98.5' });
    expect(held.asked).toEqual([]);
    expect(await credits()).toMatchObject([{ pool: 'green', screening: 'none', score: null }]);
  });
});

describe('a payment with several deposits', () => {
  it('is in one pool as a whole: a flagged one takes with it what is left of the clean ones, matured or not', async () => {
    await held.earn(payment, '100', 0);
    const taken = (await held.claim('green', '30')) as string;
    await later(1);
    await held.pay(payment, '10', 5);
    await held.screen();
    await held.pay(payment, '20', 80);
    expect(await held.accounts()).toEqual({ available: '68.5', reserved: '30', pending: '29.7' });
    await held.screen();
    expect(await held.accounts()).toEqual({ held: '68.5', reserved: '30', heldPending: '29.7' });
    expect(await held.amlState(payment)).toBe('HELD');
    expect(await books.db.sql`select from_pool, to_pool, trim_scale(amount)::text as amount from pool_moves where payment_id = ${payment.id}`).toEqual([
      { fromPool: 'green', toPool: 'held', amount: '98.2' },
    ]);
    // What the cashout had drawn is its own, and comes back to where the payment is by now.
    await held.reject(taken);
    await held.mature();
    expect(await held.accounts()).toEqual({ held: '128.2' });
  });

  it('is credited to the held pool at once while it is HELD, and still screened', async () => {
    await held.earn(payment, '100', 80);
    await held.pay(payment, '10', 0);
    expect(await held.accounts()).toEqual({ held: '98.5', heldPending: '9.9' });
    await held.mature();
    await held.screen();
    await held.mature();
    expect(await held.accounts()).toEqual({ held: '108.4' });
    expect(await held.amlState(payment)).toBe('HELD');
  });

  it('of different assets moves in each of them, and leaves other payments alone', async () => {
    const other = await held.aPayment();
    await held.earn(other, '50', 0);
    const { ETH } = books.assets;
    await held.earn(payment, '0.05', 0, ETH);
    await held.pay(payment, '100', 99);
    await held.screen();
    expect(await held.accounts(ETH)).toEqual({ held: '0.049' });
    expect(await held.accounts()).toEqual({ available: '49', heldPending: '99' });
    expect(await held.amlState(other)).toBeNull();
  });
});
