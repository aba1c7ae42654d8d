import { listAttendance, readConnections, readSignerSilence } from '#api/store/processes.ts';
import type { Sweep } from './registry.ts';

/**
 * Shows what Postgres knows of the other processes. What a process says of itself is gone with it, and an alert that goes by it alone is
 * blind; this is still there when an indexer or the signer is killed. The time at which it was read tells that it is not an old answer.
 */
export const reportProcesses: Sweep = {
  name: 'report-processes',
  everySeconds: 10,
  everyReplica: true,
  run: async ({ db, chains, metrics, wallClock }) => {
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
  },
};
