import { type Actor, createActor, fromCallback, fromPromise } from 'xstate';
import { profileOf } from '#shared/chains/networks.ts';
import { paceOf } from '#shared/chains/endpoint-health.ts';
import type { LackReport, JoinedReader } from '#shared/chains/join-readers.ts';
import { watchLacks } from '#shared/chains/watch-lacks.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { onceReachable } from '#shared/platform/database-problems.ts';
import { indexerChannel } from '#shared/platform/redis-streams.ts';
import { CHAIN_STATES, type ChainEvent, type ChainState, chain, chainState, type Joined } from '#state-machines/chain/machine.ts';
import { readLeft } from './caution.ts';
import { followHead } from './head.ts';
import { acquireLease, LEASE_SECONDS, readAbsentHolder, releaseLease, whileHeld } from './lease.ts';
import type { Child, IndexerDeps, Life } from './life.ts';
import { followMempool } from './mempool.ts';
import { keepPulse } from './publish.ts';
import { beside, serveRescans } from './rescan.ts';
import { scanChain } from './scan.ts';
import { createTrail } from './trail.ts';
import { findNetwork, loadWatches, readTip, readTrail } from './truth.ts';
import { showUnknownFields } from './unknown-fields.ts';
import { createWake } from './wake.ts';
import { createWatchlist, type Watchlist } from './watchlist.ts';

/** Waits before a rewind that follows one which brought nothing; doubled each time. */
const REWIND_PAUSE_MS = 250;
const LONGEST_REWIND_PAUSE_MS = 10_000;
const JOIN_POLL_MS = 200;
/** How often a standby tries whether the lease is free. */
const STANDBY_POLL_MS = 1_000;
/** Whoever holds the lease and is connected this long after somebody else wanted it is not just being replaced. */
const ALIVE_AFTER_MS = 4_000;
const NETWORK_WAIT_MS = 10_000;
/** A node that has not answered for this long, whatever its block time, is worth telling. */
const NODE_SILENT_MS = 8_000;

/** What metrics show: a chain that another process follows while this one waits for its turn is no chain in trouble. */
const SHOWN_STATES = [...CHAIN_STATES, 'standby'] as const;
export type ShownState = ChainState | 'standby';

/** One network being followed. */
export interface FollowedChain {
  network: string;
  state(): ShownState;
  /** Null while the chain is followed, here or by the one that this stands by for; otherwise why it is not. */
  problem(): string | null;
  /** What its endpoints were found to lack. */
  lacking(): readonly LackReport[];
  /** Stops the children, waits for what is in flight and gives the lease up. */
  stop(): Promise<void>;
}

/** Starts following one network: the chain machine with the indexer's actors (architecture 3.1). */
export function followChain(deps: IndexerDeps, network: NetworkConfig): FollowedChain {
  const { metrics } = deps;
  const log = deps.log.child({ network: network.name });
  const own: IndexerDeps = { ...deps, log };
  const profile = profileOf(network.family, network.chainId);
  const { lagBlocks } = paceOf(network.blockSeconds);
  metrics.leader.set({ chain: network.name }, 0);
  const running = new Set<Promise<void>>();
  const quietRewinds = { count: 0, tipHeight: -1 };
  let reader: JoinedReader | undefined;
  let stopWatching = (): void => undefined;
  let networkId: string | undefined;
  let life: Life | undefined;
  let standby = false;

  const join = async (watchlist: Watchlist | undefined): Promise<Joined> => {
    if (reader === undefined) {
      reader = deps.openReader(network);
      stopWatching = watchLacks(network, reader, log);
    }
    const known = await checkNetwork(own, network, reader, abort.signal);
    networkId = known.id;
    const { epoch, askedAtMs } = await waitForLease(own, known.id, { signal: abort.signal, standBy });
    // After the lease: whoever asks for a watch from here on is found by its missing acknowledgement.
    const watched = watchlist ?? createWatchlist();
    if (watchlist === undefined) {
      const lease = { networkId: known.id, holder: deps.holder, epoch };
      await whileHeld(deps.sql, lease, { signal: abort.signal, work: () => loadWatches(deps.snapshot, known.id, watched.addAll) });
    }
    const tip = await readTip(deps.sql, known.id);
    life = {
      network,
      networkId: known.id,
      epoch,
      reader,
      left: await readLeft(deps.sql, known.id, deps.holder),
      watchlist: watched,
      trail: createTrail(tip, await readTrail(deps.sql, known.id)),
      finalHeight: tip === undefined ? -1 : Math.min(tip.finalHeight, tip.height),
      forkedBelowFinal: false,
      head: undefined,
      announced: undefined,
      foreseenHeight: undefined,
      seq: 0,
      appliedSeq: 0,
      ahead: [],
      mempoolSeq: 0,
      lastEntryId: undefined,
      unsent: undefined,
      caughtUpAtMs: undefined,
      serviceTime: undefined,
      leaseUntilMs: askedAtMs + LEASE_SECONDS * 1_000,
      scanWake: createWake(),
      pulseWake: createWake(),
      appliedWake: createWake(),
      rescanOpen: true,
      rescanWake: createWake(),
    };
    log.info({ epoch, tip: tip?.height ?? null, watched: watched.size, ...(life.left.following !== null && { left: life.left.following }) }, 'following');
    return { epoch };
  };

  const rewind = async (): Promise<Joined> => {
    const tip = networkId === undefined ? undefined : await readTip(deps.sql, networkId);
    const height = tip?.height ?? -1;
    quietRewinds.count = height === quietRewinds.tipHeight ? quietRewinds.count + 1 : 0;
    quietRewinds.tipHeight = height;
    metrics.rewinds.inc({ chain: network.name });
    if (quietRewinds.count > 0)
      await createWake().wait(Math.min(LONGEST_REWIND_PAUSE_MS, REWIND_PAUSE_MS * 2 ** Math.min(quietRewinds.count, 10)), abort.signal);
    return join(life?.watchlist);
  };

  const abort = new AbortController();
  const child = (name: string, work: Child) =>
    fromCallback<ChainEvent, { network: string; epoch: number }>(({ sendBack }) => {
      const current = life;
      if (current === undefined) throw new Error('a child was started before the chain was joined');
      const ended = new AbortController();
      const tell = (event: ChainEvent): void => {
        if (!ended.signal.aborted) sendBack(event);
      };
      const done = work(own, current, tell, ended.signal).catch((error: unknown) => {
        if (ended.signal.aborted) return;
        log.error({ err: error, child: name }, 'a child of the chain failed');
        tell({ type: 'FAILED', reason: error instanceof Error ? error.message : String(error) });
      });
      running.add(done);
      void done.finally(() => running.delete(done));
      return () => ended.abort();
    });

  const machine = chain.provide({
    actors: {
      connect: fromPromise<Joined, { network: string }>(() => join(undefined)),
      rewind: fromPromise<Joined, { network: string }>(rewind),
      head: child('head', followHead),
      scan: child('scan', scanChain),
      publish: child('publish', keepPulse),
      mempool: child('mempool', beside(followMempool, serveRescans)),
    },
  });
  const actor: Actor<typeof machine> = createActor(machine, { input: { network: network.name } });
  const state = (): ShownState => (standby ? 'standby' : chainState(actor.getSnapshot().value as string | Record<string, unknown>));
  let reported: ShownState | undefined;
  const report = (): void => {
    const now = state();
    if (now === reported) return;
    reported = now;
    for (const name of SHOWN_STATES) metrics.state.set({ chain: network.name, state: name }, name === now ? 1 : 0);
    const { reason } = actor.getSnapshot().context;
    log[now === 'stalled' ? 'warn' : 'info']({ state: now, ...(reason === null ? {} : { reason }) }, 'chain');
  };
  const standBy = (does: boolean): void => {
    standby = does;
    // What it waited for while it led, whoever leads now knows better.
    if (does) void showUnknownFields(metrics.unknownHeaderField, network.name, []);
    report();
  };
  actor.subscribe(report);
  const ring = (): void => life?.pulseWake.ring();
  const stopListening = deps.streams.onNudge(indexerChannel(network.name), ring, ring);
  actor.start();

  return {
    network: network.name,
    state,
    problem() {
      const current = state();
      if (current === 'standby') return null;
      if (current !== 'backfilling' && current !== 'tailing') return `${current}: ${actor.getSnapshot().context.reason ?? 'not joined yet'}`;
      if (life?.unsent !== undefined) return `Redis takes no message: ${life.unsent}`;
      const head = life?.head;
      if (head === undefined) return 'the node has not told its head yet';
      const now = deps.monotonicMs();
      if (now - head.askedAtMs > NODE_SILENT_MS) return `the node has not answered for ${Math.floor((now - head.askedAtMs) / 1_000)} s`;
      const silentSeconds = Math.floor((now - head.changedAtMs) / 1_000);
      if (silentSeconds > profile.stallSeconds) return `no new block for ${silentSeconds} s`;
      const followed = life?.trail.last();
      if (followed !== undefined && followed.height - head.latest.height > lagBlocks)
        return `the node's head ${head.latest.height} is behind block ${followed.height}, which was followed already`;
      // Blocks still come from the others, but somebody named an endpoint that is none of this network.
      return life?.reader.endpoints().find((one) => one.foreign !== null)?.foreign ?? null;
    },
    lacking: () => reader?.lacking() ?? [],
    async stop() {
      abort.abort();
      stopListening();
      actor.send({ type: 'STOP' });
      await Promise.allSettled([...running]);
      if (networkId !== undefined)
        await releaseLease(deps.sql, networkId, deps.holder).catch((error: unknown) => log.warn({ err: error }, 'the lease was not given up'));
      stopWatching();
      await reader?.close();
    },
  };
}

/** Waits for the api, which usually starts at the same moment, to say which chain this is. */
async function waitForNetwork(deps: IndexerDeps, name: string, signal: AbortSignal): Promise<{ id: string; genesisHash: string }> {
  const startedMs = deps.monotonicMs();
  const bell = createWake();
  for (;;) {
    const known = await onceReachable(deps.log, signal, () => findNetwork(deps.sql, name));
    if (known !== undefined && known.genesisHash !== null) return { id: known.id, genesisHash: known.genesisHash };
    if (signal.aborted || deps.monotonicMs() - startedMs > NETWORK_WAIT_MS) throw new Error('waiting for the api to record this network');
    await bell.wait(JOIN_POLL_MS, signal);
  }
}

/**
 * Waits for the lease, however long. One whose holder has no session any more is taken at once: its process ended; two looks in a row must say so,
 * because a living one may be opening its session anew. One that is cut off runs out. Whoever waits for a living holder stands by. Says so, and when it is over.
 */
async function waitForLease(
  deps: IndexerDeps,
  networkId: string,
  { signal, standBy }: { signal: AbortSignal; standBy(does: boolean): void },
): Promise<{ epoch: number; askedAtMs: number }> {
  const startedMs = deps.monotonicMs();
  const bell = createWake();
  let absent: string | null = null;
  try {
    for (;;) {
      if (signal.aborted) throw new Error('another indexer holds the lease');
      const askedAtMs = deps.monotonicMs();
      const before = absent;
      absent = await onceReachable(deps.log, signal, () => readAbsentHolder(deps.sql, networkId));
      const gone = absent === before ? absent : null;
      const epoch = await onceReachable(deps.log, signal, () => acquireLease(deps.sql, networkId, deps.holder, gone));
      if (epoch !== undefined) return { epoch, askedAtMs };
      const alive = absent === null && askedAtMs - startedMs > ALIVE_AFTER_MS;
      standBy(alive);
      await bell.wait(alive ? STANDBY_POLL_MS : JOIN_POLL_MS, signal);
    }
  } finally {
    standBy(false);
  }
}

/** Makes sure that this is the chain the api knows under that name, before a single block of it is believed. */
async function checkNetwork(deps: IndexerDeps, network: NetworkConfig, reader: JoinedReader, signal: AbortSignal): Promise<{ id: string }> {
  const known = await waitForNetwork(deps, network.name, signal);
  const genesis = await reader.genesisHash(known.genesisHash);
  if (genesis !== known.genesisHash)
    throw new Error(
      `this chain is new: its first block is ${genesis}, but ${known.genesisHash} is recorded for ${network.name}; for a local chain: npm start -- --reset`,
    );
  return known;
}
