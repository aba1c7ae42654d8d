import { deleteOldSignatures } from '#api/store/credentials.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Sweep } from './registry.ts';

const BATCH = 10_000;

/** Forgets the signatures of requests once none of them could be accepted again (decisions 8). */
export const forgetSignatures: Sweep = {
  name: 'forget-signatures',
  everySeconds: 60,
  run: (deps) => deleteOldSignatures(deps.db.sql, { seconds: POLICY.signatureMemorySeconds, limit: BATCH }),
};
