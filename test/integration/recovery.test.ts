import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { keepHistory } from '#api/audit/keep-history.ts';
import { reconcile } from '#api/audit/reconcile.ts';
import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { broadcastPayoutJob, dispatchSettlementJob } from '#api/jobs/outbox-jobs.ts';
import { findReplay, fingerprint } from '#api/http/idempotency.ts';
import { likenessOf } from '#api/settlements/likeness.ts';
import { showFreezes, unfreeze } from '#api/operator/freeze.ts';
import { adoptOutgoing, showUnknownOutgoing } from '#api/operator/outgoing.ts';
import { createSettlement } from '#api/settlements/create.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { isTrustedNetwork, mayStillBeMined, readHistory } from '#api/store/database-epoch.ts';
import { nextDerivationIndex } from '#api/store/deposit-addresses.ts';
import { acquireConsumerLease } from '#test/fixtures/consumer-lease.ts';
import { listSignable } from '#api/store/payouts.ts';
import { bookOpeningBalances } from '#api/treasury/book-opening-balances.ts';
import { createBackup } from '#ops/backup/create.ts';
import { restoreBackup, verifyBackup } from '#ops/backup/restore.ts';
import { ensureDatabase } from '#ops/dev/services/postgres.ts';
import type { ServiceError } from '#shared/core/errors.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { applyRoles } from '#shared/platform/database-roles.ts';
import { connect, type Database } from '#shared/platform/postgres.ts';
import { aFollower } from '#test/fixtures/follower.ts';
import { assertBooksEqualChain, aTreasuryOf, type Treasury, type TreasuryFamily } from '#test/fixtures/treasury.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import type { CommonChain } from '#test/harness/chain.ts';
import { plainCommit } from '#test/harness/in-process.ts';
import { TEST_LOGINS, urlFor } from '#test/harness/logins.ts';

/** The same deployment over another database, one step at a time. */
interface Reopened {
  deps: Deps;
  /** The test's own connection, which owns the tables. */
  database: Database;
  follow(): Promise<void>;
  /** Dispatches, signs and sends whatever may be. */
  pay(): Promise<void>;
  close(): Promise<void>;
}

const call = (body: object = {}) => ({ params: {}, query: {}, body });
const refusal = (error: ServiceError) => [error.code, error.field ?? null];

async function anEmptyDatabase(): Promise<string> {
  return ensureDatabase(inject('services').postgresUrl, `sluice_restored_${randomUUID().replaceAll('-', '')}`);
}

async function dropDatabase(url: string): Promise<void> {
  const admin = connect(inject('services').postgresUrl, { name: 'sluice-test', max: 1 });
  await admin.sql`drop database if exists ${admin.sql(new URL(url).pathname.slice(1))} with (force)`;
  await admin.end();
}

async function reopen(treasury: Treasury<CommonChain>, url: string): Promise<Reopened> {
  const db: Database = connect(url, { name: 'sluice-test', max: 10 });
  // A backup holds no rights: whoever restores one grants them anew.
  await applyRoles(db, TEST_LOGINS);
  const least = connect(urlFor(url), { name: 'sluice-test', max: 10 });
  const deps: Deps = { ...treasury.deps, db: least };
  const chain = [...deps.chains.values()][0] as NonNullable<ReturnType<Deps['chains']['get']>>;
  await db.sql`update consumer_leases set expires_at = clock_timestamp()`;
  const fence = (await acquireConsumerLease(db.sql, { networkId: chain.id, holder: 'restored', seconds: 3_600 })) as number;
  const [tip] = await db.sql<[{ height: number; hash: string; epoch: number }]>`select height, hash, epoch from chain_tips`;
  const { follow } = aFollower(deps, chain, fence, tip);
  return {
    deps,
    database: db,
    follow,
    async pay() {
      await db.sql`update outbox set due_at = sluice_now() where state = 'due' and topic = 'settlement.dispatch'`;
      await runDueJobs(deps, [dispatchSettlementJob, broadcastPayoutJob]);
      for (const { id } of await listSignable(db.sql, [chain.id])) await signPayout(deps, treasury.signers, id);
      await runDueJobs(deps, [broadcastPayoutJob]);
    },
    close: async () => void (await Promise.all([db.end(), least.end()])),
  };
}

/** Plays an indexer that was at the head just now. */
async function atHead({ sql }: Database): Promise<void> {
  await sql`
    insert into indexer_leases (network_id, holder, epoch, expires_at, published_height, caught_up_at)
    select network_id, 'test', epoch, now() + interval '1 hour', height, sluice_now() from chain_tips
    on conflict (network_id) do update set published_height = excluded.published_height, caught_up_at = excluded.caught_up_at, expires_at = excluded.expires_at`;
}

const FAMILIES = [
  { family: 'evm', symbol: 'USDT', amounts: { hot: '10', paid: '20', planned: '3', waiting: '2', lost: '4' } },
  { family: 'tron', symbol: 'USDT', amounts: { hot: '100', paid: '200', planned: '30', waiting: '20', lost: '40' } },
  { family: 'bitcoin', symbol: 'BTC', amounts: { hot: '1', paid: '2', planned: '0.3', waiting: '0.2', lost: '0.4' } },
] as const satisfies { family: TreasuryFamily; symbol: string; amounts: Record<string, string> }[];

describe.each(FAMILIES)('an hour-old backup of a deployment on $family, restored after payouts were sent', ({ family, symbol, amounts }) => {
  let treasury: Treasury<CommonChain>;
  let restored: Reopened;
  let shop: Gateway;
  let folder: string;
  let url: string | undefined;
  const cashouts: Record<'planned' | 'waiting' | 'lost', string> = { planned: '', waiting: '', lost: '' };
  const txids: Record<string, string> = {};
  const unknown = async () => ((await showUnknownOutgoing(restored.deps)).data as { items: { txid: string; mayHavePaid: { settlementId: string }[] }[] }).items;
  const adopt = (txid: string | undefined, more: object = {}) =>
    adoptOutgoing(restored.deps, call({ network: treasury.network.config.name, txid, reason: 'lost by the restore', ...more }));
  const statusOf = async (id: string) => (await restored.database.sql`select status from settlements where id = ${id}`)[0]?.status;
  const received = async () => {
    const { contract } = treasury.assets[symbol] as { contract: string | null };
    return contract === null ? treasury.chain.balance(treasury.merchant) : treasury.chain.tokenBalance(contract, treasury.merchant);
  };
  /** What arrives at the merchant of these cashouts, by the books. */
  const owed = async (ids: readonly string[]) => {
    const rows = await restored.database.sql<{ net: string }[]>`select net_amount as net from settlements where id = any(${[...ids]}::uuid[])`;
    const { decimals } = treasury.assets[symbol] as { decimals: number };
    return rows.reduce((sum, { net }) => sum + (toUnits(parseTrusted(net), decimals) as bigint), 0n);
  };

  beforeAll(async () => {
    treasury = await aTreasuryOf(family);
    folder = await mkdtemp(join(tmpdir(), 'sluice-backup-'));
    shop = await treasury.world.aGateway();
    expect(await bookOpeningBalances(treasury.deps)).toBeGreaterThan(0);
    const { contract, decimals } = treasury.assets[symbol] as { contract: string | null; decimals: number };
    await treasury.chain.payAndMine(treasury.wallet('hot'), contract, toUnits(parseTrusted(amounts.hot), decimals) as bigint);
    if (contract !== null) await treasury.chain.payAndMine(treasury.wallet('hot'), null, 10n ** BigInt(family === 'tron' ? 9 : 18));
    await treasury.mine(3);
    await treasury.earn(shop, symbol, amounts.paid);
    cashouts.planned = (await treasury.cashOut(shop, symbol, amounts.planned)).id;
    await treasury.work();
    cashouts.waiting = (await treasury.cashOut(shop, symbol, amounts.waiting)).id;
    await createBackup(treasury.world.database.url, folder);
    // The hour that is lost: both are paid, and one more that the backup knows nothing of.
    cashouts.lost = (await treasury.cashOut(shop, symbol, amounts.lost)).id;
    await treasury.settleAll();
    await treasury.mine(3);
    for (const [name, id] of Object.entries(cashouts))
      txids[name] = (await treasury.world.database.sql<{ txid: string }[]>`select txid from settlements where id = ${id}`)[0]?.txid as string;
    url = await anEmptyDatabase();
    await restoreBackup(url, folder, inject('services').schemaDirectory);
    restored = await reopen(treasury, url);
  });
  afterAll(async () => {
    await restored?.close();
    if (url !== undefined) await dropDatabase(url);
    await rm(folder, { recursive: true, force: true });
    await treasury.stop();
  });

  it('is not trusted by what was compared before its blocks were applied', async () => {
    const { db, chains } = restored.deps;
    const [name, chain] = [...chains][0] as [string, Chain];
    let followed = false;
    const followOnce = async () => {
      if (followed) return;
      followed = true;
      await restored.follow();
      await atHead(restored.database);
    };
    const { balance, outputs } = chain.reader;
    const reader = {
      ...chain.reader,
      balance: async (...asked: Parameters<typeof balance>) => {
        const held = await balance(...asked);
        await followOnce();
        return held;
      },
      ...(outputs !== undefined && {
        outputs: async (...asked: Parameters<typeof outputs>) => {
          await followOnce();
          return outputs(...asked);
        },
      }),
    };
    await reconcile({ ...restored.deps, chains: new Map([[name, { ...chain, reader }]]) });
    expect([followed, await isTrustedNetwork(db.sql, name)]).toEqual([true, false]);
  });

  it('sends nothing, and gives no address a second time', async () => {
    const { db } = restored.deps;
    expect(await isTrustedNetwork(db.sql, treasury.network.config.name)).toBe(false);
    const given = await treasury.deps.db.transaction((tx) => nextDerivationIndex(tx, family));
    expect(await db.transaction((tx) => nextDerivationIndex(tx, family))).toBeGreaterThan(given + 900_000);
    await restored.pay();
    await restored.follow();
    await restored.pay();
    expect(await db.sql`select 1 from payout_attempts where created_at > (select noted_at from database_epochs)`).toEqual([]);
    const [waiting] = await db.sql<{ reason: string }[]>`select wait_reason as reason from settlements where id = ${cashouts.waiting}`;
    expect(waiting?.reason).toContain('restored');
    // Bytes that expire could still be mined, and pay what is open: until a final block is younger than they can be.
    const { notedAt } = await readHistory(db.sql);
    const mayBeMined = (seconds: number) => mayStillBeMined(db.sql, treasury.network.id, { since: notedAt, seconds });
    expect([await mayBeMined(3_600), await mayBeMined(-3_600)]).toEqual([true, false]);
    expect((await showFreezes(restored.deps)).data).toMatchObject({ awaitingComparison: true, awaitingNetworks: [treasury.network.config.name] });
  });

  it('is frozen by what the chain shows, which the operator sees with the cashouts it paid', async () => {
    await atHead(restored.database);
    expect(await reconcile(restored.deps)).toBe(1);
    const seen = await unknown();
    expect(seen.find((one) => one.txid === txids.planned)?.mayHavePaid).toEqual([expect.objectContaining({ settlementId: cashouts.planned })]);
    expect(seen.find((one) => one.txid === txids.waiting)?.mayHavePaid).toEqual([expect.objectContaining({ settlementId: cashouts.waiting })]);
    expect(seen.find((one) => one.txid === txids.lost)?.mayHavePaid).toEqual([]);
    // Lifted too early, nothing is paid again: the wallet that paid is stopped for itself.
    await unfreeze(restored.deps, call());
    await unfreeze(restored.deps, call({ scope: `network:${treasury.network.config.name}` }));
    await reconcile(restored.deps);
    const before = await received();
    await restored.pay();
    await treasury.chain.mine(1);
    await restored.follow();
    expect(await received()).toBe(before);
  });

  it('takes no wrong word about them', async () => {
    expect(await adopt(txids.waiting).catch(refusal)).toEqual(['conflict', null]);
    // The cashout that it paid is still open, and would be paid again.
    expect(await adopt(txids.waiting, { lost: true }).catch(refusal)).toEqual(['conflict', null]);
    expect(await adopt(txids.waiting, { gatewayId: shop.id }).catch(refusal)).toEqual(['conflict', null]);
    expect(await adopt(txids.waiting, { settlementId: cashouts.planned }).catch(refusal)).toEqual(['validation_error', 'settlementId']);
    expect(await adopt(txids.waiting, { settlementId: randomUUID() }).catch(refusal)).toEqual(['validation_error', 'settlementId']);
    expect(await adopt(txids.waiting, { settlementId: cashouts.waiting, gatewayId: shop.id }).catch(refusal)).toEqual(['validation_error', 'gatewayId']);
    // Parked in the backup, it may have claimed and been paid since: written anew, it would be paid again when it claims.
    const { sql } = restored.database;
    const parked = { status: 'UNDERFUNDED', fee_locked: null, net_amount: null, intent_mac: null, dispatch_at: null };
    const set = (columns: object) => sql`update settlements set ${sql(columns as Record<string, string>)} where id = ${cashouts.planned}`;
    const [was] = await sql`
      select status, fee_locked, net_amount, intent_mac, dispatch_at, check_at, order_mac, expires_at from settlements where id = ${cashouts.planned}`;
    await set({ ...parked, check_at: new Date(), order_mac: Buffer.alloc(32), expires_at: new Date() });
    for (const more of [{}, { amount: amounts.planned }])
      expect(await adopt(txids.planned, { gatewayId: shop.id, ...more }).catch(refusal)).toEqual(['conflict', null]);
    await set({
      status: was?.status,
      fee_locked: was?.feeLocked,
      net_amount: was?.netAmount,
      intent_mac: was?.intentMac,
      dispatch_at: was?.dispatchAt,
      check_at: was?.checkAt,
      order_mac: was?.orderMac,
      expires_at: was?.expiresAt,
    });
    expect(await adopt(txids.lost, { gatewayId: shop.id, amount: '1000' }).catch(refusal)).toEqual(['conflict', null]);
    expect(await adopt(txids.lost, { gatewayId: shop.id, amount: '0.00000001' }).catch(refusal)).toEqual(['validation_error', 'amount']);
    expect(await adopt(txids.lost, { lost: true, idempotencyKey: 'x' }).catch(refusal)).toEqual(['validation_error', 'idempotencyKey']);
    expect(await adopt(txids.lost, { gatewayId: shop.id, idempotencyKey: 'é' }).catch(refusal)).toEqual(['validation_error', 'idempotencyKey']);
    expect(await adopt(txids.lost, { withheldId: randomUUID() }).catch(refusal)).toEqual(['validation_error', 'withheldId']);
    expect((await unknown()).length).toBeGreaterThan(2);
  });

  it('has everything paid once when it knows them again, and goes on', async () => {
    const { db } = restored.deps;
    await adopt(txids.planned, { settlementId: cashouts.planned });
    await Promise.allSettled([adopt(txids.waiting, { settlementId: cashouts.waiting }), adopt(txids.waiting, { settlementId: cashouts.waiting })]);
    const lostKey = { gatewayId: shop.id, amount: amounts.lost, idempotencyKey: 'cashout-4711' };
    const { settlementId } = (await adopt(txids.lost, lostKey)).data as { settlementId: string };
    // Its merchant, who never heard of it, asks for it again: it is answered, and not paid again.
    const repeat = (body: object) => {
      const rawBody = Buffer.from(JSON.stringify({ metadata: { order: 1 }, ...body }, null, 1));
      const scope = { gatewayId: shop.id, operation: 'createSettlement', key: 'cashout-4711' };
      return findReplay(restored.deps, {
        scope,
        fingerprint: fingerprint('POST', '/api/v1/merchant/settlements', rawBody),
        likeness: () => likenessOf(rawBody),
      });
    };
    const asked = { assetId: treasury.assets[symbol]?.id, amount: `${amounts.lost}${amounts.lost.includes('.') ? '0' : '.0'}`, address: treasury.merchant };
    expect(JSON.parse((await repeat(asked))?.body ?? '{}')).toMatchObject({ data: { id: settlementId, status: 'SETTLED' } });
    for (const other of [{ amount: '1' }, { address: treasury.chain.outsider }, { assetId: randomUUID() }, { amount: 4 }])
      expect(await repeat({ ...asked, ...other }).catch(refusal)).toEqual(['idempotency_conflict', null]);
    for (const { txid } of await unknown()) await adopt(txid);
    expect([await statusOf(cashouts.planned), await statusOf(cashouts.waiting), await statusOf(settlementId)]).toEqual(['SETTLED', 'SETTLED', 'SETTLED']);
    expect(await unknown()).toEqual([]);
    expect(await mayStillBeMined(db.sql, treasury.network.id, { since: (await readHistory(db.sql)).notedAt, seconds: 3_600 })).toBe(false);
    expect(await db.sql`select address, halted_reason from wallets where halted_reason is not null`).toEqual([]);
    const before = await received();
    expect(before).toBe(await owed([cashouts.planned, cashouts.waiting, settlementId]));

    await treasury.chain.mine(1);
    await restored.follow();
    await atHead(restored.database);
    expect([await reconcile(restored.deps), await isTrustedNetwork(db.sql, treasury.network.config.name)]).toEqual([0, true]);
    await assertCleanAudit(db);
    await assertBooksEqualChain({ ...treasury, deps: restored.deps });

    const reply = await createSettlement(restored.deps, {
      gateway: shop,
      body: { assetId: treasury.assets[symbol]?.id, amount: amounts.planned, address: treasury.merchant } as never,
      commit: plainCommit(restored.deps),
    });
    const next = (reply.data as { id: string }).id;
    for (let round = 0; round < 8 && (await statusOf(next)) !== 'SETTLED'; round++) {
      await restored.pay();
      await treasury.chain.mine(1);
      await restored.follow();
    }
    expect([await statusOf(next), await received()]).toEqual(['SETTLED', before + (await owed([next]))]);
    await assertCleanAudit(db);
  });
});

describe('a backup', () => {
  let treasury: Treasury<CommonChain>;
  let folder: string;
  beforeAll(async () => {
    treasury = await aTreasuryOf('evm');
    folder = await mkdtemp(join(tmpdir(), 'sluice-backup-'));
    const gateway = await treasury.world.aGateway();
    await treasury.earn(gateway, 'USDT', '5');
    const { sql } = treasury.world.database;
    // A text with what some take for the end of a line, and a row that refers to one that lies far behind it.
    await sql`update gateways set name = ${'Shop\u2028one\u0085two\r\nthree'} where id = ${gateway.id}`;
    const [parent, child] = [randomUUID(), randomUUID()];
    const insert = (ids: string[], parentId: string | null) => sql`
      insert into payouts (id, network_id, wallet_id, purpose, parent_id, status, asset_id, recipient, raw_amount, plan, created_at)
      select i.id, w.network_id, w.id, 'top_up', ${parentId}, 'CANCELLED', a.id, w.address, 1, '{}', now()
      from unnest(${ids}::uuid[]) as i (id), wallets w join assets a on a.network_id = w.network_id and a.contract is null where w.role = 'funding'`;
    await insert([parent], null);
    await insert([child], parent);
    await insert(
      Array.from({ length: 1_100 }, () => randomUUID()),
      null,
    );
    await sql`update payouts set failure = 'moved' where id = ${parent}`;
    await createBackup(treasury.world.database.url, folder);
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
    await treasury.stop();
  });

  it('holds every row and sequence to the last digit, and nobody else may read it', async () => {
    const url = await anEmptyDatabase();
    const copy = connect(url, { name: 'sluice-test', max: 2 });
    try {
      await restoreBackup(url, folder, inject('services').schemaDirectory);
      const { tables, sequences } = await verifyBackup(folder);
      expect(tables.length).toBeGreaterThan(50);
      for (const { name } of tables) {
        const rows = (db: Database) => db.sql`select t::text as row from ${db.sql(name)} t order by 1`;
        expect([name, await rows(copy)]).toEqual([name, await rows(treasury.world.database)]);
      }
      expect(sequences.length).toBeGreaterThan(5);
      expect(await copy.sql`select sequencename, last_value from pg_sequences order by 1`).toEqual(
        await treasury.world.database.sql`select sequencename, last_value from pg_sequences order by 1`,
      );
      await expect(copy.sql`delete from ledger_entries`).rejects.toThrow('append-only');
      await assertCleanAudit(copy);
      await expect(restoreBackup(url, folder, inject('services').schemaDirectory)).rejects.toThrow('not empty');
    } finally {
      await copy.end();
      await dropDatabase(url);
    }
    const { mode } = await stat(join(folder, 'ledger_entries.jsonl.gz'));
    expect(mode & 0o077).toBe(0);
  });

  it('that is damaged, incomplete or of a newer schema is refused before anything is written, and leaves no file behind', async () => {
    const url = await anEmptyDatabase();
    const schema = inject('services').schemaDirectory;
    const file = join(folder, 'ledger_entries.jsonl.gz');
    const manifest = join(folder, 'manifest.json');
    const [rows, text] = [await readFile(file), await readFile(manifest, 'utf8')];
    const temporary = await mkdtemp(join(inject('services').directory, 'temporary-'));
    vi.stubEnv('TMPDIR', temporary);
    try {
      await writeFile(file, rows.subarray(0, rows.length - 20));
      await expect(restoreBackup(url, folder, schema)).rejects.toThrow('ledger_entries is damaged');
      await writeFile(file, await readFile(join(folder, 'watches.jsonl.gz')));
      await expect(verifyBackup(folder)).rejects.toThrow('ledger_entries is damaged');
      await writeFile(file, rows);
      await writeFile(manifest, text.replace('0001_foundation.sql', '9999_later.sql'));
      await expect(restoreBackup(url, folder, schema)).rejects.toThrow('newer schema');
      await rm(manifest);
      await expect(restoreBackup(url, folder, schema)).rejects.toThrow('no complete backup');
      await expect(createBackup(treasury.world.database.url, folder)).rejects.toThrow('not empty');
      const empty = connect(url, { name: 'sluice-test', max: 1 });
      expect(await empty.sql`select relname from pg_class where relnamespace = 'public'::regnamespace`).toEqual([]);
      await empty.end();
      expect(await readdir(temporary)).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
      await writeFile(manifest, text);
      await dropDatabase(url);
    }
    expect((await readdir(folder)).length).toBeGreaterThan(50);
  });
});

describe('the history of a database', () => {
  let treasury: Treasury<CommonChain>;
  beforeAll(async () => {
    treasury = await aTreasuryOf('evm');
  });
  afterAll(() => treasury.stop());
  const trusted = () => isTrustedNetwork(treasury.deps.db.sql, treasury.network.config.name);
  const indexOf = () => treasury.deps.db.transaction((tx) => nextDerivationIndex(tx, 'evm'));
  /** Makes it trusted again as if nothing had happened. */
  const settle = async () => {
    await treasury.world.database.sql`update database_epochs set history = database_history(), beat_at = clock_timestamp()`;
    await treasury.world.database.sql`update networks set trusted_generation = (select generation from database_epochs)`;
    expect(await trusted()).toBe(true);
  };

  it.each([
    ['a copy in another database, as a logical restore is', `regexp_replace(history, '^(\\S+ \\S+) \\S+', '\\1 1')`, 'now()', 900_000],
    ['tables that were made anew in the same database', `regexp_replace(history, '^(\\S+ \\S+ \\S+) \\S+', '\\1 1')`, 'now()', 900_000],
    ['another timeline, as after a failover', `regexp_replace(history, '^(\\S+) \\S+', '\\1 0000000A')`, 'now()', 900_000],
    ['a snapshot of its disk an hour old', `history || '1'`, `now() - interval '1 hour'`, 900_000],
    ['a snapshot of its disk some seconds old', `history || '1'`, `now() - interval '5 seconds'`, 9_000],
    ['a machine that slept for minutes', 'history', `now() - interval '2 minutes'`, 9_000],
  ])('%s: nothing is dispatched until it is compared, and addresses jump once', async (_what, history, beatAt, jump) => {
    await settle();
    const { db } = treasury.deps;
    const before = await indexOf();
    await db.sql.unsafe(`update database_epochs set history = ${history}, beat_at = ${beatAt}`);
    expect(await trusted()).toBe(false);
    await Promise.all([keepHistory(treasury.deps), keepHistory(treasury.deps), indexOf()]);
    const after = await indexOf();
    expect(after - before).toBeGreaterThan(jump);
    expect(after - before).toBeLessThan(2 * 1_000_000);
    await keepHistory(treasury.deps);
    expect([(await indexOf()) - after, await trusted()]).toEqual([1, false]);
  });

  it('that is beaten for stays trusted, and what was missed once is not made good by a later word', async () => {
    await settle();
    const { db } = treasury.deps;
    await db.sql`update database_epochs set beat_at = clock_timestamp() - interval '50 seconds'`;
    await keepHistory(treasury.deps);
    const [row] = await db.sql<[{ fresh: boolean }]>`select beat_at > clock_timestamp() - interval '5 seconds' as fresh from database_epochs`;
    expect([row.fresh, await trusted()]).toEqual([true, true]);
    await db.sql`update database_epochs set beat_at = clock_timestamp() - interval '61 seconds'`;
    await keepHistory(treasury.deps);
    expect(await trusted()).toBe(false);
  });

  it('is not trusted while lost bytes wait at a node under a nonce that the books never gave', async () => {
    const [name, chain] = [...treasury.deps.chains][0] as [string, NonNullable<ReturnType<Deps['chains']['get']>>];
    expect(await bookOpeningBalances(treasury.deps)).toBeGreaterThan(0);
    await treasury.mine(1);
    await keepHistory(treasury.deps);
    await atHead(treasury.world.database);
    const waiting = { ...chain, payer: { ...chain.payer, waitingNonce: async () => 1 } };
    await reconcile({ ...treasury.deps, chains: new Map([[name, waiting]]) });
    expect(await trusted()).toBe(false);
    await reconcile(treasury.deps);
    expect(await trusted()).toBe(true);
  });
});
