import type { Deps } from '#api/deps.ts';
import { countOutbox, TOPICS } from '#api/store/outbox.ts';
import { countOverduePayments } from '#api/store/payments.ts';
import { listAttendance, readConnections, readSignerSilence } from '#api/store/processes.ts';
import { summariseOpenSettlements } from '#api/store/settlements.ts';
import { SETTLEMENT_STATUSES } from '#state-machines/settlement/machine.ts';
import { listUntrusted, countDispatchStops } from '#api/store/database-epoch.ts';
import { listTips } from '#api/store/chain-blocks.ts';

const STATES = ['due', 'scheduled', 'running', 'dead'];
/** How a run of a job may end, as `runJob` counts it. */
const RESULTS = ['done', 'again', 'failed', 'dead'];

/** Keeps the job gauges up to date, dead jobs among them. */
export async function reportJobs({ db, metrics }: Deps): Promise<number> {
  if (metrics === undefined) return 0;
  const counts = await countOutbox(db.sql);
  for (const queue of TOPICS) {
    metrics.jobOldestDueAge.set({ queue }, 0);
    for (const state of STATES) metrics.jobs.set({ queue, state }, 0);
    for (const result of RESULTS) metrics.jobsProcessed.inc({ queue, result }, 0);
  }
  for (const { topic, waiting, count, oldestDueAgeSeconds } of counts) {
    metrics.jobs.set({ queue: topic, state: waiting }, count);
    if (waiting === 'due') metrics.jobOldestDueAge.set({ queue: topic }, oldestDueAgeSeconds);
  }
  return 0;
}

/** The contract expires an unpaid payment within about a minute; what is later than this shows that something is stuck. */
const LATE_SECONDS = 60;

/** Keeps the gauge of payments that should have expired up to date. */
export async function reportPayments({ db, metrics }: Deps): Promise<number> {
  metrics?.paymentsOverdue.set(await countOverduePayments(db.sql, LATE_SECONDS));
  return 0;
}

/**
 * Shows what Postgres knows of the other processes. What a process says of itself is gone with it, and an alert that goes by it alone is
 * blind; this is still there when an indexer or the signer is killed. The time at which it was read tells that it is not an old answer.
 */
export async function reportProcesses({ db, chains, metrics, wallClock }: Deps): Promise<number> {
  if (metrics === undefined) return 0;
  const [attendance, silence, connections] = [await listAttendance(db.sql), await readSignerSilence(db.sql), await readConnections(db.sql)];
  for (const { network, indexer, consumer } of attendance.filter((one) => chains.has(one.network))) {
    metrics.chainAttended.set({ chain: network, by: 'indexer' }, indexer ? 1 : 0);
    metrics.chainAttended.set({ chain: network, by: 'worker' }, consumer ? 1 : 0);
  }
  metrics.signerSilence.set(silence ?? Number.POSITIVE_INFINITY);
  metrics.postgresConnections.set({ state: 'used' }, connections.used);
  metrics.postgresConnections.set({ state: 'limit' }, connections.limit);
  metrics.databaseRead.set(wallClock() / 1_000);
  return 0;
}

/** Statuses that a settlement leaves again. */
const OPEN = SETTLEMENT_STATUSES.filter((status) => status !== 'SETTLED' && status !== 'REJECTED');

/** Keeps the gauges about open settlements up to date. */
export async function reportSettlements({ db, chains, metrics }: Deps): Promise<number> {
  if (metrics === undefined) return 0;
  const summaries = await summariseOpenSettlements(db.sql);
  for (const status of OPEN) {
    metrics.settlementsOpen.set({ status }, 0);
    for (const chain of chains.keys()) metrics.settlementOldestAge.set({ chain, status }, 0);
  }
  for (const chain of chains.keys()) for (const gauge of [metrics.settlementDispatchOverdue, metrics.settlementsHeldBack]) gauge.set({ chain }, 0);
  for (const open of summaries) {
    metrics.settlementsOpen.inc({ status: open.status }, open.count);
    metrics.settlementOldestAge.set({ chain: open.networkName, status: open.status }, open.oldestAgeSeconds);
    if (open.status !== 'REQUESTED') continue;
    metrics.settlementDispatchOverdue.set({ chain: open.networkName }, open.overdueSeconds);
    metrics.settlementsHeldBack.set({ chain: open.networkName }, open.heldBackSeconds);
  }
  return 0;
}

/** Keeps the gauges up to date that tell what stops cashouts, and how far each chain was applied to the books. */
export async function reportDispatch({ db, chains, metrics }: Deps): Promise<number> {
  if (metrics === undefined) return 0;
  const [stops, untrusted, tips] = await Promise.all([countDispatchStops(db.sql), listUntrusted(db.sql, [...chains.keys()]), listTips(db.sql)]);
  for (const [kind, count] of Object.entries(stops)) metrics.dispatchStops.set({ kind }, count);
  for (const [chain, { id }] of chains) {
    metrics.historyTrusted.set({ chain }, untrusted.includes(chain) ? 0 : 1);
    const tip = tips.find(({ networkId }) => networkId === id);
    if (tip === undefined) continue;
    metrics.appliedBlock.set({ chain }, tip.height);
    metrics.appliedBlockTimestamp.set({ chain }, tip.blockTime.getTime() / 1_000);
  }
  return 0;
}
