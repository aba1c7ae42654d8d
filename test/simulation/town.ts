import { askBusy } from '#api/jobs/periodic.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { openScreeningSources } from '#api/clients/screening/registry.ts';
import { storedPrices } from '#api/clients/prices.ts';
import { work } from '#api/jobs/all-work.ts';
import type { Periodic } from '#api/jobs/work.ts';
import { runJob } from '#api/jobs/run-job.ts';
import { localChains } from '#api/operator/dev-chains.ts';
import { replaceSecret } from '#api/gateways/secrets.ts';
import { newTotpSecret } from '#api/gateways/totp.ts';
import { anyAddress } from '#api/screening/any-address.ts';
import { openScreening } from '#api/screening/open.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { openSigners } from '#api/signer/start.ts';
import { listAssets } from '#api/store/assets.ts';
import { readClock } from '#api/store/clock.ts';
import { handOverDue } from '#api/store/outbox.ts';
import { listSignable } from '#api/store/payouts.ts';
import { restampStaticPrices } from '#api/store/prices.ts';
import { seedWallets } from '#api/treasury/wallets.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { DRIVERS } from '#test/chains/conformance/families.ts';
import { assertCleanAudit } from '#test/harness/audit.ts';
import { type InProcess, inProcess } from '#test/harness/in-process.ts';
import { demoNetwork } from '#test/harness/networks.ts';
import { TEST_SEED } from '#test/harness/world.ts';
import { aMortal, type Moment, type Mortal } from './mortal.ts';
import type { Random } from './random.ts';
import { followStreet, NOT_FINAL, openStreet, type Street, takeLease } from './street.ts';

/** Whole coins on each funding wallet. */
const FUNDING: Readonly<Record<string, string>> = { evm: '10', tron: '5000', bitcoin: '1' };
/** What a worker does by itself that has nothing to do with money, or asks the world outside. */
const NOT_HERE = /^(refresh-prices|check-genesis|forget-|report-)/;
const JOBS = work.jobs.filter(({ topic }) => !topic.startsWith('webhook.'));
const PASSES = 2;
const BATCH = 100;
const PERIODIC = Object.entries(work.periodic).flatMap(([name, one]): Periodic[] => (NOT_HERE.test(name) ? [] : [one]));

/**
 * A whole deployment in one process, one step at a time: real Postgres and Redis, a real local chain of every family, the
 * real indexers, worker and signer, which may be killed at any moment and started again.
 */
export interface Town {
  world: InProcess;
  streets: readonly Street[];
  /** The process that lives now. */
  process(): Mortal;
  /** Kills the process the n-th time it comes to this moment. */
  dieAt(moment: Moment, passing: number): void;
  /** Starts a new process after the last one died; answers where it had, or null when it lives. */
  reviveIfDead(): Promise<Moment | null>;
  mine(street: Street, blocks: number): Promise<void>;
  /** Lets indexer and consumer go as far as the node lets them; answers whether they reached the head. */
  follow(street: Street): Promise<boolean>;
  /** One turn of indexer, worker and signer: what can happen now happens, what is in trouble waits. */
  beat(): Promise<void>;
  /** Moves the service's clock and the chains' own. */
  advance(seconds: number): Promise<void>;
  gateway(input: Record<string, unknown>): Promise<Gateway>;
  /** Gives a gateway a new authenticator, whose codes approved nothing yet; answers its secret in base32. */
  newAuthenticator(gateway: Gateway): Promise<string>;
  audit(): Promise<void>;
  stop(): Promise<void>;
}

/** Runs what is due, and what comes of that; not for as long as anything is, for what a node holds up is due again and again. */
async function runJobs(deps: Deps): Promise<void> {
  for (let pass = 0; pass < PASSES; pass++)
    for (const job of JOBS) for (const id of await handOverDue(deps.db.sql, job.topic, BATCH, 0)) await runJob(deps, job, id);
}

/** Opens one on every family the build serves, its funding wallets full and its hot wallets empty. */
export async function aTown(random: Random): Promise<Town> {
  const [first, ...others] = DRIVERS.map((driver) => driver.network) as [string, ...string[]];
  const more = await Promise.all(others.map(demoNetwork));
  const world = await inProcess({ network: first, moreNetworks: () => more });
  const { database } = world;
  const assets = await listAssets(database.sql);
  const streets: Street[] = [];
  for (const driver of DRIVERS) {
    const stored = world.deps.chains.get(driver.network);
    if (stored === undefined) throw new Error(`${driver.network} is not configured`);
    const node = await driver.open(stored.config, { notFinal: NOT_FINAL });
    const own = assets.filter((asset) => asset.networkId === stored.id);
    streets.push({ driver, node, id: stored.id, name: driver.network, assets: own, trouble: null, ...(await openStreet(database, { node, chain: stored })) });
  }
  const base = (): Deps => ({
    ...world.deps,
    chains: new Map(streets.map((street) => [street.name, street.chain])),
    randomBytes: random.bytes,
  });
  await seedWallets(base());
  const signers = openSigners(base(), TEST_SEED);
  const fences = new Map<string, number>();
  const start = async (): Promise<Mortal> => {
    for (const street of streets) fences.set(street.id, await takeLease(base(), street));
    const mortal = aMortal(base(), signers);
    // What reads the database by itself dies with the process as well.
    const { db, log, config, chains, randomBytes } = mortal.deps;
    const sources = openScreeningSources(config, { db, log, canonical: anyAddress(chains.values()) });
    const deps = { ...mortal.deps, prices: storedPrices(db, { staticAllowed: true }), screening: openScreening({ db, log, randomBytes, sources }) };
    return { ...mortal, deps };
  };
  let living = await start();
  const warp = localChains(
    streets.map(({ node }) => ({ ...node.network, rpcUrls: [node.chain.url] })),
    world.deps.log,
  );
  const follow = (street: Street): Promise<boolean> => followStreet(living.deps, street, fences.get(street.id) as number);

  const ranAt = new Map<Periodic, number>();
  /** As a worker finds out: by the work's own question, or because its time has come. */
  const hasReason = async (one: Periodic): Promise<boolean> => {
    const { deps } = living;
    const isTime = one.anywaySeconds !== undefined && Date.now() - (ranAt.get(one) ?? 0) >= one.anywaySeconds * 1_000;
    const [busy] = one.look === undefined || isTime ? [true] : await askBusy(deps.db.sql, deps, [one]);
    if (isTime) ranAt.set(one, Date.now());
    return busy === true;
  };

  const town: Town = {
    world,
    streets,
    process: () => living,
    dieAt: (moment, passing) => living.dieAt(moment, passing),
    async reviveIfDead() {
      const moment = living.diedAt();
      if (moment === null) return null;
      for (const street of streets) {
        await street.chain.reader.close();
        Object.assign(street, await openStreet(database, street));
      }
      living = await start();
      return moment;
    },
    mine: (street, blocks) => street.node.chain.mine(blocks),
    follow,
    async beat() {
      for (const street of streets) await follow(street);
      for (const one of PERIODIC) if (await hasReason(one)) await one.run(living.deps);
      await runJobs(living.deps);
      const { sql } = living.deps.db;
      const ids = streets.map(({ id }) => id);
      for (const { id } of await listSignable(sql, ids)) await signPayout(living.deps, living.signers, id);
      await runJobs(living.deps);
    },
    async advance(seconds) {
      await world.advance(seconds);
      await warp.warp(seconds, (await readClock(database.sql)).now);
      await database.transaction(restampStaticPrices);
    },
    gateway: (input) => world.aGateway(input),
    async newAuthenticator({ id }) {
      const secret = newTotpSecret(random.bytes);
      await database.transaction((tx) => replaceSecret(world.deps, tx, { gatewayId: id, kind: 'totp', secret, overlapSeconds: 0 }));
      return secret;
    },
    audit: () => assertCleanAudit(database),
    async stop() {
      for (const { chain, node } of streets) {
        await chain.reader.close();
        await node.stop();
      }
      await world.stop();
    },
  };
  for (const street of streets) {
    await follow(street);
    const { driver, node, chain } = street;
    const native = chain.config.assets.find((asset) => asset.contract === null);
    const coins = toUnits(parseTrusted(FUNDING[driver.family] as string), native?.decimals ?? 18) as bigint;
    await node.chain.payAndMine(chain.config.wallets.funding.address, null, coins);
    await node.chain.mine(NOT_FINAL + 1);
    await follow(street);
  }
  return town;
}
