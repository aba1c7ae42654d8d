import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Merchant, merchant, newKey } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import { parseTrusted } from '#shared/core/money.ts';
import { readMigrations } from '#shared/platform/migration-files.ts';
import { applyRoles } from '#shared/platform/database-roles.ts';
import type { Deployable, DeployableOptions, RunningApi } from '#test/harness/deployables.ts';
import { TEST_LOGINS } from '#test/harness/logins.ts';
import { previousRelease } from '#test/harness/previous-release.ts';
import { aPayment, aWorld, TEST_PEOPLE, TEST_SECRETS, type World } from '#test/harness/world.ts';

const execute = promisify(execFile);
const BLOCK_MS = 250;
const PATIENCE_MS = 120_000;
/** A stranger to the deployment. */
const DESTINATION = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

const release = await previousRelease();

interface Selected {
  id: string;
  address: string;
  amount: bigint;
}

describe.skipIf(release === null)('an upgrade from the previous release', () => {
  let world: World;
  let receiver: WebhookReceiver;
  let mining: NodeJS.Timeout;
  const usdt = (): string => world.chain.tokens.USDT;
  /** Runs the previous release's build, on the schema it brings unless told otherwise. */
  const former = (schema = release?.schemaDirectory, options: DeployableOptions = {}): DeployableOptions => ({
    ...options,
    // It knows no other login than the one that owns the tables, nor do those who come from it before somebody has made them.
    asOwner: true,
    directory: String(release?.directory),
    // Its signer asks for every secret of the api; ours is refused them.
    env: { SLUICE_SCHEMA_DIR: schema, ...TEST_SECRETS, ...options.env },
  });
  /** What this release's processes are given until the former one is gone: they countersign what it accepted, and wait for that. */
  const joining: DeployableOptions = { env: { SLUICE_INTENT_ADOPT_BEFORE: new Date(Date.now() + 86_400_000).toISOString() } };

  beforeAll(async () => {
    [world, receiver] = await Promise.all([aWorld({ blockSeconds: 0 }), startWebhookReceiver()]);
    // The world's database has this release's schema; the previous one starts from nothing.
    await world.database.sql.unsafe('drop schema public cascade; create schema public;');
    mining = setInterval(() => void world.chain.mine(1), BLOCK_MS);
  });
  afterAll(async () => {
    clearInterval(mining);
    await Promise.all([world.stop(), receiver.stop()]);
  });

  const open = async (shop: Merchant): Promise<Selected> => {
    const { paymentUid: id, payment } = await shop.must('POST', '/payments', { body: aPayment(receiver.url) });
    const { offers } = payment as { offers: { id: string; assetSymbol: string }[] };
    const offer = offers.find(({ assetSymbol }) => assetSymbol === 'USDT');
    const selected = await waitFor(
      async () => {
        const { status, data } = await shop.call('POST', `/public/payments/${id}/offers/${offer?.id}/select`);
        return status === 200 && data;
      },
      { what: 'an address', timeoutMs: PATIENCE_MS },
    );
    return { id: String(id), address: String(selected.depositAddress), amount: parseTrusted(String(selected.amount)) / 10n ** 12n };
  };
  const pay = ({ address, amount }: Selected): Promise<unknown> => world.chain.pay(address, usdt(), amount);
  const paid = (shop: Merchant, { id }: Selected): Promise<unknown> =>
    waitFor(async () => (await shop.must('POST', `/payments/${id}/verify`)).status === 'SUCCESS', {
      what: `payment ${id}`,
      timeoutMs: PATIENCE_MS,
      everyMs: 200,
    });
  const cashOut = async (shop: Merchant, amount: string): Promise<string> => {
    const { items } = await shop.must('GET', '/assets');
    const asset = (items as { assetId: string; symbol: string }[]).find(({ symbol }) => symbol === 'USDT');
    const answer = await waitFor(
      async () => {
        const asked = await shop.signed('POST', '/merchant/settlements', {
          body: { assetId: asset?.assetId, amount, address: DESTINATION },
          idempotencyKey: newKey(),
        });
        return asked.status === 200 && asked;
      },
      { what: 'a matured balance', timeoutMs: PATIENCE_MS, everyMs: 200 },
    );
    return String(answer.data.id);
  };
  const settled = (shop: Merchant, id: string): Promise<unknown> =>
    waitFor(async () => (await shop.signed('GET', `/merchant/settlements/${id}`)).data.status === 'SETTLED', {
      what: `cashout ${id}`,
      timeoutMs: PATIENCE_MS,
      everyMs: 200,
    });

  it('goes process by process: both releases work on one database, and the previous one may come back', async () => {
    // The whole deployment is the previous release.
    let oldApi = await world.startApi(former());
    const [oldIndexer, oldSigner] = await Promise.all([world.startIndexer(former()), world.startSigner(former())]);
    await world.setPrices(oldApi);
    const before = await world.aGateway(oldApi);
    const [first, halfway] = [await open(before), await open(before)];
    await pay(first);
    await paid(before, first);
    const early = await cashOut(before, '2');

    // This release's api joins; its first act is the schema.
    const newApi = await world.startApi({ ...joining, asOwner: true });
    const after = merchant(newApi.baseUrl, before.gateway);
    const own = (await readMigrations(inject('services').schemaDirectory)).map(({ name }) => name);
    expect((await world.database.sql`select name from schema_migrations order by name`).map(({ name }) => name)).toEqual(own);
    const across = [await open(before), await open(after)];
    await Promise.all([halfway, ...across].map(pay));
    for (const shop of [before, after]) for (const one of [halfway, ...across]) await paid(shop, one);
    const [byOld, byNew] = [await cashOut(before, '3'), await cashOut(after, '4')];

    // The signer and the indexer are replaced while those cashouts are on their way.
    const [signer, indexer] = await Promise.all([
      replaceSigner(oldSigner, newApi),
      replace(oldIndexer, () => world.startIndexer({ untilReady: false, asOwner: true })),
    ]);
    for (const id of [early, byOld, byNew]) await settled(after, id);

    // Back to the previous release, on the schema of this one: an api that crashed, or a deployment that is taken back.
    await oldApi.kill();
    await newApi.stop();
    oldApi = await world.startApi(former(inject('services').schemaDirectory));
    const back = merchant(oldApi.baseUrl, before.gateway);
    const again = await open(back);
    await pay(again);
    await paid(back, again);
    // Nobody says in this release's words that it was accepted: its signer waits, and stops nothing.
    const late = await cashOut(back, '1');
    expect((await world.database.sql`select 1 from statements where subject = ${late}`).length).toBe(0);

    // And forward for good.
    const last: RunningApi = await world.startApi({ ...joining, asOwner: true });
    await oldApi.stop();
    await settled(merchant(last.baseUrl, before.gateway), late);
    expect(await world.chain.tokenBalance(usdt(), DESTINATION)).toBeGreaterThan(8_000_000n);
    expect(await world.database.sql`select 1 from freezes`).toEqual([]);
    expect((await merchant(last.baseUrl, before.gateway).must('POST', `/payments/${again.id}/verify`)).status).toBe('SUCCESS');

    // Then every process gets a login of its own, one after the other, while those of before go on as the owner.
    await applyRoles(world.database, TEST_LOGINS);
    const least = await world.startApi();
    await last.stop();
    await Promise.all([replace(signer, () => world.startSigner({ untilReady: false })), replace(indexer, () => world.startIndexer({ untilReady: false }))]);
    const moved = merchant(least.baseUrl, before.gateway);
    const atLast = await open(moved);
    await pay(atLast);
    await paid(moved, atLast);
    await settled(moved, await cashOut(moved, '1'));
    const logins = await world.database.sql<{ login: string }[]>`
      select distinct usename::text as login from pg_stat_activity where datname = current_database() and application_name like 'sluice-%' and application_name <> 'sluice-test'`;
    expect(logins.map(({ login }) => login).sort()).toEqual(['sluice_test_http_worker', 'sluice_test_indexer', 'sluice_test_signer']);
    const statuses = receiver.received.map(({ body }) => (JSON.parse(body) as { status: string }).status);
    expect(statuses).toEqual(Array.from({ length: 6 }, () => 'SUCCESS'));
  });

  /** As ops/docs/upgrading.md has it: the one before kept no journal, so that two people agree on one that is rebuilt from the books. */
  async function replaceSigner(old: Deployable, api: RunningApi): Promise<Deployable> {
    await old.stop();
    await rm(world.journal, { recursive: true, force: true });
    const started = await world.startSigner({ ...joining, untilReady: false, asOwner: true });
    const here = { DATABASE_URL: world.database.url, SLUICE_NETWORKS: world.networksFile, SLUICE_SIGNER_JOURNAL: world.journal };
    const as = (name: keyof typeof TEST_PEOPLE) => ({ SLUICE_OPERATOR_URL: api.operatorUrl, SLUICE_OPERATOR_TOKEN: TEST_PEOPLE[name] });
    const { head } = (await sluice(here, 'signer', 'journal', 'reseal')) as { head: { id: string; seq: number; hash: string } };
    expect(head.seq).toBeGreaterThan(0);
    const proposing = ['signer', 'journal', 'propose', head.id, String(head.seq), head.hash, '--reason', 'the first journal'];
    const { id } = (await sluice(as('anna'), ...proposing)) as { id: string };
    await sluice(as('ben'), 'proposal', 'confirm', id);
    return started;
  }

  /** What the command line says, as JSON. */
  async function sluice(env: Record<string, string>, ...words: string[]): Promise<unknown> {
    const { stdout } = await execute(process.execPath, ['dist/cli.js', ...words, '--json'], { env: { PATH: process.env.PATH, ...env } });
    return JSON.parse(stdout);
  }

  async function replace(old: Deployable, start: () => Promise<Deployable>): Promise<Deployable> {
    const started = await start();
    await old.stop();
    return started;
  }
});
