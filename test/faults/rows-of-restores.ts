import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { keepHistory } from '#api/audit/keep-history.ts';
import { reconcile } from '#api/audit/reconcile.ts';
import type { Deps } from '#api/deps.ts';
import { broadcastPayoutJob, dispatchSettlementJob } from '#api/jobs/outbox-jobs.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { unfreeze } from '#api/operator/freeze.ts';
import { adoptOutgoing, showUnknownOutgoing } from '#api/operator/outgoing.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { isTrustedNetwork } from '#api/store/database-epoch.ts';
import { acquireConsumerLease } from '#test/fixtures/consumer-lease.ts';
import { listSignable } from '#api/store/payouts.ts';
import { bookOpeningBalances } from '#api/treasury/book-opening-balances.ts';
import { createBackup } from '#ops/backup/create.ts';
import { restoreBackup } from '#ops/backup/restore.ts';
import { ensureDatabase } from '#ops/dev/services/postgres.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { applyRoles } from '#shared/platform/database-roles.ts';
import { connect } from '#shared/platform/postgres.ts';
import { aFollower } from '#test/fixtures/follower.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { TEST_LOGINS, urlFor } from '#test/harness/logins.ts';
import type { FaultRow } from './rows.ts';
import { ask, planned, sendAgain, type Stage } from './stage.ts';

/** The stage's deployment over an older copy of its database, one step at a time; the chain has gone on. */
interface Older {
  deps: Deps;
  /** Mines, reads everything, and compares the books with the chain as an indexer at the head lets it. */
  lookAround(): Promise<void>;
  /** Dispatches, signs and sends whatever may be. */
  pay(): Promise<void>;
  unknown(): Promise<{ txid: string; mayHavePaid: { settlementId: string }[] }[]>;
  adopt(txid: string, more?: object): Promise<unknown>;
  isTrusted(): Promise<boolean>;
  close(): Promise<void>;
}

/** Takes a copy of the books as they are; the answer begins to live in it. */
async function copyNow({ treasury }: Stage): Promise<() => Promise<Older>> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-copy-'));
  await createBackup(treasury.world.database.url, folder);
  return async () => {
    const { postgresUrl, schemaDirectory } = inject('services');
    const url = await ensureDatabase(postgresUrl, `sluice_older_${randomUUID().replaceAll('-', '')}`);
    await restoreBackup(url, folder, schemaDirectory);
    await rm(folder, { recursive: true, force: true });
    const db = connect(url, { name: 'sluice-test', max: 10 });
    // A backup holds no rights: whoever restores one grants them anew.
    await applyRoles(db, TEST_LOGINS);
    const least = connect(urlFor(url), { name: 'sluice-test', max: 10 });
    const deps: Deps = { ...treasury.deps, db: least };
    // As its workers do within seconds, before an indexer is let write again.
    await keepHistory(deps);
    const network = treasury.network.config.name;
    const chain = deps.chains.get(network) as NonNullable<ReturnType<Deps['chains']['get']>>;
    await db.sql`update consumer_leases set expires_at = clock_timestamp()`;
    const fence = (await acquireConsumerLease(db.sql, { networkId: chain.id, holder: 'older', seconds: 3_600 })) as number;
    const [tip] = await db.sql<[{ height: number; hash: string; epoch: number }]>`select height, hash, epoch from chain_tips`;
    const { follow } = aFollower(deps, chain, fence, tip);
    const call = (body: object = {}) => ({ params: {}, query: {}, body });
    return {
      deps,
      async lookAround() {
        await treasury.chain.mine(3);
        await follow();
        await db.sql`
          insert into indexer_leases (network_id, holder, epoch, expires_at, published_height, caught_up_at)
          select network_id, 'test', epoch, now() + interval '1 hour', height, sluice_now() from chain_tips
          on conflict (network_id) do update set published_height = excluded.published_height, caught_up_at = excluded.caught_up_at, expires_at = excluded.expires_at`;
        await reconcile(deps);
      },
      async pay() {
        await db.sql`update outbox set due_at = sluice_now() where state = 'due'`;
        await runDueJobs(deps, [dispatchSettlementJob, broadcastPayoutJob]);
        for (const { id } of await listSignable(db.sql, [chain.id])) await signPayout(deps, treasury.signers, id);
        await runDueJobs(deps, [broadcastPayoutJob]);
      },
      unknown: async () => ((await showUnknownOutgoing(deps)).data as { items: Awaited<ReturnType<Older['unknown']>> }).items,
      adopt: (txid, more = {}) => adoptOutgoing(deps, call({ network, txid, reason: 'the copy does not know it', ...more })),
      isTrusted: () => isTrustedNetwork(db.sql, network),
      async close() {
        await Promise.all([db.end(), least.end()]);
        const admin = connect(postgresUrl, { name: 'sluice-test', max: 1 });
        await admin.sql`drop database if exists ${admin.sql(new URL(url).pathname.slice(1))} with (force)`;
        await admin.end();
      },
    };
  };
}

/** A hot wallet that can pay at once, and coins of our own that are booked. */
async function fillHotWallet({ treasury, driver }: Stage): Promise<void> {
  const { contract, decimals } = treasury.assets[driver.main] as { contract: string | null; decimals: number };
  const { earned } = driver.paying.money[driver.main] as { earned: string };
  await bookOpeningBalances(treasury.deps);
  await treasury.chain.payAndMine(treasury.wallet('hot'), contract, toUnits(parseTrusted(earned), decimals) as bigint);
  if (contract !== null) await treasury.chain.payAndMine(treasury.wallet('hot'), null, driver.paying.plenty);
  await treasury.mine(3);
}

/** What arrived where the merchant wanted it. */
async function received({ treasury, driver, order }: Stage): Promise<bigint> {
  const { contract } = treasury.assets[driver.main] as { contract: string | null };
  return contract === null ? treasury.chain.balance(order.body.address) : treasury.chain.tokenBalance(contract, order.body.address);
}

/** The cashout is settled and its destination got exactly what it says; the network is trusted and the audit clean. */
async function expectSettledOnce(stage: Stage, older: Older, settlementId: string): Promise<void> {
  const { status, netAmount } = await getSettlement(older.deps, { gateway: stage.shop, id: settlementId });
  expect(status).toBe('SETTLED');
  const { decimals } = stage.treasury.assets[stage.driver.main] as { decimals: number };
  expect(await received(stage)).toBe(toUnits(parseTrusted(netAmount), decimals));
  expect(await older.isTrusted()).toBe(true);
  await assertCleanAudit(older.deps.db);
}

/** An operator looks at what the books do not know, says what it was, and lets go. */
async function clearUp(older: Older, txid: string, settlementId: string): Promise<void> {
  expect((await older.unknown()).find((one) => one.txid === txid)?.mayHavePaid).toEqual([expect.objectContaining({ settlementId })]);
  await older.adopt(txid, { settlementId });
  for (const one of await older.unknown()) await older.adopt(one.txid);
  await unfreeze(older.deps, { params: {}, query: {}, body: {} } as Parameters<typeof unfreeze>[1]);
  const scopes = await older.deps.db.sql<{ scope: string }[]>`select scope from freezes`;
  for (const { scope } of scopes) await unfreeze(older.deps, { params: {}, query: {}, body: { scope } } as Parameters<typeof unfreeze>[1]);
}

export const RESTORE_ROWS: readonly FaultRow[] = [
  {
    row: 'F34',
    name: 'a failover to a replica that misses the last seconds: nothing is sent until the books match the chain, and nothing twice',
    families: ['evm', 'tron', 'bitcoin'],
    own: true,
    async play(stage) {
      const { treasury, random } = stage;
      await fillHotWallet(stage);
      const { settlementId } = await planned(stage);
      const signedBefore = random.chance(0.5);
      if (signedBefore) await treasury.sign();
      const failOver = await copyNow(stage);
      if (!signedBefore) await treasury.sign();
      await sendAgain(stage);
      const older = await failOver();
      try {
        expect(await older.isTrusted()).toBe(false);
        await older.pay();
        expect(await older.deps.db.sql`select 1 from payout_attempts where created_at > (select noted_at from database_epochs)`).toEqual([]);
        await older.lookAround();
        const [paid] = await treasury.world.database.sql<{ txid: string }[]>`
          select t.txid from payout_attempts t join payouts p on p.id = t.payout_id where p.settlement_id = ${settlementId} and p.purpose = 'settlement'`;
        if (!signedBefore) await clearUp(older, paid?.txid as string, settlementId);
        for (let round = 0; round < 3; round++) {
          await older.lookAround();
          await older.pay();
        }
        await older.lookAround();
        await expectSettledOnce(stage, older, settlementId);
      } finally {
        await older.close();
      }
    },
  },
  {
    row: 'F35',
    name: 'an hour-old backup is restored: dispatch waits, what was sent since is listed, and nothing of it is paid again',
    families: ['evm', 'tron', 'bitcoin'],
    own: true,
    async play(stage) {
      const { treasury } = stage;
      await fillHotWallet(stage);
      const settlementId = await ask(stage, treasury.deps);
      const restore = await copyNow(stage);
      await treasury.settleAll();
      await treasury.mine(3);
      const [paid] = await treasury.world.database.sql<{ txid: string }[]>`select txid from settlements where id = ${settlementId}`;
      const before = await received(stage);
      const older = await restore();
      try {
        await older.pay();
        await older.lookAround();
        await older.pay();
        expect(await older.isTrusted()).toBe(false);
        await clearUp(older, paid?.txid as string, settlementId);
        for (let round = 0; round < 2; round++) {
          await older.lookAround();
          await older.pay();
        }
        await older.lookAround();
        expect(await received(stage)).toBe(before);
        await expectSettledOnce(stage, older, settlementId);
      } finally {
        await older.close();
      }
    },
  },
];
