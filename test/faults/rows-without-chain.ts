import { expect } from 'vitest';
import { Webhook } from 'standardwebhooks';
import type { Deps } from '#api/deps.ts';
import { deliverWebhook } from '#api/jobs/deliver-webhook.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { newSecret, replaceSecret } from '#api/gateways/secrets.ts';
import { listBalances } from '#api/settlements/balances.ts';
import { createSettlement } from '#api/settlements/create.ts';
import type { SettlementView } from '#api/settlements/view.ts';
import { ServiceError } from '#shared/core/errors.ts';
import { connect } from '#shared/platform/postgres.ts';
import { startWebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { aProvider, clean, down, flagged, screeningOf, someAddress } from '#test/fixtures/screening.ts';
import { plainCommit } from '#test/harness/in-process.ts';
import type { Arena } from '#test/races/arena.ts';
import { OPERATIONS } from '#test/races/operations.ts';
import { legalOutcomes, type Outcome, outcomeOf } from '#test/races/orders.ts';
import type { Random } from '#test/simulation/random.ts';

/** A row of the fault matrix that needs no chain. */
export interface BookRow {
  row: string;
  name: string;
  play(arena: Arena, random: Random): Promise<void>;
}

/** Loses the first transactions that it is asked for to a deadlock or a serialisation race, after their work. */
function losing(deps: Deps, codes: string[]): Deps {
  const { db } = deps;
  return {
    ...deps,
    db: {
      ...db,
      transaction: (work) =>
        db.transaction(async (tx) => {
          const result = await work(tx);
          const code = codes.shift();
          if (code !== undefined) await tx.unsafe(`do $$ begin raise exception 'lost' using errcode = '${code}'; end $$`);
          return result;
        }),
    },
  };
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    (done) => (done as { data: SettlementView }).data.status,
    (error: unknown) => {
      if (error instanceof ServiceError) return error.code;
      throw error;
    },
  );

export const BOOK_ROWS: readonly BookRow[] = [
  {
    row: 'F36',
    name: 'an exhausted pool, a deadlock and a serialisation race are waited for and repeated, with one effect',
    async play(arena, random) {
      const { gateway } = await arena.rich({ green: ['50'], held: [] });
      const body = { assetId: arena.usdt.id, amount: '4', address: someAddress() };
      const narrow = connect(arena.deps.config.DATABASE_URL, { name: 'narrow', max: 1 });
      try {
        const codes = Array.from({ length: 1 + random.below(4) }, () => random.pick(['40P01', '40001']));
        const deps = losing({ ...arena.deps, db: narrow }, codes);
        const answers = await Promise.all(Array.from({ length: 30 }, () => codeOf(createSettlement(deps, { gateway, body, commit: plainCommit(deps) }))));
        expect(codes).toEqual([]);
        expect(answers.filter((answer) => answer === 'REQUESTED')).toHaveLength(12);
        expect(new Set(answers)).toEqual(new Set(['REQUESTED', 'insufficient_balance']));
        expect((await listBalances(arena.deps, { gateway })).items).toMatchObject([{ totalAvailable: '2' }]);
      } finally {
        await narrow.end();
      }
    },
  },
  {
    row: 'F44',
    name: 'a screening provider that is down parks or refuses, and its first verdict is kept when it contradicts itself',
    async play(arena, random) {
      const { gateway } = await arena.rich({ green: ['50'], held: [] });
      const provider = aProvider();
      const deps = { ...arena.deps, screening: screeningOf(arena.world, provider) };
      const cashOut = (address: string, route: string) =>
        codeOf(
          createSettlement(deps, { gateway, body: { assetId: arena.usdt.id, amount: String(2 + random.below(3)), address, route }, commit: plainCommit(deps) }),
        );
      provider.says(down);
      expect(await cashOut(someAddress(), 'GREEN')).toBe('PENDING_APPROVAL');
      expect(await cashOut(someAddress(), 'SMART')).toBe('screening_required');
      const slow = random.below(50);
      provider.says(() => new Promise((resolve) => setTimeout(() => resolve(clean), slow)));
      const first = someAddress();
      expect(await cashOut(first, 'SMART')).toBe('REQUESTED');
      const asked = provider.asked.length;
      provider.says(flagged);
      expect(await cashOut(first, 'SMART')).toBe('REQUESTED');
      expect(provider.asked, 'the first verdict is pinned').toHaveLength(asked);
      expect(await cashOut(someAddress(), 'GREEN')).toBe('PENDING_APPROVAL');
    },
  },
  {
    row: 'F45',
    name: 'retry, cancel, automatic activation and expiry of one parked cashout at the same instant have one winner',
    async play(arena) {
      const start = 'parked too long, covered';
      const four = OPERATIONS.filter(({ name }) => ['retry', 'cancel', 'activate', 'expire'].includes(name));
      const rows = (outcome: Outcome): string => JSON.stringify({ ...JSON.parse(outcome), told: null });
      const legal = new Set<string>();
      for (const first of four) for (const outcome of await legalOutcomes(arena, () => arena.next(start, 0), [first, first])) legal.add(rows(outcome));
      const contested = await arena.next(start, 0);
      const answers = await Promise.all(four.map(async ({ steps }) => Promise.all(steps.map((step) => step(arena, contested)))));
      const outcome = await outcomeOf(arena, contested, four, answers);
      expect([...legal]).toContain(rows(outcome));
      expect(answers.flat().filter((answer) => answer === 'done').length).toBeLessThanOrEqual(1);
    },
  },
  {
    row: 'F46',
    name: 'a webhook that is tried again after a rotation is signed by both secrets while they overlap',
    async play(arena, random) {
      const { deps } = arena;
      const shop = await arena.rich({ green: [], held: [] });
      const receiver = await startWebhookReceiver();
      const [first, second] = [newSecret('webhook', deps.randomBytes), newSecret('webhook', deps.randomBytes)];
      const rotateTo = (secret: string): Promise<void> =>
        deps.db.transaction((tx) => replaceSecret(deps, tx, { gatewayId: shop.gateway.id, kind: 'webhook', secret, overlapSeconds: 600 }));
      try {
        await rotateTo(first);
        receiver.answerWith(() => ({ status: 500 }));
        const payment = await shop.create({ webhookUrl: receiver.url });
        await shop.select(payment, 'USDT');
        await shop.receive(payment, 'USDT', payment.offers.find((one) => one.assetSymbol === 'USDT')?.totalValue as string);
        await runDueJobs(deps, [deliverWebhook]);
        await rotateTo(second);
        await arena.world.advance(35 + random.below(60));
        await runDueJobs(deps, [deliverWebhook]);
        const [before, after] = receiver.received;
        expect(after?.headers['webhook-id']).toBe(before?.headers['webhook-id']);
        for (const secret of [first, second])
          expect(new Webhook(secret).verify(after?.body as string, after?.headers as Record<string, string>)).toEqual({
            paymentId: payment.id,
            status: 'SUCCESS',
          });
      } finally {
        await receiver.stop();
      }
    },
  },
];
