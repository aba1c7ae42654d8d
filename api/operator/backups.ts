import type { Deps, Reply } from '#api/deps.ts';
import { listBackups } from '#api/store/database-epoch.ts';

/** How many are shown: what matters is the newest, and whether there is a habit. */
const SHOWN = 20;

/** GET /backups: the newest ones that `sluice backup create` made of this database. */
export async function showBackups(deps: Deps): Promise<Reply> {
  const backups = await listBackups(deps.db.sql, SHOWN);
  return { status: 200, data: { items: backups.map((one) => ({ ...one, ageSeconds: Math.round(one.ageSeconds) })) } };
}
