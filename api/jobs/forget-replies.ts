import { deleteOldReplies } from '#api/store/idempotency.ts';
import type { Sweep } from './registry.ts';

const BATCH = 1_000;

/** Forgets stored replies once their Idempotency-Key has been kept long enough (decisions 8). */
export const forgetReplies: Sweep = { name: 'forget-replies', everySeconds: 3_600, run: (deps) => deleteOldReplies(deps.db.sql, BATCH) };
