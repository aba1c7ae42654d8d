import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { seedNetworks } from '#api/operator/seed-networks.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { openSigners, startSigner } from '#api/signer/start.ts';
import { seedWallets } from '#api/treasury/wallets.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { codecOf } from '#shared/chains/codecs.ts';
import type { TransferSigner } from '#shared/chains/chain.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { readApiConfig } from '#shared/platform/config.ts';
import { publicHalf } from '#shared/platform/statements.ts';
import { aTreasury, type Treasury } from '#test/fixtures/treasury.ts';
import { TEST_INTENT_KEY, TEST_SECRETS, TEST_SEED } from '#test/harness/world.ts';

let treasury: Treasury;
let shop: Gateway;

beforeAll(async () => {
  treasury = await aTreasury();
  shop = await treasury.world.aGateway();
});
afterAll(async () => {
  try {
    await treasury.audit();
  } finally {
    await treasury.stop();
  }
});

const withConfig = (change: (config: NetworkConfig) => NetworkConfig): Pick<Deps, 'chains'> => {
  const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
  return { chains: new Map([[name, { ...chain, config: change(chain.config) }]]) };
};

describe('the signer at start', () => {
  it('refuses a wallet, an account or a seed that do not belong together, and never says the seed', () => {
    const held = treasury.network.config.wallets.held.address;
    const foreign = withConfig((config) => ({ ...config, wallets: { ...config.wallets, hot: { ...config.wallets.hot, address: held } } }));
    expect(() => openSigners(foreign, TEST_SEED)).toThrow(/hot wallet is configured as/);
    const swapped = withConfig((config) => ({ ...config, accountPath: "m/44'/60'/5'" }));
    expect(() => openSigners(swapped, TEST_SEED)).toThrow(/account xpub does not belong/);
    const seed = 'not a mnemonic at all';
    expect(() => openSigners(treasury.deps, seed)).toThrow(expect.objectContaining({ message: expect.not.stringContaining(seed) }));
  });

  it('is the only role whose configuration may hold the seed', () => {
    const environment = { NODE_ENV: 'test', DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', SLUICE_NETWORKS: 'ops/dev/networks.json' };
    const api = { ...environment, ...TEST_SECRETS, SLUICE_INTENT_KEY: TEST_INTENT_KEY, SLUICE_ROLES: 'http,worker' };
    expect(() => readApiConfig({ ...api, SLUICE_SIGNER_SEED: TEST_SEED })).toThrow(/only the signer role/);
    expect(() => readApiConfig({ ...environment, SLUICE_ROLES: 'signer' })).toThrow(/SLUICE_SIGNER_SEED/);
    const alone = {
      ...environment,
      SLUICE_ROLES: 'signer',
      SLUICE_SIGNER_SEED: TEST_SEED,
      SLUICE_SIGNER_JOURNAL: '/journal',
      SLUICE_INTENT_PUBLIC_KEYS: publicHalf(TEST_INTENT_KEY),
    };
    expect(readApiConfig(alone).SLUICE_ROLES).toEqual(['signer']);
  });
});

describe('wallets', () => {
  it('are stored and watched once, however often the deployment starts', async () => {
    await seedWallets(treasury.deps);
    await Promise.all([seedWallets(treasury.deps), seedWallets(treasury.deps)]);
    const rows = await treasury.world.database
      .sql`select w.role, c.watch_until from wallets w join watches c on c.network_id = w.network_id and c.address = w.address order by w.role`;
    expect(rows).toEqual(['funding', 'held', 'hot'].map((role) => ({ role, watchUntil: null })));
  });

  it('refuses to start when a stored address got another role', async () => {
    const swapped = withConfig((config) => ({ ...config, wallets: { ...config.wallets, hot: config.wallets.held, held: config.wallets.hot } }));
    await expect(seedWallets({ ...treasury.deps, ...swapped })).rejects.toThrow(/is stored as/);
  });
});

describe('the signing loop', () => {
  it('signs at once what it is woken for, and what nobody told of as long as no word can arrive', async () => {
    await treasury.earn(shop, 'USDC', '30');
    let deaf = false;
    let asked = 0;
    const { db } = treasury.deps;
    const sql: typeof db.sql = new Proxy(db.sql, {
      apply(target, self, args: unknown[]) {
        if (String((args[0] as readonly string[])[0]).includes('with signable as')) asked += 1;
        return Reflect.apply(target as never, self, args) as unknown;
      },
    });
    const signer = startSigner({ ...treasury.deps, db: { ...db, sql } }, treasury.signers, () => deaf);
    const planned = async (): Promise<boolean> =>
      (await treasury.world.database.sql`select 1 from payouts where status = 'PLANNED' and plan ? 'rawFee'`).length > 0;
    try {
      await waitFor(() => asked > 0, { what: 'the first look' });
      await treasury.cashOut(shop, 'USDC', '10');
      await treasury.work();
      expect([await planned(), asked]).toEqual([true, 1]);
      signer.wake();
      await waitFor(async () => !(await planned()), { what: 'what it was woken for' });
      await treasury.settleAll();
      deaf = true;
      await treasury.cashOut(shop, 'USDC', '10');
      await treasury.work();
      await waitFor(async () => !(await planned()), { what: 'what nobody told of', timeoutMs: 9_000 });
    } finally {
      await signer.stop();
    }
    await treasury.settleAll();
  });

  it('signs what is planned by itself, in turn, and stops when told', async () => {
    await treasury.earn(shop, 'USDC', '90');
    const made = [await treasury.cashOut(shop, 'USDC', '20'), await treasury.cashOut(shop, 'USDC', '20')];
    const signer = startSigner(treasury.deps, treasury.signers);
    try {
      await waitFor(
        async () => {
          await treasury.world.database.sql`update outbox set due_at = sluice_now() where state = 'due'`;
          await treasury.work();
          await treasury.mine();
          const views = await Promise.all(made.map(({ id }) => getSettlement(treasury.deps, { gateway: shop, id })));
          return views.every((view) => view.status === 'SETTLED');
        },
        { what: 'both cashouts to settle', timeoutMs: 60_000 },
      );
    } finally {
      await signer.stop();
    }
    const planned = await treasury.cashOut(shop, 'USDC', '10');
    await treasury.work();
    expect(await treasury.world.database.sql`select status from payouts where settlement_id = ${planned.id}`).toEqual([{ status: 'PLANNED' }]);
    await treasury.settleAll();
  });

  it('signs for a network while a payout of another one is waited for', async () => {
    const { deps, network, signers, world } = treasury;
    const { sql } = world.database;
    const beside = { ...network.config, name: 'sidechain', chainId: '31338' };
    const ids = await seedNetworks({ db: deps.db, networks: [beside], codec: codecOf, staticPrices: true, randomBytes: deps.randomBytes });
    const besideId = ids.get(beside.name) as string;
    const [name, chain] = [...deps.chains][0] as [string, Chain];
    const both: Deps = {
      ...deps,
      chains: new Map([
        [name, chain],
        [beside.name, { ...chain, id: besideId, config: beside }],
      ]),
    };
    await seedWallets(both);
    const own = signers.get(name) as TransferSigner;
    let asked = 0;
    let release: (error: Error) => void = () => undefined;
    const silent = new Promise<never>((_, reject) => {
      release = reject;
    });
    const silently: TransferSigner = {
      addressAt: (path) => own.addressAt(path),
      xpubAt: (path) => own.xpubAt(path),
      sign: () => {
        asked += 1;
        return silent;
      },
    };
    await treasury.earn(shop, 'ETH', '1');
    const { id } = await treasury.cashOut(shop, 'ETH', '0.01');
    const waiting = (): Promise<{ id: string }[]> => sql`select id from payouts where network_id = ${network.id} and status = 'PLANNED' and plan ? 'rawFee'`;
    await treasury.work();
    const planned = await waiting();
    expect(planned).toHaveLength(1);
    await sql`
      insert into payouts (id, network_id, wallet_id, purpose, family, status, asset_id, recipient, raw_amount, nonce, plan, created_at)
      select gen_random_uuid(), ${besideId}, w.id, 'top_up', 1, 'PLANNED', a.id, ${treasury.wallet('hot')}, 1, 0, p.plan, p.created_at - interval '1 minute'
      from payouts p, wallets w, assets a
      where p.id = ${planned[0]?.id as string} and w.network_id = ${besideId} and w.role = 'funding' and a.network_id = ${besideId} and a.contract is null`;
    const signer = startSigner(both, new Map([...signers, [beside.name, silently]]));
    try {
      await waitFor(() => asked > 0, { what: 'the other network to be signed for' });
      await waitFor(async () => (await waiting()).length === 0, { what: 'the payout of this one to be signed' });
    } finally {
      release(new Error('the network says nothing'));
      await signer.stop();
      await sql`delete from payouts where network_id = ${besideId}`;
    }
    await treasury.settleAll();
    expect((await getSettlement(deps, { gateway: shop, id })).status).toBe('SETTLED');
  });
});
