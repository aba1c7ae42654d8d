import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { screenDepositJob } from '#api/jobs/outbox-jobs.ts';
import { matureCredits } from '#api/ledger/mature-credits.ts';
import { replaceSecret } from '#api/gateways/secrets.ts';
import { newTotpSecret } from '#api/gateways/totp.ts';
import { createSettlement } from '#api/settlements/create.ts';
import type { SettlementView } from '#api/settlements/view.ts';
import { upsertScreeningScore } from '#api/store/screenings.ts';
import { openSigners } from '#api/signer/start.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { seedWallets } from '#api/treasury/wallets.ts';
import type { Payer, TransferSigner } from '#shared/chains/chain.ts';
import { amount, formatAmount, parseTrusted } from '#shared/core/money.ts';
import { STRANGER } from '#test/fixtures/books.ts';
import { someShops, type TestShop } from '#test/fixtures/shop.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { type InProcess, plainCommit } from '#test/harness/in-process.ts';
import { TEST_SEED } from '#test/harness/world.ts';

/** Where a cashout is when two operations meet over it. */
export type Start =
  | 'awaiting approval'
  | 'parked and covered'
  | 'parked, covered and above the cap'
  | 'parked too long'
  | 'parked too long, covered'
  | 'requested';

/** Each round's cashout, in dollars of a coin that is worth one. */
const AMOUNT = '10';
/** Above the amount, and below it. */
const CAPS = { out: '50', over: '5' };
const CASHOUT = { enabled: true, allowlist: ['127.0.0.1'] };
const PAYEE = '0x00000000000000000000000000000000cafe0001';
/** Cashouts prepared at a time. */
const SUPPLY = 25;
const WEEK_SECONDS = 7 * 86_400;

/** A cashout two operations are about to meet over, of a gateway with an authenticator. */
export interface Contested {
  id: string;
  gateway: Gateway;
  totpSecret: string;
}

/**
 * A real database and real use cases with several connections, and a chain nobody asks: quotes are always the same, wallets
 * are always full, and nothing is ever mined. Signatures are real.
 */
export interface Arena {
  world: InProcess;
  deps: Deps;
  signers: ReadonlyMap<string, TransferSigner>;
  usdt: StoredAsset;
  /** A gateway that has these amounts to withdraw from each pool. */
  rich(pools: { green: readonly string[]; held: readonly string[] }): Promise<TestShop>;
  /** The next cashout at its start in one lane; rounds of one lane follow each other, and lanes share no gateway. */
  next(start: Start, lane: number): Promise<Contested>;
  /** What became of a round stays as it is: no dispatcher of a later one, which pays all that is due, shall find it. */
  putAway(contested: Contested): Promise<void>;
  audit(): Promise<void>;
  stop(): Promise<void>;
}

/** Opens one. */
export async function anArena(): Promise<Arena> {
  const { world, open, stop } = await someShops();
  const [name, stored] = [...world.deps.chains][0] as [string, Chain];
  const payer = richPayer();
  const deps: Deps = { ...world.deps, chains: new Map([...world.deps.chains, [name, { ...stored, payer }]]) };
  await seedWallets({ ...deps, chains: new Map([[name, stored]]) });
  const signers = openSigners({ chains: new Map([[name, stored]]) }, TEST_SEED);
  const usdt = world.assets.USDT as StoredAsset;

  /** Gives a gateway `coins` to withdraw. */
  const fund = async (shop: TestShop, coins: string): Promise<void> => {
    const payment = await shop.create({ checkAmountDeviation: false });
    await shop.select(payment, 'USDT');
    // The network fee of the payment comes on top.
    await shop.receive(payment, 'USDT', formatAmount(amount(parseTrusted(coins) + usdt.networkFee)));
    await runDueJobs(deps, [screenDepositJob]);
    await matureCredits(deps);
  };
  const cashOut = async (gateway: Gateway): Promise<string> => {
    const body = { assetId: usdt.id, amount: AMOUNT, address: PAYEE };
    const reply = await createSettlement(deps, { gateway, body, commit: plainCommit(deps) });
    return (reply.data as SettlementView).id;
  };
  /** Prepares `count` cashouts of a gateway of their own, all of them where they start. */
  const prepare = async (start: Start, count: number): Promise<Contested[]> => {
    const parks = start.startsWith('parked');
    const cashout = { ...CASHOUT, parkingEnabled: parks, parkedCap: 1_000, approvalCapUsd: approvalCapOf(start) };
    const shop = await open({ cashout, settings: { maturitySeconds: 0 } });
    const { gateway } = shop;
    const totpSecret = await enrol(deps, gateway.id);
    if (!parks) await fund(shop, String(Number(AMOUNT) * count));
    const ids: string[] = [];
    for (let made = 0; made < count; made++) ids.push(await cashOut(gateway));
    if (start !== 'parked too long' && parks) await fund(shop, String(Number(AMOUNT) * count));
    if (start.startsWith('parked too long'))
      await world.database.sql`update settlements set expires_at = sluice_now() - make_interval(secs => ${WEEK_SECONDS}) where gateway_id = ${gateway.id}`;
    // Due when its round comes.
    if (start === 'requested')
      await world.database.sql`update settlements set dispatch_at = sluice_now() + make_interval(secs => ${WEEK_SECONDS}) where gateway_id = ${gateway.id}`;
    return ids.map((id) => ({ id, gateway, totpSecret }));
  };
  const lanes = new Map<string, Contested[]>();
  // Preparing mines blocks, one after the other.
  let last: Promise<unknown> = Promise.resolve();
  const inLine = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
  return {
    world,
    deps,
    signers,
    usdt,
    async rich({ green, held }) {
      const shop = await open({ cashout: CASHOUT, settings: { maturitySeconds: 0 }, screening: { enabled: true, credits: 100 } });
      await upsertScreeningScore(deps.db.sql, { address: STRANGER, score: 0 });
      for (const coins of green) await fund(shop, coins);
      await upsertScreeningScore(deps.db.sql, { address: STRANGER, score: 100 });
      for (const coins of held) await fund(shop, coins);
      return shop;
    },
    async next(start, lane) {
      const name = `${start}, ${lane}`;
      if ((lanes.get(name) ?? []).length === 0) lanes.set(name, await inLine(() => prepare(start, SUPPLY)));
      const contested = lanes.get(name)?.shift();
      if (contested === undefined) throw new Error('no cashout is left');
      if (start === 'requested') await world.database.sql`update settlements set dispatch_at = sluice_now() where id = ${contested.id}`;
      return approvalCapOf(start) === CAPS.over ? { ...contested, totpSecret: await enrol(deps, contested.gateway.id) } : contested;
    },
    async putAway({ id }) {
      await world.database
        .sql`update settlements set dispatch_at = sluice_now() + make_interval(secs => ${WEEK_SECONDS}) where id = ${id} and status = 'REQUESTED'`;
    },
    audit: () => assertCleanAudit(world.database),
    stop: () => stop({ audit: false }),
  };
}

function approvalCapOf(start: Start): string {
  return start === 'awaiting approval' || start === 'parked, covered and above the cap' ? CAPS.over : CAPS.out;
}

/** An authenticator that approved nothing yet: a code counts once in half a minute, and no round shall wait that long. */
async function enrol(deps: Deps, gatewayId: string): Promise<string> {
  const secret = newTotpSecret(deps.randomBytes);
  await deps.db.transaction((tx) => replaceSecret(deps, tx, { gatewayId, kind: 'totp', secret, overlapSeconds: 0 }));
  return secret;
}

/** A payer of a chain where nothing changes and every wallet is full. */
function richPayer(): Payer {
  const quote = { rawFee: 21_000n * 10n ** 9n, fields: { gas: '21000', maxFeePerGas: '1000000000', maxPriorityFeePerGas: '1000000000' }, expiresAtMs: null };
  return {
    quote: async () => ({ ok: true, quote }),
    estimate: async () => ({ ok: true, quote }),
    bump: null,
    nonce: async () => 0,
    balance: async () => 10n ** 30n,
    broadcast: async () => ({ accepted: true, answer: 'taken' }),
  };
}
